/* Misuse of building cell caches, and of the calls of that kind alone. */

#include <string.h>

#include "batches.h"
#include "edge.h"
#include "misuse.h"

#define OUT (&world.out)

static kvc_status_t size_of_config(const kvc_config_t *config)
{
    return kvc_cells_size(config, &OUT->size);
}

static kvc_status_t init_with_config(const kvc_config_t *config)
{
    return kvc_cells_init(spare_storage, sizeof spare_storage, config, &OUT->cache);
}

/* Configs that are wrong for this kind. */
static void refuse_bad_cells(config_call_t call)
{
    static const uint32_t bad_seqs[] = {0, KVC_MAX_SEQS + 1, UINT32_MAX};
    kvc_layer_t ring = ring_layer(4);
    kvc_config_t config = world.config;
    for (size_t i = 0; i < sizeof bad_seqs / sizeof bad_seqs[0]; i++) {
        config.max_seqs = bad_seqs[i];
        REFUSED(KVC_ERR_INVALID_CONFIG, call(&config));
    }
    config = config_of(&ring, 1, KVC_UNBOUNDED);
    config.max_seqs = 2;
    REFUSED(KVC_ERR_INVALID_CONFIG, call(&config));
    /* A window and a rollback that together pass 32 bits. */
    config.capacity = 16;
    config.rollback = UINT32_MAX - 3;
    REFUSED(KVC_ERR_INVALID_CONFIG, call(&config));
}

void misuse_of_kvc_cells_size(void)
{
    refuse_bad_configs(size_of_config);
    refuse_bad_cells(size_of_config);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_size(&world.config, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_size(&world.config, (size_t *)off_by(&OUT->size, 1)));
    /* The largest that there is has a size, or none where memory ends before it. */
    kvc_config_t config = world.config;
    size_t size = 0;
    config.capacity = UINT32_MAX - 1;
    config.max_seqs = KVC_MAX_SEQS;
    kvc_status_t status = kvc_cells_size(&config, &size);
    CHECK_STATUS(sizeof(size_t) == 8 ? KVC_OK : KVC_ERR_INVALID_CONFIG, status);
    CHECK(status != KVC_OK || size > (size_t)UINT32_MAX);
}

void misuse_of_kvc_cells_init(void)
{
    const kvc_config_t *config = &world.config;
    size_t size = 0;
    CHECK_OK(kvc_cells_size(config, &size));
    CHECK(size <= sizeof spare_storage);
    refuse_bad_configs(init_with_config);
    refuse_bad_cells(init_with_config);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_init(NULL, size, config, &OUT->cache));
    for (size_t by = 1; by < KVC_ALIGN; by++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_init(off_by(spare_storage, by), size, config, &OUT->cache));
    }
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_init(spare_storage, size, config, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_cells_init(spare_storage, size, config, (kvc_cache_t **)off_by(&OUT->cache, 1)));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_cells_init(spare_storage, size - 1, config, &OUT->cache));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_cells_init(spare_storage, 0, config, &OUT->cache));
    /* Storage of exactly its size, whatever it held. */
    kvc_cache_t *cache = NULL;
    void *edge = at_edge(size, 0xFF);
    CHECK_OK(kvc_cells_init(edge, size, config, &cache));
    append_cells(cache, new_seq(cache), 4, NULL);
    CHECK_OK(kvc_cache_release(cache));
}

static const uint32_t placed[1] = {15};

static kvc_status_t place_one(kvc_cache_t *cache)
{
    return kvc_cells_place_step(cache, 0, placed, 1, OUT->u32, &OUT->step);
}

void misuse_of_kvc_cells_place_step(void)
{
    static const uint32_t positions[4] = {16, 17, 18, 19};
    static const uint32_t bad[][2] = {{15, 16}, {16, 16}, {17, 16}, {0, 16}, {16, UINT32_MAX}, {UINT32_MAX, 16}};
    kvc_cache_t *cells = world.cells;
    uint32_t *out = OUT->u32;
    kvc_cell_step_t *step = &OUT->step;
    refuse_all_caches_but(OFFERED_BY_CELLS, place_one);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_place_step(cells, 0, NULL, 1, out, step));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_place_step(cells, 0, placed, 0, out, step));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_place_step(cells, 0, placed, 1, NULL, step));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_place_step(cells, 0, placed, 1, out, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_cells_place_step(cells, 0, (const uint32_t *)off_by(positions, 1), 1, out, step));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_cells_place_step(cells, 0, placed, 1, (uint32_t *)off_by(out, 2), step));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_cells_place_step(cells, 0, placed, 1, out, (kvc_cell_step_t *)off_by(step, 2)));
    /* Arrays that are one, or have a part in common. */
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_place_step(cells, 0, out, 1, out, step));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_place_step(cells, 0, out + 1, 2, out, step));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_place_step(cells, 0, out, 2, out + 1, step));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_cells_place_step(cells, 2, placed, 1, out, step));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_cells_place_step(cells, 256, placed, 1, out, step));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_cells_place_step(cells, UINT32_MAX, placed, 1, out, step));
    /* Another step than the one that is placed. */
    REFUSED(KVC_ERR_NO_STEP, kvc_cells_place_step(cells, 0, positions, 1, out, step));
    REFUSED(KVC_ERR_NO_STEP, kvc_cells_place_step(cells, 0, positions, 2, out, step));
    CHECK_OK(declare_for(cells, 0, 2));
    REFUSED(KVC_ERR_NO_STEP, kvc_cells_place_step(cells, 0, positions, 1, out, step));
    REFUSED(KVC_ERR_NO_STEP, kvc_cells_place_step(cells, 0, positions, 3, out, step));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        REFUSED(KVC_ERR_BAD_POSITION, kvc_cells_place_step(cells, 0, bad[i], 2, out, step));
    }
    static const uint32_t beyond[2] = {99, 100};
    REFUSED(KVC_ERR_OUT_OF_CAPACITY, kvc_cells_place_step(cells, 0, beyond, 2, out, step));
    CHECK_OK(kvc_cells_place_step(cells, 1, positions, 2, out, step));
    CHECK_OK(kvc_batch_rewind(cells, 0, 16));
    REFUSED(KVC_ERR_NO_STEP, kvc_cells_place_step(cells, 0, positions, 2, out, step));
}

/* The two forms of the mask have the same ways to be misused. `size` and `stride` count elements. */
typedef kvc_status_t (*mask_call_t)(kvc_cache_t *cache, uint32_t layer, void *out, size_t size, size_t stride);

static kvc_status_t make_bytes(kvc_cache_t *cache, uint32_t layer, void *out, size_t size, size_t stride)
{
    return kvc_cells_mask_bytes(cache, layer, (uint8_t *)out, size, stride);
}

static kvc_status_t make_bits(kvc_cache_t *cache, uint32_t layer, void *out, size_t size, size_t stride)
{
    return kvc_cells_mask_bits(cache, layer, (uint32_t *)out, size, stride);
}

static kvc_status_t bytes_of(kvc_cache_t *cache)
{
    return make_bytes(cache, 0, OUT->bytes, 16, 16);
}

static kvc_status_t bits_of(kvc_cache_t *cache)
{
    return make_bits(cache, 0, OUT->u32, 1, 1);
}

/* `stride`: elements that one row takes. */
static void refuse_bad_masks(mask_call_t call, void *out, size_t stride, size_t element)
{
    static const uint32_t positions[2] = {16, 17};
    kvc_cache_t *cells = world.cells;
    uint32_t unwanted[2];
    kvc_cell_step_t step;
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(cells, 0, NULL, stride, stride));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(cells, 0, out, SIZE_MAX, stride));
    REFUSED(KVC_ERR_BAD_LAYER, call(cells, 2, out, stride, stride));
    REFUSED(KVC_ERR_BAD_LAYER, call(cells, UINT32_MAX, out, stride, stride));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(cells, 0, out, stride, stride - 1));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(cells, 0, out, stride - 1, stride));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(cells, 0, out, stride, stride + 1));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(cells, 0, out, stride, SIZE_MAX));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(cells, 0, out, 0, 0));
    CHECK_OK(declare_for(cells, 0, 2));
    REFUSED(KVC_ERR_NO_STEP, call(cells, 0, out, 4 * stride, stride));
    CHECK_OK(kvc_cells_place_step(cells, 0, positions, 2, unwanted, &step));
    CHECK_EQ(13, step.read_len);
    /* Two rows, whose size the product of 2 and a stride of half of all numbers is not. */
    size_t wider = element == 1 ? stride + 2 : stride;
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(cells, 0, out, 2 * wider, SIZE_MAX / 2 + 1));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(cells, 0, out, 2 * wider - 1, wider));
    void *exact = at_edge(2 * wider * element, 0xFF);
    CHECK_OK(call(cells, 0, exact, 2 * wider, wider));
    CHECK_OK(kvc_clear(cells));
    REFUSED(KVC_ERR_NO_STEP, call(cells, 0, out, 4 * stride, stride));
}

void misuse_of_kvc_cells_mask_bytes(void)
{
    refuse_all_caches_but(OFFERED_BY_CELLS, bytes_of);
    /* 11 cells are in use. */
    refuse_bad_masks(make_bytes, OUT->bytes, 11, 1);
}

void misuse_of_kvc_cells_mask_bits(void)
{
    refuse_all_caches_but(OFFERED_BY_CELLS, bits_of);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_mask_bits(world.cells, 0, (uint32_t *)off_by(OUT->u32, 2), 1, 1));
    refuse_bad_masks(make_bits, OUT->u32, 1, 4);
}

static kvc_status_t list_shifts(kvc_cache_t *cache)
{
    return kvc_cells_shifts(cache, 0, OUT->shifts, 4, OUT->u32);
}

void misuse_of_kvc_cells_shifts(void)
{
    kvc_cache_t *cells = world.cells;
    kvc_shift_t *out = OUT->shifts;
    refuse_all_caches_but(OFFERED_BY_CELLS, list_shifts);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_shifts(cells, 0, NULL, 1, OUT->u32));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_shifts(cells, 0, (kvc_shift_t *)off_by(out, 2), 1, OUT->u32));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_shifts(cells, 0, out, 4, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_shifts(cells, 0, out, 4, (uint32_t *)off_by(OUT->u32, 1)));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_cells_shifts(cells, 2, out, 4, OUT->u32));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_cells_shifts(cells, UINT32_MAX, NULL, 0, OUT->u32));
    /* The number is told beside this status, and nothing else. */
    uint32_t needed = 0;
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_cells_shifts(cells, 0, NULL, 0, &needed));
    CHECK_EQ(1, needed);
    needed = 0;
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_cells_shifts(cells, 0, out, 0, &needed));
    CHECK_EQ(1, needed);
    /* That list was not read: nothing is frozen. */
    CHECK_OK(kvc_batch_seq_shift(cells, 0, 50, 60, 1));
}

void misuse_of_kvc_cells_shifts_done(void)
{
    refuse_all_caches_but(OFFERED_BY_CELLS, kvc_cells_shifts_done);
}

static kvc_status_t move_rows(kvc_cache_t *cache)
{
    return kvc_cells_defrag(cache, 0, OUT->moves, 4, OUT->u32);
}

void misuse_of_kvc_cells_defrag(void)
{
    kvc_cache_t *cells = world.cells;
    kvc_move_t *out = OUT->moves;
    uint32_t n = 0;
    refuse_all_caches_but(OFFERED_BY_CELLS, move_rows);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_defrag(cells, 0, NULL, 1, OUT->u32));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_defrag(cells, 0, (kvc_move_t *)off_by(out, 1), 1, OUT->u32));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_defrag(cells, 0, out, 4, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cells_defrag(cells, 0, out, 4, (uint32_t *)off_by(OUT->u32, 2)));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_cells_defrag(cells, 2, out, 4, OUT->u32));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_cells_defrag(cells, UINT32_MAX, out, 4, OUT->u32));
    CHECK_OK(kvc_cells_shifts(cells, 1, OUT->shifts, 4, &n));
    REFUSED(KVC_ERR_UNSUPPORTED, kvc_cells_defrag(cells, 0, out, 4, OUT->u32));
    REFUSED(KVC_ERR_UNSUPPORTED, kvc_cells_defrag(cells, 1, NULL, 0, OUT->u32));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_cells_defrag(cells, 2, out, 4, OUT->u32));
    CHECK_OK(kvc_cells_shifts_done(cells));
    CHECK_OK(kvc_cells_defrag(cells, 1, NULL, 0, &n));
    CHECK_EQ(0, n);
}

void misuse_of_kvc_cells_register(void)
{
    refuse_bad_registries(kvc_cells_register);
    CHECK_OK(kvc_cells_register(world.registry));
    REFUSED(KVC_ERR_ALREADY_EXISTS, kvc_cells_register(world.registry));
}
