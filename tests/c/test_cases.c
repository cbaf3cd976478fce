/* The cases of the cases page for one sequence through the C ABI, each with its neighbours: S1 to S8b, rewinds,
 * positions and commits. S9 to S13 are in test_cases_pools.c. */

#include <string.h>

#include "models.h"
#include "naive.h"
#include "support.h"

static uint64_t storage[CACHE_BYTES / 8];

static kvc_cache_t *build_layers(const kvc_layer_t *layers, uint32_t n_layers, uint32_t capacity, uint32_t max_write)
{
    kvc_config_t config = config_of(layers, n_layers, capacity);
    config.max_write = max_write;
    return build(storage, &config);
}

/* The length is where it was, and a step of every layer begins there. */
static void check_length(kvc_cache_t *cache, uint32_t n_layers, uint32_t length)
{
    CHECK_EQ(length, length_of(cache));
    for (uint32_t layer = 0; layer < n_layers; layer++) {
        kvc_seq_plan_t plan;
        CHECK_OK(kvc_seq_plan(cache, layer, length, 1, &plan));
        CHECK_EQ(length, plan.position);
    }
}

/* Refused from `first` to `last`, and the length stays. */
static void check_evicted(kvc_cache_t *cache, uint32_t first, uint32_t last)
{
    uint32_t length = length_of(cache);
    for (uint32_t target = first; target <= last; target++) {
        CHECK_STATUS(KVC_ERR_EVICTED, kvc_rewind(cache, target));
        CHECK_EQ(length, length_of(cache));
    }
}

static void S1_rewind_beyond_a_ring_of_single_steps(void)
{
    kvc_cache_t *cache = build_ring(storage, 4, 1, 0);
    steps_of_one(cache, 10);
    check_evicted(cache, 6, 6);
    CHECK_EQ(9, floor_of(cache));
    check_length(cache, 1, 10);
    /* The plan above has begun the step at 10, whose row was position 6's. */
    cache = build_ring(storage, 4, 1, 0);
    steps_of_one(cache, 10);
    check_evicted(cache, 1, 8);
    CHECK_STATUS(KVC_ERR_CANNOT_GROW, kvc_rewind(cache, 11));
    CHECK_OK(kvc_rewind(cache, 9));

    /* Rollback rows hold that many tokens more. */
    cache = build_ring(storage, 4, 1, 3);
    steps_of_one(cache, 10);
    CHECK_EQ(6, floor_of(cache));
    check_evicted(cache, 1, 5);
    CHECK_OK(kvc_rewind(cache, 6));

    /* Sinks stay: a length within them needs nothing else. */
    kvc_layer_t layer = ring_with_sinks(4, 2);
    cache = build_layers(&layer, 1, KVC_UNBOUNDED, 1);
    steps_of_one(cache, 10);
    CHECK_EQ(9, floor_of(cache));
    check_evicted(cache, 3, 8);
    CHECK_OK(kvc_rewind(cache, 2));
    CHECK_EQ(0, floor_of(cache));

    /* A query in a window of one sees itself alone. */
    cache = build_ring(storage, 1, 1, 0);
    steps_of_one(cache, 10);
    CHECK_EQ(0, floor_of(cache));
    CHECK_OK(kvc_rewind(cache, 3));
}

static void S2_rewinding_twice(void)
{
    for (uint32_t second = 1; second <= 5; second++) {
        kvc_cache_t *cache = build_ring(storage, 4, 4, 0);
        step(cache, 4);
        step(cache, 4);
        step(cache, 2);
        CHECK_EQ(6, floor_of(cache));
        CHECK_OK(kvc_rewind(cache, 6));
        check_evicted(cache, second, second);
        CHECK_EQ(6, floor_of(cache));
        /* What was taken back is written anew, and with that it can be taken back again. */
        steps_of_one(cache, 2);
        CHECK_EQ(6, floor_of(cache));
        CHECK_OK(kvc_rewind(cache, 7));
        CHECK_OK(kvc_rewind(cache, 6));
        CHECK_OK(kvc_rewind(cache, 0));
    }
}

static void S3_a_step_that_another_layer_refuses(void)
{
    const kvc_layer_t flat_first[] = {flat_layer(), ring_layer(4)};
    const kvc_layer_t ring_first[] = {ring_layer(4), flat_layer(), ring_layer(9)};
    /* A step limit of its own, and the window in its place. */
    for (uint32_t max_write = 0; max_write <= 4; max_write += 4) {
        kvc_seq_plan_t plan, plans[3];
        uint32_t n_groups;
        kvc_cache_t *cache = build_layers(flat_first, 2, 64, max_write);
        watch(storage, sizeof storage);
        REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_seq_plan(cache, 0, 0, 5, &plan));
        REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_seq_plan(cache, 1, 0, 5, &plan));
        REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_seq_plan_step(cache, 0, 5, plans, 3, &n_groups));
        check_length(cache, 2, 0);
        /* The smallest ring is the limit of the whole model. */
        cache = build_layers(ring_first, 3, 64, max_write);
        REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_seq_plan(cache, 1, 0, 5, &plan));
        REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_seq_plan(cache, 2, 0, 5, &plan));
        check_length(cache, 3, 0);
        unwatch_all();
        /* More than one step may hold is no question of room. */
        bool fits = false;
        CHECK_OK(kvc_can_extend(cache, 5, &fits));
        CHECK(fits);
        CHECK_OK(kvc_seq_plan(cache, 1, 0, 4, &plan));
    }
}

static void S4_reading_after_a_rewind_past_the_wrap(void)
{
    kvc_layer_t layer = ring_layer(8);
    for (uint32_t target = 16; target <= 20; target++) {
        kvc_cache_t *cache = build_ring(storage, 8, 4, 0);
        naive_layout_t layout = naive_layout(&layer, 4, 0, KVC_UNBOUNDED);
        steps_of_one(cache, 20);
        check_evicted(cache, 15, 15);
        CHECK_OK(kvc_rewind(cache, target));
        kvc_seq_plan_t plan = step(cache, 1);
        naive_check_plan(&layout, target, 1, &plan);
        uint32_t column = 0;
        for (uint32_t run = 0; run < plan.n_read; run++) {
            for (uint32_t i = 0; i < plan.read[run].len; i++, column++) {
                uint32_t position = plan.read[run].pos + i;
                CHECK_EQ(target - 7 + column, position);
                CHECK_EQ(position % 11, plan.read[run].start + i);
            }
        }
        CHECK_EQ(8, column);
    }
}

static void S5_a_refused_rewind_moves_no_group(void)
{
    const kvc_layer_t flat_first[] = {flat_layer(), ring_layer(4)};
    const kvc_layer_t flat_last[] = {ring_layer(4), ring_layer(9), flat_layer()};
    for (uint32_t n_layers = 2; n_layers <= 3; n_layers++) {
        kvc_cache_t *cache = build_layers(n_layers == 2 ? flat_first : flat_last, n_layers, 64, 1);
        steps_of_one(cache, 10);
        watch(storage, sizeof storage);
        REFUSED(KVC_ERR_EVICTED, kvc_rewind(cache, 7));
        REFUSED(KVC_ERR_CANNOT_GROW, kvc_rewind(cache, 11));
        unwatch_all();
        check_length(cache, n_layers, 10);
        kvc_seq_plan_t plan;
        CHECK_OK(kvc_seq_plan(cache, n_layers == 2 ? 0 : 2, 10, 1, &plan));
        CHECK_EQ(11, plan.read_len);
        CHECK_EQ(10, plan.write[0].start);
    }
}

/* Checks how many keys each query of the plan sees. */
static void check_keys_seen(const kvc_seq_plan_t *plan, uint32_t window, uint32_t sinks)
{
    static uint8_t mask[160 * 512];
    CHECK_OK(kvc_plan_mask_bytes(plan, NULL, KVC_COLUMNS_READ, mask, sizeof mask, plan->read_len));
    for (uint32_t i = 0; i < plan->n_tokens; i++) {
        uint32_t query = plan->position + i, seen = 0;
        for (uint32_t j = 0; j < plan->read_len; j++) {
            seen += mask[i * plan->read_len + j];
        }
        CHECK_EQ(query + 1 < window + sinks ? query + 1 : window + sinks, seen);
    }
}

static void S6_a_window_counts_the_query_itself(void)
{
    for (uint32_t sinks = 0; sinks <= 4; sinks += 4) {
        for (uint32_t prefill = 1; prefill <= 160; prefill += 53) {
            kvc_layer_t layer = ring_with_sinks(128, sinks);
            kvc_cache_t *cache = build_layers(&layer, 1, KVC_UNBOUNDED, prefill == 1 ? 0 : 160);
            kvc_seq_plan_t plan;
            for (uint32_t i = 0; i < 3; i++) {
                plan = step(cache, prefill);
                check_keys_seen(&plan, 128, sinks);
            }
            for (uint32_t i = 0; i < 300; i++) {
                plan = step(cache, 1);
                check_keys_seen(&plan, 128, sinks);
                CHECK_EQ(KVC_MASK_NONE, plan.mask);
            }
            CHECK_EQ(128 + sinks, plan.read_len);
        }
    }
}

static void S7_positions_that_are_not_the_length(void)
{
    kvc_cache_t *cache = build_ring(storage, 4, 4, 0);
    kvc_seq_plan_t plan;
    memset(&plan, 0x5A, sizeof plan);
    step(cache, 4);
    step(cache, 4);
    watch(storage, sizeof storage);
    watch(&plan, sizeof plan);
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan(cache, 0, 9, 1, &plan));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan(cache, 0, 7, 1, &plan));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan(cache, 0, 8, 0, &plan));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan(cache, 0, UINT32_MAX, 1, &plan));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan(cache, 0, UINT32_MAX, UINT32_MAX, &plan));
    REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_seq_plan(cache, 0, 8, UINT32_MAX, &plan));
    /* Within the newest step, or all of it and more, is not the newest step. */
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan(cache, 0, 4, 3, &plan));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan(cache, 0, 5, 3, &plan));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan(cache, 0, 0, 4, &plan));
    unwatch_all();
    CHECK_OK(kvc_seq_plan(cache, 0, 4, 4, &plan));
    CHECK_EQ(8, length_of(cache));
}

static void S7_positions_up_to_the_last_one(void)
{
    const uint32_t half = 0x7fffffff;
    kvc_cache_t *cache = build_ring(storage, 4, half, 0);
    kvc_seq_plan_t plan;
    bool fits = true;
    step(cache, half);
    step(cache, half);
    CHECK_EQ(UINT32_MAX - 1, length_of(cache));
    CHECK_STATUS(KVC_ERR_OUT_OF_CAPACITY, kvc_seq_plan(cache, 0, UINT32_MAX - 1, 2, &plan));
    CHECK_STATUS(KVC_ERR_OUT_OF_CAPACITY, kvc_seq_plan(cache, 0, UINT32_MAX - 1, half, &plan));
    plan = step(cache, 1);
    CHECK_EQ(4, plan.read_len);
    CHECK_EQ(UINT32_MAX - 1, plan.read[plan.n_read - 1].pos + plan.read[plan.n_read - 1].len - 1);
    CHECK_EQ((UINT32_MAX - 1) % (half + 3u), plan.write[0].start);
    CHECK_EQ(UINT32_MAX, length_of(cache));
    CHECK_OK(kvc_can_extend(cache, 1, &fits));
    CHECK(!fits);
    CHECK_STATUS(KVC_ERR_OUT_OF_CAPACITY, kvc_seq_plan(cache, 0, UINT32_MAX, 1, &plan));
    CHECK_OK(kvc_rewind(cache, UINT32_MAX - 1));
    step(cache, 1);

    /* The longest step there is has 2^32 - 2 tokens. */
    cache = build_ring(storage, 4, UINT32_MAX, 0);
    CHECK_STATUS(KVC_ERR_NEVER_FITS, kvc_seq_plan(cache, 0, 0, UINT32_MAX, &plan));
    step(cache, UINT32_MAX - 1);
    CHECK_STATUS(KVC_ERR_NEVER_FITS, kvc_seq_plan(cache, 0, UINT32_MAX - 1, UINT32_MAX, &plan));
    CHECK_STATUS(KVC_ERR_OUT_OF_CAPACITY, kvc_seq_plan(cache, 0, UINT32_MAX - 1, 2, &plan));
    step(cache, 1);

    kvc_layer_t layer = ring_layer(4);
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_layout_plan(&layer, 4, 0, UINT32_MAX, 1, &plan));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_layout_plan(&layer, 4, 0, UINT32_MAX - 3, 4, &plan));
    CHECK_OK(kvc_layout_plan(&layer, 4, 0, UINT32_MAX - 4, 4, &plan));
    naive_layout_t layout = naive_layout(&layer, 4, 0, KVC_UNBOUNDED);
    CHECK_EQ(naive_row(&layout, UINT32_MAX - 4), plan.write[0].start);
}

static void check_stale(kvc_cache_t *cache, const kvc_seq_plan_t *plan, uint32_t accepted)
{
    uint32_t length = length_of(cache);
    watch(storage, sizeof storage);
    REFUSED(KVC_ERR_STALE_PLAN, kvc_seq_commit(cache, plan, accepted));
    unwatch_all();
    CHECK_EQ(length, length_of(cache));
}

static void S8_commits_of_old_plans(void)
{
    kvc_cache_t *cache = build_flat(storage, 64);
    step(cache, 4);
    kvc_seq_plan_t first = plan_next(cache, 4);
    CHECK_OK(kvc_rewind(cache, 2));
    check_stale(cache, &first, 4);

    cache = build_flat(storage, 64);
    first = plan_next(cache, 4);
    CHECK_OK(kvc_seq_commit(cache, &first, 1));
    kvc_seq_plan_t second = plan_next(cache, 4);
    check_stale(cache, &first, 1);
    CHECK_OK(kvc_seq_commit(cache, &second, 4));
    check_stale(cache, &first, 1);
    check_stale(cache, &first, 4);
    check_stale(cache, &second, 3);
    CHECK_OK(kvc_seq_commit(cache, &second, 4));
    CHECK_EQ(5, length_of(cache));
}

static void S8_everything_that_makes_a_plan_old(void)
{
    kvc_cache_t *cache = build_flat(storage, 64);
    kvc_seq_plan_t plan = plan_next(cache, 4);
    CHECK_OK(kvc_clear(cache));
    check_stale(cache, &plan, 4);
    plan = plan_next(cache, 4);
    CHECK_OK(kvc_rewind(cache, 0));
    check_stale(cache, &plan, 4);
    /* Another step at the same place; the same one after it was closed. */
    plan = plan_next(cache, 4);
    plan_next(cache, 3);
    check_stale(cache, &plan, 4);
    plan = plan_next(cache, 4);
    CHECK_OK(kvc_seq_commit(cache, &plan, 0));
    check_stale(cache, &plan, 4);
    plan_next(cache, 4);
    check_stale(cache, &plan, 0);
    /* A plan that no cache made, and one whose step was changed. */
    kvc_layer_t layer = flat_layer();
    CHECK_OK(kvc_layout_plan(&layer, 0, 0, 0, 4, &plan));
    check_stale(cache, &plan, 4);
    plan = plan_next(cache, 4);
    plan.position = 1;
    check_stale(cache, &plan, 4);
    plan = plan_next(cache, 4);
    plan.n_tokens = 5;
    check_stale(cache, &plan, 5);
}

static void S8b_a_step_that_failed_half_way(void)
{
    /* Closed with 0; replaced by a shorter one; left open. */
    for (int end = 0; end < 3; end++) {
        kvc_cache_t *cache = build_ring(storage, 4, 4, 0);
        step(cache, 4);
        step(cache, 4);
        step(cache, 2);
        CHECK_EQ(6, floor_of(cache));
        kvc_seq_plan_t plan = plan_next(cache, 4);
        CHECK_EQ(10, floor_of(cache));
        if (end == 0) {
            CHECK_OK(kvc_seq_commit(cache, &plan, 0));
        } else if (end == 1) {
            plan_next(cache, 1);
        }
        check_evicted(cache, 1, 9);
        CHECK_EQ(10, floor_of(cache));
        CHECK_OK(kvc_rewind(cache, 10));
        CHECK_OK(kvc_rewind(cache, 0));
    }
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(S1_rewind_beyond_a_ring_of_single_steps),
        TEST(S2_rewinding_twice),
        TEST(S3_a_step_that_another_layer_refuses),
        TEST(S4_reading_after_a_rewind_past_the_wrap),
        TEST(S5_a_refused_rewind_moves_no_group),
        TEST(S6_a_window_counts_the_query_itself),
        TEST(S7_positions_that_are_not_the_length),
        TEST(S7_positions_up_to_the_last_one),
        TEST(S8_commits_of_old_plans),
        TEST(S8_everything_that_makes_a_plan_old),
        TEST(S8b_a_step_that_failed_half_way),
    };
    return RUN_ALL(cases);
}
