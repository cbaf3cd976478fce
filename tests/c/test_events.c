/* Events: which call makes which, with which status and key, and that the hook may call the library. */

#include <string.h>

#include "events.h"
#include "models.h"
#include "registries.h"
#include "support.h"

static uint64_t storage[2][CACHE_BYTES / 8];

/* Runs `call` and checks that it makes exactly this event. `key` NULL: none. */
#define MAKES(number, expected_status, expected_key, call)                        \
    do {                                                                          \
        events_record();                                                          \
        call;                                                                     \
        CHECK_EQ(1, events_seen());                                               \
        check_event(event_at(0), (number), (expected_status), (expected_key));    \
    } while (0)

#define MAKES_NONE(call)            \
    do {                            \
        events_record();            \
        call;                       \
        CHECK_EQ(0, events_seen()); \
    } while (0)

static void check_event(const seen_event_t *seen, uint32_t event, kvc_status_t status, const char *key)
{
    CHECK_EQ(event, seen->event);
    CHECK_STATUS(status, seen->status);
    CHECK(seen->has_key == (key != NULL));
    CHECK_TEXT(key == NULL ? "" : key, seen->key);
}

static void test_registry_events(void)
{
    kvc_registry_t *registry = new_registry(0);
    kvc_cache_t *cache = build_flat(storage[0], 16), *got = NULL;
    kvc_session_t session;
    uint32_t count;
    MAKES(KVC_EVENT_INSTALLED, KVC_OK, "chat", kvc_registry_install(registry, "chat", cache));
    MAKES_NONE(kvc_registry_get(registry, "chat", &got));
    MAKES_NONE(kvc_cache_release(got));
    MAKES_NONE(kvc_registry_count(registry, &count));
    MAKES(KVC_EVENT_REFUSED, KVC_ERR_ALREADY_EXISTS, NULL, kvc_registry_install(registry, "chat", cache));
    MAKES(KVC_EVENT_REFUSED, KVC_ERR_NOT_FOUND, NULL, kvc_registry_get(registry, "nobody", &got));
    MAKES(KVC_EVENT_ERASED, KVC_OK, "chat", kvc_registry_erase(registry, "chat"));
    MAKES(KVC_EVENT_INSTALLED, KVC_OK, "own", kvc_session_open(&session, registry, "own", cache));
    MAKES(KVC_EVENT_ERASED, KVC_OK, "own", kvc_session_close(&session));
    MAKES_NONE(kvc_session_close(&session));
    events_record();
    CHECK_OK(kvc_session_open(&session, registry, NULL, cache));
    CHECK_EQ(1, events_seen());
    check_event(event_at(0), KVC_EVENT_INSTALLED, KVC_OK, session.key);
    /* A session whose entry is gone takes nothing out. */
    CHECK_OK(kvc_registry_erase(registry, session.key));
    MAKES_NONE(kvc_session_close(&session));
    kvc_set_event_hook(NULL, NULL);
    CHECK_OK(kvc_cache_release(cache));
    end_registry(registry);
}

static void test_the_end_of_a_cache(void)
{
    kvc_registry_t *registry = new_registry(0);
    kvc_cache_t *cache = build_flat(storage[0], 16);
    CHECK_OK(kvc_registry_install(registry, "chat", cache));
    MAKES_NONE(kvc_cache_release(cache));
    /* Erasing lets the last reference go. */
    events_record();
    CHECK_OK(kvc_registry_erase(registry, "chat"));
    CHECK_EQ(2, events_seen());
    check_event(event_at(0), KVC_EVENT_ERASED, KVC_OK, "chat");
    check_event(event_at(1), KVC_EVENT_ENDED, KVC_OK, NULL);
    cache = build_flat(storage[0], 16);
    MAKES(KVC_EVENT_ENDED, KVC_OK, NULL, kvc_cache_release(cache));
    MAKES(KVC_EVENT_REFUSED, KVC_ERR_STALE, NULL, kvc_cache_release(cache));
    /* Without a hook nothing is told. */
    events_record();
    kvc_set_event_hook(NULL, NULL);
    cache = build_flat(storage[0], 16);
    CHECK_OK(kvc_cache_release(cache));
    CHECK_EQ(0, events_seen());
    end_registry(registry);
}

static void test_evictions(void)
{
    kvc_seq_plan_t plan;
    kvc_cache_t *cache = build_ring(storage[0], 4, 2, 0);
    /* Five rows: positions 0 to 4. */
    MAKES_NONE(step(cache, 2));
    MAKES_NONE(step(cache, 2));
    MAKES_NONE(step(cache, 1));
    MAKES(KVC_EVENT_EVICTED, KVC_OK, NULL, kvc_seq_plan(cache, 0, 5, 1, &plan));
    /* The same step again gives up nothing more; a longer one does. */
    MAKES_NONE(kvc_seq_plan(cache, 0, 5, 1, &plan));
    MAKES(KVC_EVENT_EVICTED, KVC_OK, NULL, kvc_seq_plan(cache, 0, 5, 2, &plan));
    MAKES_NONE(kvc_seq_commit(cache, &plan, 1));
    /* Position 6 goes where position 1 was given up already. */
    MAKES_NONE(kvc_seq_plan(cache, 0, 6, 1, &plan));
    MAKES(KVC_EVENT_REFUSED, KVC_ERR_EVICTED, NULL, kvc_rewind(cache, 3));
    MAKES_NONE(kvc_clear(cache));

    kvc_layer_t layers[] = {ring_layer(2), ring_layer(3), flat_layer()};
    kvc_config_t config = config_of(layers, 3, 64);
    config.max_write = 1;
    uint32_t n_groups = 0;
    kvc_seq_plan_t plans[3];
    cache = build(storage[1], &config);
    steps_of_one(cache, 10);
    /* Two windows drop a position each: one event for the step. */
    MAKES(KVC_EVENT_EVICTED, KVC_OK, NULL, kvc_seq_plan_step(cache, 10, 1, plans, 3, &n_groups));
    kvc_set_event_hook(NULL, NULL);
}

/* A hook that uses the registry it is told about. */
typedef struct {
    kvc_registry_t *registry;
    kvc_cache_t *cache;
    unsigned calls;
} nosy_t;

static void ask_back(void *ctx, uint32_t event, kvc_status_t status, const char *key)
{
    nosy_t *nosy = (nosy_t *)ctx;
    uint32_t count = 0;
    (void)status;
    nosy->calls++;
    CHECK_OK(kvc_registry_count(nosy->registry, &count));
    if (event == KVC_EVENT_INSTALLED && strcmp(key, "first") == 0) {
        CHECK_EQ(1, count);
        CHECK(peek(nosy->registry, "first") == nosy->cache);
        CHECK_OK(kvc_registry_install(nosy->registry, "second", nosy->cache));
    }
    if (event == KVC_EVENT_ERASED && strcmp(key, "first") == 0) {
        CHECK(peek(nosy->registry, "first") == NULL);
        CHECK_OK(kvc_registry_erase(nosy->registry, "second"));
    }
}

static void test_a_hook_that_calls_the_library(void)
{
    nosy_t nosy = {new_registry(0), build_flat(storage[0], 16), 0};
    kvc_set_event_hook(ask_back, &nosy);
    CHECK_OK(kvc_registry_install(nosy.registry, "first", nosy.cache));
    CHECK_EQ(2, entries_of(nosy.registry));
    CHECK_EQ(2, nosy.calls);
    CHECK_OK(kvc_registry_erase(nosy.registry, "first"));
    CHECK_EQ(0, entries_of(nosy.registry));
    kvc_set_event_hook(NULL, NULL);
    /* Installed twice, erased twice, and one question for a key that was gone. */
    CHECK_EQ(5, nosy.calls);
    CHECK_OK(kvc_cache_release(nosy.cache));
    end_registry(nosy.registry);
}

/* The hook is one for the process, and the newest. */
static void count_in_context(void *ctx, uint32_t event, kvc_status_t status, const char *key)
{
    (void)event, (void)status, (void)key;
    ++*(unsigned *)ctx;
}

static void test_replacing_the_hook(void)
{
    unsigned first = 0, second = 0;
    kvc_set_event_hook(count_in_context, &first);
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_clear(NULL));
    kvc_set_event_hook(count_in_context, &second);
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_clear(NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_clear(NULL));
    kvc_set_event_hook(NULL, &first);
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_clear(NULL));
    CHECK_EQ(1, first);
    CHECK_EQ(2, second);
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(test_registry_events),
        TEST(test_the_end_of_a_cache),
        TEST(test_evictions),
        TEST(test_a_hook_that_calls_the_library),
        TEST(test_replacing_the_hook),
    };
    return RUN_ALL(cases);
}
