/* Misuse of the functions without an object: versions, plans by arithmetic, masks, sizes, configs. */

#include <string.h>

#include "edge.h"
#include "misuse.h"
#include "rng.h"

#define OUT (&world.out)

void misuse_of_kvc_abi_version(void)
{
    CHECK_EQ(KVC_ABI_VERSION, kvc_abi_version());
}

void misuse_of_kvc_status_name(void)
{
    static const kvc_status_t unknown[] = {-1, 24, 1000, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        CHECK_TEXT("KVC_ERR_UNKNOWN", kvc_status_name(unknown[i]));
    }
}

void misuse_of_kvc_set_event_hook(void)
{
    /* A context without a hook: nobody is called. */
    kvc_set_event_hook(NULL, &world);
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_clear(NULL));
    kvc_set_event_hook(NULL, NULL);
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_clear(NULL));
}

void misuse_of_kvc_grow_rows(void)
{
    CHECK_EQ(0, kvc_grow_rows(0, 0, 0));
    CHECK_EQ(0, kvc_grow_rows(0, 1, 0));
    CHECK_EQ(0, kvc_grow_rows(8, UINT32_MAX, UINT32_MAX - 1));
    CHECK_EQ(8, kvc_grow_rows(16, 4, 8));
    CHECK_EQ(UINT32_MAX, kvc_grow_rows(UINT32_MAX, UINT32_MAX, UINT32_MAX));
    CHECK_EQ(UINT32_MAX - 1, kvc_grow_rows(1, 0x80000001u, UINT32_MAX - 1));
}

void misuse_of_kvc_pool_bytes(void)
{
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_pool_bytes(1, 1, 1, 8, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_pool_bytes(1, 1, 1, 8, (uint64_t *)off_by(&OUT->u64, 4)));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_pool_bytes(1, 0, 1, 8, &OUT->u64));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_pool_bytes(1, 1, 0, 8, &OUT->u64));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_pool_bytes(1, 1, 1, 0, &OUT->u64));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_pool_bytes(1, 1, 1, 65, &OUT->u64));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_pool_bytes(1, 1, 1, UINT32_MAX, &OUT->u64));
    /* 2^64 bytes, and one element more than 2^64 hold. */
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_pool_bytes(1u << 31, 1u << 31, 1, 32, &OUT->u64));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_pool_bytes(1u << 31, 1u << 31, 4, 8, &OUT->u64));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_pool_bytes(UINT32_MAX, UINT32_MAX, UINT32_MAX, 1, &OUT->u64));
}

void misuse_of_kvc_layout_plan(void)
{
    const kvc_layer_t ring = ring_layer(4), flat = flat_layer();
    kvc_seq_plan_t *plan = OUT->plans;
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_layout_plan(NULL, 4, 0, 0, 1, plan));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_layout_plan((const kvc_layer_t *)off_by(&ring, 2), 4, 0, 0, 1, plan));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_layout_plan(&ring, 4, 0, 0, 1, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_layout_plan(&ring, 4, 0, 0, 1, (kvc_seq_plan_t *)off_by(plan, 2)));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_layout_plan(&ring, 4, 0, 0, 0, plan));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_layout_plan(&ring, 4, 0, UINT32_MAX, 1, plan));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_layout_plan(&flat, 0, 0, 1, UINT32_MAX, plan));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_layout_plan(&flat, 0, 0, UINT32_MAX, UINT32_MAX, plan));
    REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_layout_plan(&ring, 4, 0, 0, 5, plan));
    REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_layout_plan(&ring, 0, 9, 0, 5, plan));
    REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_layout_plan(&ring, 4, 0, 0, UINT32_MAX, plan));
    REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_layout_plan(&flat, 4, 0, 0, 5, plan));
    static const kvc_layer_t bad[] = {
        {2, 4, 0, 0, 0, 0}, {UINT32_MAX, 4, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0},
        {0, 1, 0, 0, 0, 0}, {0, 0, 1, 0, 0, 0},          {1, 4, UINT32_MAX, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        REFUSED(KVC_ERR_INVALID_CONFIG, kvc_layout_plan(&bad[i], 4, 0, 0, 1, plan));
    }
    /* The largest numbers that make sense do. */
    kvc_layer_t largest = ring_with_sinks(UINT32_MAX, UINT32_MAX - 1);
    CHECK_OK(kvc_layout_plan(&largest, UINT32_MAX, UINT32_MAX, UINT32_MAX - 1, 1, plan));
    CHECK_EQ(UINT32_MAX, plan->rows_needed);
    CHECK_EQ(UINT32_MAX, plan->read_len);
}

static kvc_status_t positions_of(const kvc_seq_plan_t *plan)
{
    return kvc_plan_positions(plan, OUT->u32, 64);
}

void misuse_of_kvc_plan_positions(void)
{
    const kvc_seq_plan_t *plan = &world.plan;
    refuse_bad_plans(positions_of);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_plan_positions(plan, NULL, 64));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_plan_positions(plan, (uint32_t *)off_by(OUT->u32, 2), 63));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_plan_positions(plan, OUT->u32, SIZE_MAX));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_plan_positions(plan, OUT->u32, plan->read_len - 1));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_plan_positions(plan, OUT->u32, 0));
    uint32_t *exact = (uint32_t *)at_edge(plan->read_len * sizeof *exact, 0);
    CHECK_OK(kvc_plan_positions(plan, exact, plan->read_len));
}

/* The two forms of the mask have the same ways to be misused. `size` and `stride` count elements. */
typedef kvc_status_t (*mask_call_t)(const kvc_seq_plan_t *plan, const int32_t *parents, uint32_t columns, void *out,
                                    size_t size, size_t stride);

static void refuse_bad_masks(mask_call_t call, void *out, size_t stride)
{
    const kvc_seq_plan_t *plan = &world.plan;
    const size_t size = stride * plan->n_tokens;
    static const int32_t parents[] = {-1, 0, 1, 1};
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(plan, NULL, 0, NULL, size, stride));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(plan, NULL, 2, out, size, stride));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(plan, NULL, UINT32_MAX, out, size, stride));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(plan, (const int32_t *)off_by(parents, 1), 0, out, size, stride));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(plan, NULL, 0, out, SIZE_MAX, stride));
    for (uint32_t columns = 0; columns <= 1; columns++) {
        REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(plan, NULL, columns, out, size - 1, stride));
        REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(plan, NULL, columns, out, size, stride - 1));
        REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(plan, parents, columns, out, 0, stride));
        REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(plan, NULL, columns, out, size, 0));
        REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(plan, NULL, columns, out, size, SIZE_MAX));
        /* Four rows of a quarter of the address space and one more. */
        REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(plan, NULL, columns, out, size, SIZE_MAX / 4 + 1));
        REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(plan, NULL, columns, out, size, SIZE_MAX / 4 + 1 + stride));
    }
    static const int32_t bad_parents[][4] = {
        {0, 0, 1, 2},  {-1, 1, 0, 0}, {-1, 0, 1, 3}, {-1, 0, 1, 4},
        {-2, 0, 1, 2}, {-1, 0, INT32_MIN, 2}, {-1, 0, 1, INT32_MAX}, {1, -1, -1, -1},
    };
    for (size_t i = 0; i < sizeof bad_parents / sizeof bad_parents[0]; i++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, call(plan, bad_parents[i], 0, out, size, stride));
    }
    /* A tree of 257 nodes is refused before its parents are read. */
    kvc_layer_t flat = flat_layer();
    kvc_seq_plan_t large;
    CHECK_OK(kvc_layout_plan(&flat, 0, 0, 0, 257, &large));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(&large, parents, 0, out, size, stride));
    /* Rows near the end of 32 bits need columns that no buffer has. */
    CHECK_OK(kvc_layout_plan(&flat, 0, 0, UINT32_MAX - 4, 4, &large));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(&large, NULL, 0, out, size, stride));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, call(&large, NULL, 1, out, size, stride));
}

/* Whatever stands in a plan, nothing behind the buffer is touched. */
static void try_random_plans(mask_call_t call, void *edge, size_t size)
{
    static const uint32_t interesting[] = {0, 1, 2, 3, 4, 5, 8, 0x7FFFFFFF, 0x80000000u, UINT32_MAX - 1, UINT32_MAX};
    static const int32_t parents[] = {-1, 0, 0, 1, 3, -1, 5, 6};
    rng_t rng = {7};
    unsigned n_accepted = 0;
    for (unsigned i = 0; i < 200000; i++) {
        kvc_seq_plan_t plan = world.plan;
        uint32_t fields[sizeof plan / sizeof(uint32_t)];
        memcpy(fields, &plan, sizeof plan);
        for (uint32_t changes = rng_from(&rng, 0, 4); changes > 0; changes--) {
            fields[rng_below(&rng, sizeof plan / sizeof(uint32_t))] = interesting[rng_below(&rng, 11)];
        }
        memcpy(&plan, fields, sizeof plan);
        bool tree = plan.n_tokens <= 8 && rng_one_in(&rng, 2);
        kvc_status_t status =
            call(&plan, tree ? parents : NULL, rng_below(&rng, 2), edge, size, rng_below(&rng, 12));
        n_accepted += status == KVC_OK;
        CHECK(status == KVC_OK || status == KVC_ERR_INVALID_ARGUMENT || status == KVC_ERR_BUFFER_TOO_SMALL);
    }
    CHECK(n_accepted > 1000);
}

static kvc_status_t mask_bytes(const kvc_seq_plan_t *plan, const int32_t *parents, uint32_t columns, void *out,
                               size_t size, size_t stride)
{
    return kvc_plan_mask_bytes(plan, parents, columns, (uint8_t *)out, size, stride);
}

static kvc_status_t mask_bytes_of(const kvc_seq_plan_t *plan)
{
    return kvc_plan_mask_bytes(plan, NULL, KVC_COLUMNS_READ, OUT->bytes, 256, 8);
}

void misuse_of_kvc_plan_mask_bytes(void)
{
    refuse_bad_plans(mask_bytes_of);
    refuse_bad_masks(mask_bytes, OUT->bytes, 8);
    try_random_plans(mask_bytes, at_edge(40, 0), 40);
}

static kvc_status_t mask_bits(const kvc_seq_plan_t *plan, const int32_t *parents, uint32_t columns, void *out,
                              size_t size, size_t stride)
{
    return kvc_plan_mask_bits(plan, parents, columns, (uint32_t *)out, size, stride);
}

static kvc_status_t mask_bits_of(const kvc_seq_plan_t *plan)
{
    return kvc_plan_mask_bits(plan, NULL, KVC_COLUMNS_READ, OUT->u32, 64, 1);
}

void misuse_of_kvc_plan_mask_bits(void)
{
    refuse_bad_plans(mask_bits_of);
    refuse_bad_masks(mask_bits, OUT->u32, 1);
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_plan_mask_bits(&world.plan, NULL, 0, (uint32_t *)off_by(OUT->u32, 1), 4, 1));
    /* 33 columns take two words. */
    kvc_layer_t flat = flat_layer();
    kvc_seq_plan_t plan;
    CHECK_OK(kvc_layout_plan(&flat, 0, 0, 31, 2, &plan));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_plan_mask_bits(&plan, NULL, 0, OUT->u32, 64, 1));
    try_random_plans(mask_bits, at_edge(64, 0), 16);
}

void misuse_of_kvc_config_check(void)
{
    refuse_bad_configs(kvc_config_check);
    CHECK_OK(kvc_config_check(&world.config));
}
