/* One sequence through a model of 6 layers, 5 sliding and 1 full: prefill, decode, rejected drafts, rewind.
 * Shows kvc_config_check, kvc_sequence_size, kvc_sequence_init, kvc_can_extend, kvc_seq_plan, kvc_seq_plan_step,
 * kvc_seq_commit, kvc_length, kvc_rewind, kvc_rewind_floor, kvc_clear, kvc_capacity, kvc_cache_layer,
 * kvc_cache_config. */
#include "must.h"

enum { LAYERS = 6 };
KVC_STORAGE(storage, KVC_SEQUENCE_BYTES_FOR(LAYERS));

/* Where a backend would write K and V of the step and attend; here it says what it would do. */
static void forward(uint32_t layer, const kvc_seq_plan_t *plan) {
  printf("layer %u, position %u: write %u rows from row %u, read %u rows\n", (unsigned)layer,
         (unsigned)plan->position, (unsigned)plan->n_tokens, (unsigned)plan->write[0].start,
         (unsigned)plan->read_len);
}

int main(void) {
  kvc_layer_t layers[LAYERS];
  for (uint32_t layer = 0; layer < LAYERS; layer++) {
    const kvc_layer_t sliding = {KVC_LAYER_RING, 8, 0, 1, 64, 0};
    const kvc_layer_t full = {KVC_LAYER_FLAT, 0, 0, 1, 64, 0};
    layers[layer] = layer == LAYERS - 1 ? full : sliding;
  }
  kvc_config_t config = kvc_config_default();
  config.capacity = 128;
  config.n_layers = config.n_layer_entries = LAYERS;
  config.layers = layers;
  config.max_write = 4; /* chunks of prefill, and drafts, of up to 4 tokens */
  config.rollback = 4;  /* so many rejected tokens can always be taken back */
  MUST(kvc_config_check(&config));

  size_t size = 0;
  MUST(kvc_sequence_size(&config, &size));
  SHOWS(size == KVC_SEQUENCE_BYTES_FOR(LAYERS));
  kvc_cache_t *cache = NULL;
  MUST(kvc_sequence_init(storage, sizeof storage, &config, &cache));

  /* Prefill 20 tokens in chunks: one plan a layer, in any order. */
  bool fits = false;
  MUST(kvc_can_extend(cache, 20, &fits));
  SHOWS(fits);
  for (uint32_t position = 0; position < 20;) {
    const uint32_t n = 20 - position < 4 ? 20 - position : 4;
    kvc_seq_plan_t plan = {0};
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
      MUST(kvc_seq_plan(cache, layer, position, n, &plan));
      forward(layer, &plan);
    }
    MUST(kvc_seq_commit(cache, &plan, n));
    position += n;
  }

  /* Decode one token: all layer groups in one call. */
  kvc_seq_plan_t plans[KVC_MAX_GROUPS];
  uint32_t n_groups = 0;
  MUST(kvc_seq_plan_step(cache, 20, 1, plans, KVC_MAX_GROUPS, &n_groups));
  SHOWS(n_groups == 2);
  for (uint32_t layer = 0; layer < LAYERS; layer++) {
    kvc_layer_info_t info;
    MUST(kvc_cache_layer(cache, layer, &info));
    forward(layer, &plans[info.group]);
  }
  MUST(kvc_seq_commit(cache, &plans[0], 1));

  /* Four drafts, of which the model accepts one. */
  MUST(kvc_seq_plan_step(cache, 21, 4, plans, KVC_MAX_GROUPS, &n_groups));
  MUST(kvc_seq_commit(cache, &plans[0], 1));
  uint32_t length = 0;
  MUST(kvc_length(cache, &length));
  SHOWS(length == 22);

  /* Take a turn back, as far as the windows allow; what they dropped is refused, and nothing moves. */
  uint32_t floor = 0;
  MUST(kvc_rewind_floor(cache, &floor));
  SHOWS(floor > 1 && kvc_rewind(cache, floor - 1) == KVC_ERR_EVICTED);
  MUST(kvc_rewind(cache, floor));
  SHOWS(kvc_seq_commit(cache, &plans[0], 1) == KVC_ERR_STALE_PLAN);

  /* A new chat. */
  MUST(kvc_clear(cache));
  uint32_t capacity = 0;
  MUST(kvc_capacity(cache, &capacity));
  MUST(kvc_cache_config(cache, &config));
  SHOWS(capacity == 128 && config.max_write == 4);
  MUST(kvc_cache_release(cache));
  return 0;
}
