/* What the model of the cells does when sequences begin, end, and are cut. */

#include <string.h>

#include "cells_rules.h"

/* Dropped positions from `length` on are not the sequence's any more. */
static void undrop_from(cells_model_t *model, uint32_t seq, uint32_t length)
{
    for (uint32_t pool = 0; pool < model->n_pools; pool++) {
        uint32_t *end = &model->dropped[seq].end[pool];
        /* No sink was ever dropped. */
        *end = length <= model->pools[pool].sinks ? 0 : lesser(*end, length);
    }
}

void cells_model_end_step(cells_model_t *model)
{
    model->state.n_tokens = 0;
    model->state.placed = false;
}

kvc_status_t cells_model_new(cells_model_t *model, uint32_t *seq)
{
    for (uint32_t id = 0; id < model->config.max_seqs; id++) {
        if (!cells_model_is_live(model, id)) {
            model->state.live |= BIT(id);
            memset(&model->dropped[id], 0, sizeof model->dropped[id]);
            cells_model_end_step(model);
            *seq = id;
            return KVC_OK;
        }
    }
    return KVC_ERR_TABLE_FULL;
}

/* Where the sequence, cut to `length`, would go on. */
static uint32_t next_below(const cells_model_t *model, uint32_t seq, uint32_t length)
{
    uint32_t next = 0;
    for (uint32_t pool = 0; pool < model->n_pools; pool++) {
        uint32_t end = length <= model->pools[pool].sinks ? 0 : model->dropped[seq].end[pool];
        next = greater(next, lesser(end, length));
    }
    for (uint32_t i = 0; i < model->n_entries; i++) {
        const cells_token_t *token = &model->state.tokens[i];
        next = owns_anywhere(model, token, seq) && token->position < length ? greater(next, token->position + 1) : next;
    }
    return next;
}

bool cells_misses(const cells_model_t *model, uint32_t seq, uint32_t length)
{
    bool missing = false;
    uint32_t next = next_below(model, seq, length);
    for (uint32_t pool = 0; pool < model->n_pools; pool++) {
        const cells_pool_t *it = &model->pools[pool];
        uint32_t from = greater(it->window > next ? 0 : next - it->window + 1, it->sinks);
        missing |= from < next && from < model->dropped[seq].end[pool];
    }
    return missing;
}

/* The sequence lets go of its tokens at positions from .. to. */
static void let_go(cells_model_t *model, uint32_t seq, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < model->n_entries; i++) {
        cells_token_t *token = &model->state.tokens[i];
        for (uint32_t pool = 0; pool < model->n_pools; pool++) {
            if (owns(token, pool, seq) && token->position >= from && token->position < to) {
                token->in[pool].owners &= ~BIT(seq);
            }
        }
        cells_tidy(model, token);
    }
}

kvc_status_t cells_model_clone(cells_model_t *model, uint32_t src, uint32_t upto, uint32_t *seq)
{
    if (!cells_model_is_live(model, src)) {
        return KVC_ERR_BAD_SEQUENCE;
    }
    uint32_t length = lesser(upto, cells_model_next(model, src));
    bool whole = upto >= cells_model_next(model, src);
    if (!whole && cells_misses(model, src, length)) {
        return KVC_ERR_EVICTED;
    }
    kvc_status_t status = cells_model_new(model, seq);
    if (status != KVC_OK) {
        return status;
    }
    for (uint32_t i = 0; i < model->n_entries; i++) {
        cells_token_t *token = &model->state.tokens[i];
        for (uint32_t pool = 0; pool < model->n_pools; pool++) {
            token->in[pool].owners |= owns(token, pool, src) && token->position < length ? BIT(*seq) : 0;
        }
    }
    model->dropped[*seq] = model->dropped[src];
    if (!whole) {
        undrop_from(model, *seq, length);
    }
    return KVC_OK;
}

kvc_status_t cells_model_remove(cells_model_t *model, uint32_t seq, uint32_t from, uint32_t to)
{
    if (from > to) {
        return KVC_ERR_INVALID_ARGUMENT;
    }
    if (!cells_model_is_live(model, seq)) {
        return KVC_ERR_BAD_SEQUENCE;
    }
    uint32_t next = cells_model_next(model, seq);
    if (from < next && to >= next) {
        /* Without its end the sequence is one that goes on at `from`, or at 0 if nothing is left. */
        return cells_model_rewind(model, seq, from <= cells_model_first(model, seq) ? 0 : from);
    }
    let_go(model, seq, from, to);
    cells_model_end_step(model);
    return KVC_OK;
}

kvc_status_t cells_model_release(cells_model_t *model, uint32_t seq)
{
    if (!cells_model_is_live(model, seq)) {
        return KVC_ERR_BAD_SEQUENCE;
    }
    let_go(model, seq, 0, KVC_UNBOUNDED);
    model->state.live &= ~BIT(seq);
    cells_model_end_step(model);
    return KVC_OK;
}

kvc_status_t cells_model_keep(cells_model_t *model, uint32_t seq)
{
    if (!cells_model_is_live(model, seq)) {
        return KVC_ERR_BAD_SEQUENCE;
    }
    for (uint32_t other = 0; other < model->config.max_seqs; other++) {
        if (other != seq && cells_model_is_live(model, other)) {
            cells_model_release(model, other);
        }
    }
    cells_model_end_step(model);
    return KVC_OK;
}

kvc_status_t cells_model_rewind(cells_model_t *model, uint32_t seq, uint32_t new_len)
{
    if (!cells_model_is_live(model, seq)) {
        return KVC_ERR_BAD_SEQUENCE;
    }
    if (new_len > cells_model_next(model, seq)) {
        return KVC_ERR_CANNOT_GROW;
    }
    if (cells_misses(model, seq, new_len)) {
        return KVC_ERR_EVICTED;
    }
    let_go(model, seq, new_len, KVC_UNBOUNDED);
    undrop_from(model, seq, new_len);
    cells_model_end_step(model);
    return KVC_OK;
}

void cells_model_clear(cells_model_t *model)
{
    uint32_t next_id = model->state.next_id;
    memset(&model->state, 0, sizeof model->state);
    model->state.next_id = next_id;
}
