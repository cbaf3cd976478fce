/* Threads that share one cache: each call is atomic. Every plan is whole, all plans of one epoch are the same step, and
 * when the last thread is done the cache is in order: it plans, commits and ends. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models.h"
#include "naive.h"
#include "support.h"
#include "threads.h"

enum { ITERATIONS = 60000, LAYERS = 3, GROUPS = 3, WINDOW = 8, MAX_WRITE = 4, CAPACITY = 200 };

static uint64_t storage[CACHE_BYTES / 8];
static kvc_cache_t *cache;
static kvc_layer_t layers[LAYERS];
static naive_layout_t layouts[LAYERS];

/* The steps that each thread was given. */
typedef struct {
    uint32_t epoch, position, n_tokens;
} step_t;

static step_t steps[THREADS * ITERATIONS];
static uint32_t n_steps[THREADS];

static uint32_t ends, drops;

static void count_end(void *ctx, void *at)
{
    (void)at;
    add_to((uint32_t *)ctx, 1);
}

static void count_drop(void *object)
{
    add_to((uint32_t *)object, 1);
}

static void note_step(const thread_t *thread, const kvc_seq_plan_t *plan)
{
    step_t *step = &steps[thread->number * ITERATIONS + n_steps[thread->number]++];
    step->epoch = plan->epoch;
    step->position = plan->position;
    step->n_tokens = plan->n_tokens;
}

/* Whoever was faster has moved the length, so a step may be refused as any other of its kind. */
static bool was_planned(kvc_status_t status)
{
    bool allowed = status == KVC_OK || status == KVC_ERR_BUSY || status == KVC_ERR_BAD_POSITION ||
                   status == KVC_ERR_OUT_OF_CAPACITY;
    CHECK(allowed);
    return status == KVC_OK;
}

static void commit_some(thread_t *thread, const kvc_seq_plan_t *plan)
{
    uint32_t accepted = rng_one_in(&thread->rng, 3) ? rng_below(&thread->rng, plan->n_tokens + 1) : plan->n_tokens;
    is_ok_or(kvc_seq_commit(cache, plan, accepted), KVC_ERR_STALE_PLAN, KVC_OK);
}

static void plan_and_commit(thread_t *thread)
{
    kvc_seq_plan_t plans[GROUPS];
    uint32_t position = 0, n_groups = 0, n = rng_from(&thread->rng, 1, MAX_WRITE);
    if (!is_ok_or(kvc_length(cache, &position), KVC_OK, KVC_OK)) {
        return;
    }
    if (rng_one_in(&thread->rng, 2)) {
        uint32_t layer = rng_below(&thread->rng, LAYERS);
        if (was_planned(kvc_seq_plan(cache, layer, position, n, &plans[0]))) {
            CHECK(naive_check_plan(&layouts[layer], position, n, &plans[0]));
            note_step(thread, &plans[0]);
            commit_some(thread, &plans[0]);
        }
        return;
    }
    if (was_planned(kvc_seq_plan_step(cache, position, n, plans, GROUPS, &n_groups)) && CHECK_EQ(GROUPS, n_groups)) {
        for (uint32_t group = 0; group < GROUPS; group++) {
            CHECK(naive_check_plan(&layouts[group], position, n, &plans[group]));
            CHECK_EQ(plans[0].epoch, plans[group].epoch);
        }
        note_step(thread, &plans[0]);
        commit_some(thread, &plans[GROUPS - 1]);
    }
}

static void go_back(thread_t *thread)
{
    uint32_t length = 0, floor = 0;
    if (!is_ok_or(kvc_length(cache, &length), KVC_OK, KVC_OK)) {
        return;
    }
    CHECK(length <= CAPACITY);
    if (is_ok_or(kvc_rewind_floor(cache, &floor), KVC_OK, KVC_OK)) {
        CHECK(floor <= CAPACITY);
    }
    uint32_t target = length - (length < 3 ? length : rng_below(&thread->rng, 4));
    is_ok_or(kvc_rewind(cache, target), KVC_ERR_EVICTED, KVC_ERR_CANNOT_GROW);
    if (rng_one_in(&thread->rng, 40)) {
        is_ok_or(kvc_clear(cache), KVC_OK, KVC_OK);
    }
}

static void ask(thread_t *thread)
{
    kvc_config_t config;
    kvc_layer_info_t info;
    bool fits = false;
    uint32_t layer = rng_below(&thread->rng, LAYERS);
    if (is_ok_or(kvc_cache_config(cache, &config), KVC_OK, KVC_OK)) {
        CHECK_EQ(MAX_WRITE, config.max_write);
    }
    if (is_ok_or(kvc_cache_layer(cache, layer, &info), KVC_OK, KVC_OK)) {
        CHECK_EQ(layer, info.group);
        CHECK_EQ(layouts[layer].rows, info.rows);
    }
    if (is_ok_or(kvc_can_extend(cache, CAPACITY + 1, &fits), KVC_OK, KVC_OK)) {
        CHECK(!fits);
    }
}

static uint32_t objects[THREADS];

/* A face of each thread's own, and one that they all want. */
static void attach_faces(thread_t *thread)
{
    static const char *const names[THREADS] = {"face 0", "face 1", "face 2", "face 3"};
    const char *name = names[thread->number];
    uint32_t *own = &objects[thread->number];
    void *found = NULL;
    if (is_ok_or(kvc_cache_set_face(cache, name, own, count_drop), KVC_ERR_TABLE_FULL, KVC_OK)) {
        add_to(&drops, 1);
        if (is_ok_or(kvc_cache_face(cache, name, &found), KVC_OK, KVC_OK)) {
            CHECK(found == own);
        }
        while (!is_ok_or(kvc_cache_drop_face(cache, name), KVC_OK, KVC_OK)) {
        }
    }
    CHECK(!is_ok_or(kvc_cache_face(cache, name, &found), KVC_ERR_NOT_FOUND, KVC_OK));
}

static void hammer(thread_t *thread)
{
    for (unsigned i = 0; i < ITERATIONS; i++) {
        CHECK_OK(kvc_cache_retain(cache));
        switch (rng_below(&thread->rng, 8)) {
        case 0:
            go_back(thread);
            break;
        case 1:
            ask(thread);
            break;
        case 2:
            attach_faces(thread);
            break;
        default:
            plan_and_commit(thread);
            break;
        }
        CHECK_OK(kvc_cache_release(cache));
    }
}

static int compare_epochs(const void *a, const void *b)
{
    uint32_t x = ((const step_t *)a)->epoch, y = ((const step_t *)b)->epoch;
    return (x > y) - (x < y);
}

static void check_steps(void)
{
    uint32_t n = 0, n_epochs = 0;
    for (unsigned thread = 0; thread < THREADS; thread++) {
        memmove(&steps[n], &steps[thread * ITERATIONS], n_steps[thread] * sizeof steps[0]);
        n += n_steps[thread];
    }
    qsort(steps, n, sizeof steps[0], compare_epochs);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || steps[i].epoch != steps[i - 1].epoch) {
            n_epochs++;
        } else {
            CHECK_EQ(steps[i - 1].position, steps[i].position);
            CHECK_EQ(steps[i - 1].n_tokens, steps[i].n_tokens);
        }
    }
    CHECK(n_epochs > 100);
    printf("%u plans of %u steps\n", (unsigned)n, (unsigned)n_epochs);
}

static void test_one_cache(void)
{
    layers[0] = ring_layer(WINDOW);
    layers[1] = flat_layer();
    layers[2] = ring_with_sinks(WINDOW / 2, 2);
    kvc_config_t config = config_of(layers, LAYERS, CAPACITY);
    config.max_write = MAX_WRITE;
    config.rollback = 2;
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        layouts[layer] = naive_layout(&layers[layer], MAX_WRITE, 2, CAPACITY);
    }
    cache = build(storage, &config);
    CHECK_OK(kvc_cache_on_release(cache, count_end, &ends));
    in_threads(hammer);
    check_steps();
    uint32_t dropped = 0;
    for (unsigned thread = 0; thread < THREADS; thread++) {
        dropped += objects[thread];
    }
    CHECK_EQ(drops, dropped);
    CHECK(dropped > 0);
    CHECK_OK(kvc_clear(cache));
    steps_of_one(cache, 20);
    CHECK_EQ(20, length_of(cache));
    CHECK_EQ(0, ends);
    CHECK_OK(kvc_cache_release(cache));
    CHECK_EQ(1, ends);
}

int main(void)
{
    static const test_case_t cases[] = {TEST(test_one_cache)};
    return RUN_ALL(cases);
}
