#include "backend.h"

#include <string.h>

#include "print.h"

static uint32_t failed;

void check(bool holds, const char *what)
{
    if (!holds) {
        failed++;
        print("FAILED: ");
        print(what);
        print("\n");
    }
}

void must(kvc_status_t status, const char *call)
{
    if (status != KVC_OK) {
        check(false, call);
        print(kvc_status_name(status));
        print("\n");
    }
}

uint32_t failures(void)
{
    return failed;
}

void backend_attach(backend_t *backend, kvc_registry_t *registry, const char *key, row_t *rows, uint32_t n_rows)
{
    memset(backend, 0, sizeof *backend);
    memset(rows, 0, n_rows * sizeof *rows);
    must(kvc_registry_get(registry, key, &backend->cache), "kvc_registry_get");
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        kvc_layer_info_t *info = &backend->layers[layer];
        must(kvc_cache_layer(backend->cache, layer, info), "kvc_cache_layer");
        if (info->layer.shares_with != 0) {
            backend->pool[layer] = backend->pool[info->layer.shares_with - 1];
            continue;
        }
        check(info->rows <= n_rows, "the pools have room for every row");
        backend->pool[layer] = rows;
        rows += info->rows;
        n_rows -= info->rows;
    }
}

void backend_detach(backend_t *backend)
{
    must(kvc_cache_release(backend->cache), "kvc_cache_release");
}

static const kvc_seq_plan_t *plan_of(const backend_t *backend, uint32_t layer)
{
    return &backend->plans[backend->layers[layer].group];
}

static void write_rows(backend_t *backend, uint32_t layer, const uint8_t *history, int32_t states[][DIM])
{
    const kvc_seq_plan_t *plan = plan_of(backend, layer);
    uint32_t token = 0;
    for (uint32_t run = 0; run < plan->n_write; run++) {
        for (uint32_t i = 0; i < plan->write[run].len; i++, token++) {
            row_t *row = &backend->pool[layer][plan->write[run].start + i];
            uint32_t position = plan->write[run].pos + i;
            model_row(layer, states[token], row->key, row->value);
            row->position = (uint16_t)position;
            row->token = history[position];
            row->written = true;
        }
    }
    backend->wraps += plan->n_write == 2;
}

/* The promise of the library: a row that a plan reads holds the position that the plan says. */
static void check_reads(const backend_t *backend, uint32_t layer, const uint8_t *history)
{
    const kvc_seq_plan_t *plan = plan_of(backend, layer);
    bool kept = true;
    for (uint32_t run = 0; run < plan->n_read; run++) {
        for (uint32_t i = 0; i < plan->read[run].len; i++) {
            const row_t *row = &backend->pool[layer][plan->read[run].start + i];
            uint32_t position = plan->read[run].pos + i;
            kept &= row->written && row->position == position && row->token == history[position];
        }
    }
    check(kept, "a row holds what the plan says");
}

/* Rows that one token sees, in the order of the mask's columns. Positions begin with 0 for the oldest row. */
enum { MOST_COLUMNS = 128, MASK_WORDS = MOST_COLUMNS / 32 };

typedef struct {
    const row_t *pool;
    const kvc_seq_plan_t *plan;
    const uint32_t *mask;
    uint32_t run, in_run, column;
} seen_t;

/* The next row that the mask lets through, or NULL. */
static const row_t *next_seen(seen_t *seen)
{
    while (seen->run < seen->plan->n_read) {
        const kvc_run_t *run = &seen->plan->read[seen->run];
        if (seen->in_run == run->len) {
            seen->run++;
            seen->in_run = 0;
            continue;
        }
        const row_t *row = &seen->pool[run->start + seen->in_run++];
        uint32_t column = seen->column++;
        if ((seen->mask[column / 32] >> (column % 32) & 1u) != 0) {
            return row;
        }
    }
    return NULL;
}

static void attend(seen_t rows, const int32_t *query, uint32_t position, int32_t *gathered)
{
    int32_t highest = -HIGHEST_SCORE, total = 0;
    seen_t again = rows;
    const row_t *row;
    while ((row = next_seen(&rows)) != NULL) {
        int32_t score = model_score(query, row->key, position - row->position);
        highest = score > highest ? score : highest;
    }
    memset(gathered, 0, DIM * sizeof *gathered);
    while ((row = next_seen(&again)) != NULL) {
        int32_t weight = model_weight(model_score(query, row->key, position - row->position), highest);
        total += weight;
        for (uint32_t i = 0; i < DIM; i++) {
            gathered[i] += weight * row->value[i];
        }
    }
    for (uint32_t i = 0; i < DIM; i++) {
        gathered[i] /= total == 0 ? 1 : total;
    }
}

static void forward_layer(backend_t *backend, uint32_t layer, const uint8_t *history, int32_t states[][DIM])
{
    static uint32_t mask[MAX_STEP][MASK_WORDS];
    const kvc_seq_plan_t *plan = plan_of(backend, layer);
    if (backend->layers[layer].layer.shares_with == 0) {
        write_rows(backend, layer, history, states);
    }
    check_reads(backend, layer, history);
    must(kvc_plan_mask_bits(plan, NULL, KVC_COLUMNS_READ, mask[0], MAX_STEP * MASK_WORDS, MASK_WORDS),
         "kvc_plan_mask_bits");
    for (uint32_t token = 0; token < plan->n_tokens; token++) {
        int32_t query[DIM], gathered[DIM];
        seen_t rows = {backend->pool[layer], plan, mask[token], 0, 0, 0};
        model_query(layer, states[token], query);
        attend(rows, query, plan->position + token, gathered);
        model_finish(layer, states[token], gathered);
    }
}

void backend_forward(backend_t *backend, const uint8_t *history, uint32_t len, uint32_t n, int32_t states[][DIM])
{
    uint32_t position = len - n, n_groups = 0;
    must(kvc_seq_plan_step(backend->cache, position, n, backend->plans, KVC_MAX_GROUPS, &n_groups),
         "kvc_seq_plan_step");
    for (uint32_t i = 0; i < n; i++) {
        model_embed(history[position + i], states[i]);
    }
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        forward_layer(backend, layer, history, states);
    }
    backend->steps++;
}

void backend_commit(backend_t *backend, uint32_t accepted)
{
    /* The plan of any group speaks for the whole model. */
    must(kvc_seq_commit(backend->cache, &backend->plans[0], accepted), "kvc_seq_commit");
}
