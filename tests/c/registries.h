/* Registries for tests, and questions to them. */

#ifndef KVC_TESTS_REGISTRIES_H
#define KVC_TESTS_REGISTRIES_H

#include "kvcore.h"

/* A new registry, closed by end_registry, which checks that. One at a time for each of `slot` 0 and 1. */
kvc_registry_t *new_registry(unsigned slot);
void end_registry(kvc_registry_t *registry);

uint32_t entries_of(kvc_registry_t *registry);

/* Whether the key is there, and with which cache: NULL if it is not. The reference is given back. */
kvc_cache_t *peek(kvc_registry_t *registry, const char *key);

/* Installs `cache` under keys of its own until the registry is full, and answers how many entries there are then. */
uint32_t fill_registry(kvc_registry_t *registry, kvc_cache_t *cache);

#endif
