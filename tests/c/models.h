/* Small models, caches of them, and steps: what most tests begin with. */

#ifndef KVC_TESTS_MODELS_H
#define KVC_TESTS_MODELS_H

#include "kvcore.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Room for a cache of as many layers as any test has. */
#define CACHE_BYTES KVC_SEQUENCE_BYTES_FOR(KVC_MAX_LAYERS)

kvc_layer_t flat_layer(void);
kvc_layer_t ring_layer(uint32_t window);
kvc_layer_t ring_with_sinks(uint32_t window, uint32_t sinks);

/* A config with one entry for each layer. The layers must live as long as the config is used. */
kvc_config_t config_of(const kvc_layer_t *layers, uint32_t n_layers, uint32_t capacity);

/* A cache in `storage`, which has CACHE_BYTES, zeroed at first. What an earlier test left there is ended; if the new
 * cache is refused, the program ends. */
kvc_cache_t *build(void *storage, const kvc_config_t *config);

/* One-layer caches in `storage`. */
kvc_cache_t *build_flat(void *storage, uint32_t capacity);
kvc_cache_t *build_ring(void *storage, uint32_t window, uint32_t max_write, uint32_t rollback);

uint32_t length_of(const kvc_cache_t *cache);
uint32_t floor_of(const kvc_cache_t *cache);

/* Plans `n` tokens at the length through layer 0. Ends the program if that is refused. */
kvc_seq_plan_t plan_next(kvc_cache_t *cache, uint32_t n);

/* A planned and wholly committed step. */
kvc_seq_plan_t step(kvc_cache_t *cache, uint32_t n);
void steps_of_one(kvc_cache_t *cache, uint32_t n_steps);

#ifdef __cplusplus
}
#endif

#endif
