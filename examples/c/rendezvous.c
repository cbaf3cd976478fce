/* An application and a backend that share only a string.
 * Shows kvc_registry_global, kvc_registry_size, kvc_registry_init, kvc_registry_install, kvc_registry_get,
 * kvc_registry_erase, kvc_registry_count, kvc_registry_key_at, kvc_registry_deinit, kvc_session_open,
 * kvc_session_close, kvc_session_drop, kvc_unique_key, kvc_cache_retain, kvc_cache_release, kvc_cache_kind,
 * kvc_cache_on_release, kvc_set_event_hook, kvc_status_name, kvc_check_header, kvc_abi_version. */
#include <stdlib.h>
#include <string.h>

#include "must.h"

KVC_STORAGE(storage, KVC_SEQUENCE_BYTES_FOR(1));

static void on_event(void *ctx, uint32_t event, kvc_status_t status, const char *key) {
  (void)ctx;
  printf("event %u, %s, key %s\n", (unsigned)event, kvc_status_name(status), key != NULL ? key : "-");
}

static void on_release(void *ctx, void *memory) {
  (void)memory; /* from here on it may be freed or used again */
  *(bool *)ctx = true;
}

/* The backend's side: all it got is a load-time option. */
static int backend_forward(const char *key) {
  kvc_cache_t *cache = NULL;
  kvc_seq_plan_t plan;
  uint32_t kind = 0;
  MUST(kvc_registry_get(kvc_registry_global(), key, &cache)); /* a reference of its own */
  MUST(kvc_cache_kind(cache, &kind));
  SHOWS(kind == KVC_KIND_SEQUENCE);
  MUST(kvc_seq_plan(cache, 0, 0, 3, &plan));
  MUST(kvc_seq_commit(cache, &plan, 3));
  MUST(kvc_cache_release(cache));
  return 0;
}

/* A table of one's own, for tests or for a second host in the image. */
static int own_registry(kvc_cache_t *cache) {
  const size_t size = kvc_registry_size();
  void *memory = malloc(size);
  kvc_registry_t *registry = NULL;
  char name[KVC_KEY_BYTES], key[KVC_KEY_BYTES];
  uint32_t count = 0;
  SHOWS(memory != NULL);
  MUST(kvc_registry_init(memory, size, &registry));
  MUST(kvc_unique_key(name, sizeof name));
  MUST(kvc_registry_install(registry, name, cache));
  MUST(kvc_registry_install(registry, "chat", cache));
  MUST(kvc_registry_count(registry, &count));
  MUST(kvc_registry_key_at(registry, 0, key, sizeof key));
  SHOWS(count == 2 && (strcmp(key, name) == 0 || strcmp(key, "chat") == 0));
  MUST(kvc_registry_erase(registry, "chat"));
  MUST(kvc_registry_deinit(registry)); /* lets go of the other one */
  free(memory);
  return 0;
}

int main(void) {
  SHOWS(kvc_check_header() && kvc_abi_version() == KVC_ABI_VERSION);
  kvc_set_event_hook(on_event, NULL); /* before anything is shared */

  const kvc_layer_t layer = {KVC_LAYER_FLAT, 0, 0, 1, 64, 0};
  kvc_config_t config = kvc_config_default();
  config.capacity = 64;
  config.n_layers = config.n_layer_entries = 1;
  config.layers = &layer;
  kvc_cache_t *cache = NULL;
  bool ended = false;
  MUST(kvc_sequence_init(storage, sizeof storage, &config, &cache));
  MUST(kvc_cache_on_release(cache, on_release, &ended));

  kvc_session_t session;
  MUST(kvc_session_open(&session, kvc_registry_global(), NULL, cache)); /* under a key that nobody took */
  if (backend_forward(session.key) != 0) return 1;
  uint32_t length = 0;
  MUST(kvc_length(cache, &length));
  SHOWS(length == 3);
  MUST(kvc_session_close(&session));
  MUST(kvc_session_close(&session)); /* twice is fine */
  MUST(kvc_session_open(&session, kvc_registry_global(), "again", cache));
  kvc_session_drop(&session); /* for a guard, which cannot answer */

  if (own_registry(cache) != 0) return 1;

  MUST(kvc_cache_retain(cache)); /* for somebody else */
  MUST(kvc_cache_release(cache));
  SHOWS(!ended);
  MUST(kvc_cache_release(cache)); /* the creator's: the last one */
  SHOWS(ended);
  kvc_set_event_hook(NULL, NULL);
  return 0;
}
