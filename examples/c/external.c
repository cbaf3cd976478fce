/* A cache of one's own stands in the registry beside the built-in ones.
 * Shows kvc_external_t, kvc_external_init. */
#include "must.h"

KVC_STORAGE(storage, KVC_EXTERNAL_BYTES);

/* Counts tokens and plans nothing: enough for an application that only asks for lengths. */
typedef struct {
  uint32_t length;
} counter_t;

static kvc_status_t counter_clear(void *object) {
  ((counter_t *)object)->length = 0;
  return KVC_OK;
}

static kvc_status_t counter_length(void *object, uint32_t *out) {
  *out = ((const counter_t *)object)->length;
  return KVC_OK;
}

int main(void) {
  kvc_external_t table = {0}; /* what is NULL answers KVC_ERR_WRONG_KIND */
  table.struct_size = (uint32_t)sizeof table;
  table.kind = KVC_KIND_SEQUENCE;
  table.clear = counter_clear;
  table.length = counter_length;

  counter_t counter = {7};
  kvc_cache_t *cache = NULL;
  MUST(kvc_external_init(storage, sizeof storage, &table, &counter, &cache));
  MUST(kvc_registry_install(kvc_registry_global(), "counter", cache));

  uint32_t length = 0;
  kvc_seq_plan_t plan;
  MUST(kvc_length(cache, &length));
  SHOWS(length == 7);
  SHOWS(kvc_seq_plan(cache, 0, 7, 1, &plan) == KVC_ERR_WRONG_KIND);
  MUST(kvc_clear(cache));
  SHOWS(counter.length == 0);

  MUST(kvc_registry_erase(kvc_registry_global(), "counter"));
  MUST(kvc_cache_release(cache));
  return 0;
}
