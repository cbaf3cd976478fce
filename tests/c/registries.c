#include "registries.h"

#include <stdio.h>
#include <stdlib.h>

#include "support.h"

kvc_registry_t *new_registry(unsigned slot)
{
    /* How large it is depends on the limits of the build. */
    static void *storage[2];
    const size_t size = kvc_registry_size();
    kvc_registry_t *registry = NULL;
    if (slot < 2 && storage[slot] == NULL) {
        storage[slot] = malloc(size);
    }
    if (slot > 1 || !CHECK_OK(kvc_registry_init(storage[slot], size, &registry))) {
        give_up("no registry, no test");
    }
    return registry;
}

void end_registry(kvc_registry_t *registry)
{
    uint32_t count;
    CHECK_OK(kvc_registry_deinit(registry));
    CHECK_STATUS(KVC_ERR_STALE, kvc_registry_count(registry, &count));
}

uint32_t entries_of(kvc_registry_t *registry)
{
    uint32_t count = UINT32_MAX;
    CHECK_OK(kvc_registry_count(registry, &count));
    return count;
}

kvc_cache_t *peek(kvc_registry_t *registry, const char *key)
{
    kvc_cache_t *cache = NULL;
    kvc_status_t status = kvc_registry_get(registry, key, &cache);
    if (status == KVC_OK) {
        CHECK_OK(kvc_cache_release(cache));
    } else {
        CHECK_STATUS(KVC_ERR_NOT_FOUND, status);
    }
    return cache;
}

uint32_t fill_registry(kvc_registry_t *registry, kvc_cache_t *cache)
{
    char key[KVC_KEY_BYTES];
    kvc_status_t status = KVC_OK;
    for (unsigned i = 0; status == KVC_OK; i++) {
        snprintf(key, sizeof key, "filler-%u", i);
        status = kvc_registry_install(registry, key, cache);
    }
    CHECK_STATUS(KVC_ERR_TABLE_FULL, status);
    return entries_of(registry);
}
