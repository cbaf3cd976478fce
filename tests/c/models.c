#include "models.h"

#include "support.h"

kvc_layer_t flat_layer(void)
{
    return ring_with_sinks(0, 0);
}

kvc_layer_t ring_layer(uint32_t window)
{
    return ring_with_sinks(window, 0);
}

kvc_layer_t ring_with_sinks(uint32_t window, uint32_t sinks)
{
    kvc_layer_t layer = {KVC_LAYER_FLAT, 0, 0, 2, 16, 0};
    layer.kind = window == 0 ? KVC_LAYER_FLAT : KVC_LAYER_RING;
    layer.window = window;
    layer.sinks = sinks;
    return layer;
}

kvc_config_t config_of(const kvc_layer_t *layers, uint32_t n_layers, uint32_t capacity)
{
    kvc_config_t config = kvc_config_default();
    config.capacity = capacity;
    config.n_layers = n_layers;
    config.n_layer_entries = n_layers;
    config.layers = layers;
    return config;
}

kvc_cache_t *build(void *storage, const kvc_config_t *config)
{
    kvc_cache_t *cache = NULL;
    /* Refused where no cache stands, or an ended one. */
    kvc_cache_release((kvc_cache_t *)storage);
    if (!CHECK_OK(kvc_sequence_init(storage, CACHE_BYTES, config, &cache)) || !CHECK(cache != NULL)) {
        give_up("no cache, no test");
    }
    return cache;
}

kvc_cache_t *build_flat(void *storage, uint32_t capacity)
{
    kvc_layer_t layer = flat_layer();
    kvc_config_t config = config_of(&layer, 1, capacity);
    return build(storage, &config);
}

kvc_cache_t *build_ring(void *storage, uint32_t window, uint32_t max_write, uint32_t rollback)
{
    kvc_layer_t layer = ring_layer(window);
    kvc_config_t config = config_of(&layer, 1, KVC_UNBOUNDED);
    config.max_write = max_write;
    config.rollback = rollback;
    return build(storage, &config);
}

uint32_t length_of(const kvc_cache_t *cache)
{
    uint32_t length = KVC_UNBOUNDED;
    CHECK_OK(kvc_length(cache, &length));
    return length;
}

uint32_t floor_of(const kvc_cache_t *cache)
{
    uint32_t floor = KVC_UNBOUNDED;
    CHECK_OK(kvc_rewind_floor(cache, &floor));
    return floor;
}

kvc_seq_plan_t plan_next(kvc_cache_t *cache, uint32_t n)
{
    kvc_seq_plan_t plan;
    if (!CHECK_OK(kvc_seq_plan(cache, 0, length_of(cache), n, &plan))) {
        give_up("no plan, no test");
    }
    return plan;
}

kvc_seq_plan_t step(kvc_cache_t *cache, uint32_t n)
{
    kvc_seq_plan_t plan = plan_next(cache, n);
    CHECK_OK(kvc_seq_commit(cache, &plan, n));
    return plan;
}

void steps_of_one(kvc_cache_t *cache, uint32_t n_steps)
{
    for (uint32_t i = 0; i < n_steps; i++) {
        step(cache, 1);
    }
}
