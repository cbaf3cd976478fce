/* What the model of the cells does when a step is declared and placed. */

#include <string.h>

#include "cells_rules.h"
#include "support.h"

void cells_tidy(cells_model_t *model, cells_token_t *token)
{
    uint64_t owners = 0;
    for (uint32_t pool = 0; pool < model->n_pools; pool++) {
        cells_copy_t *copy = &token->in[pool];
        owners |= copy->owners;
        copy->pending = copy->owners == 0 ? 0 : copy->pending;
    }
    if (owners == 0) {
        memset(token, 0, sizeof *token);
    }
}

static bool let_go_of_passed(cells_model_t *model)
{
    uint32_t next[KVC_MAX_SEQS];
    bool any = false;
    cells_all_next(model, next);
    for (uint32_t i = 0; i < model->n_entries; i++) {
        cells_token_t *token = &model->state.tokens[i];
        for (uint32_t pool = 0; pool < model->n_pools && token->id != 0; pool++) {
            uint64_t passed = cells_passed_owners(model, next, pool, token);
            token->in[pool].owners &= ~passed;
            any |= passed != 0;
            for (uint32_t seq = 0; passed != 0 && seq < model->config.max_seqs; seq++) {
                if ((passed & BIT(seq)) != 0) {
                    uint32_t *end = &model->dropped[seq].end[pool];
                    *end = greater(*end, token->position + 1);
                }
            }
        }
        cells_tidy(model, token);
    }
    return any;
}

static uint32_t tokens_of(const uint32_t *seqs, uint32_t n, uint32_t seq)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        count += seqs[i] == seq;
    }
    return count;
}

static kvc_status_t foretell_declare(const cells_model_t *model, const uint32_t *seqs, uint32_t n)
{
    uint32_t fewest_rows = KVC_UNBOUNDED;
    if (n == 0) {
        return KVC_ERR_INVALID_ARGUMENT;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!cells_model_is_live(model, seqs[i])) {
            return KVC_ERR_BAD_SEQUENCE;
        }
    }
    if (model->config.max_write != 0 && n > model->config.max_write) {
        return KVC_ERR_STEP_TOO_LARGE;
    }
    for (uint32_t pool = 0; pool < model->n_pools; pool++) {
        fewest_rows = lesser(fewest_rows, model->pools[pool].n_rows);
    }
    kvc_status_t status = n > cells_room(model) ? KVC_ERR_OUT_OF_CAPACITY : KVC_OK;
    status = n > fewest_rows ? KVC_ERR_NEVER_FITS : status;
    for (uint32_t i = 0; i < n && status != KVC_ERR_NEVER_FITS; i++) {
        uint32_t tokens = tokens_of(seqs, n, seqs[i]), most = most_positions(model);
        if (tokens > most) {
            status = KVC_ERR_NEVER_FITS;
        } else if ((uint64_t)cells_model_next(model, seqs[i]) + tokens > most) {
            status = KVC_ERR_OUT_OF_CAPACITY;
        }
    }
    return status;
}

static bool any_pending(const cells_model_t *model)
{
    bool any = false;
    for (uint32_t i = 0; i < model->n_entries; i++) {
        for (uint32_t pool = 0; pool < model->n_pools; pool++) {
            const cells_copy_t *copy = &model->state.tokens[i].in[pool];
            any |= copy->owners != 0 && copy->pending != 0;
        }
    }
    return any;
}

kvc_status_t cells_model_declare(cells_model_t *model, const uint32_t *seqs, uint32_t n, bool *evicted)
{
    kvc_status_t status = foretell_declare(model, seqs, n);
    *evicted = false;
    if (status == KVC_OK) {
        *evicted = let_go_of_passed(model);
        model->state.fixed |= any_pending(model);
        memset(model->state.read, 0, sizeof model->state.read);
        memset(model->state.stale, 0, sizeof model->state.stale);
        model->state.n_tokens = n;
        model->state.placed = false;
        memcpy(model->state.seqs, seqs, n * sizeof *seqs);
    }
    return status;
}

static kvc_status_t foretell_place(const cells_model_t *model, uint32_t layer, const uint32_t *positions, uint32_t n)
{
    const cells_state_t *state = &model->state;
    uint32_t next[KVC_MAX_SEQS];
    if (n == 0) {
        return KVC_ERR_INVALID_ARGUMENT;
    }
    if (layer >= model->config.n_layers) {
        return KVC_ERR_BAD_LAYER;
    }
    if (state->n_tokens != n) {
        return KVC_ERR_NO_STEP;
    }
    if (state->placed) {
        return memcmp(positions, state->positions, n * sizeof *positions) == 0 ? KVC_OK : KVC_ERR_NO_STEP;
    }
    cells_all_next(model, next);
    kvc_status_t status = KVC_OK;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t seq = state->seqs[i];
        if (positions[i] < next[seq] || positions[i] == KVC_UNBOUNDED) {
            return KVC_ERR_BAD_POSITION;
        }
        next[seq] = positions[i] + 1;
        status = positions[i] >= most_positions(model) ? KVC_ERR_OUT_OF_CAPACITY : status;
    }
    return status;
}

static uint32_t lowest_free_row(const cells_model_t *model, uint32_t pool)
{
    uint32_t row = 0;
    while (cells_model_at(model, pool, row) != NULL) {
        row++;
    }
    return row;
}

static uint32_t free_entry(const cells_model_t *model)
{
    uint32_t i = 0;
    while (i < model->n_entries && model->state.tokens[i].id != 0) {
        i++;
    }
    if (i == model->n_entries) {
        give_up("too many tokens for the model");
    }
    return i;
}

kvc_status_t cells_model_place(cells_model_t *model, uint32_t layer, const uint32_t *positions, uint32_t n)
{
    cells_state_t *state = &model->state;
    kvc_status_t status = foretell_place(model, layer, positions, n);
    if (status != KVC_OK || state->placed) {
        return status;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t entry = free_entry(model);
        cells_token_t *token = &state->tokens[entry];
        if (positions[i] >= CELLS_POSITIONS) {
            give_up("too long a sequence for the model");
        }
        for (uint32_t pool = 0; pool < model->n_pools; pool++) {
            token->in[pool].row = lowest_free_row(model, pool);
            token->in[pool].owners = BIT(state->seqs[i]);
        }
        token->id = ++state->next_id;
        token->position = positions[i];
        state->placed_at[i] = entry;
    }
    memcpy(state->positions, positions, n * sizeof *positions);
    state->placed = true;
    return KVC_OK;
}
