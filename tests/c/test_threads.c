/* Threads that share a registry: whatever they do at once, only the statuses that the calls promise come back, no
 * reference is lost, every cache ends exactly once, and no generated key comes twice. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models.h"
#include "registries.h"
#include "support.h"
#include "threads.h"

enum { ITERATIONS = 40000, ROUNDS = 2000, SLOTS = 3, UNIQUE_KEYS = 500 };

static kvc_registry_t *registry;

/* A place for caches, one after the other. Its thread builds a new one when the last one has ended. */
typedef struct {
    uint64_t storage[KVC_SEQUENCE_BYTES_FOR(1) / 8];
    uint32_t built;
    uint32_t ended;
} slot_t;

static slot_t slots[THREADS][SLOTS];

static void count_end(void *ctx, void *storage)
{
    slot_t *slot = (slot_t *)ctx;
    CHECK(storage == (void *)slot->storage);
    add_to(&slot->ended, 1);
}

/* A cache with one reference, in a slot of the thread that is free; NULL if none is. */
static kvc_cache_t *new_cache(thread_t *thread)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        slot_t *slot = &slots[thread->number][i];
        if (slot->built != value_of(&slot->ended)) {
            continue;
        }
        kvc_layer_t layer = flat_layer();
        kvc_config_t config = config_of(&layer, 1, 100 + thread->number);
        kvc_cache_t *cache = NULL;
        CHECK_OK(kvc_sequence_init(slot->storage, sizeof slot->storage, &config, &cache));
        CHECK_OK(kvc_cache_on_release(cache, count_end, slot));
        slot->built++;
        return cache;
    }
    return NULL;
}

static void check_slots(void)
{
    uint32_t built = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        for (unsigned j = 0; j < SLOTS; j++) {
            CHECK_EQ(slots[i][j].built, value_of(&slots[i][j].ended));
            built += slots[i][j].built;
        }
    }
    CHECK(built > THREADS);
    printf("%u caches built and ended\n", (unsigned)built);
}

static const char *const shared_keys[] = {"alpha", "beta", "gamma", "delta"};

static const char *random_key(thread_t *thread)
{
    return shared_keys[rng_below(&thread->rng, 4)];
}

static void install_one(thread_t *thread)
{
    kvc_cache_t *cache = new_cache(thread);
    if (cache != NULL) {
        kvc_status_t status = kvc_registry_install(registry, random_key(thread), cache);
        is_ok_or(status, KVC_ERR_ALREADY_EXISTS, KVC_ERR_TABLE_FULL);
        CHECK_OK(kvc_cache_release(cache));
    }
}

/* A reference keeps a cache alive, whoever erases its entry meanwhile. */
static void use_one(thread_t *thread)
{
    kvc_cache_t *cache = NULL;
    uint32_t capacity = 0, kind = 0;
    if (!is_ok_or(kvc_registry_get(registry, random_key(thread), &cache), KVC_ERR_NOT_FOUND, KVC_OK)) {
        return;
    }
    CHECK_OK(kvc_cache_retain(cache));
    if (is_ok_or(kvc_capacity(cache, &capacity), KVC_OK, KVC_OK)) {
        CHECK(capacity >= 100 && capacity < 100 + THREADS);
    }
    CHECK_OK(kvc_cache_kind(cache, &kind));
    CHECK_EQ(KVC_KIND_SEQUENCE, kind);
    CHECK_OK(kvc_cache_release(cache));
    CHECK_OK(kvc_cache_release(cache));
}

static void erase_one(thread_t *thread)
{
    is_ok_or(kvc_registry_erase(registry, random_key(thread)), KVC_ERR_NOT_FOUND, KVC_OK);
}

static void open_and_close(thread_t *thread)
{
    kvc_session_t session;
    kvc_cache_t *cache = new_cache(thread);
    if (cache == NULL) {
        return;
    }
    const char *key = rng_one_in(&thread->rng, 2) ? NULL : random_key(thread);
    kvc_status_t status = kvc_session_open(&session, registry, key, cache);
    CHECK_OK(kvc_cache_release(cache));
    if (is_ok_or(status, KVC_ERR_ALREADY_EXISTS, KVC_ERR_TABLE_FULL)) {
        while (!is_ok_or(kvc_session_close(&session), KVC_OK, KVC_OK)) {
        }
        CHECK_EQ(0, session.id);
    }
}

static void look_around(thread_t *thread)
{
    char key[KVC_KEY_BYTES];
    uint32_t count = 0;
    is_ok_or(kvc_registry_count(registry, &count), KVC_OK, KVC_OK);
    memset(key, 'x', sizeof key);
    uint32_t index = rng_below(&thread->rng, count + 1);
    if (is_ok_or(kvc_registry_key_at(registry, index, key, sizeof key), KVC_ERR_NOT_FOUND, KVC_OK)) {
        CHECK(memchr(key, 0, sizeof key) != NULL);
    }
}

static kvc_status_t size_one(void *ctx, const kvc_config_t *config, size_t *out)
{
    add_to((uint32_t *)ctx, 1);
    return kvc_sequence_size(config, out);
}

static kvc_status_t build_one(void *ctx, const kvc_config_t *config, void *at, size_t size, kvc_cache_t **out)
{
    add_to((uint32_t *)ctx, 1);
    return kvc_sequence_init(at, size, config, out);
}

/* Two pairs for all threads. */
static void use_builders(thread_t *thread)
{
    static const char *const kinds[] = {"one", "two"};
    static uint32_t calls;
    const char *kind = kinds[rng_below(&thread->rng, 2)], *found = NULL;
    kvc_layer_t layer = flat_layer();
    kvc_config_t config = config_of(&layer, 1, 8);
    uint64_t storage[KVC_SEQUENCE_BYTES_FOR(1) / 8];
    kvc_cache_t *cache = NULL;
    size_t size = 0;
    is_ok_or(kvc_builder_register(registry, "threads", kind, size_one, build_one, &calls), KVC_ERR_ALREADY_EXISTS,
             KVC_OK);
    if (is_ok_or(kvc_builder_size(registry, "threads", kind, &config, &size), KVC_ERR_NOT_FOUND, KVC_OK)) {
        CHECK_EQ(sizeof storage, size);
    }
    kvc_status_t status = kvc_builder_build(registry, "threads", kind, &config, storage, sizeof storage, &cache);
    if (is_ok_or(status, KVC_ERR_NOT_FOUND, KVC_OK)) {
        CHECK_OK(kvc_cache_release(cache));
    }
    if (is_ok_or(kvc_builder_kind_at(registry, "threads", 0, &found), KVC_ERR_NOT_FOUND, KVC_OK)) {
        CHECK(found == kinds[0] || found == kinds[1]);
    }
    is_ok_or(kvc_builder_unregister(registry, "threads", kind), KVC_ERR_NOT_FOUND, KVC_OK);
}

static void hammer(thread_t *thread)
{
    static void (*const operations[])(thread_t *) = {install_one,    install_one, use_one,     use_one,
                                                     erase_one,      erase_one,   look_around, open_and_close,
                                                     open_and_close, use_builders};
    for (unsigned i = 0; i < ITERATIONS; i++) {
        operations[rng_below(&thread->rng, 10)](thread);
    }
}

static void test_one_registry(void)
{
    registry = new_registry(0);
    memset(slots, 0, sizeof slots);
    in_threads(hammer);
    for (size_t i = 0; i < 4; i++) {
        kvc_status_t status = kvc_registry_erase(registry, shared_keys[i]);
        CHECK(status == KVC_OK || status == KVC_ERR_NOT_FOUND);
    }
    CHECK_EQ(0, entries_of(registry));
    check_slots();
    end_registry(registry);
}

/* Statuses while another thread closes the registry. */
static bool is_open_and(kvc_status_t status, kvc_status_t other)
{
    return is_ok_or(status, other, KVC_ERR_STALE);
}

static void use_until_closed(thread_t *thread)
{
    for (unsigned i = 0; i < ITERATIONS / 8; i++) {
        kvc_cache_t *cache = new_cache(thread), *got = NULL;
        const char *key = random_key(thread);
        if (cache != NULL) {
            is_open_and(kvc_registry_install(registry, key, cache), KVC_ERR_ALREADY_EXISTS);
            CHECK_OK(kvc_cache_release(cache));
        }
        if (is_open_and(kvc_registry_get(registry, key, &got), KVC_ERR_NOT_FOUND)) {
            CHECK_OK(kvc_cache_release(got));
        }
        is_open_and(kvc_registry_erase(registry, random_key(thread)), KVC_ERR_NOT_FOUND);
        if (thread->number == 0 && i == ITERATIONS / 16) {
            while (!is_ok_or(kvc_registry_deinit(registry), KVC_OK, KVC_OK)) {
            }
        }
    }
}

static void test_closing_while_others_use_it(void)
{
    registry = new_registry(0);
    memset(slots, 0, sizeof slots);
    in_threads(use_until_closed);
    CHECK_STATUS(KVC_ERR_STALE, kvc_registry_deinit(registry));
    check_slots();
}

static char unique_keys[THREADS * UNIQUE_KEYS][KVC_KEY_BYTES];

static void take_keys(thread_t *thread)
{
    for (unsigned i = 0; i < UNIQUE_KEYS; i++) {
        CHECK_OK(kvc_unique_key(unique_keys[thread->number * UNIQUE_KEYS + i], KVC_KEY_BYTES));
    }
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp((const char *)a, (const char *)b);
}

static void test_generated_keys(void)
{
    in_threads(take_keys);
    qsort(unique_keys, THREADS * UNIQUE_KEYS, KVC_KEY_BYTES, compare_keys);
    for (size_t i = 1; i < THREADS * UNIQUE_KEYS; i++) {
        CHECK(strcmp(unique_keys[i - 1], unique_keys[i]) < 0);
    }
}

/* One cache a round, a reference for each thread; any of them is the last. The storage is freed in the callback. */
static kvc_cache_t *round_cache;
static uint32_t round_ends;

static void free_storage(void *ctx, void *storage)
{
    free(storage);
    add_to((uint32_t *)ctx, 1);
}

static void build_round(void)
{
    kvc_layer_t layer = ring_layer(4);
    kvc_config_t config = config_of(&layer, 1, KVC_UNBOUNDED);
    void *storage = malloc(KVC_SEQUENCE_BYTES_FOR(1));
    CHECK_OK(kvc_sequence_init(storage, KVC_SEQUENCE_BYTES_FOR(1), &config, &round_cache));
    CHECK_OK(kvc_cache_on_release(round_cache, free_storage, &round_ends));
    CHECK_OK(kvc_cache_set_face(round_cache, "face", &round_ends, NULL));
    for (unsigned i = 1; i < THREADS; i++) {
        CHECK_OK(kvc_cache_retain(round_cache));
    }
}

static void share_and_let_go(thread_t *thread)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (thread->number == 0) {
            build_round();
        }
        meet();
        CHECK_EQ(i, value_of(&round_ends));
        meet();
        kvc_seq_plan_t plan;
        CHECK_OK(kvc_cache_retain(round_cache));
        is_ok_or(kvc_seq_plan(round_cache, 0, 0, 1 + thread->number, &plan), KVC_OK, KVC_OK);
        CHECK_OK(kvc_cache_release(round_cache));
        CHECK_OK(kvc_cache_release(round_cache));
        meet();
        CHECK_EQ(i + 1, value_of(&round_ends));
        meet();
    }
}

static void test_the_last_reference(void)
{
    round_ends = 0;
    in_threads(share_and_let_go);
    CHECK_EQ(ROUNDS, round_ends);
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(test_one_registry),
        TEST(test_closing_while_others_use_it),
        TEST(test_generated_keys),
        TEST(test_the_last_reference),
    };
    return RUN_ALL(cases);
}
