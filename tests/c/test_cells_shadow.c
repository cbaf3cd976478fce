/* Random operations on random cell caches, each followed by a shadow of the pools: no mask lets a query see a row that
 * does not hold what it should, rotated as it should be; every answer is the model's; no refusal changes anything.
 *
 * Arguments: operations of each run (150 thousand by default), and a seed beside the fixed ones. */

#include "cells_shadow.h"
#include "models.h"
#include "rng.h"
#include "runs.h"
#include "support.h"

enum { OPERATIONS_OF_A_CACHE = 500, LONGEST = 300 };

static uint64_t storage[CELLS_BYTES / 8];
static cells_shadow_t shadow;

typedef struct {
    kvc_layer_t kinds[CELLS_POOLS];
    kvc_layer_t layers[CELLS_LAYERS];
    kvc_config_t config;
} model_t;

static kvc_layer_t random_kind(rng_t *rng, uint32_t capacity)
{
    if (rng_one_in(rng, 3)) {
        return flat_layer();
    }
    uint32_t sinks = rng_one_in(rng, 2) ? rng_below(rng, 4) : 0;
    return ring_with_sinks(rng_one_in(rng, 5) ? 1 : rng_from(rng, 2, 10), capacity <= sinks ? 0 : sinks);
}

/* Flat, windowed or mixed, with sinks or without, one pool or some, of up to three words of rows. */
static void random_model(rng_t *rng, model_t *model)
{
    static const uint32_t capacities[] = {1, 5, 12, 24, 40, 70}, seqs[] = {1, 2, 3, 5, 8, KVC_MAX_SEQS};
    uint32_t capacity = capacities[rng_below(rng, 6)];
    uint32_t n_kinds = rng_from(rng, 1, CELLS_POOLS), n_layers = rng_from(rng, 1, CELLS_LAYERS);
    for (uint32_t i = 0; i < n_kinds; i++) {
        model->kinds[i] = random_kind(rng, capacity);
    }
    for (uint32_t i = 0; i < n_layers; i++) {
        uint32_t donor = rng_below(rng, i + 1);
        bool shares = donor < i && rng_one_in(rng, 5);
        model->layers[i] = shares ? model->layers[donor] : model->kinds[rng_below(rng, n_kinds)];
        model->layers[i].shares_with = shares ? donor + 1 : 0;
    }
    model->config = config_of(model->layers, n_layers, capacity);
    model->config.max_seqs = seqs[rng_below(rng, 6)];
    model->config.max_write = rng_one_in(rng, 2) ? 0 : rng_from(rng, 1, 12);
    model->config.rollback = rng_one_in(rng, 2) ? 0 : rng_from(rng, 1, 4);
    model->config.max_context = rng_one_in(rng, 3) ? rng_from(rng, 1, 60) : 0;
    model->config.flags = rng_one_in(rng, 2) ? 0 : rng_below(rng, 4);
}

/* A live sequence more often than not. */
static uint32_t some_seq(rng_t *rng)
{
    uint32_t max_seqs = shadow.model.config.max_seqs, seq = rng_below(rng, max_seqs);
    for (uint32_t tries = 0; tries < max_seqs && !cells_model_is_live(&shadow.model, seq); tries++) {
        seq = (seq + 1) % max_seqs;
    }
    return rng_one_in(rng, 60) ? rng_from(rng, 0, max_seqs + 1) : seq;
}

static uint32_t n_live(void)
{
    uint32_t n = 0;
    for (uint32_t seq = 0; seq < shadow.model.config.max_seqs; seq++) {
        n += cells_model_is_live(&shadow.model, seq);
    }
    return n;
}

/* A position around what the sequence holds. */
static uint32_t some_position(rng_t *rng, uint32_t seq)
{
    uint32_t next = cells_model_is_live(&shadow.model, seq) ? cells_model_next(&shadow.model, seq) : 4;
    return rng_one_in(rng, 12) ? KVC_UNBOUNDED : rng_below(rng, next + 2);
}

static uint32_t some_layer(rng_t *rng)
{
    uint32_t n_layers = shadow.model.config.n_layers;
    return rng_one_in(rng, 40) ? rng_one_in(rng, 2) ? n_layers : KVC_UNBOUNDED : rng_below(rng, n_layers);
}

/* A chunk of one sequence, a token of each, or any mixture. Now and then too many. */
static uint32_t random_ids(rng_t *rng, uint32_t *ids)
{
    uint32_t room = cells_model_free_rows(&shadow.model), way = rng_below(rng, 4), most = room < 8 ? room + 2 : 10;
    uint32_t n = rng_one_in(rng, 30) ? rng_below(rng, CELLS_ROWS) : rng_from(rng, 1, most);
    uint32_t seq = some_seq(rng);
    for (uint32_t i = 0; i < n; i++) {
        ids[i] = way == 0 || (way == 1 && !rng_one_in(rng, 5)) ? seq : some_seq(rng);
    }
    return n;
}

/* Where the tokens of the declared step go on; sometimes with a gap, sometimes not where they may. */
static void random_positions(rng_t *rng, uint32_t *positions, bool may_be_bad)
{
    const cells_state_t *state = &shadow.model.state;
    for (uint32_t i = 0; i < state->n_tokens; i++) {
        uint32_t next = cells_model_next(&shadow.model, state->seqs[i]);
        for (uint32_t j = 0; j < i; j++) {
            next = state->seqs[j] == state->seqs[i] ? positions[j] + 1 : next;
        }
        positions[i] = next + (rng_one_in(rng, 25) ? rng_from(rng, 1, 3) : 0);
        if (may_be_bad && rng_one_in(rng, state->n_tokens)) {
            positions[i] = rng_one_in(rng, 3) ? KVC_UNBOUNDED : next - rng_below(rng, 2);
        }
    }
}

/* Through every layer, some of them twice, with the masks of some. */
static void place_everywhere(rng_t *rng, const uint32_t *positions)
{
    uint32_t n = shadow.model.state.n_tokens, n_layers = shadow.model.config.n_layers;
    uint32_t first = rng_below(rng, n_layers);
    for (uint32_t i = 0; i < n_layers; i++) {
        cells_shadow_place(&shadow, (first + i) % n_layers, positions, n);
    }
    for (uint32_t layer = 0; layer < n_layers && shadow.model.state.placed; layer++) {
        if (!rng_one_in(rng, 3)) {
            cells_shadow_check_masks(&shadow, layer, rng_one_in(rng, 2) ? 0 : rng_below(rng, 70));
        }
    }
    if (rng_one_in(rng, 10)) {
        cells_shadow_place(&shadow, some_layer(rng), positions + 1, n - 1);
    }
}

/* The position that is too far for the model. */
static bool is_short(void)
{
    for (uint32_t seq = 0; seq < shadow.model.config.max_seqs; seq++) {
        if (cells_model_is_live(&shadow.model, seq) && cells_model_next(&shadow.model, seq) > LONGEST) {
            return false;
        }
    }
    return true;
}

static void random_step(rng_t *rng)
{
    uint32_t ids[CELLS_ROWS], positions[CELLS_ROWS];
    uint32_t n = random_ids(rng, ids);
    if (rng_one_in(rng, 2) && cells_shadow_declare(&shadow, ids, n) != KVC_OK && !shadow.model.state.placed) {
        n = shadow.model.state.n_tokens;
    } else if (shadow.model.state.n_tokens == 0 || shadow.model.state.placed) {
        cells_shadow_declare(&shadow, ids, n);
    }
    if (shadow.model.state.n_tokens == 0 || shadow.model.state.placed) {
        return;
    }
    if (rng_one_in(rng, 2)) {
        cells_shadow_apply_shifts(&shadow);
    } else if (rng_one_in(rng, 6)) {
        /* The list is left pending, and frozen. */
        cells_shadow_read_shifts(&shadow, some_layer(rng), rng_below(rng, 4));
    }
    if (rng_one_in(rng, 10)) {
        random_positions(rng, positions, true);
        if (cells_shadow_place(&shadow, some_layer(rng), positions, shadow.model.state.n_tokens) == KVC_OK) {
            place_everywhere(rng, positions);
            return;
        }
    }
    if (!rng_one_in(rng, 12)) {
        random_positions(rng, positions, false);
        place_everywhere(rng, positions);
    }
}

/* Context shift as it is done: the oldest go, the rest moves down. */
static void shift_context(rng_t *rng, uint32_t seq)
{
    if (!cells_model_is_live(&shadow.model, seq)) {
        return;
    }
    uint32_t next = cells_model_next(&shadow.model, seq);
    uint32_t from = rng_below(rng, next / 2 + 1), n = rng_from(rng, 1, next / 2 + 1);
    if (cells_shadow_remove(&shadow, seq, from, from + n) == KVC_OK) {
        cells_shadow_shift(&shadow, seq, from + n, KVC_UNBOUNDED, -(int32_t)n);
    }
}

static void shift_anything(rng_t *rng, uint32_t seq)
{
    uint32_t from = some_position(rng, seq), to = some_position(rng, seq);
    if (from > to && !rng_one_in(rng, 10)) {
        uint32_t swapped = from;
        from = to;
        to = swapped;
    }
    int32_t delta = (int32_t)rng_below(rng, 13) - 6;
    cells_shadow_shift(&shadow, seq, from, to, rng_one_in(rng, 50) ? INT32_MIN : delta);
}

static void remove_anything(rng_t *rng, uint32_t seq)
{
    uint32_t from = some_position(rng, seq);
    cells_shadow_remove(&shadow, seq, from, rng_one_in(rng, 8) ? some_position(rng, seq) : from + rng_below(rng, 4));
}

static void rewind_anywhere(rng_t *rng, uint32_t seq)
{
    uint32_t next = cells_model_is_live(&shadow.model, seq) ? cells_model_next(&shadow.model, seq) : 0;
    uint32_t back = rng_below(rng, (next < 6 ? next : 6) + 1);
    cells_shadow_rewind(&shadow, seq, rng_one_in(rng, 3) ? rng_below(rng, next + 3) : next - back);
}

static void end_a_sequence(rng_t *rng)
{
    if (rng_one_in(rng, 12)) {
        cells_shadow_keep(&shadow, some_seq(rng));
    } else {
        cells_shadow_release(&shadow, some_seq(rng));
    }
}

static void one_operation(rng_t *rng)
{
    uint32_t pick = rng_below(rng, 100);
    if (!is_short() || (pick == 0 && rng_one_in(rng, 3))) {
        cells_shadow_clear(&shadow);
    } else if (n_live() == 0 || pick < 6) {
        cells_shadow_new(&shadow);
    } else if (pick < 12) {
        uint32_t src = some_seq(rng);
        cells_shadow_clone(&shadow, src, rng_one_in(rng, 2) ? KVC_UNBOUNDED : some_position(rng, src));
    } else if (pick < 18) {
        end_a_sequence(rng);
    } else if (pick < 24) {
        remove_anything(rng, some_seq(rng));
    } else if (pick < 30) {
        shift_anything(rng, some_seq(rng));
    } else if (pick < 34) {
        shift_context(rng, some_seq(rng));
    } else if (pick < 42) {
        rewind_anywhere(rng, some_seq(rng));
    } else if (pick < 47) {
        cells_shadow_defrag(&shadow, some_layer(rng), rng_one_in(rng, 2) ? CELLS_ROWS : rng_below(rng, 3));
    } else if (pick < 50) {
        cells_shadow_read_shifts(&shadow, some_layer(rng), rng_one_in(rng, 2) ? CELLS_ROWS : rng_below(rng, 3));
    } else {
        random_step(rng);
    }
    cells_shadow_check_queries(&shadow, rng_from(rng, 1, 20));
}

static void one_cache(rng_t *rng, tally_t *tally)
{
    model_t model;
    random_model(rng, &model);
    cells_shadow_init(&shadow, storage, sizeof storage, &model.config);
    while (shadow.operations < OPERATIONS_OF_A_CACHE) {
        one_operation(rng);
    }
    CHECK_OK(kvc_cache_release(shadow.cache));
    tally->operations += shadow.operations;
    tally->refused += shadow.refused;
}

int main(int argc, char **argv)
{
    return run_at_random(argc, argv, 150000, 20250301, one_cache);
}
