/* Random operations on random private-row caches, each followed by shadows of the pools of every sequence: no span
 * makes a layer read a row that does not hold what its plan says, clones included; no safe rewind is refused, and no
 * refusal changes anything.
 *
 * Arguments: operations of each run (100 thousand by default), and a seed beside the fixed ones. */

#include "models.h"
#include "rng.h"
#include "rows_shadow.h"
#include "runs.h"
#include "support.h"

enum { OPERATIONS_OF_A_CACHE = 500, LONGEST = 200 };

static uint64_t storage[ROWS_BYTES / 8];
static rows_shadow_t shadow;

typedef struct {
    kvc_layer_t kinds[3];
    kvc_layer_t layers[ROWS_LAYERS];
    kvc_config_t config;
} model_t;

static kvc_layer_t random_kind(rng_t *rng, uint32_t capacity, bool only_rings)
{
    if (!only_rings && rng_one_in(rng, 3)) {
        return flat_layer();
    }
    uint32_t sinks = rng_one_in(rng, 2) ? rng_below(rng, 4) : 0;
    return ring_with_sinks(rng_from(rng, 1, 8), capacity <= sinks ? 0 : sinks);
}

static void random_model(rng_t *rng, model_t *model)
{
    static const uint32_t capacities[] = {1, 6, 15, 30, ROWS_OF_A_POOL};
    uint32_t capacity = capacities[rng_below(rng, 5)];
    uint32_t n_kinds = rng_from(rng, 1, 3), n_layers = rng_from(rng, 1, ROWS_LAYERS);
    bool only_rings = rng_one_in(rng, 2);
    for (uint32_t i = 0; i < n_kinds; i++) {
        model->kinds[i] = random_kind(rng, capacity, only_rings);
    }
    for (uint32_t i = 0; i < n_layers; i++) {
        uint32_t donor = rng_below(rng, i + 1);
        bool shares = donor < i && rng_one_in(rng, 4);
        model->layers[i] = shares ? model->layers[donor] : model->kinds[rng_below(rng, n_kinds)];
        model->layers[i].shares_with = shares ? donor + 1 : 0;
    }
    model->config = config_of(model->layers, n_layers, capacity);
    model->config.max_seqs = rng_from(rng, 1, ROWS_SEQS);
    model->config.max_write = rng_below(rng, 6);
    model->config.rollback = rng_one_in(rng, 2) ? 0 : rng_from(rng, 1, 4);
    model->config.max_context = rng_one_in(rng, 3) ? rng_from(rng, 1, 40) : 0;
}

/* A live sequence more often than not. */
static uint32_t some_seq(rng_t *rng)
{
    uint32_t max_seqs = shadow.config.max_seqs, seq = rng_below(rng, max_seqs);
    for (uint32_t tries = 0; tries < max_seqs && !shadow.seqs[seq].live; tries++) {
        seq = (seq + 1) % max_seqs;
    }
    return rng_one_in(rng, 60) ? rng_from(rng, 0, max_seqs + 1) : seq;
}

static bool is_empty(void)
{
    bool empty = true;
    for (uint32_t seq = 0; seq < shadow.config.max_seqs; seq++) {
        empty &= !shadow.seqs[seq].live;
    }
    return empty;
}

static bool is_short(void)
{
    bool all = true;
    for (uint32_t seq = 0; seq < shadow.config.max_seqs; seq++) {
        all &= !shadow.seqs[seq].live || shadow.seqs[seq].length < LONGEST;
    }
    return all;
}

/* Spans of one to some tokens; a sequence may come again. */
static uint32_t random_ids(rng_t *rng, uint32_t *ids)
{
    uint32_t limit = shadow.step_limit < 6 ? shadow.step_limit : 6;
    uint32_t n_spans = rng_from(rng, 1, rng_one_in(rng, 3) ? 4 : 2), n = 0;
    for (uint32_t span = 0; span < n_spans; span++) {
        uint32_t seq = some_seq(rng), tokens = rng_from(rng, 1, rng_one_in(rng, 10) ? limit + 2 : limit);
        for (uint32_t i = 0; i < tokens; i++) {
            ids[n++] = seq;
        }
    }
    return n;
}

/* The step once more, or what is not it. */
static void place_anything(rng_t *rng)
{
    uint32_t positions[ROWS_TOKENS + 1] = {0}, n = shadow.n_tokens;
    rows_shadow_positions(&shadow, positions);
    uint32_t layer = rng_below(rng, shadow.config.n_layers + 1), cap = rng_one_in(rng, 3) ? 0 : ROWS_TOKENS;
    switch (rng_below(rng, 4)) {
    case 0:
        n += rng_one_in(rng, 2) || n == 0 ? 1 : UINT32_MAX;
        break;
    case 1:
        positions[n == 0 ? 0 : rng_below(rng, n)] += rng_one_in(rng, 2) ? 1 : UINT32_MAX;
        break;
    default:
        /* Without room, so that nothing is placed, or what was placed before. */
        cap = shadow.placed ? cap : 0;
        break;
    }
    rows_shadow_place(&shadow, layer, positions, n, cap);
}

/* Through every layer, in any order. A step that fails half-way is cancelled. */
static void random_step(rng_t *rng)
{
    uint32_t ids[ROWS_TOKENS], positions[ROWS_TOKENS];
    uint32_t n = random_ids(rng, ids), n_layers = shadow.config.n_layers;
    if (rows_shadow_declare(&shadow, ids, n) != KVC_OK && (shadow.n_tokens == 0 || shadow.placed)) {
        return;
    }
    if (rng_one_in(rng, 6)) {
        place_anything(rng);
    }
    rows_shadow_positions(&shadow, positions);
    n = shadow.n_tokens;
    uint32_t first = rng_below(rng, n_layers), stride = rng_one_in(rng, 2) ? 1 : n_layers - 1;
    bool fails = rng_one_in(rng, 8);
    for (uint32_t i = 0; i < n_layers; i++) {
        uint32_t layer = stride == 0 ? 0 : (first + i * stride) % n_layers;
        rows_shadow_place(&shadow, layer, positions, n, ROWS_TOKENS);
        if (fails && rng_one_in(rng, 2)) {
            break;
        }
    }
    for (uint32_t i = 0; i < n && fails; i++) {
        /* The first token of each sequence is where it was before; what the windows dropped is gone all the same. */
        uint32_t before = 0;
        while (shadow.ids[before] != shadow.ids[i]) {
            before++;
        }
        if (before == i && rows_shadow_rewind(&shadow, shadow.ids[i], positions[i]) != KVC_OK) {
            rows_shadow_rewind(&shadow, shadow.ids[i], 0);
        }
    }
}

static void rewind_anywhere(rng_t *rng)
{
    uint32_t seq = some_seq(rng), length = rows_shadow_is_live(&shadow, seq) ? shadow.seqs[seq].length : 3;
    uint32_t back = rng_below(rng, (length < 5 ? length : 5) + 1);
    rows_shadow_rewind(&shadow, seq, rng_one_in(rng, 3) ? rng_below(rng, length + 3) : length - back);
}

static void clone_anything(rng_t *rng)
{
    uint32_t seq = some_seq(rng), length = rows_shadow_is_live(&shadow, seq) ? shadow.seqs[seq].length : 3;
    rows_shadow_clone(&shadow, seq, rng_one_in(rng, 2) ? KVC_UNBOUNDED : rng_below(rng, length + 2));
}

static void refuse_what_only_cells_offer(void)
{
    CHECK_STATUS(KVC_ERR_WRONG_KIND, kvc_batch_seq_remove(shadow.cache, 0, 0, 1));
    CHECK_STATUS(KVC_ERR_WRONG_KIND, kvc_batch_seq_shift(shadow.cache, 0, 0, 1, 1));
    CHECK_STATUS(KVC_ERR_WRONG_KIND, kvc_cells_shifts_done(shadow.cache));
}

static void one_operation(rng_t *rng)
{
    uint32_t pick = rng_below(rng, 100);
    if (!is_short() || (pick == 0 && rng_one_in(rng, 3))) {
        rows_shadow_clear(&shadow);
    } else if (is_empty() || pick < 7) {
        rows_shadow_new(&shadow);
    } else if (pick < 16) {
        clone_anything(rng);
    } else if (pick < 20) {
        rows_shadow_release(&shadow, some_seq(rng));
    } else if (pick < 21) {
        rows_shadow_keep(&shadow, some_seq(rng));
    } else if (pick < 36) {
        rewind_anywhere(rng);
    } else if (pick < 40) {
        place_anything(rng);
    } else if (pick < 41) {
        refuse_what_only_cells_offer();
    } else {
        random_step(rng);
    }
    rows_shadow_check_queries(&shadow, rng_from(rng, 1, 20));
}

static void one_cache(rng_t *rng, tally_t *tally)
{
    model_t model;
    random_model(rng, &model);
    rows_shadow_init(&shadow, storage, sizeof storage, &model.config);
    while (shadow.operations < OPERATIONS_OF_A_CACHE) {
        one_operation(rng);
    }
    CHECK_OK(kvc_cache_release(shadow.cache));
    tally->operations += shadow.operations;
    tally->refused += shadow.refused;
}

int main(int argc, char **argv)
{
    return run_at_random(argc, argv, 100000, 20250302, one_cache);
}
