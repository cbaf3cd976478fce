/* What the files of the model of the cells share. */

#ifndef KVC_TESTS_CELLS_RULES_H
#define KVC_TESTS_CELLS_RULES_H

#include "cells_model.h"

#define BIT(seq) (UINT64_C(1) << (seq))

static inline uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t greater(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline bool owns(const cells_token_t *token, uint32_t pool, uint32_t seq)
{
    return token->id != 0 && (token->in[pool].owners & BIT(seq)) != 0;
}

static inline bool owns_anywhere(const cells_model_t *model, const cells_token_t *token, uint32_t seq)
{
    bool found = false;
    for (uint32_t pool = 0; pool < model->n_pools; pool++) {
        found |= owns(token, pool, seq);
    }
    return found;
}

/* Whether the next token of the sequence, cut to `length`, would miss what a window dropped. Below the highest position
 * that was, all count as dropped. */
bool cells_misses(const cells_model_t *model, uint32_t seq, uint32_t length);

/* Positions that a sequence may reach. */
static inline uint32_t most_positions(const cells_model_t *model)
{
    return model->config.max_context == 0 ? KVC_UNBOUNDED : model->config.max_context;
}

/* The next position of every sequence; 0 for those that are not live. */
void cells_all_next(const cells_model_t *model, uint32_t *next);

/* The owners that would let go of a token at a step's declaration: every query to come is a window past it. */
uint64_t cells_passed_owners(const cells_model_t *model, const uint32_t *next, uint32_t pool,
                             const cells_token_t *token);

/* Rows that are free once everybody has let go of what is passed, in the fullest pool. */
uint32_t cells_room(const cells_model_t *model);

/* An entry without an owner in any pool is free. */
void cells_tidy(cells_model_t *model, cells_token_t *token);

#endif
