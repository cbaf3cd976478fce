/* What the model of the cells does when positions or rows move. */

#include <string.h>

#include "cells_rules.h"
#include "support.h"

/* Whether a token is in the range, and the sequence's in a pool. */
static bool is_inside(const cells_token_t *token, uint32_t pool, uint32_t seq, uint32_t from, uint32_t to)
{
    return owns(token, pool, seq) && token->position >= from && token->position < to;
}

static bool is_shared(const cells_model_t *model, uint32_t seq, uint32_t from, uint32_t to)
{
    bool shared = false;
    for (uint32_t i = 0; i < model->n_entries; i++) {
        const cells_token_t *token = &model->state.tokens[i];
        for (uint32_t pool = 0; pool < model->n_pools; pool++) {
            shared |= is_inside(token, pool, seq, from, to) && token->in[pool].owners != BIT(seq);
        }
    }
    return shared;
}

/* Whether a token of the sequence that stays where it is has this position. */
static bool is_taken(const cells_model_t *model, uint32_t seq, uint32_t from, uint32_t to, int64_t position)
{
    bool taken = false;
    for (uint32_t i = 0; i < model->n_entries; i++) {
        const cells_token_t *token = &model->state.tokens[i];
        for (uint32_t pool = 0; pool < model->n_pools; pool++) {
            bool stays = is_inside(token, pool, seq, 0, KVC_UNBOUNDED) && !is_inside(token, pool, seq, from, to);
            taken |= stays && token->position == position;
        }
    }
    return taken;
}

static bool is_possible(const cells_model_t *model, uint32_t seq, uint32_t from, uint32_t to, int32_t delta)
{
    uint32_t bound = most_positions(model);
    bool possible = true;
    for (uint32_t i = 0; i < model->n_entries; i++) {
        const cells_token_t *token = &model->state.tokens[i];
        int64_t moved = (int64_t)token->position + delta;
        for (uint32_t pool = 0; pool < model->n_pools; pool++) {
            bool inside = is_inside(token, pool, seq, from, to);
            possible &= !inside || (moved >= 0 && moved < bound && !is_taken(model, seq, from, to, moved));
        }
    }
    return possible;
}

static void move_tokens(cells_model_t *model, uint32_t seq, uint32_t from, uint32_t to, int32_t delta)
{
    for (uint32_t i = 0; i < model->n_entries; i++) {
        cells_token_t *token = &model->state.tokens[i];
        bool moves = false;
        for (uint32_t pool = 0; pool < model->n_pools; pool++) {
            bool inside = is_inside(token, pool, seq, from, to);
            token->in[pool].pending += inside ? delta : 0;
            moves |= inside;
        }
        token->position = moves ? (uint32_t)((int64_t)token->position + delta) : token->position;
        if (moves && token->position >= CELLS_POSITIONS) {
            give_up("too far a shift for the model");
        }
    }
}

/* What was dropped moves with the lowest position that was left, if that one moves; if what was dropped is out of the
 * range itself, only what that position moves onto counts as removed. */
static void shift_dropped(cells_model_t *model, uint32_t seq, uint32_t from, uint32_t to, int32_t delta)
{
    for (uint32_t pool = 0; pool < model->n_pools; pool++) {
        uint32_t *end = &model->dropped[seq].end[pool], lowest = KVC_UNBOUNDED;
        for (uint32_t i = 0; i < model->n_entries; i++) {
            const cells_token_t *token = &model->state.tokens[i];
            bool counts = is_inside(token, pool, seq, model->pools[pool].sinks, KVC_UNBOUNDED);
            lowest = counts && token->position < lowest ? token->position : lowest;
        }
        if (*end == 0 || lowest < from || lowest >= to) {
            continue;
        }
        int64_t moved = (int64_t)*end + delta, landed = (int64_t)lowest + delta;
        if (from < *end) {
            *end = moved < 0 ? 0 : (uint32_t)moved;
        } else if (landed < *end) {
            *end = (uint32_t)landed;
        }
    }
}

kvc_status_t cells_model_shift(cells_model_t *model, uint32_t seq, uint32_t from, uint32_t to, int32_t delta)
{
    if (from > to) {
        return KVC_ERR_INVALID_ARGUMENT;
    }
    if (!cells_model_is_live(model, seq)) {
        return KVC_ERR_BAD_SEQUENCE;
    }
    if (model->state.frozen) {
        return KVC_ERR_UNSUPPORTED;
    }
    if (delta != 0 && is_shared(model, seq, from, to)) {
        return KVC_ERR_SHARED;
    }
    if (!is_possible(model, seq, from, to, delta)) {
        return KVC_ERR_BAD_POSITION;
    }
    static cells_state_t before;
    cells_dropped_t dropped = model->dropped[seq];
    before = model->state;
    shift_dropped(model, seq, from, to, delta);
    move_tokens(model, seq, from, to, delta);
    /* The next token has to find its window whole. */
    if (cells_misses(model, seq, KVC_UNBOUNDED)) {
        model->dropped[seq] = dropped;
        model->state = before;
        return KVC_ERR_EVICTED;
    }
    for (uint32_t pool = 0; pool < model->n_pools; pool++) {
        model->state.stale[pool] |= model->state.read[pool] && delta != 0;
    }
    cells_model_end_step(model);
    return KVC_OK;
}

void cells_model_shifts_read(cells_model_t *model, uint32_t pool, bool any)
{
    model->state.frozen |= model->state.fixed && any;
    model->state.read[pool] = true;
    model->state.stale[pool] = false;
}

void cells_model_shifts_done(cells_model_t *model)
{
    for (uint32_t i = 0; i < model->n_entries; i++) {
        for (uint32_t pool = 0; pool < model->n_pools; pool++) {
            /* What changed since somebody read it was not carried out. */
            if (!model->state.stale[pool]) {
                model->state.tokens[i].in[pool].pending = 0;
            }
        }
    }
    memset(model->state.read, 0, sizeof model->state.read);
    memset(model->state.stale, 0, sizeof model->state.stale);
    model->state.fixed = false;
    model->state.frozen = false;
}

void cells_model_move(cells_model_t *model, uint32_t pool, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < model->n_entries; i++) {
        cells_copy_t *copy = &model->state.tokens[i].in[pool];
        if (copy->owners != 0 && copy->row == from) {
            copy->row = to;
            return;
        }
    }
    give_up("a move of a row that nobody owns");
}
