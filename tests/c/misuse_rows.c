/* Misuse of building private-row caches, and of the calls of that kind alone. */

#include "batches.h"
#include "edge.h"
#include "misuse.h"

#define OUT (&world.out)

static kvc_status_t size_of_config(const kvc_config_t *config)
{
    return kvc_rows_size(config, &OUT->size);
}

static kvc_status_t init_with_config(const kvc_config_t *config)
{
    return kvc_rows_init(spare_storage, sizeof spare_storage, config, &OUT->cache);
}

/* Configs that are wrong for this kind. */
static void refuse_bad_rows(config_call_t call)
{
    static const uint32_t bad_seqs[] = {0, 4097, UINT32_MAX};
    kvc_layer_t ring = ring_layer(4);
    kvc_config_t config = world.config;
    for (size_t i = 0; i < sizeof bad_seqs / sizeof bad_seqs[0]; i++) {
        config.max_seqs = bad_seqs[i];
        REFUSED(KVC_ERR_INVALID_CONFIG, call(&config));
    }
    config = config_of(&ring, 1, KVC_UNBOUNDED);
    config.max_seqs = 2;
    REFUSED(KVC_ERR_INVALID_CONFIG, call(&config));
}

void misuse_of_kvc_rows_size(void)
{
    refuse_bad_configs(size_of_config);
    refuse_bad_rows(size_of_config);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_size(&world.config, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_size(&world.config, (size_t *)off_by(&OUT->size, 1)));
    /* As many sequences as there may be. */
    kvc_config_t config = world.config;
    size_t size = 0;
    config.max_seqs = 4096;
    CHECK_OK(kvc_rows_size(&config, &size));
    CHECK(size > 4096 * sizeof(uint32_t));
}

void misuse_of_kvc_rows_init(void)
{
    const kvc_config_t *config = &world.config;
    size_t size = 0;
    CHECK_OK(kvc_rows_size(config, &size));
    CHECK(size <= sizeof spare_storage);
    refuse_bad_configs(init_with_config);
    refuse_bad_rows(init_with_config);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_init(NULL, size, config, &OUT->cache));
    for (size_t by = 1; by < KVC_ALIGN; by++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_init(off_by(spare_storage, by), size, config, &OUT->cache));
    }
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_init(spare_storage, size, config, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_rows_init(spare_storage, size, config, (kvc_cache_t **)off_by(&OUT->cache, 1)));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_rows_init(spare_storage, size - 1, config, &OUT->cache));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_rows_init(spare_storage, 0, config, &OUT->cache));
    /* Storage of exactly its size, whatever it held. */
    kvc_cache_t *cache = NULL;
    void *edge = at_edge(size, 0xFF);
    CHECK_OK(kvc_rows_init(edge, size, config, &cache));
    append_rows(cache, new_seq(cache), 4);
    CHECK_OK(kvc_cache_release(cache));
}

static const uint32_t placed[2] = {0, 1};

static kvc_status_t place_both(kvc_cache_t *cache)
{
    return kvc_rows_place_step(cache, 0, placed, 2, OUT->spans, 4, OUT->u32);
}

/* Every other argument of the placed step. */
static void refuse_bad_arguments(void)
{
    kvc_cache_t *rows = world.rows;
    kvc_span_t *out = OUT->spans;
    uint32_t *n = OUT->u32;
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_place_step(rows, 0, NULL, 2, out, 4, n));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_place_step(rows, 0, placed, 0, out, 4, n));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_place_step(rows, 0, placed, 2, NULL, 4, n));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_place_step(rows, 0, placed, 2, out, 4, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_rows_place_step(rows, 0, (const uint32_t *)off_by(placed, 1), 1, out, 4, n));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_place_step(rows, 0, placed, 2, (kvc_span_t *)off_by(out, 2), 3, n));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_place_step(rows, 0, placed, 2, out, 4, (uint32_t *)off_by(n, 3)));
    /* Positions in the middle of the spans. */
    const uint32_t *inside = &out[1].plan.position;
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_place_step(rows, 0, inside, 2, out, 4, n));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_rows_place_step(rows, 2, placed, 2, out, 4, n));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_rows_place_step(rows, 256, placed, 2, out, 4, n));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_rows_place_step(rows, UINT32_MAX, placed, 2, out, 4, n));
}

static void refuse_bad_positions(void)
{
    static const uint32_t ids[3] = {1, 0, 1}, good[3] = {2, 8, 3}, other[3] = {4, 9, 5};
    static const uint32_t bad[][3] = {
        {1, 8, 3}, {3, 8, 4}, {2, 7, 3}, {2, 9, 3}, {2, 8, 2}, {2, 8, 4}, {2, 8, UINT32_MAX}, {UINT32_MAX, 8, 3},
    };
    kvc_cache_t *rows = world.rows;
    kvc_span_t *out = OUT->spans;
    uint32_t needed = 0, n = 0;
    CHECK_OK(kvc_batch_declare_step(rows, ids, 3));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        REFUSED(KVC_ERR_BAD_POSITION, kvc_rows_place_step(rows, 0, bad[i], 3, out, 4, OUT->u32));
    }
    REFUSED(KVC_ERR_NO_STEP, kvc_rows_place_step(rows, 0, good, 2, out, 4, OUT->u32));
    /* The number of spans is told beside this status, and nothing is placed. */
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_rows_place_step(rows, 0, good, 3, out, 2, &needed));
    CHECK_EQ(3, needed);
    needed = 0;
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_rows_place_step(rows, 1, good, 3, NULL, 0, &needed));
    CHECK_EQ(3, needed);
    CHECK_EQ(8, len_of_seq(rows, 0));
    CHECK_OK(kvc_rows_place_step(rows, 0, good, 3, out, 3, &n));
    CHECK_EQ(3, n);
    REFUSED(KVC_ERR_NO_STEP, kvc_rows_place_step(rows, 0, other, 3, out, 4, OUT->u32));
    CHECK_OK(kvc_batch_rewind(rows, 1, 4));
    REFUSED(KVC_ERR_NO_STEP, kvc_rows_place_step(rows, 0, good, 3, out, 4, OUT->u32));
}

void misuse_of_kvc_rows_place_step(void)
{
    refuse_all_caches_but(OFFERED_BY_ROWS, place_both);
    refuse_bad_arguments();
    REFUSED(KVC_ERR_NO_STEP, kvc_rows_place_step(world.rows, 0, placed, 1, OUT->spans, 4, OUT->u32));
    REFUSED(KVC_ERR_NO_STEP, kvc_rows_place_step(world.rows, 0, placed + 1, 1, OUT->spans, 4, OUT->u32));
    refuse_bad_positions();
}

static kvc_status_t list_held(kvc_cache_t *cache)
{
    return kvc_rows_held(cache, 0, 0, OUT->runs, 4, OUT->u32);
}

void misuse_of_kvc_rows_held(void)
{
    kvc_cache_t *rows = world.rows;
    kvc_run_t *out = OUT->runs;
    static const uint32_t dead[] = {2, 3, 4096, UINT32_MAX};
    refuse_all_caches_but(OFFERED_BY_ROWS, list_held);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_held(rows, 0, 0, NULL, 1, OUT->u32));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_held(rows, 0, 0, (kvc_run_t *)off_by(out, 1), 3, OUT->u32));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_held(rows, 0, 0, out, 4, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rows_held(rows, 0, 0, out, 4, (uint32_t *)off_by(OUT->u32, 2)));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_rows_held(rows, 2, 0, out, 4, OUT->u32));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_rows_held(rows, UINT32_MAX, 0, out, 4, OUT->u32));
    for (size_t i = 0; i < sizeof dead / sizeof dead[0]; i++) {
        REFUSED(KVC_ERR_BAD_SEQUENCE, kvc_rows_held(rows, 0, dead[i], out, 4, OUT->u32));
    }
    uint32_t needed = 0;
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_rows_held(rows, 0, 0, NULL, 0, &needed));
    CHECK_EQ(1, needed);
    /* The window of position 8 is 5 to 7 of a ring of 7 rows: in two runs. */
    needed = 0;
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_rows_held(rows, 1, 0, out, 1, &needed));
    CHECK_EQ(2, needed);
}

void misuse_of_kvc_rows_register(void)
{
    refuse_bad_registries(kvc_rows_register);
    CHECK_OK(kvc_rows_register(world.registry));
    REFUSED(KVC_ERR_ALREADY_EXISTS, kvc_rows_register(world.registry));
}
