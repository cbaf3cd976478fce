/* Registries: keys, entries and the references they hold, iteration, generated keys, closing. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models.h"
#include "registries.h"
#include "support.h"

static uint64_t storage[2][CACHE_BYTES / 8];
static unsigned released[2];

static void count_release(void *ctx, void *at)
{
    (void)at;
    ++*(unsigned *)ctx;
}

/* A cache of capacity 16 or 32 that counts its end. */
static kvc_cache_t *counted_cache(unsigned slot)
{
    kvc_cache_t *cache = build_flat(storage[slot], 16 + 16 * slot);
    released[slot] = 0;
    CHECK_OK(kvc_cache_on_release(cache, count_release, &released[slot]));
    return cache;
}

static void test_keys_at_their_limits(void)
{
    char longest[KVC_MAX_NAME + 2], other[KVC_MAX_NAME + 2];
    kvc_registry_t *registry = new_registry(0);
    kvc_cache_t *cache = counted_cache(0), *second = counted_cache(1);
    memset(longest, 'k', sizeof longest);
    longest[KVC_MAX_NAME + 1] = 0;
    CHECK_STATUS(KVC_ERR_NAME_TOO_LONG, kvc_registry_install(registry, longest, cache));
    longest[KVC_MAX_NAME] = 0;
    CHECK_OK(kvc_registry_install(registry, longest, cache));
    CHECK_STATUS(KVC_ERR_NAME_TOO_LONG, kvc_registry_install(registry, "", cache));
    CHECK_OK(kvc_registry_install(registry, "k", second));
    /* Keys that differ in any one byte, or in length, are other keys. */
    for (size_t at = 0; at < KVC_MAX_NAME; at++) {
        memcpy(other, longest, sizeof other);
        other[at] = 'x';
        CHECK(peek(registry, other) == NULL);
        other[at] = 0;
        CHECK(at == 0 || peek(registry, other) == (at == 1 ? second : NULL));
    }
    CHECK(peek(registry, longest) == cache);
    /* Any bytes but NUL make a key. */
    static const char *const keys[] = {"\x01", "\xff\xfe", "caf\xc3\xa9", " ", "a b", "../key", "%s%n"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        CHECK_OK(kvc_registry_install(registry, keys[i], cache));
        CHECK(peek(registry, keys[i]) == cache);
        CHECK_OK(kvc_registry_erase(registry, keys[i]));
    }
    end_registry(registry);
    CHECK_OK(kvc_cache_release(cache));
    CHECK_OK(kvc_cache_release(second));
    CHECK_EQ(1, released[0]);
    CHECK_EQ(1, released[1]);
}

static void test_keys_are_copied(void)
{
    kvc_registry_t *registry = new_registry(0);
    kvc_cache_t *cache = counted_cache(0);
    char key[] = "chat";
    CHECK_OK(kvc_registry_install(registry, key, cache));
    key[0] = 'x';
    CHECK(peek(registry, "chat") == cache);
    CHECK(peek(registry, key) == NULL);
    end_registry(registry);
    CHECK_OK(kvc_cache_release(cache));
}

static void test_references_of_entries(void)
{
    kvc_registry_t *registry = new_registry(0);
    kvc_cache_t *cache = counted_cache(0), *got[3] = {NULL};
    CHECK_OK(kvc_registry_install(registry, "chat", cache));
    CHECK_STATUS(KVC_ERR_ALREADY_EXISTS, kvc_registry_install(registry, "chat", cache));
    CHECK_OK(kvc_registry_install(registry, "same cache", cache));
    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(kvc_registry_get(registry, "chat", &got[i]));
        CHECK(got[i] == cache);
    }
    /* The creator goes first, then the entries, then the backends: the last one ends the cache. */
    CHECK_OK(kvc_cache_release(cache));
    CHECK_OK(kvc_registry_erase(registry, "chat"));
    CHECK_OK(kvc_registry_erase(registry, "same cache"));
    CHECK_EQ(0, entries_of(registry));
    for (size_t i = 0; i < 3; i++) {
        CHECK_EQ(0, released[0]);
        CHECK_OK(kvc_cache_release(got[i]));
    }
    CHECK_EQ(1, released[0]);
    /* The entry as the last owner. */
    cache = counted_cache(0);
    CHECK_OK(kvc_registry_install(registry, "chat", cache));
    CHECK_OK(kvc_cache_release(cache));
    CHECK(peek(registry, "chat") == cache);
    CHECK_EQ(0, released[0]);
    CHECK_OK(kvc_registry_erase(registry, "chat"));
    CHECK_EQ(1, released[0]);
    end_registry(registry);
}

static void test_erasing_in_the_middle_of_a_forward(void)
{
    kvc_registry_t *registry = new_registry(0);
    kvc_cache_t *cache = counted_cache(0), *backend = NULL;
    CHECK_OK(kvc_registry_install(registry, "chat", cache));
    CHECK_OK(kvc_registry_get(registry, "chat", &backend));
    kvc_seq_plan_t plan = plan_next(backend, 4);
    CHECK_OK(kvc_registry_erase(registry, "chat"));
    CHECK_OK(kvc_cache_release(cache));
    /* Somebody else under the same key changes nothing for the backend. */
    kvc_cache_t *other = counted_cache(1);
    CHECK_OK(kvc_registry_install(registry, "chat", other));
    CHECK_OK(kvc_seq_plan(backend, 0, 0, 4, &plan));
    CHECK_OK(kvc_seq_commit(backend, &plan, 4));
    CHECK_EQ(4, length_of(backend));
    CHECK_EQ(0, length_of(other));
    CHECK_EQ(0, released[0]);
    CHECK_OK(kvc_cache_release(backend));
    CHECK_EQ(1, released[0]);
    end_registry(registry);
    CHECK_OK(kvc_cache_release(other));
}

static void test_a_full_table(void)
{
    kvc_registry_t *registry = new_registry(0);
    kvc_cache_t *cache = counted_cache(0), *other = counted_cache(1);
    uint32_t most = fill_registry(registry, cache);
    CHECK(most >= 1);
    CHECK_STATUS(KVC_ERR_TABLE_FULL, kvc_registry_install(registry, "one more", other));
    CHECK_OK(kvc_cache_release(other));
    CHECK_EQ(1, released[1]);
    CHECK_OK(kvc_registry_erase(registry, "filler-0"));
    CHECK_OK(kvc_registry_install(registry, "one more", cache));
    CHECK_STATUS(KVC_ERR_TABLE_FULL, kvc_registry_install(registry, "filler-0", cache));
    CHECK_EQ(most, entries_of(registry));
    CHECK_OK(kvc_cache_release(cache));
    CHECK_EQ(0, released[0]);
    end_registry(registry);
    CHECK_EQ(1, released[0]);
}

static void test_iteration(void)
{
    char key[KVC_KEY_BYTES], longest[KVC_KEY_BYTES];
    const char *const keys[] = {"a", "chat-1", longest};
    kvc_registry_t *registry = new_registry(0);
    kvc_cache_t *cache = counted_cache(0);
    memset(longest, 'z', sizeof longest);
    longest[KVC_MAX_NAME] = 0;
    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(kvc_registry_install(registry, keys[i], cache));
    }
    /* Every key once, in any order. */
    for (size_t i = 0; i < 3; i++) {
        unsigned times = 0;
        for (uint32_t index = 0; index < entries_of(registry); index++) {
            memset(key, 0x7F, sizeof key);
            CHECK_OK(kvc_registry_key_at(registry, index, key, sizeof key));
            times += memchr(key, 0, sizeof key) != NULL && strcmp(key, keys[i]) == 0;
        }
        CHECK_EQ(1, times);
    }
    CHECK_STATUS(KVC_ERR_NOT_FOUND, kvc_registry_key_at(registry, 3, key, sizeof key));
    CHECK_OK(kvc_registry_erase(registry, "chat-1"));
    CHECK_OK(kvc_registry_key_at(registry, 1, key, sizeof key));
    CHECK_STATUS(KVC_ERR_NOT_FOUND, kvc_registry_key_at(registry, 2, key, sizeof key));
    end_registry(registry);
    CHECK_OK(kvc_cache_release(cache));
}

static void test_generated_keys_never_repeat(void)
{
    enum { KEYS = 200 };
    static char keys[KEYS][KVC_KEY_BYTES];
    kvc_registry_t *registry = new_registry(0), *other = new_registry(1);
    kvc_cache_t *cache = counted_cache(0);
    for (size_t i = 0; i < KEYS; i++) {
        kvc_session_t session;
        switch (i % 4) {
        case 0:
        case 1:
            CHECK_OK(kvc_unique_key(keys[i], sizeof keys[i]));
            break;
        default:
            CHECK_OK(kvc_session_open(&session, i % 4 == 2 ? registry : other, NULL, cache));
            memcpy(keys[i], session.key, sizeof keys[i]);
            CHECK_OK(kvc_session_close(&session));
        }
        char *end = NULL;
        CHECK(strncmp(keys[i], "cache-", 6) == 0);
        CHECK(strtoull(keys[i] + 6, &end, 10) < UINT64_MAX && *end == 0 && end > keys[i] + 6);
        for (size_t j = 0; j < i; j++) {
            CHECK(strcmp(keys[i], keys[j]) != 0);
        }
    }
    end_registry(registry);
    end_registry(other);
    CHECK_OK(kvc_cache_release(cache));
}

static void test_registries_are_separate(void)
{
    kvc_registry_t *global = kvc_registry_global(), *first = new_registry(0), *second = new_registry(1);
    kvc_cache_t *a = counted_cache(0), *b = counted_cache(1);
    CHECK(global != first && first != second);
    CHECK_OK(kvc_registry_install(global, "chat", a));
    CHECK_OK(kvc_registry_install(first, "chat", b));
    CHECK(peek(global, "chat") == a);
    CHECK(peek(first, "chat") == b);
    CHECK(peek(second, "chat") == NULL);
    CHECK_STATUS(KVC_ERR_NOT_FOUND, kvc_registry_erase(second, "chat"));
    CHECK_STATUS(KVC_ERR_UNSUPPORTED, kvc_registry_deinit(global));
    end_registry(first);
    end_registry(second);
    CHECK(peek(global, "chat") == a);
    CHECK_OK(kvc_registry_erase(global, "chat"));
    CHECK_EQ(0, entries_of(global));
    CHECK_OK(kvc_cache_release(a));
    CHECK_OK(kvc_cache_release(b));
    CHECK_EQ(1, released[0]);
    CHECK_EQ(1, released[1]);
}

static void test_closing_and_using_the_storage_again(void)
{
    for (int life = 0; life < 3; life++) {
        kvc_registry_t *registry = new_registry(0);
        kvc_cache_t *a = counted_cache(0), *b = counted_cache(1);
        CHECK_EQ(0, entries_of(registry));
        CHECK_OK(kvc_registry_install(registry, "a", a));
        CHECK_OK(kvc_registry_install(registry, "b", b));
        CHECK_OK(kvc_registry_install(registry, "b again", b));
        CHECK_OK(kvc_cache_release(b));
        CHECK_EQ(0, released[1]);
        end_registry(registry);
        CHECK_EQ(0, released[0]);
        CHECK_EQ(1, released[1]);
        CHECK_STATUS(KVC_ERR_STALE, kvc_registry_deinit(registry));
        CHECK_STATUS(KVC_ERR_STALE, kvc_registry_install(registry, "a", a));
        CHECK_OK(kvc_cache_release(a));
        CHECK_EQ(1, released[0]);
    }
}

/* What the last reference's callback may do with the registry that let it go. */
typedef struct {
    kvc_registry_t *registry;
    kvc_cache_t *next;
    kvc_status_t install, count;
    uint32_t entries;
} caller_t;

static void call_the_registry(void *ctx, void *at)
{
    caller_t *caller = (caller_t *)ctx;
    (void)at;
    caller->count = kvc_registry_count(caller->registry, &caller->entries);
    caller->install = kvc_registry_install(caller->registry, "next", caller->next);
}

static void test_release_callbacks_may_call_the_registry(void)
{
    for (int closing = 0; closing < 2; closing++) {
        caller_t caller = {new_registry(0), counted_cache(1), KVC_ERR_BUSY, KVC_ERR_BUSY, 99};
        kvc_cache_t *cache = build_flat(storage[0], 16);
        CHECK_OK(kvc_cache_on_release(cache, call_the_registry, &caller));
        CHECK_OK(kvc_registry_install(caller.registry, "chat", cache));
        CHECK_OK(kvc_cache_release(cache));
        if (closing) {
            end_registry(caller.registry);
            CHECK_STATUS(KVC_ERR_STALE, caller.count);
            CHECK_STATUS(KVC_ERR_STALE, caller.install);
        } else {
            CHECK_OK(kvc_registry_erase(caller.registry, "chat"));
            CHECK_OK(caller.count);
            CHECK_EQ(0, caller.entries);
            CHECK_OK(caller.install);
            CHECK(peek(caller.registry, "next") == caller.next);
            end_registry(caller.registry);
        }
        CHECK_OK(kvc_cache_release(caller.next));
        CHECK_EQ(1, released[1]);
    }
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(test_keys_at_their_limits),
        TEST(test_keys_are_copied),
        TEST(test_references_of_entries),
        TEST(test_erasing_in_the_middle_of_a_forward),
        TEST(test_a_full_table),
        TEST(test_iteration),
        TEST(test_generated_keys_never_repeat),
        TEST(test_registries_are_separate),
        TEST(test_closing_and_using_the_storage_again),
        TEST(test_release_callbacks_may_call_the_registry),
    };
    return RUN_ALL(cases);
}
