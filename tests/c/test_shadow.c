/* Random operations on random one-sequence caches, each followed by a shadow of the pools: no plan makes a layer read
 * a row that does not hold what the plan says, no safe rewind is refused, and no refusal changes anything.
 *
 * Arguments: operations of each run (a million by default), and a seed beside the fixed ones. */

#include <string.h>

#include "models.h"
#include "rng.h"
#include "runs.h"
#include "shadow.h"
#include "support.h"

enum { OPERATIONS_OF_A_CACHE = 400, LONGEST = 360 };

static uint64_t storage[CACHE_BYTES / 8];
static shadow_t shadow;

/* Up to four kinds of layers, up to eight layers, some of which use an earlier one's rows. */
typedef struct {
    kvc_layer_t kinds[4];
    kvc_layer_t layers[SHADOW_LAYERS];
    kvc_config_t config;
} model_t;

static kvc_layer_t random_kind(rng_t *rng, uint32_t capacity)
{
    if (capacity != KVC_UNBOUNDED && rng_one_in(rng, 3)) {
        return flat_layer();
    }
    uint32_t sinks = rng_one_in(rng, 2) ? rng_below(rng, 4) : 0;
    return ring_with_sinks(rng_from(rng, 1, 8), capacity <= sinks ? 0 : sinks);
}

static void random_model(rng_t *rng, model_t *model)
{
    static const uint32_t capacities[] = {1, 4, 9, 16, 33, 64};
    uint32_t capacity = rng_one_in(rng, 3) ? KVC_UNBOUNDED : capacities[rng_below(rng, 6)];
    uint32_t n_kinds = rng_from(rng, 1, 4), n_layers = rng_from(rng, 1, SHADOW_LAYERS);
    for (uint32_t i = 0; i < n_kinds; i++) {
        model->kinds[i] = random_kind(rng, capacity);
    }
    for (uint32_t i = 0; i < n_layers; i++) {
        uint32_t donor = rng_below(rng, i + 1);
        bool shares = donor < i && rng_one_in(rng, 4);
        model->layers[i] = shares ? model->layers[donor] : model->kinds[rng_below(rng, n_kinds)];
        model->layers[i].shares_with = shares ? donor + 1 : 0;
    }
    model->config = config_of(model->layers, n_layers, capacity);
    model->config.max_write = rng_below(rng, 7);
    model->config.rollback = rng_one_in(rng, 2) ? 0 : rng_from(rng, 1, 4);
    model->config.max_context = rng_one_in(rng, 3) ? rng_from(rng, 1, 40) : 0;
}

static void shuffle(rng_t *rng, uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
    }
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = rng_below(rng, i), swapped = order[j];
        order[j] = order[i - 1];
        order[i - 1] = swapped;
    }
}

/* Mostly a step that fits, now and then one that does not. */
static uint32_t random_tokens(rng_t *rng)
{
    uint32_t limit = shadow.step_limit < 8 ? shadow.step_limit : 8;
    uint32_t room = shadow.bound - shadow.state.length;
    if (room < limit && room > 0 && !rng_one_in(rng, 4)) {
        limit = room;
    }
    if (rng_one_in(rng, 40)) {
        return rng_one_in(rng, 2) ? KVC_UNBOUNDED : shadow.step_limit < 60 ? shadow.step_limit + 1 : 0;
    }
    if (shadow.step_limit > 60 && shadow.state.length == 0 && rng_one_in(rng, 4)) {
        return rng_from(rng, 1, shadow.bound < 64 ? shadow.bound : 64);
    }
    return rng_from(rng, 1, limit);
}

static void random_parents(rng_t *rng, int32_t *parents, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        parents[i] = (int32_t)rng_below(rng, i + 1) - 1;
    }
}

static void random_masks(rng_t *rng, uint32_t layer)
{
    int32_t parents[NAIVE_TOKENS];
    bool tree = rng_one_in(rng, 3);
    random_parents(rng, parents, shadow.state.n_tokens);
    shadow_check_masks(&shadow, layer, tree ? parents : NULL, rng_one_in(rng, 2) ? 0 : rng_below(rng, 40));
}

/* Accepts all, some or none of the newest step. */
static void random_commit(rng_t *rng)
{
    uint32_t n = shadow.state.n_tokens;
    uint32_t accepted = rng_one_in(rng, 3) ? rng_below(rng, n + 1) : n;
    uint32_t repeats = rng_below(rng, 3);
    shadow_commit(&shadow, 0, accepted);
    while (repeats-- > 0) {
        shadow_commit(&shadow, 0, rng_one_in(rng, 4) ? rng_below(rng, n + 2) : accepted);
    }
}

/* Layer by layer in any order. A whole commit may come early; a step that fails half-way is closed, or left. */
static void step_by_layers(rng_t *rng, uint32_t n)
{
    uint32_t order[SHADOW_LAYERS], n_layers = shadow.config.n_layers, position = shadow.state.length;
    bool fails = rng_one_in(rng, 6), early = !fails && rng_one_in(rng, 4);
    uint32_t turning_point = rng_below(rng, n_layers);
    shuffle(rng, order, n_layers);
    for (uint32_t i = 0; i < n_layers; i++) {
        if (shadow_plan(&shadow, order[i], position, n) != KVC_OK) {
            return;
        }
        if (rng_one_in(rng, 16)) {
            random_masks(rng, order[i]);
        }
        if (fails && i == turning_point) {
            if (rng_one_in(rng, 2)) {
                shadow_commit(&shadow, 0, 0);
            }
            return;
        }
        if (early && i >= turning_point) {
            shadow_commit(&shadow, 0, n);
        }
    }
    if (!early && !rng_one_in(rng, 8)) {
        random_commit(rng);
    }
}

static void step_at_once(rng_t *rng, uint32_t n)
{
    if (shadow_plan_step(&shadow, shadow.state.length, n) == KVC_OK) {
        if (rng_one_in(rng, 8)) {
            random_masks(rng, rng_below(rng, shadow.config.n_layers));
        }
        if (!rng_one_in(rng, 8)) {
            random_commit(rng);
        }
    }
}

/* Any layer, any position, any number of tokens: most of these are refused, some are the newest step again. */
static void plan_anything(rng_t *rng)
{
    uint32_t layer = rng_below(rng, shadow.config.n_layers + 1);
    uint32_t position = rng_one_in(rng, 2) ? shadow.state.position : shadow.state.length + 2 - rng_below(rng, 4);
    uint32_t n = rng_one_in(rng, 2) ? shadow.state.n_tokens : rng_below(rng, 5);
    if (position != shadow.state.length) {
        shadow_plan(&shadow, layer, position, n);
    }
}

static void rewind_anywhere(rng_t *rng)
{
    uint32_t length = shadow.state.length;
    switch (rng_below(rng, 4)) {
    case 0:
        shadow_rewind(&shadow, rng_below(rng, length + 1));
        break;
    case 1:
        shadow_rewind(&shadow, length + rng_below(rng, 3));
        break;
    default:
        shadow_rewind(&shadow, length - rng_below(rng, (length < 6 ? length : 6) + 1));
        break;
    }
}

/* Fresh plans, stale ones, and numbers that were not committed before. A step that not every layer has written is only
 * ever committed with 0. */
static void commit_anything(rng_t *rng)
{
    uint32_t age = rng_below(rng, shadow.state.n_plans);
    bool may_keep = age > 0 || shadow_is_written(&shadow);
    shadow_commit(&shadow, age, may_keep ? rng_below(rng, 6) : 0);
}

static void one_operation(rng_t *rng)
{
    uint32_t pick = rng_below(rng, 100);
    if (shadow.state.length > LONGEST || pick == 0) {
        shadow_clear(&shadow);
    } else if (pick < 16) {
        rewind_anywhere(rng);
    } else if (pick < 22) {
        shadow_check_queries(&shadow, rng_from(rng, 1, 70));
    } else if (pick < 30) {
        plan_anything(rng);
    } else if (pick < 36 && shadow.state.n_plans > 0) {
        commit_anything(rng);
    } else if (pick < 70) {
        step_by_layers(rng, random_tokens(rng));
    } else {
        step_at_once(rng, random_tokens(rng));
    }
}

static void one_cache(rng_t *rng, tally_t *tally)
{
    model_t model;
    random_model(rng, &model);
    shadow_init(&shadow, storage, sizeof storage, &model.config);
    while (shadow.operations < OPERATIONS_OF_A_CACHE) {
        one_operation(rng);
    }
    CHECK_OK(kvc_cache_release(shadow.cache));
    tally->operations += shadow.operations;
}

int main(int argc, char **argv)
{
    return run_at_random(argc, argv, 1000000, 20240615, one_cache);
}
