/* Sessions: what they install, and that closing one takes out that entry and no other. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "models.h"
#include "registries.h"
#include "support.h"

static uint64_t storage[2][CACHE_BYTES / 8];
static kvc_cache_t *cache, *other;

static void build_caches(void)
{
    cache = build_flat(storage[0], 16);
    other = build_flat(storage[1], 32);
}

static void end_caches(void)
{
    uint32_t kind;
    CHECK_OK(kvc_cache_release(cache));
    CHECK_OK(kvc_cache_release(other));
    /* Nobody else had a reference. */
    CHECK_STATUS(KVC_ERR_STALE, kvc_cache_kind(cache, &kind));
    CHECK_STATUS(KVC_ERR_STALE, kvc_cache_kind(other, &kind));
}

static void test_own_and_generated_keys(void)
{
    kvc_registry_t *registry = new_registry(0);
    kvc_session_t own, generated;
    build_caches();
    memset(&own, 0x77, sizeof own);
    CHECK_OK(kvc_session_open(&own, registry, "chat", cache));
    CHECK_TEXT("chat", own.key);
    CHECK(own.registry == registry && own.id != 0);
    CHECK_OK(kvc_session_open(&generated, registry, NULL, other));
    CHECK(strncmp(generated.key, "cache-", 6) == 0);
    CHECK(generated.id != own.id);
    CHECK(peek(registry, own.key) == cache);
    CHECK(peek(registry, generated.key) == other);
    CHECK_EQ(2, entries_of(registry));
    /* The session holds no reference of its own: the entry keeps the cache. */
    CHECK_OK(kvc_cache_release(cache));
    CHECK(peek(registry, "chat") == cache);
    CHECK_OK(kvc_cache_retain(cache));
    CHECK_OK(kvc_session_close(&own));
    CHECK_OK(kvc_session_close(&generated));
    CHECK_EQ(0, own.id);
    CHECK_EQ(0, entries_of(registry));
    end_registry(registry);
    end_caches();
}

static void test_closing_twice_and_closing_copies(void)
{
    kvc_registry_t *registry = new_registry(0);
    kvc_session_t session, copy, zero;
    build_caches();
    memset(&zero, 0, sizeof zero);
    CHECK_OK(kvc_session_close(&zero));
    CHECK_OK(kvc_session_open(&session, registry, "chat", cache));
    copy = session;
    CHECK_OK(kvc_session_close(&session));
    CHECK_OK(kvc_session_close(&session));
    CHECK_OK(kvc_session_close(&copy));
    CHECK_EQ(0, copy.id);
    /* And the copy first. */
    CHECK_OK(kvc_session_open(&session, registry, "chat", cache));
    copy = session;
    CHECK_OK(kvc_session_close(&copy));
    CHECK(session.id != 0);
    CHECK_OK(kvc_session_close(&session));
    CHECK_EQ(0, entries_of(registry));
    end_registry(registry);
    end_caches();
}

static void test_what_somebody_else_installed_stays(void)
{
    kvc_registry_t *registry = new_registry(0);
    kvc_session_t session, second;
    build_caches();
    CHECK_OK(kvc_session_open(&session, registry, "chat", cache));
    CHECK_OK(kvc_registry_erase(registry, "chat"));
    CHECK_OK(kvc_registry_install(registry, "chat", other));
    CHECK_OK(kvc_session_close(&session));
    CHECK(peek(registry, "chat") == other);
    CHECK_OK(kvc_registry_erase(registry, "chat"));
    /* The same cache again is another entry, too. */
    CHECK_OK(kvc_session_open(&session, registry, "chat", cache));
    CHECK_OK(kvc_registry_erase(registry, "chat"));
    CHECK_OK(kvc_session_open(&second, registry, "chat", cache));
    CHECK_OK(kvc_session_close(&session));
    CHECK(peek(registry, "chat") == cache);
    CHECK_OK(kvc_session_close(&second));
    CHECK(peek(registry, "chat") == NULL);
    end_registry(registry);
    end_caches();
}

/* A user's own "cache-N" must not stop a generated key. */
static void test_generated_keys_that_are_taken(void)
{
    kvc_registry_t *registry = new_registry(0);
    char newest[KVC_KEY_BYTES], taken[8][KVC_KEY_BYTES];
    kvc_session_t session;
    build_caches();
    CHECK_OK(kvc_unique_key(newest, sizeof newest));
    unsigned long long number = strtoull(newest + 6, NULL, 10);
    for (unsigned i = 0; i < 8; i++) {
        snprintf(taken[i], sizeof taken[i], "cache-%llu", number + 1 + i);
        CHECK_OK(kvc_registry_install(registry, taken[i], other));
    }
    CHECK_OK(kvc_session_open(&session, registry, NULL, cache));
    for (unsigned i = 0; i < 8; i++) {
        CHECK(strcmp(session.key, taken[i]) != 0);
        CHECK(peek(registry, taken[i]) == other);
    }
    CHECK(peek(registry, session.key) == cache);
    CHECK_OK(kvc_session_close(&session));
    CHECK_EQ(8, entries_of(registry));
    end_registry(registry);
    end_caches();
}

static void test_two_registries_may_have_the_same_key(void)
{
    kvc_registry_t *first = new_registry(0), *second = new_registry(1);
    kvc_session_t in_first, in_second;
    build_caches();
    CHECK_OK(kvc_session_open(&in_first, first, "chat", cache));
    CHECK_OK(kvc_session_open(&in_second, second, "chat", cache));
    CHECK_OK(kvc_session_close(&in_first));
    CHECK(peek(first, "chat") == NULL);
    CHECK(peek(second, "chat") == cache);
    CHECK_OK(kvc_session_close(&in_second));
    end_registry(first);
    end_registry(second);
    end_caches();
}

static void test_a_registry_that_was_closed_before(void)
{
    kvc_registry_t *registry = new_registry(0);
    kvc_session_t session, late;
    build_caches();
    CHECK_OK(kvc_session_open(&session, registry, "chat", cache));
    end_registry(registry);
    CHECK_STATUS(KVC_ERR_STALE, kvc_session_close(&session));
    memset(&late, 0x55, sizeof late);
    kvc_session_t untouched = late;
    CHECK_STATUS(KVC_ERR_STALE, kvc_session_open(&late, registry, "chat", cache));
    CHECK_STATUS(KVC_ERR_STALE, kvc_session_open(&late, registry, NULL, cache));
    CHECK(memcmp(&late, &untouched, sizeof late) == 0);
    /* Another registry in the same memory: its entries are not the old session's. */
    CHECK(new_registry(0) == registry);
    CHECK_OK(kvc_registry_install(registry, "chat", other));
    CHECK_OK(kvc_session_close(&session));
    CHECK(peek(registry, "chat") == other);
    end_registry(registry);
    end_caches();
}

static void test_a_guards_close(void)
{
    kvc_registry_t *registry = new_registry(0);
    kvc_session_t session, copy;
    build_caches();
    CHECK_OK(kvc_session_open(&session, registry, NULL, cache));
    copy = session;
    events_record();
    kvc_session_drop(&session);
    CHECK_EQ(1, events_seen());
    CHECK_EQ(KVC_EVENT_ERASED, event_at(0)->event);
    CHECK_TEXT(copy.key, event_at(0)->key);
    CHECK_EQ(0, session.id);
    CHECK_EQ(0, entries_of(registry));
    events_record();
    kvc_session_drop(&session);
    kvc_session_drop(&copy);
    CHECK_EQ(0, copy.id);
    CHECK_EQ(0, events_seen());
    kvc_set_event_hook(NULL, NULL);
    end_registry(registry);
    end_caches();
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(test_own_and_generated_keys),
        TEST(test_closing_twice_and_closing_copies),
        TEST(test_what_somebody_else_installed_stays),
        TEST(test_generated_keys_that_are_taken),
        TEST(test_two_registries_may_have_the_same_key),
        TEST(test_a_registry_that_was_closed_before),
        TEST(test_a_guards_close),
    };
    return RUN_ALL(cases);
}
