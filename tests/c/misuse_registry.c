/* Misuse of registries and sessions. */

#include <stdio.h>
#include <string.h>

#include "edge.h"
#include "events.h"
#include "misuse.h"
#include "registries.h"

#define OUT (&world.out)

void misuse_of_kvc_registry_global(void)
{
    CHECK(kvc_registry_global() != NULL);
    CHECK(kvc_registry_global() == kvc_registry_global());
}

void misuse_of_kvc_registry_size(void)
{
    CHECK(kvc_registry_size() > 0);
    CHECK_EQ(kvc_registry_size(), kvc_registry_size());
}

void misuse_of_kvc_registry_init(void)
{
    const size_t size = kvc_registry_size();
    /* Refused before the storage is looked at, so that it need not be there. */
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_registry_init(NULL, size, &OUT->registry));
    for (size_t by = 1; by < KVC_ALIGN; by++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_registry_init(off_by(spare_storage, by), size, &OUT->registry));
    }
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_registry_init(spare_storage, size, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_registry_init(spare_storage, size, (kvc_registry_t **)off_by(&OUT->registry, 1)));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_registry_init(spare_storage, size - 1, &OUT->registry));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_registry_init(spare_storage, 0, &OUT->registry));
}

void misuse_of_kvc_registry_deinit(void)
{
    uint32_t count = 77;
    refuse_bad_registries(kvc_registry_deinit);
    REFUSED(KVC_ERR_UNSUPPORTED, kvc_registry_deinit(kvc_registry_global()));
    CHECK_OK(kvc_registry_count(kvc_registry_global(), &count));
    CHECK_EQ(0, count);
}

static kvc_status_t install_in(kvc_registry_t *registry)
{
    return kvc_registry_install(registry, "new", world.cache);
}

static kvc_status_t install_named(const char *key)
{
    return kvc_registry_install(world.registry, key, world.cache);
}

static kvc_status_t install_cache(kvc_cache_t *cache)
{
    return kvc_registry_install(world.registry, "new", cache);
}

void misuse_of_kvc_registry_install(void)
{
    refuse_bad_registries(install_in);
    refuse_bad_names(install_named);
    refuse_bad_caches(install_cache);
    REFUSED(KVC_ERR_ALREADY_EXISTS, kvc_registry_install(world.registry, "taken", world.cache));
    REFUSED(KVC_ERR_ALREADY_EXISTS, kvc_registry_install(world.registry, "taken", world.external));
    fill_registry(world.registry, world.cache);
    REFUSED(KVC_ERR_TABLE_FULL, kvc_registry_install(world.registry, "new", world.cache));
    REFUSED(KVC_ERR_ALREADY_EXISTS, kvc_registry_install(world.registry, "taken", world.cache));
}

static kvc_status_t get_from(kvc_registry_t *registry)
{
    return kvc_registry_get(registry, "taken", &OUT->cache);
}

static kvc_status_t get_named(const char *key)
{
    return kvc_registry_get(world.registry, key, &OUT->cache);
}

void misuse_of_kvc_registry_get(void)
{
    refuse_bad_registries(get_from);
    refuse_bad_names(get_named);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_registry_get(world.registry, "taken", NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_registry_get(world.registry, "taken", (kvc_cache_t **)off_by(&OUT->cache, 1)));
    REFUSED(KVC_ERR_NOT_FOUND, get_named("take"));
    REFUSED(KVC_ERR_NOT_FOUND, get_named("taken "));
    REFUSED(KVC_ERR_NOT_FOUND, get_named("Taken"));
    /* Two bad arguments at once are told of once. */
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_registry_get(NULL, NULL, &OUT->cache));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_registry_get(NULL, "", &OUT->cache));
}

static kvc_status_t erase_from(kvc_registry_t *registry)
{
    return kvc_registry_erase(registry, "taken");
}

static kvc_status_t erase_named(const char *key)
{
    return kvc_registry_erase(world.registry, key);
}

void misuse_of_kvc_registry_erase(void)
{
    refuse_bad_registries(erase_from);
    refuse_bad_names(erase_named);
    REFUSED(KVC_ERR_NOT_FOUND, erase_named("take"));
    REFUSED(KVC_ERR_NOT_FOUND, erase_named("takenn"));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_registry_erase(NULL, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_registry_erase(NULL, ""));
}

static kvc_status_t count_of(kvc_registry_t *registry)
{
    return kvc_registry_count(registry, OUT->u32);
}

void misuse_of_kvc_registry_count(void)
{
    refuse_bad_registries(count_of);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_registry_count(world.registry, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_registry_count(world.registry, (uint32_t *)off_by(OUT->u32, 1)));
}

static kvc_status_t first_key_of(kvc_registry_t *registry)
{
    return kvc_registry_key_at(registry, 0, OUT->key, sizeof OUT->key);
}

void misuse_of_kvc_registry_key_at(void)
{
    refuse_bad_registries(first_key_of);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_registry_key_at(world.registry, 0, NULL, 64));
    REFUSED(KVC_ERR_NOT_FOUND, kvc_registry_key_at(world.registry, 1, OUT->key, 64));
    REFUSED(KVC_ERR_NOT_FOUND, kvc_registry_key_at(world.registry, UINT32_MAX, OUT->key, 64));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_registry_key_at(world.registry, 0, OUT->key, 0));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_registry_key_at(world.registry, 0, OUT->key, 5));
    /* "taken" and its NUL. */
    char *exact = (char *)at_edge(6, 'x');
    CHECK_OK(kvc_registry_key_at(world.registry, 0, exact, 6));
    CHECK_TEXT("taken", exact);
}

void misuse_of_kvc_unique_key(void)
{
    char before[KVC_KEY_BYTES], after[KVC_KEY_BYTES];
    unsigned long long first = 0, second = 0;
    CHECK_OK(kvc_unique_key(before, sizeof before));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_unique_key(NULL, KVC_KEY_BYTES));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_unique_key(OUT->key, 0));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_unique_key(OUT->key, 7));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_unique_key(OUT->key, strlen(before)));
    /* No number was used up. */
    CHECK_OK(kvc_unique_key(after, sizeof after));
    CHECK(sscanf(before, "cache-%llu", &first) == 1 && sscanf(after, "cache-%llu", &second) == 1);
    CHECK_EQ(first + 1, second);
}

static kvc_status_t open_in(kvc_registry_t *registry)
{
    return kvc_session_open(&OUT->session, registry, "new", world.cache);
}

static kvc_status_t open_named(const char *key)
{
    /* NULL asks for a generated key; there it is the cache that is bad. */
    return kvc_session_open(&OUT->session, world.registry, key, key == NULL ? NULL : world.cache);
}

static kvc_status_t open_cache(kvc_cache_t *cache)
{
    return kvc_session_open(&OUT->session, world.registry, "new", cache);
}

static kvc_status_t open_cache_unnamed(kvc_cache_t *cache)
{
    return kvc_session_open(&OUT->session, world.registry, NULL, cache);
}

void misuse_of_kvc_session_open(void)
{
    kvc_registry_t *registry = world.registry;
    refuse_bad_registries(open_in);
    refuse_bad_names(open_named);
    refuse_bad_caches(open_cache);
    refuse_bad_caches(open_cache_unnamed);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_session_open(NULL, registry, "new", world.cache));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_session_open((kvc_session_t *)off_by(&OUT->session, 4), registry, "new", world.cache));
    REFUSED(KVC_ERR_ALREADY_EXISTS, kvc_session_open(&OUT->session, registry, "taken", world.cache));
    fill_registry(world.registry, world.cache);
    REFUSED(KVC_ERR_TABLE_FULL, kvc_session_open(&OUT->session, registry, "new", world.cache));
    REFUSED(KVC_ERR_TABLE_FULL, kvc_session_open(&OUT->session, registry, NULL, world.cache));
}

static kvc_status_t close_in(kvc_registry_t *registry)
{
    static kvc_session_t session;
    session = world.out.session;
    session.registry = registry;
    return kvc_session_close(&session);
}

void misuse_of_kvc_session_close(void)
{
    kvc_session_t *session = &OUT->session;
    CHECK_OK(kvc_session_open(session, world.registry, NULL, world.cache));
    refuse_bad_registries(close_in);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_session_close(NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_session_close((kvc_session_t *)off_by(session, 4)));
    /* Another id is not the session's entry, which stays. A damaged key does not matter, not even another's. */
    kvc_session_t damaged = *session;
    damaged.id++;
    CHECK_OK(kvc_session_close(&damaged));
    CHECK_EQ(2, entries_of(world.registry));
    kvc_session_t *unended = (kvc_session_t *)at_edge(sizeof *unended, 'k');
    unended->registry = world.registry;
    unended->id = session->id + 7;
    CHECK_OK(kvc_session_close(unended));
    CHECK_EQ(2, entries_of(world.registry));
    strcpy(session->key, "taken");
    CHECK_OK(kvc_session_close(session));
    CHECK_EQ(1, entries_of(world.registry));
    CHECK(peek(world.registry, "taken") == world.cache);
}

/* The answer that a drop cannot give is in its event. */
static kvc_status_t drop_session(kvc_session_t *session)
{
    kvc_session_drop(session);
    return event_at(0)->status;
}

static kvc_status_t drop_in(kvc_registry_t *registry)
{
    kvc_session_t session = world.out.session;
    session.registry = registry;
    kvc_status_t status = drop_session(&session);
    CHECK_EQ(0, session.id);
    return status;
}

void misuse_of_kvc_session_drop(void)
{
    kvc_session_t *session = &OUT->session;
    CHECK_OK(kvc_session_open(session, world.registry, NULL, world.cache));
    refuse_bad_registries(drop_in);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, drop_session(NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, drop_session((kvc_session_t *)off_by(session, 4)));
    CHECK_EQ(2, entries_of(world.registry));
    kvc_session_drop(session);
    CHECK_EQ(0, session->id);
    CHECK_EQ(1, entries_of(world.registry));
    kvc_session_drop(session);
    CHECK_EQ(1, entries_of(world.registry));
}
