#include "cells_model.h"

#include <string.h>

#include "cells_rules.h"
#include "support.h"

static bool is_alike(kvc_layer_t a, kvc_layer_t b)
{
    a.shares_with = b.shares_with = 0;
    return memcmp(&a, &b, sizeof a) == 0;
}

static void add_layer(cells_model_t *model, uint32_t layer)
{
    uint32_t same = 0;
    while (same < layer && !is_alike(model->layers[same], model->layers[layer])) {
        same++;
    }
    model->group[layer] = same < layer ? model->group[same] : model->n_groups++;
    bool split = (model->config.flags & KVC_SPLIT_POOLS) != 0;
    model->pool_of[layer] = split ? model->group[layer] : 0;
    cells_pool_t *pool = &model->pools[model->pool_of[layer]];
    pool->window = greater(pool->window, model->layers[layer].window);
    pool->sinks = greater(pool->sinks, model->layers[layer].sinks);
    pool->evicts &= model->layers[layer].kind == KVC_LAYER_RING;
}

static void size_pool(const cells_model_t *model, cells_pool_t *pool)
{
    const kvc_config_t *config = &model->config;
    pool->n_rows = config->capacity;
    if (pool->evicts && (config->flags & KVC_SPLIT_POOLS) != 0) {
        uint32_t each = pool->sinks + pool->window + config->rollback;
        pool->n_rows = lesser(pool->n_rows, config->max_seqs * each + lesser(model->step_limit, config->capacity));
    }
}

void cells_model_init(cells_model_t *model, const kvc_config_t *config)
{
    memset(model, 0, sizeof *model);
    if (config->n_layers > CELLS_LAYERS || config->n_layer_entries != config->n_layers) {
        give_up("no such model for the cells");
    }
    model->config = *config;
    memcpy(model->layers, config->layers, config->n_layers * sizeof model->layers[0]);
    model->config.layers = model->layers;
    model->step_limit = config->max_write == 0 ? config->capacity : config->max_write;
    for (uint32_t pool = 0; pool < CELLS_POOLS; pool++) {
        model->pools[pool].evicts = (config->flags & KVC_KEEP_CELLS) == 0;
    }
    for (uint32_t layer = 0; layer < config->n_layers; layer++) {
        add_layer(model, layer);
    }
    model->n_pools = (config->flags & KVC_SPLIT_POOLS) != 0 ? model->n_groups : 1;
    if (model->n_groups > CELLS_POOLS || config->capacity > CELLS_ROWS) {
        give_up("too large a model for the cells");
    }
    for (uint32_t pool = 0; pool < model->n_pools; pool++) {
        size_pool(model, &model->pools[pool]);
        /* A token that any pool holds has an entry. */
        model->n_entries += model->pools[pool].n_rows;
    }
    model->n_entries = lesser(model->n_entries, CELLS_TOKENS);
}

bool cells_model_is_live(const cells_model_t *model, uint32_t seq)
{
    return seq < KVC_MAX_SEQS && (model->state.live & BIT(seq)) != 0;
}

static uint32_t highest_held_end(const cells_model_t *model, uint32_t seq)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < model->n_entries; i++) {
        const cells_token_t *token = &model->state.tokens[i];
        if (owns_anywhere(model, token, seq)) {
            end = greater(end, token->position + 1);
        }
    }
    return end;
}

uint32_t cells_model_next(const cells_model_t *model, uint32_t seq)
{
    uint32_t next = highest_held_end(model, seq);
    for (uint32_t pool = 0; pool < model->n_pools; pool++) {
        next = greater(next, model->dropped[seq].end[pool]);
    }
    return next;
}

uint32_t cells_model_len(const cells_model_t *model, uint32_t seq)
{
    uint32_t most = 0;
    for (uint32_t pool = 0; pool < model->n_pools; pool++) {
        uint32_t held = 0;
        for (uint32_t i = 0; i < model->n_entries; i++) {
            held += owns(&model->state.tokens[i], pool, seq);
        }
        most = greater(most, held);
    }
    return most;
}

uint32_t cells_model_first(const cells_model_t *model, uint32_t seq)
{
    uint32_t first = KVC_UNBOUNDED;
    for (uint32_t i = 0; i < model->n_entries; i++) {
        const cells_token_t *token = &model->state.tokens[i];
        if (owns_anywhere(model, token, seq)) {
            first = lesser(first, token->position);
        }
    }
    return first;
}

static uint32_t used_rows(const cells_model_t *model, uint32_t pool)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < model->n_entries; i++) {
        used += model->state.tokens[i].in[pool].owners != 0;
    }
    return used;
}

uint32_t cells_model_free_rows(const cells_model_t *model)
{
    uint32_t least = KVC_UNBOUNDED;
    for (uint32_t pool = 0; pool < model->n_pools; pool++) {
        least = lesser(least, model->pools[pool].n_rows - used_rows(model, pool));
    }
    return least;
}

const cells_token_t *cells_model_at(const cells_model_t *model, uint32_t pool, uint32_t row)
{
    for (uint32_t i = 0; i < model->n_entries; i++) {
        const cells_token_t *token = &model->state.tokens[i];
        if (token->in[pool].owners != 0 && token->in[pool].row == row) {
            return token;
        }
    }
    return NULL;
}

uint32_t cells_model_end(const cells_model_t *model, uint32_t pool)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < model->n_entries; i++) {
        const cells_copy_t *copy = &model->state.tokens[i].in[pool];
        end = copy->owners != 0 ? greater(end, copy->row + 1) : end;
    }
    return end;
}

uint64_t cells_passed_owners(const cells_model_t *model, const uint32_t *next, uint32_t pool,
                             const cells_token_t *token)
{
    const cells_pool_t *it = &model->pools[pool];
    uint64_t passed = 0;
    for (uint32_t seq = 0; seq < model->config.max_seqs; seq++) {
        bool past = it->evicts && token->position >= it->sinks &&
                    (uint64_t)token->position + it->window + model->config.rollback <= next[seq];
        passed |= past && owns(token, pool, seq) ? BIT(seq) : 0;
    }
    return passed;
}

void cells_all_next(const cells_model_t *model, uint32_t *next)
{
    for (uint32_t seq = 0; seq < model->config.max_seqs; seq++) {
        next[seq] = cells_model_is_live(model, seq) ? cells_model_next(model, seq) : 0;
    }
}

uint32_t cells_room(const cells_model_t *model)
{
    uint32_t next[KVC_MAX_SEQS], least = KVC_UNBOUNDED;
    cells_all_next(model, next);
    for (uint32_t pool = 0; pool < model->n_pools; pool++) {
        uint32_t rows = model->pools[pool].n_rows;
        for (uint32_t i = 0; i < model->n_entries; i++) {
            const cells_token_t *token = &model->state.tokens[i];
            uint64_t owners = token->in[pool].owners;
            rows -= owners != 0 && cells_passed_owners(model, next, pool, token) != owners;
        }
        least = lesser(least, rows);
    }
    return least;
}

bool cells_model_admits(const cells_model_t *model, uint32_t seq, uint32_t n)
{
    return n <= cells_room(model) && (uint64_t)cells_model_next(model, seq) + n <= most_positions(model);
}

bool cells_model_sees(const cells_model_t *model, uint32_t layer, uint32_t i, const cells_token_t *token)
{
    uint32_t query = model->state.positions[i];
    const kvc_layer_t *it = &model->layers[layer];
    if (!owns(token, model->pool_of[layer], model->state.seqs[i]) || token->position > query) {
        return false;
    }
    return it->kind == KVC_LAYER_FLAT || token->position < it->sinks || query - token->position < it->window;
}
