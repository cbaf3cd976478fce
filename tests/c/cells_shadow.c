#include "cells_shadow.h"

#include <string.h>

#include "support.h"

/* The bytes of the cache before an operation that is foretold to be refused. */
static unsigned char cache_before[CELLS_BYTES];

static unsigned evictions;

static void count_evictions(void *ctx, uint32_t event, kvc_status_t status, const char *key)
{
    (void)status, (void)key;
    *(unsigned *)ctx += event == KVC_EVENT_EVICTED;
}

static void before_call(cells_shadow_t *shadow, kvc_status_t foretold)
{
    shadow->operations++;
    evictions = 0;
    if (foretold != KVC_OK) {
        shadow->refused++;
        memcpy(cache_before, shadow->cache, shadow->cache_bytes);
    }
}

static kvc_status_t after_call(const cells_shadow_t *shadow, kvc_status_t foretold, kvc_status_t got)
{
    if (!CHECK_STATUS(foretold, got)) {
        give_up("the cache and its model went apart");
    }
    if (foretold != KVC_OK) {
        CHECK(memcmp(cache_before, shadow->cache, shadow->cache_bytes) == 0);
    }
    return got;
}

static void check_layer(const cells_shadow_t *shadow, uint32_t layer)
{
    const cells_model_t *model = &shadow->model;
    uint32_t capacity = model->config.capacity;
    kvc_layer_info_t info;
    CHECK_OK(kvc_cache_layer(shadow->cache, layer, &info));
    CHECK(memcmp(&info.layer, &model->layers[layer], sizeof info.layer) == 0);
    CHECK_EQ(model->group[layer], info.group);
    CHECK_EQ(model->pools[model->pool_of[layer]].n_rows, info.rows);
    CHECK_EQ(model->step_limit < capacity ? model->step_limit : capacity, info.max_write);
}

void cells_shadow_init(cells_shadow_t *shadow, void *storage, size_t size, const kvc_config_t *config)
{
    memset(shadow, 0, sizeof *shadow);
    cells_model_init(&shadow->model, config);
    bool built = CHECK_OK(kvc_cells_size(config, &shadow->cache_bytes)) &&
                 CHECK_OK(kvc_cells_init(storage, size, config, &shadow->cache));
    if (!built || shadow->cache_bytes > sizeof cache_before) {
        give_up("no cache for the shadow");
    }
    kvc_set_event_hook(count_evictions, &evictions);
    for (uint32_t layer = 0; layer < config->n_layers; layer++) {
        check_layer(shadow, layer);
    }
}

kvc_status_t cells_shadow_declare(cells_shadow_t *shadow, const uint32_t *seqs, uint32_t n)
{
    /* The model changes first: the bytes of the cache have not. */
    bool evicted = false;
    kvc_status_t foretold = cells_model_declare(&shadow->model, seqs, n, &evicted);
    before_call(shadow, foretold);
    kvc_status_t status = after_call(shadow, foretold, kvc_batch_declare_step(shadow->cache, seqs, n));
    CHECK_EQ(evicted, evictions);
    return status;
}

/* Whether rows ascend with the positions of one sequence, which owns them alone and whose window they all are in. */
static bool is_plain(const cells_model_t *model, uint32_t layer, uint32_t read_len)
{
    const cells_state_t *state = &model->state;
    uint32_t pool = model->pool_of[layer], window = model->layers[layer].window;
    uint32_t last = state->positions[state->n_tokens - 1];
    const cells_token_t *before = NULL;
    for (uint32_t row = 0; row < read_len; row++) {
        const cells_token_t *token = cells_model_at(model, pool, row);
        if (token == NULL || token->in[pool].owners != UINT64_C(1) << state->seqs[0]) {
            return false;
        }
        if (before != NULL && before->position >= token->position) {
            return false;
        }
        if (window != 0 && last - token->position >= window) {
            return false;
        }
        before = token;
    }
    return true;
}

static void check_step(const cells_model_t *model, uint32_t layer, const uint32_t *cells, const kvc_cell_step_t *step)
{
    const cells_state_t *state = &model->state;
    uint32_t pool = model->pool_of[layer], n = state->n_tokens;
    bool one_run = true;
    for (uint32_t i = 0; i < n; i++) {
        CHECK_EQ(state->tokens[state->placed_at[i]].in[pool].row, cells[i]);
        one_run &= cells[i] == cells[0] + i;
    }
    CHECK_EQ(n, step->n_tokens);
    CHECK_EQ(cells_model_end(model, pool), step->read_len);
    CHECK_EQ(one_run ? cells[0] : KVC_UNBOUNDED, step->write_start);
    uint32_t plain = n == 1 ? KVC_MASK_NONE : KVC_MASK_CAUSAL;
    CHECK_EQ(is_plain(model, layer, step->read_len) ? plain : KVC_MASK_EXPLICIT, step->mask);
}

kvc_status_t cells_shadow_place(cells_shadow_t *shadow, uint32_t layer, const uint32_t *positions, uint32_t n)
{
    uint32_t cells[CELLS_ROWS + 1];
    kvc_cell_step_t step;
    memset(cells, 0xA5, sizeof cells);
    memset(&step, 0xA5, sizeof step);
    kvc_status_t foretold = cells_model_place(&shadow->model, layer, positions, n);
    before_call(shadow, foretold);
    kvc_status_t got = kvc_cells_place_step(shadow->cache, layer, positions, n, cells, &step);
    if (after_call(shadow, foretold, got) != KVC_OK) {
        CHECK(cells[0] == 0xA5A5A5A5u && step.n_tokens == 0xA5A5A5A5u);
        return got;
    }
    const cells_state_t *state = &shadow->model.state;
    CHECK_EQ(0xA5A5A5A5u, cells[n]);
    check_step(&shadow->model, layer, cells, &step);
    for (uint32_t i = 0; i < n; i++) {
        if (cells[i] >= CELLS_ROWS) {
            give_up("a row that no pool has");
        }
        cells_row_t *row = &shadow->rows[shadow->model.pool_of[layer]][cells[i]];
        row->token = state->tokens[state->placed_at[i]].id;
        row->rotation = positions[i];
    }
    return got;
}

kvc_status_t cells_shadow_new(cells_shadow_t *shadow)
{
    uint32_t seq = KVC_UNBOUNDED, expected = KVC_UNBOUNDED;
    kvc_status_t foretold = cells_model_new(&shadow->model, &expected);
    before_call(shadow, foretold);
    kvc_status_t status = after_call(shadow, foretold, kvc_batch_seq_new(shadow->cache, &seq));
    CHECK_EQ(expected, seq);
    return status;
}

kvc_status_t cells_shadow_clone(cells_shadow_t *shadow, uint32_t src, uint32_t upto)
{
    uint32_t seq = KVC_UNBOUNDED, expected = KVC_UNBOUNDED;
    kvc_status_t foretold = cells_model_clone(&shadow->model, src, upto, &expected);
    before_call(shadow, foretold);
    kvc_status_t status = after_call(shadow, foretold, kvc_batch_seq_clone(shadow->cache, src, upto, &seq));
    CHECK_EQ(expected, seq);
    return status;
}

kvc_status_t cells_shadow_remove(cells_shadow_t *shadow, uint32_t seq, uint32_t from, uint32_t to)
{
    kvc_status_t foretold = cells_model_remove(&shadow->model, seq, from, to);
    before_call(shadow, foretold);
    return after_call(shadow, foretold, kvc_batch_seq_remove(shadow->cache, seq, from, to));
}

kvc_status_t cells_shadow_release(cells_shadow_t *shadow, uint32_t seq)
{
    kvc_status_t foretold = cells_model_release(&shadow->model, seq);
    before_call(shadow, foretold);
    return after_call(shadow, foretold, kvc_batch_seq_release(shadow->cache, seq));
}

kvc_status_t cells_shadow_keep(cells_shadow_t *shadow, uint32_t seq)
{
    kvc_status_t foretold = cells_model_keep(&shadow->model, seq);
    before_call(shadow, foretold);
    return after_call(shadow, foretold, kvc_batch_seq_keep(shadow->cache, seq));
}

kvc_status_t cells_shadow_shift(cells_shadow_t *shadow, uint32_t seq, uint32_t from, uint32_t to, int32_t delta)
{
    kvc_status_t foretold = cells_model_shift(&shadow->model, seq, from, to, delta);
    before_call(shadow, foretold);
    return after_call(shadow, foretold, kvc_batch_seq_shift(shadow->cache, seq, from, to, delta));
}

kvc_status_t cells_shadow_rewind(cells_shadow_t *shadow, uint32_t seq, uint32_t new_len)
{
    kvc_status_t foretold = cells_model_rewind(&shadow->model, seq, new_len);
    before_call(shadow, foretold);
    return after_call(shadow, foretold, kvc_batch_rewind(shadow->cache, seq, new_len));
}

void cells_shadow_clear(cells_shadow_t *shadow)
{
    cells_model_clear(&shadow->model);
    before_call(shadow, KVC_OK);
    after_call(shadow, KVC_OK, kvc_clear(shadow->cache));
}

/* The highest row in use goes to the lowest hole. Answers whether the move makes sense. */
static bool is_good_move(const cells_model_t *model, uint32_t pool, const kvc_move_t *move)
{
    bool good = CHECK(move->len > 0) && CHECK(move->to + move->len <= move->from) &&
                CHECK_EQ(cells_model_end(model, pool), move->from + move->len);
    for (uint32_t row = 0; good && row < move->to; row++) {
        good &= CHECK(cells_model_at(model, pool, row) != NULL);
    }
    for (uint32_t i = 0; good && i < move->len; i++) {
        good &= CHECK(cells_model_at(model, pool, move->from + i) != NULL);
        good &= CHECK(cells_model_at(model, pool, move->to + i) == NULL);
    }
    return good;
}

static void carry_out(cells_shadow_t *shadow, uint32_t pool, const kvc_move_t *move)
{
    if (!is_good_move(&shadow->model, pool, move)) {
        give_up("a move that cannot be carried out");
    }
    for (uint32_t i = 0; i < move->len; i++) {
        shadow->rows[pool][move->to + i] = shadow->rows[pool][move->from + i];
        cells_model_move(&shadow->model, pool, move->from + i, move->to + i);
    }
}

static bool has_hole(const cells_model_t *model, uint32_t pool)
{
    bool hole = false;
    for (uint32_t row = 0; row < cells_model_end(model, pool); row++) {
        hole |= cells_model_at(model, pool, row) == NULL;
    }
    return hole;
}

kvc_status_t cells_shadow_defrag(cells_shadow_t *shadow, uint32_t layer, uint32_t cap)
{
    kvc_move_t moves[CELLS_ROWS];
    uint32_t n_moves = KVC_UNBOUNDED;
    const cells_model_t *model = &shadow->model;
    kvc_status_t foretold = layer >= model->config.n_layers ? KVC_ERR_BAD_LAYER
                            : model->state.frozen          ? KVC_ERR_UNSUPPORTED
                                                           : KVC_OK;
    before_call(shadow, foretold);
    kvc_status_t status = kvc_cells_defrag(shadow->cache, layer, cap == 0 ? NULL : moves, cap, &n_moves);
    if (after_call(shadow, foretold, status) != KVC_OK) {
        CHECK_EQ(KVC_UNBOUNDED, n_moves);
        return status;
    }
    if (!CHECK(n_moves <= cap)) {
        give_up("more moves than there is room for");
    }
    cells_state_t *state = &shadow->model.state;
    state->stale[model->pool_of[layer]] |= state->read[model->pool_of[layer]] && n_moves > 0;
    for (uint32_t i = 0; i < n_moves; i++) {
        carry_out(shadow, model->pool_of[layer], &moves[i]);
    }
    /* It ends early only when there is nothing left to do. */
    CHECK(n_moves == cap || !has_hole(model, model->pool_of[layer]));
    cells_model_end_step(&shadow->model);
    return status;
}

/* The list as the model has it; answers how long it is. */
static uint32_t expected_shifts(const cells_model_t *model, uint32_t pool, kvc_shift_t *shifts)
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < model->pools[pool].n_rows; row++) {
        const cells_token_t *token = cells_model_at(model, pool, row);
        if (token == NULL || token->in[pool].pending == 0) {
            continue;
        }
        kvc_shift_t *last = n == 0 ? NULL : &shifts[n - 1];
        if (last != NULL && last->row + last->len == row && last->delta == token->in[pool].pending) {
            last->len++;
        } else {
            kvc_shift_t shift = {row, 1, (int32_t)token->in[pool].pending};
            shifts[n++] = shift;
        }
    }
    return n;
}

kvc_status_t cells_shadow_read_shifts(cells_shadow_t *shadow, uint32_t layer, uint32_t cap)
{
    kvc_shift_t expected[CELLS_ROWS], shifts[CELLS_ROWS];
    cells_model_t *model = &shadow->model;
    uint32_t n = KVC_UNBOUNDED, n_expected = 0;
    kvc_status_t foretold = KVC_ERR_BAD_LAYER;
    if (layer < model->config.n_layers) {
        n_expected = expected_shifts(model, model->pool_of[layer], expected);
        foretold = n_expected > cap ? KVC_ERR_BUFFER_TOO_SMALL : KVC_OK;
    }
    before_call(shadow, foretold);
    kvc_status_t status = kvc_cells_shifts(shadow->cache, layer, cap == 0 ? NULL : shifts, cap, &n);
    if (after_call(shadow, foretold, status) == KVC_OK) {
        CHECK(n_expected == 0 || memcmp(expected, shifts, n_expected * sizeof shifts[0]) == 0);
        cells_model_shifts_read(model, model->pool_of[layer], n_expected > 0);
    }
    CHECK_EQ(foretold == KVC_ERR_BAD_LAYER ? KVC_UNBOUNDED : n_expected, n);
    return status;
}

static void rotate(cells_shadow_t *shadow, uint32_t layer)
{
    kvc_shift_t shifts[CELLS_ROWS];
    uint32_t n = 0;
    CHECK_OK(kvc_cells_shifts(shadow->cache, layer, shifts, CELLS_ROWS, &n));
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t row = shifts[i].row; row < shifts[i].row + shifts[i].len; row++) {
            shadow->rows[shadow->model.pool_of[layer]][row].rotation += shifts[i].delta;
        }
    }
}

void cells_shadow_apply_shifts(cells_shadow_t *shadow)
{
    for (uint32_t pool = 0; pool < shadow->model.n_pools; pool++) {
        uint32_t layer = 0;
        while (shadow->model.pool_of[layer] != pool) {
            layer++;
        }
        cells_shadow_read_shifts(shadow, layer, CELLS_ROWS);
        rotate(shadow, layer);
    }
    cells_model_shifts_done(&shadow->model);
    before_call(shadow, KVC_OK);
    after_call(shadow, KVC_OK, kvc_cells_shifts_done(shadow->cache));
}

void cells_shadow_save(const cells_shadow_t *shadow, cells_saved_t *saved)
{
    const cells_model_t *model = &shadow->model;
    if (shadow->cache_bytes > sizeof saved->cache) {
        give_up("too large a cache to keep");
    }
    memcpy(&saved->state, &model->state, offsetof(cells_state_t, tokens));
    memcpy(saved->state.tokens, model->state.tokens, model->n_entries * sizeof model->state.tokens[0]);
    memcpy(saved->dropped, model->dropped, model->config.max_seqs * sizeof model->dropped[0]);
    for (uint32_t pool = 0; pool < model->n_pools; pool++) {
        memcpy(saved->rows[pool], shadow->rows[pool], model->pools[pool].n_rows * sizeof saved->rows[pool][0]);
    }
    memcpy(saved->cache, shadow->cache, shadow->cache_bytes);
}

void cells_shadow_restore(cells_shadow_t *shadow, const cells_saved_t *saved)
{
    cells_model_t *model = &shadow->model;
    memcpy(&model->state, &saved->state, offsetof(cells_state_t, tokens));
    memcpy(model->state.tokens, saved->state.tokens, model->n_entries * sizeof model->state.tokens[0]);
    memcpy(model->dropped, saved->dropped, model->config.max_seqs * sizeof model->dropped[0]);
    for (uint32_t pool = 0; pool < model->n_pools; pool++) {
        memcpy(shadow->rows[pool], saved->rows[pool], model->pools[pool].n_rows * sizeof saved->rows[pool][0]);
    }
    memcpy(shadow->cache, saved->cache, shadow->cache_bytes);
}
