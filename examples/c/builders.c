/* A backend offers to build caches, and attaches its own object to one.
 * Shows kvc_sequence_register, kvc_cells_register, kvc_rows_register, kvc_builder_register,
 * kvc_builder_unregister, kvc_builder_size, kvc_builder_build, kvc_builder_kind_at, kvc_cache_set_face, kvc_cache_face,
 * kvc_cache_drop_face. */
#include <string.h>

#include "must.h"

KVC_STORAGE(storage, KVC_SEQUENCE_BYTES_FOR(4));

typedef struct {
  uint32_t rows;
} pool_t;

static void drop_pool(void *object) { ((pool_t *)object)->rows = 0; }

static kvc_status_t pooled_size(void *ctx, const kvc_config_t *config, size_t *out) {
  (void)ctx;
  return kvc_sequence_size(config, out);
}

/* A one-sequence cache with the backend's pool attached. `ctx` is the pool. */
static kvc_status_t build_pooled(void *ctx, const kvc_config_t *config, void *memory, size_t size,
                                 kvc_cache_t **out) {
  pool_t *pool = ctx;
  kvc_cache_t *cache = NULL;
  kvc_status_t status = kvc_sequence_init(memory, size, config, &cache);
  if (status != KVC_OK) return status;
  pool->rows = config->capacity;
  status = kvc_cache_set_face(cache, "example.pool", pool, drop_pool);
  if (status != KVC_OK) {
    (void)kvc_cache_release(cache);
    return status;
  }
  *out = cache;
  return KVC_OK;
}

int main(void) {
  kvc_registry_t *registry = kvc_registry_global();
  pool_t pool = {0};
  MUST(kvc_sequence_register(registry)); /* the built-in kinds, for those who ask for them */
  MUST(kvc_cells_register(registry));
  MUST(kvc_rows_register(registry));
  MUST(kvc_builder_register(registry, "example", "pooled", pooled_size, build_pooled, &pool));

  const char *kind = NULL;
  MUST(kvc_builder_kind_at(registry, "example", 0, &kind));
  SHOWS(strcmp(kind, "pooled") == 0);
  MUST(kvc_builder_kind_at(registry, "kvcore", 1, &kind));
  SHOWS(strcmp(kind, "cells") == 0);

  const kvc_layer_t layer = {KVC_LAYER_RING, 16, 0, 1, 64, 0};
  kvc_config_t config = kvc_config_default();
  config.capacity = 64;
  config.n_layers = 4;
  config.n_layer_entries = 1;
  config.layers = &layer;
  size_t size = 0;
  kvc_cache_t *cache = NULL;
  MUST(kvc_builder_size(registry, "example", "pooled", &config, &size));
  SHOWS(size <= sizeof storage);
  SHOWS(kvc_builder_build(registry, "example", "paged", &config, storage, size, &cache) == KVC_ERR_NOT_FOUND);
  MUST(kvc_builder_build(registry, "example", "pooled", &config, storage, size, &cache));

  void *face = NULL;
  MUST(kvc_cache_face(cache, "example.pool", &face));
  SHOWS(face == &pool && pool.rows == 64);
  MUST(kvc_cache_drop_face(cache, "example.pool"));
  SHOWS(pool.rows == 0 && kvc_cache_face(cache, "example.pool", &face) == KVC_ERR_NOT_FOUND);

  MUST(kvc_cache_release(cache));
  MUST(kvc_builder_unregister(registry, "example", "pooled"));
  return 0;
}
