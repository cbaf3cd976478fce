#include "backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void die(const char *message)
{
    fprintf(stderr, "error: %s\n", message);
    exit(EXIT_FAILURE);
}

void must(kvc_status_t status, const char *call)
{
    if (status != KVC_OK) {
        fprintf(stderr, "error: %s answered %s\n", call, kvc_status_name(status));
        exit(EXIT_FAILURE);
    }
}

static void *resized(void *memory, size_t size)
{
    memory = realloc(memory, size);
    if (memory == NULL) {
        die("out of memory");
    }
    return memory;
}

/* New rows hold poison: one that is read before it was written spoils all that comes after. */
static void pool_resize(pool_t *pool, uint32_t rows)
{
    size_t bytes = (size_t)rows * KV_DIM * sizeof(float);
    pool->keys = resized(pool->keys, bytes);
    pool->values = resized(pool->values, bytes);
    pool->held = resized(pool->held, rows * sizeof *pool->held);
    for (uint32_t row = pool->rows; row < rows; row++) {
        pool->held[row].written = false;
        for (size_t i = (size_t)row * KV_DIM; i < (size_t)(row + 1) * KV_DIM; i++) {
            pool->keys[i] = pool->values[i] = NAN;
        }
    }
    pool->rows = rows;
}

void backend_attach(backend_t *backend, kvc_registry_t *registry, const char *key)
{
    memset(backend, 0, sizeof *backend);
    must(kvc_registry_get(registry, key, &backend->cache), "kvc_registry_get");
    kvc_config_t config;
    must(kvc_cache_config(backend->cache, &config), "kvc_cache_config");
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        kvc_layer_info_t *info = &backend->layers[layer];
        must(kvc_cache_layer(backend->cache, layer, info), "kvc_cache_layer");
        if (info->layer.shares_with != 0) {
            backend->pool_of[layer] = backend->pool_of[info->layer.shares_with - 1];
            continue;
        }
        pool_t *pool = &backend->pools[layer];
        backend->pool_of[layer] = layer;
        pool->most_rows = info->rows;
        pool_resize(pool, config.initial_capacity < info->rows ? config.initial_capacity : info->rows);
    }
}

void backend_detach(backend_t *backend)
{
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        free(backend->pools[layer].keys);
        free(backend->pools[layer].values);
        free(backend->pools[layer].held);
    }
    must(kvc_cache_release(backend->cache), "kvc_cache_release");
}

/* Doubles until the plan's rows fit. Rows keep their places. */
static void make_room(pool_t *pool, const kvc_seq_plan_t *plan)
{
    if (plan->rows_needed > pool->rows) {
        uint32_t rows = kvc_grow_rows(pool->rows, plan->rows_needed, pool->most_rows);
        if (rows == 0) {
            die("a plan needs more rows than its pool may have");
        }
        pool_resize(pool, rows);
    }
}

/* The promise of the library: a row that a plan reads holds the position that the plan says. */
static void check_reads(const pool_t *pool, const kvc_seq_plan_t *plan, const uint8_t *history)
{
    for (uint32_t run = 0; run < plan->n_read; run++) {
        kvc_run_t read = plan->read[run];
        for (uint32_t i = 0; i < read.len; i++) {
            held_t held = pool->held[read.start + i];
            if (!held.written || held.position != read.pos + i || held.token != history[read.pos + i]) {
                die("a row does not hold what the plan says");
            }
        }
    }
}

/* The rows that the plan reads and the mask lets through, in order. */
static uint32_t seen_rows(const kvc_seq_plan_t *plan, const uint8_t *mask, uint32_t *rows)
{
    uint32_t column = 0, n = 0;
    for (uint32_t run = 0; run < plan->n_read; run++) {
        for (uint32_t i = 0; i < plan->read[run].len; i++) {
            if (mask[column++] == 1) {
                rows[n++] = plan->read[run].start + i;
            }
        }
    }
    return n;
}

/* Attention of one token over n rows; scores has room for n. */
static void attend(const pool_t *pool, const float *queries, const uint32_t *rows, uint32_t n, float *scores,
                   float *gathered)
{
    memset(gathered, 0, DIM * sizeof *gathered);
    for (uint32_t head = 0; head < HEADS; head++) {
        uint32_t at = head / (HEADS / KV_HEADS) * HEAD_DIM;
        const float *query = &queries[head * HEAD_DIM];
        float *out = &gathered[head * HEAD_DIM];
        float highest = -INFINITY, total = 0.0f;
        for (uint32_t i = 0; i < n; i++) {
            const float *key = &pool->keys[(size_t)rows[i] * KV_DIM + at];
            float sum = 0.0f;
            for (int d = 0; d < HEAD_DIM; d++) {
                sum += query[d] * key[d];
            }
            scores[i] = sum / sqrtf((float)HEAD_DIM);
            highest = fmaxf(highest, scores[i]);
        }
        for (uint32_t i = 0; i < n; i++) {
            const float *value = &pool->values[(size_t)rows[i] * KV_DIM + at];
            float weight = expf(scores[i] - highest);
            total += weight;
            for (int d = 0; d < HEAD_DIM; d++) {
                out[d] += weight * value[d];
            }
        }
        for (int d = 0; d < HEAD_DIM; d++) {
            out[d] /= total;
        }
    }
}

/* Writes K and V of the step's tokens where the plan says, and keeps their queries. */
static void write_step(pool_t *pool, uint32_t layer, const kvc_seq_plan_t *plan, const uint8_t *history,
                       float states[][DIM], float queries[][DIM])
{
    uint32_t token = 0;
    for (uint32_t run = 0; run < plan->n_write; run++) {
        for (uint32_t i = 0; i < plan->write[run].len; i++, token++) {
            uint32_t row = plan->write[run].start + i, position = plan->write[run].pos + i;
            float *key = &pool->keys[(size_t)row * KV_DIM], *value = &pool->values[(size_t)row * KV_DIM];
            model_project(layer, states[token], position, queries[token], key, value);
            if (model_has_own_kv(layer)) {
                pool->held[row] = (held_t){position, history[position], true};
            }
        }
    }
}

static void forward_layer(backend_t *backend, uint32_t layer, const uint8_t *history, float states[][DIM])
{
    const kvc_seq_plan_t *plan = &backend->plans[backend->layers[layer].group];
    pool_t *pool = &backend->pools[backend->pool_of[layer]];
    float queries[MAX_STEP][DIM], gathered[DIM];
    make_room(pool, plan);
    write_step(pool, layer, plan, history, states, queries);
    check_reads(pool, plan, history);

    uint32_t columns = plan->read_len;
    size_t mask_size = (size_t)plan->n_tokens * columns;
    uint8_t *mask = resized(NULL, mask_size);
    uint32_t *rows = resized(NULL, columns * sizeof *rows);
    float *scores = resized(NULL, columns * sizeof *scores);
    must(kvc_plan_mask_bytes(plan, NULL, KVC_COLUMNS_READ, mask, mask_size, columns), "kvc_plan_mask_bytes");
    for (uint32_t token = 0; token < plan->n_tokens; token++) {
        uint32_t n = seen_rows(plan, &mask[(size_t)token * columns], rows);
        attend(pool, queries[token], rows, n, scores, gathered);
        model_finish(layer, states[token], gathered);
    }
    free(scores);
    free(rows);
    free(mask);
}

void backend_forward(backend_t *backend, const uint8_t *history, uint32_t len, uint32_t n, float logits[][VOCAB])
{
    float states[MAX_STEP][DIM];
    uint32_t position = len - n, n_groups;
    must(kvc_seq_plan_step(backend->cache, position, n, backend->plans, KVC_MAX_GROUPS, &n_groups),
         "kvc_seq_plan_step");
    for (uint32_t i = 0; i < n; i++) {
        model_embed(history[position + i], states[i]);
    }
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        forward_layer(backend, layer, history, states);
    }
    for (uint32_t i = 0; i < n; i++) {
        model_logits(states[i], logits[i]);
    }
}

void backend_commit(backend_t *backend, uint32_t accepted)
{
    /* The plan of any group speaks for the whole model. */
    must(kvc_seq_commit(backend->cache, &backend->plans[0], accepted), "kvc_seq_commit");
}
