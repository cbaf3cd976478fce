/* The life of caches: storage, references, the release callback, and faces. */

#include <stdlib.h>
#include <string.h>

#include "edge.h"
#include "events.h"
#include "models.h"
#include "support.h"

static uint64_t storage[CACHE_BYTES / 8];

/* What was called, in order: faces by their letter, the release callback as '!'. */
static char calls[32];
static size_t n_calls;
static void *released_storage;

static void note(char call)
{
    if (n_calls < sizeof calls - 1) {
        calls[n_calls++] = call;
    }
    calls[n_calls] = 0;
}

static void forget_calls(void)
{
    n_calls = 0;
    calls[0] = 0;
}

static void on_release(void *ctx, void *at)
{
    (void)ctx;
    released_storage = at;
    note('!');
}

static void on_drop(void *object)
{
    note(*(const char *)object);
}

static void test_sizes_of_all_models(void)
{
    kvc_layer_t layers[KVC_MAX_LAYERS];
    for (uint32_t n_layers = 1; n_layers <= KVC_MAX_LAYERS; n_layers++) {
        size_t size = 0;
        kvc_cache_t *cache = NULL;
        layers[n_layers - 1] = n_layers % 6 == 0 ? flat_layer() : ring_layer(8);
        kvc_config_t config = config_of(layers, n_layers, 64);
        CHECK_OK(kvc_sequence_size(&config, &size));
        CHECK_EQ(KVC_SEQUENCE_BYTES_FOR(n_layers), size);
        CHECK_EQ(0, size % KVC_ALIGN);
        /* The storage ends where the cache says it does. */
        CHECK_OK(kvc_sequence_init(at_edge(size, 0xA5), size, &config, &cache));
        step(cache, 4);
        kvc_layer_info_t info;
        CHECK_OK(kvc_cache_layer(cache, n_layers - 1, &info));
        CHECK_EQ(layers[n_layers - 1].kind, info.layer.kind);
        CHECK_OK(kvc_cache_release(cache));
        /* One entry for all layers takes as much. */
        config.n_layer_entries = 1;
        CHECK_OK(kvc_sequence_size(&config, &size));
        CHECK_EQ(KVC_SEQUENCE_BYTES_FOR(n_layers), size);
    }
}

KVC_STORAGE(static_storage, KVC_SEQUENCE_BYTES_FOR(34));

static void test_static_storage(void)
{
    kvc_layer_t layer = ring_layer(16);
    kvc_config_t config = config_of(&layer, 34, 128);
    config.n_layer_entries = 1;
    kvc_cache_t *cache = NULL;
    for (int life = 0; life < 3; life++) {
        CHECK_OK(kvc_sequence_init(static_storage, sizeof static_storage, &config, &cache));
        CHECK_EQ(0, length_of(cache));
        CHECK_EQ(0, floor_of(cache));
        step(cache, 16);
        CHECK_EQ(16, length_of(cache));
        CHECK_OK(kvc_cache_release(cache));
    }
}

static void test_resolved_config(void)
{
    kvc_layer_t layers[2] = {ring_with_sinks(8, 2), ring_layer(4)};
    kvc_config_t config = config_of(layers, 2, 64), resolved;
    config.rollback = 3;
    config.max_context = 60;
    config.kv_dtype = -5;
    config.max_seqs = 9;
    config.block_size = 9;
    config.max_blocks_per_seq = 9;
    config.watermark = 9;
    config.flags = KVC_SPLIT_POOLS;
    config.user = &config;
    kvc_cache_t *cache = build(storage, &config);
    CHECK_OK(kvc_cache_config(cache, &resolved));
    CHECK_EQ(sizeof resolved, resolved.struct_size);
    CHECK_EQ(64, resolved.capacity);
    CHECK_EQ(2, resolved.n_layers);
    CHECK_EQ(0, resolved.n_layer_entries);
    CHECK(resolved.layers == NULL && resolved.user == NULL);
    CHECK_EQ(4, resolved.max_write);
    CHECK_EQ(3, resolved.rollback);
    CHECK_EQ(60, resolved.max_context);
    /* The larger pool has 2 sinks and a ring of 8 + 8 - 1 + 3 rows. */
    CHECK_EQ(20, resolved.initial_capacity);
    CHECK(resolved.kv_dtype == -5);
    CHECK_EQ(0, resolved.max_seqs + resolved.block_size + resolved.max_blocks_per_seq + resolved.watermark);
    CHECK_EQ(0, resolved.flags);
    uint32_t kind = 0, capacity = 0;
    CHECK_OK(kvc_cache_kind(cache, &kind));
    CHECK_EQ(KVC_KIND_SEQUENCE, kind);
    CHECK_OK(kvc_capacity(cache, &capacity));
    CHECK_EQ(64, capacity);
    cache = build_ring(storage, 4, 6, 0);
    CHECK_OK(kvc_capacity(cache, &capacity));
    CHECK_EQ(KVC_UNBOUNDED, capacity);
    CHECK_OK(kvc_cache_config(cache, &resolved));
    CHECK_EQ(6, resolved.max_write);
    CHECK_EQ(9, resolved.initial_capacity);
}

static void test_references(void)
{
    int context = 0;
    kvc_cache_t *cache = build_flat(storage, 16);
    forget_calls();
    CHECK_OK(kvc_cache_on_release(cache, on_release, &context));
    for (int i = 0; i < 100; i++) {
        CHECK_OK(kvc_cache_retain(cache));
    }
    step(cache, 3);
    for (int i = 0; i < 100; i++) {
        CHECK_OK(kvc_cache_release(cache));
        CHECK_TEXT("", calls);
    }
    CHECK_EQ(3, length_of(cache));
    events_record();
    CHECK_OK(kvc_cache_release(cache));
    kvc_set_event_hook(NULL, NULL);
    CHECK_TEXT("!", calls);
    CHECK(released_storage == (void *)storage);
    CHECK_EQ(1, events_seen());
    CHECK_EQ(KVC_EVENT_ENDED, event_at(0)->event);
    /* Ended, and its memory still there: a diagnosis. The callback does not run again. */
    CHECK_STATUS(KVC_ERR_STALE, kvc_cache_release(cache));
    CHECK_STATUS(KVC_ERR_STALE, kvc_cache_retain(cache));
    CHECK_STATUS(KVC_ERR_STALE, kvc_clear(cache));
    CHECK_TEXT("!", calls);
    /* A new cache in the same place has no callback of the old one's. */
    cache = build_flat(storage, 16);
    CHECK_OK(kvc_cache_release(cache));
    CHECK_TEXT("!", calls);
}

static void free_storage(void *ctx, void *at)
{
    (void)ctx;
    note('!');
    free(at);
}

static void overwrite_storage(void *ctx, void *at)
{
    note('!');
    memset(at, 0xDD, *(const size_t *)ctx);
}

static void build_there_again(void *ctx, void *at)
{
    kvc_cache_t **out = (kvc_cache_t **)ctx;
    kvc_layer_t layer = flat_layer();
    kvc_config_t config = config_of(&layer, 1, 99);
    note('!');
    CHECK_OK(kvc_sequence_init(at, KVC_SEQUENCE_BYTES_FOR(1), &config, out));
}

static void test_storage_belongs_to_its_owner_in_the_callback(void)
{
    kvc_layer_t layer = flat_layer();
    kvc_config_t config = config_of(&layer, 1, 16);
    size_t size = 0;
    kvc_cache_t *cache = NULL, *next = NULL;
    CHECK_OK(kvc_sequence_size(&config, &size));
    forget_calls();
    void *heap = malloc(size);
    CHECK_OK(kvc_sequence_init(heap, size, &config, &cache));
    CHECK_OK(kvc_cache_on_release(cache, free_storage, NULL));
    CHECK_OK(kvc_cache_set_face(cache, "f", "f", NULL));
    CHECK_OK(kvc_cache_release(cache));
    CHECK_TEXT("!", calls);

    heap = malloc(size);
    CHECK_OK(kvc_sequence_init(heap, size, &config, &cache));
    CHECK_OK(kvc_cache_on_release(cache, overwrite_storage, &size));
    CHECK_OK(kvc_cache_release(cache));
    CHECK_TEXT("!!", calls);
    /* Nothing was written behind the callback. */
    for (size_t i = 0; i < size; i++) {
        CHECK_EQ(0xDD, ((unsigned char *)heap)[i]);
    }
    CHECK_STATUS(KVC_ERR_CORRUPT, kvc_clear(cache));

    CHECK_OK(kvc_sequence_init(heap, size, &config, &cache));
    CHECK_OK(kvc_cache_on_release(cache, build_there_again, &next));
    CHECK_OK(kvc_cache_release(cache));
    CHECK(next == cache);
    uint32_t capacity = 0;
    CHECK_OK(kvc_capacity(next, &capacity));
    CHECK_EQ(99, capacity);
    CHECK_OK(kvc_cache_release(next));
    CHECK_TEXT("!!!", calls);
    free(heap);
}

static void test_faces(void)
{
    char a = 'a', b = 'b', c = 'c', d = 'd';
    void *found = NULL;
    kvc_cache_t *cache = build_flat(storage, 16);
    forget_calls();
    CHECK_OK(kvc_cache_set_face(cache, "a", &a, on_drop));
    CHECK_OK(kvc_cache_set_face(cache, "b", &b, on_drop));
    CHECK_OK(kvc_cache_set_face(cache, "c", &c, NULL));
    CHECK_OK(kvc_cache_set_face(cache, "d", &d, on_drop));
    CHECK_STATUS(KVC_ERR_TABLE_FULL, kvc_cache_set_face(cache, "e", &a, on_drop));
    CHECK_STATUS(KVC_ERR_ALREADY_EXISTS, kvc_cache_set_face(cache, "b", &a, on_drop));
    /* Found by content, not by address. */
    char name[] = "b";
    CHECK_OK(kvc_cache_face(cache, name, &found));
    CHECK(found == &b);
    CHECK_OK(kvc_cache_drop_face(cache, name));
    CHECK_TEXT("b", calls);
    CHECK_STATUS(KVC_ERR_NOT_FOUND, kvc_cache_face(cache, "b", &found));
    CHECK_STATUS(KVC_ERR_NOT_FOUND, kvc_cache_drop_face(cache, "b"));
    CHECK_OK(kvc_cache_drop_face(cache, "c"));
    CHECK_TEXT("b", calls);
    CHECK_OK(kvc_cache_set_face(cache, "b", &b, on_drop));
    CHECK_OK(kvc_cache_face(cache, "d", &found));
    CHECK(found == &d);
    CHECK_OK(kvc_cache_on_release(cache, on_release, NULL));
    CHECK_OK(kvc_cache_retain(cache));
    CHECK_OK(kvc_cache_release(cache));
    CHECK_TEXT("b", calls);
    /* Newest first, then the storage. */
    CHECK_OK(kvc_cache_release(cache));
    CHECK_TEXT("bbda!", calls);
}

static void test_face_names_at_their_limit(void)
{
    char longest[KVC_MAX_NAME + 1], other[KVC_MAX_NAME + 1];
    int object = 0;
    void *found = NULL;
    memset(longest, 'x', sizeof longest);
    longest[KVC_MAX_NAME] = 0;
    memcpy(other, longest, sizeof other);
    other[KVC_MAX_NAME - 1] = 'y';
    kvc_cache_t *cache = build_flat(storage, 16);
    CHECK_OK(kvc_cache_set_face(cache, longest, &object, NULL));
    CHECK_STATUS(KVC_ERR_NOT_FOUND, kvc_cache_face(cache, other, &found));
    CHECK_OK(kvc_cache_face(cache, longest, &found));
    CHECK(found == &object);
}

/* A face whose object is the cache that it stands on. */
static void drop_calls_the_cache(void *object)
{
    kvc_cache_t *cache = (kvc_cache_t *)object;
    void *found;
    uint32_t length;
    note('d');
    CHECK_STATUS(KVC_ERR_STALE, kvc_cache_retain(cache));
    CHECK_STATUS(KVC_ERR_STALE, kvc_cache_release(cache));
    CHECK_STATUS(KVC_ERR_STALE, kvc_length(cache, &length));
    CHECK_STATUS(KVC_ERR_STALE, kvc_cache_face(cache, "self", &found));
    CHECK_STATUS(KVC_ERR_STALE, kvc_cache_set_face(cache, "new", cache, NULL));
    CHECK_STATUS(KVC_ERR_STALE, kvc_cache_drop_face(cache, "self"));
}

static void drop_sets_another(void *object)
{
    kvc_cache_t *cache = (kvc_cache_t *)object;
    note('s');
    CHECK_OK(kvc_cache_set_face(cache, "another", cache, drop_calls_the_cache));
}

static void test_callbacks_that_call_back(void)
{
    kvc_cache_t *cache = build_flat(storage, 16);
    forget_calls();
    /* The end comes before the first callback; a live cache holds no lock in one. */
    CHECK_OK(kvc_cache_set_face(cache, "self", cache, drop_calls_the_cache));
    CHECK_OK(kvc_cache_set_face(cache, "once", cache, drop_sets_another));
    CHECK_OK(kvc_cache_drop_face(cache, "once"));
    CHECK_TEXT("s", calls);
    CHECK_OK(kvc_cache_on_release(cache, on_release, NULL));
    CHECK_OK(kvc_cache_release(cache));
    CHECK_TEXT("sdd!", calls);
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(test_sizes_of_all_models),
        TEST(test_static_storage),
        TEST(test_resolved_config),
        TEST(test_references),
        TEST(test_storage_belongs_to_its_owner_in_the_callback),
        TEST(test_faces),
        TEST(test_face_names_at_their_limit),
        TEST(test_callbacks_that_call_back),
    };
    return RUN_ALL(cases);
}
