/* The cases of the cases page for one sequence through the C ABI, each with its neighbours: S9 to S13, masks, growth,
 * drafts, emptying and sizes. S1 to S8b are in test_cases.c. */

#include <string.h>

#include "models.h"
#include "naive.h"
#include "shadow.h"
#include "support.h"

static uint64_t storage[CACHE_BYTES / 8];

static void S9_each_query_has_its_own_lower_bound(void)
{
    static const uint8_t expected[4][7] = {
        {1, 1, 1, 1, 0, 0, 0}, {0, 1, 1, 1, 1, 0, 0}, {0, 0, 1, 1, 1, 1, 0}, {0, 0, 0, 1, 1, 1, 1}};
    uint8_t mask[4][7];
    kvc_layer_t layer = ring_layer(4);
    naive_layout_t layout = naive_layout(&layer, 4, 0, KVC_UNBOUNDED);
    kvc_cache_t *cache = build_ring(storage, 4, 4, 0);
    step(cache, 4);
    kvc_seq_plan_t plan = step(cache, 4);
    CHECK_EQ(KVC_MASK_WINDOW, plan.mask);
    CHECK_OK(kvc_plan_mask_bytes(&plan, NULL, KVC_COLUMNS_READ, mask[0], sizeof mask, 7));
    CHECK(memcmp(mask, expected, sizeof mask) == 0);
    naive_check_masks(&layout, &plan, NULL, 3);
}

static void S9_masks_of_all_small_steps(void)
{
    for (uint32_t window = 0; window <= 40; window += window < 5 ? 1 : 7) {
        for (uint32_t sinks = 0; sinks <= (window == 0 ? 0 : 3); sinks++) {
            kvc_layer_t layer = ring_with_sinks(window, sinks);
            naive_layout_t layout = naive_layout(&layer, 33, 2, window == 0 ? 300 : KVC_UNBOUNDED);
            for (uint32_t n = 1; n <= 33; n += n < 5 ? 1 : 14) {
                for (uint32_t position = 0; position <= 2 * (window + 40); position += 1 + position / 16) {
                    kvc_seq_plan_t plan;
                    CHECK_OK(kvc_layout_plan(&layer, 33, 2, position, n, &plan));
                    CHECK(naive_check_plan(&layout, position, n, &plan));
                    naive_check_masks(&layout, &plan, NULL, position % 40);
                }
            }
        }
    }
}

/* All trees of four nodes: a node's parent is an earlier one, or the committed prefix. */
static void S9_masks_of_all_small_trees(void)
{
    for (uint32_t window = 0; window <= 5; window++) {
        kvc_layer_t layer = ring_with_sinks(window, window == 0 ? 0 : window % 3);
        naive_layout_t layout = naive_layout(&layer, 4, 1, window == 0 ? 64 : KVC_UNBOUNDED);
        for (int32_t tree = 0; tree < 24; tree++) {
            const int32_t parents[4] = {-1, tree % 2 - 1, tree / 2 % 3 - 1, tree / 6 - 1};
            for (uint32_t position = 0; position <= 16; position++) {
                kvc_seq_plan_t plan;
                CHECK_OK(kvc_layout_plan(&layer, 4, 1, position, 4, &plan));
                naive_check_masks(&layout, &plan, parents, position);
            }
        }
    }
}

/* A tree without branches is a plain step; with nothing but roots, each sees the prefix and itself. */
static void S9_masks_of_the_largest_trees(void)
{
    enum { NODES = 256, PREFIX = 44, COLUMNS = PREFIX + NODES };
    static int32_t chain[NODES], roots[NODES];
    static uint8_t plain[NODES][COLUMNS], tree[NODES][COLUMNS];
    kvc_layer_t layer = flat_layer();
    kvc_seq_plan_t plan;
    for (int32_t i = 0; i < NODES; i++) {
        chain[i] = i - 1;
        roots[i] = -1;
    }
    CHECK_OK(kvc_layout_plan(&layer, 0, 0, PREFIX, NODES, &plan));
    CHECK_OK(kvc_plan_mask_bytes(&plan, NULL, KVC_COLUMNS_READ, plain[0], sizeof plain, COLUMNS));
    CHECK_OK(kvc_plan_mask_bytes(&plan, chain, KVC_COLUMNS_READ, tree[0], sizeof tree, COLUMNS));
    CHECK(memcmp(plain, tree, sizeof plain) == 0);
    CHECK_OK(kvc_plan_mask_bytes(&plan, roots, KVC_COLUMNS_POOL, tree[0], sizeof tree, COLUMNS));
    for (uint32_t i = 0; i < NODES; i++) {
        bool right = true;
        for (uint32_t j = 0; j < COLUMNS; j++) {
            right &= tree[i][j] == (j < PREFIX || j == PREFIX + i);
        }
        CHECK(right);
    }
}

static void S10_growth_in_one_call(void)
{
    kvc_cache_t *cache = build_flat(storage, 1024);
    step(cache, 1);
    kvc_seq_plan_t plan = step(cache, 256);
    CHECK_EQ(257, plan.rows_needed);
    CHECK_EQ(512, kvc_grow_rows(1, plan.rows_needed, 1024));
    CHECK_EQ(512, kvc_grow_rows(0, 257, 1024));
    CHECK_EQ(300, kvc_grow_rows(1, 257, 300));
    CHECK_EQ(257, kvc_grow_rows(1, 257, 257));
    CHECK_EQ(0, kvc_grow_rows(1, 257, 256));
    CHECK_EQ(600, kvc_grow_rows(600, 257, 1024));
    CHECK_EQ(UINT32_MAX, kvc_grow_rows(0x80000001u, UINT32_MAX, UINT32_MAX));
    CHECK_EQ(UINT32_MAX, kvc_grow_rows(1, UINT32_MAX, UINT32_MAX));
    CHECK_EQ(0x80000000u, kvc_grow_rows(1, 0x80000000u, UINT32_MAX));
}

static void S11_drafts(void)
{
    static const uint32_t accepted[] = {1, 0, 4, 2, 3, 0, 0, 1, 4, 4};
    static shadow_t shadow;
    kvc_layer_t layers[] = {ring_layer(8), ring_with_sinks(8, 3)};
    kvc_config_t config = config_of(layers, 2, KVC_UNBOUNDED);
    config.max_write = 4;
    config.rollback = 4;
    shadow_init(&shadow, storage, sizeof storage, &config);
    for (uint32_t i = 0; i < 100; i++) {
        shadow_plan_step(&shadow, i, 1);
        shadow_commit(&shadow, 0, 1);
    }
    for (uint32_t i = 0; i < 100; i++) {
        shadow_plan_step(&shadow, shadow.state.length, 4);
        shadow_check_masks(&shadow, i % 2, NULL, 0);
        shadow_commit(&shadow, 0, accepted[i % 10]);
        shadow_check_queries(&shadow, 4);
        if (i % 7 == 0) {
            /* Four tokens can always be taken back once they were kept. */
            CHECK(floor_of(shadow.cache) <= shadow.state.length);
            shadow_rewind(&shadow, shadow.state.length - i % 5);
        }
    }
}

static void S12_rewind_to_nothing(void)
{
    const kvc_layer_t layers[] = {ring_layer(3), flat_layer(), ring_with_sinks(2, 2), ring_layer(1)};
    for (uint32_t n_layers = 1; n_layers <= 4; n_layers++) {
        for (int by_clear = 0; by_clear < 2; by_clear++) {
            kvc_seq_plan_t plan, fresh[4];
            kvc_config_t config = config_of(layers, n_layers, 64);
            config.max_write = 2;
            kvc_cache_t *cache = build(storage, &config);
            for (uint32_t layer = 0; layer < n_layers; layer++) {
                CHECK_OK(kvc_seq_plan(cache, layer, 0, 2, &fresh[layer]));
            }
            steps_of_one(cache, 20);
            CHECK_OK(by_clear ? kvc_clear(cache) : kvc_rewind(cache, 0));
            CHECK_EQ(0, length_of(cache));
            CHECK_EQ(0, floor_of(cache));
            for (uint32_t layer = 0; layer < n_layers; layer++) {
                CHECK_OK(kvc_seq_plan(cache, layer, 0, 2, &plan));
                CHECK(plan.epoch > fresh[layer].epoch);
                plan.epoch = fresh[layer].epoch;
                CHECK(memcmp(&plan, &fresh[layer], sizeof plan) == 0);
            }
        }
    }
}

static void S13_pools_beyond_32_bits(void)
{
    uint64_t bytes = 0;
    CHECK_OK(kvc_pool_bytes(1u << 31, 8, 128, 16, &bytes));
    CHECK_EQ((uint64_t)1 << 42, bytes);
    CHECK_OK(kvc_pool_bytes(UINT32_MAX, 8, 128, 4, &bytes));
    CHECK_EQ((uint64_t)UINT32_MAX * 512, bytes);
    CHECK_OK(kvc_pool_bytes(UINT32_MAX, 1, UINT32_MAX, 8, &bytes));
    CHECK_EQ((uint64_t)UINT32_MAX * UINT32_MAX, bytes);
    CHECK_OK(kvc_pool_bytes(3, 1, 3, 3, &bytes));
    CHECK_EQ(4, bytes);
    CHECK_OK(kvc_pool_bytes(0, 8, 128, 16, &bytes));
    CHECK_EQ(0, bytes);
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_pool_bytes(UINT32_MAX, UINT32_MAX, 2, 8, &bytes));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_pool_bytes(1u << 31, 1u << 31, 1, 64, &bytes));

    kvc_cache_t *cache = build_flat(storage, 1u << 31);
    kvc_layer_info_t info;
    CHECK_OK(kvc_cache_layer(cache, 0, &info));
    CHECK_EQ(1u << 31, info.rows);
    kvc_seq_plan_t plan = step(cache, 1u << 31);
    CHECK_EQ(1u << 31, plan.rows_needed);
    CHECK_STATUS(KVC_ERR_OUT_OF_CAPACITY, kvc_seq_plan(cache, 0, 1u << 31, 1, &plan));
    CHECK_STATUS(KVC_ERR_NEVER_FITS, kvc_seq_plan(cache, 0, 1u << 31, (1u << 31) + 1, &plan));
    CHECK_STATUS(KVC_ERR_NEVER_FITS, kvc_seq_plan(cache, 0, 1u << 31, UINT32_MAX, &plan));
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(S9_each_query_has_its_own_lower_bound),
        TEST(S9_masks_of_all_small_steps),
        TEST(S9_masks_of_all_small_trees),
        TEST(S9_masks_of_the_largest_trees),
        TEST(S10_growth_in_one_call),
        TEST(S11_drafts),
        TEST(S12_rewind_to_nothing),
        TEST(S13_pools_beyond_32_bits),
    };
    return RUN_ALL(cases);
}
