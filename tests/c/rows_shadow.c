#include "rows_shadow.h"

#include <string.h>

#include "rows_parts.h"
#include "support.h"

/* The bytes of the cache before an operation that is foretold to be refused. */
static unsigned char cache_before[ROWS_BYTES];

static unsigned evictions;

static void count_evictions(void *ctx, uint32_t event, kvc_status_t status, const char *key)
{
    (void)status, (void)key;
    *(unsigned *)ctx += event == KVC_EVENT_EVICTED;
}

void rows_before_call(rows_shadow_t *shadow, kvc_status_t foretold)
{
    shadow->operations++;
    evictions = 0;
    if (foretold != KVC_OK) {
        shadow->refused++;
        memcpy(cache_before, shadow->cache, shadow->cache_bytes);
    }
}

kvc_status_t rows_after_call(const rows_shadow_t *shadow, kvc_status_t foretold, kvc_status_t got)
{
    if (!CHECK_STATUS(foretold, got)) {
        give_up("the cache and its shadow went apart");
    }
    if (foretold != KVC_OK) {
        CHECK(memcmp(cache_before, shadow->cache, shadow->cache_bytes) == 0);
    }
    return got;
}

unsigned rows_evictions(void)
{
    return evictions;
}

/* Layers alike in everything but whose rows they use are one group, numbered by their first layer. */
static uint32_t find_group(rows_shadow_t *shadow, uint32_t layer)
{
    kvc_layer_t ours = shadow->layers[layer];
    ours.shares_with = 0;
    for (uint32_t other = 0; other < layer; other++) {
        kvc_layer_t theirs = shadow->layers[other];
        theirs.shares_with = 0;
        if (memcmp(&ours, &theirs, sizeof ours) == 0) {
            return shadow->group[other];
        }
    }
    return shadow->n_groups++;
}

static void add_layer(rows_shadow_t *shadow, uint32_t layer)
{
    const kvc_layer_t *entry = &shadow->layers[layer];
    const kvc_config_t *config = &shadow->config;
    shadow->layouts[layer] = naive_layout(entry, config->max_write, config->rollback, config->capacity);
    shadow->group[layer] = find_group(shadow, layer);
    shadow->pool_of[layer] = entry->shares_with == 0 ? layer : shadow->pool_of[entry->shares_with - 1];
    shadow->step_limit = lesser(shadow->step_limit, naive_step_limit(entry, config->max_write));
    uint32_t rows = naive_layout(entry, config->max_write, config->rollback, KVC_UNBOUNDED).rows;
    shadow->most_rows = rows > shadow->most_rows ? rows : shadow->most_rows;
}

void rows_shadow_init(rows_shadow_t *shadow, void *storage, size_t size, const kvc_config_t *config)
{
    memset(shadow, 0, sizeof *shadow);
    if (config->n_layers > ROWS_LAYERS || config->max_seqs > ROWS_SEQS || config->capacity > ROWS_OF_A_POOL) {
        give_up("no such model for the shadow");
    }
    shadow->config = *config;
    memcpy(shadow->layers, config->layers, config->n_layers * sizeof shadow->layers[0]);
    shadow->config.layers = shadow->layers;
    shadow->step_limit = KVC_UNBOUNDED;
    shadow->bound = config->max_context == 0 ? KVC_UNBOUNDED - 1 : config->max_context;
    for (uint32_t layer = 0; layer < config->n_layers; layer++) {
        add_layer(shadow, layer);
    }
    bool built = CHECK_OK(kvc_rows_size(config, &shadow->cache_bytes)) &&
                 CHECK_OK(kvc_rows_init(storage, size, config, &shadow->cache));
    if (!built || shadow->cache_bytes > sizeof cache_before) {
        give_up("no cache for the shadow");
    }
    kvc_set_event_hook(count_evictions, &evictions);
    for (uint32_t layer = 0; layer < config->n_layers; layer++) {
        kvc_layer_info_t info;
        CHECK_OK(kvc_cache_layer(shadow->cache, layer, &info));
        CHECK_EQ(shadow->group[layer], info.group);
        CHECK_EQ(shadow->layouts[layer].rows, info.rows);
    }
}

bool rows_shadow_is_live(const rows_shadow_t *shadow, uint32_t seq)
{
    return seq < shadow->config.max_seqs && shadow->seqs[seq].live;
}

uint32_t rows_shadow_free_rows(const rows_shadow_t *shadow)
{
    uint32_t held = 0;
    for (uint32_t seq = 0; seq < shadow->config.max_seqs; seq++) {
        held += shadow->seqs[seq].live ? lesser(shadow->seqs[seq].length, shadow->most_rows) : 0;
    }
    return shadow->config.capacity - held;
}

uint64_t rows_taken(const rows_shadow_t *shadow, uint32_t seq, uint64_t n)
{
    uint32_t length = shadow->seqs[seq].length;
    uint64_t after = length + n;
    return (after < shadow->most_rows ? after : shadow->most_rows) - lesser(length, shadow->most_rows);
}

bool rows_hold(const rows_shadow_t *shadow, uint32_t seq, uint32_t layer, uint32_t row, uint32_t position)
{
    const rows_seq_t *it = &shadow->seqs[seq];
    const rows_row_t *held = &it->rows[shadow->pool_of[layer]][row];
    return held->position == position && held->generation == it->generation_of[position];
}
