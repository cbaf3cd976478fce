/* What caches of many sequences have in common with the others: configs, layers, ends, events, builders, registries. */

#include <string.h>

#include "batches.h"
#include "edge.h"
#include "events.h"
#include "registries.h"
#include "support.h"

static uint64_t storage[BATCH_BYTES / 8];

/* A flat layer, a ring, and one that uses the ring's rows. */
static kvc_layer_t layers[3];

static kvc_config_t some_config(void)
{
    layers[0] = flat_layer();
    layers[1] = ring_layer(4);
    layers[2] = layers[1];
    layers[2].shares_with = 2;
    kvc_config_t config = config_of(layers, 3, 64);
    config.max_seqs = 3;
    config.max_write = 100;
    config.rollback = 2;
    config.max_context = 50;
    config.initial_capacity = 1000;
    config.kv_dtype = -7;
    config.block_size = 16;
    config.max_blocks_per_seq = 9;
    config.watermark = 3;
    config.user = storage;
    return config;
}

static void check_common(const kvc_config_t *resolved)
{
    CHECK_EQ(sizeof *resolved, resolved->struct_size);
    CHECK_EQ(64, resolved->capacity);
    CHECK_EQ(3, resolved->n_layers);
    CHECK_EQ(0, resolved->n_layer_entries);
    CHECK(resolved->layers == NULL && resolved->user == NULL);
    CHECK_EQ(64, resolved->max_write);
    CHECK_EQ(2, resolved->rollback);
    CHECK_EQ(50, resolved->max_context);
    CHECK_EQ(64, resolved->initial_capacity);
    CHECK(resolved->kv_dtype == -7);
    CHECK_EQ(3, resolved->max_seqs);
    CHECK_EQ(0, resolved->block_size);
    CHECK_EQ(0, resolved->max_blocks_per_seq);
    CHECK_EQ(0, resolved->watermark);
}

static void check_layer(const kvc_cache_t *cache, uint32_t layer, uint32_t group, uint32_t rows)
{
    kvc_layer_info_t info;
    CHECK_OK(kvc_cache_layer(cache, layer, &info));
    CHECK(memcmp(&layers[layer], &info.layer, sizeof info.layer) == 0);
    CHECK_EQ(group, info.group);
    CHECK_EQ(rows, info.rows);
    CHECK_EQ(64, info.max_write);
}

static void check_kind(const kvc_cache_t *cache, uint32_t expected)
{
    uint32_t kind = 0, capacity = 0;
    CHECK_OK(kvc_cache_kind(cache, &kind));
    CHECK_EQ(expected, kind);
    CHECK_OK(kvc_capacity(cache, &capacity));
    CHECK_EQ(64, capacity);
}

static void test_cells_as_configured(void)
{
    kvc_config_t config = some_config(), resolved;
    for (config.flags = 0; config.flags < 4; config.flags++) {
        kvc_cache_t *cache = build_cells(storage, &config);
        check_kind(cache, KVC_KIND_CELLS);
        CHECK_OK(kvc_cache_config(cache, &resolved));
        check_common(&resolved);
        CHECK_EQ(config.flags, resolved.flags);
        check_layer(cache, 0, 0, 64);
        check_layer(cache, 1, 1, 64);
        check_layer(cache, 2, 1, 64);
        CHECK_EQ(64, free_rows_of(cache));
    }
    /* A pool that holds what its windows need: 3 sequences of 4 + 2, and a step of 10. */
    config.max_write = 10;
    config.flags = KVC_SPLIT_POOLS;
    kvc_cache_t *cache = build_cells(storage, &config);
    kvc_layer_info_t info;
    CHECK_OK(kvc_cache_layer(cache, 0, &info));
    CHECK_EQ(64, info.rows);
    CHECK_EQ(10, info.max_write);
    CHECK_OK(kvc_cache_layer(cache, 2, &info));
    CHECK_EQ(3 * (4 + 2) + 10, info.rows);
    CHECK_EQ(28, free_rows_of(cache));
    /* The fewest cells of any pool decide. */
    uint32_t seq = new_seq(cache);
    CHECK(admits(cache, seq, 28));
    CHECK(!admits(cache, seq, 29));
}

static void test_rows_as_configured(void)
{
    kvc_config_t config = some_config(), resolved;
    kvc_cache_t *cache = build_rows(storage, &config);
    check_kind(cache, KVC_KIND_ROWS);
    CHECK_OK(kvc_cache_config(cache, &resolved));
    check_common(&resolved);
    check_layer(cache, 0, 0, 64);
    check_layer(cache, 1, 1, 64);
    CHECK_EQ(64, free_rows_of(cache));
    config.max_write = 5;
    cache = build_rows(storage, &config);
    kvc_layer_info_t info;
    CHECK_OK(kvc_cache_layer(cache, 2, &info));
    CHECK_EQ(4 + 5 - 1 + 2, info.rows);
    CHECK_EQ(5, info.max_write);
}

static void note_end(void *ctx, void *at)
{
    *(void **)ctx = at;
}

static void drop_face(void *object)
{
    ++*(uint32_t *)object;
}

/* Faces, the callback, and what is answered afterwards. */
static void test_the_end(void)
{
    kvc_config_t config = some_config();
    for (uint32_t kind = 0; kind < 2; kind++) {
        kvc_cache_t *cache = kind == 0 ? build_cells(storage, &config) : build_rows(storage, &config);
        void *ended = NULL, *face = NULL;
        uint32_t drops = 0, out = 5;
        CHECK_OK(kvc_cache_on_release(cache, note_end, &ended));
        CHECK_OK(kvc_cache_set_face(cache, "pool", &drops, drop_face));
        CHECK_OK(kvc_cache_face(cache, "pool", &face));
        CHECK(face == &drops);
        CHECK_OK(kvc_cache_retain(cache));
        CHECK_OK(kvc_cache_release(cache));
        CHECK(ended == NULL);
        CHECK_OK(kvc_cache_release(cache));
        CHECK(ended == storage);
        CHECK_EQ(1, drops);
        CHECK_STATUS(KVC_ERR_STALE, kvc_batch_seq_new(cache, &out));
        CHECK_STATUS(KVC_ERR_STALE, kvc_clear(cache));
    }
}

/* Clear gives every id and every row back. */
static void test_clear(void)
{
    kvc_config_t config = some_config();
    for (uint32_t kind = 0; kind < 2; kind++) {
        kvc_cache_t *cache = kind == 0 ? build_cells(storage, &config) : build_rows(storage, &config);
        uint32_t a = new_seq(cache), b = new_seq(cache);
        if (kind == 0) {
            append_cells(cache, a, 9, NULL);
            CHECK_OK(kvc_batch_seq_shift(cache, a, 0, KVC_UNBOUNDED, 4));
        } else {
            append_rows(cache, a, 9);
        }
        CHECK_OK(declare_for(cache, b, 1));
        CHECK_OK(kvc_clear(cache));
        CHECK_EQ(64, free_rows_of(cache));
        CHECK_STATUS(KVC_ERR_BAD_SEQUENCE, kvc_batch_seq_release(cache, a));
        CHECK_EQ(0, new_seq(cache));
        CHECK_EQ(0, next_of_seq(cache, 0));
        CHECK_EQ(KVC_UNBOUNDED, first_of_seq(cache, 0));
    }
}

/* Runs `call` and checks that it makes exactly one event without a key, or none at all. */
#define MAKES(number, expected_status, call)                   \
    do {                                                       \
        events_record();                                       \
        CHECK_STATUS(expected_status, call);                   \
        CHECK_EQ(1, events_seen());                            \
        CHECK_EQ(number, event_at(0)->event);                  \
        CHECK_STATUS(expected_status, event_at(0)->status);    \
        CHECK(!event_at(0)->has_key);                          \
    } while (0)

#define MAKES_NONE(call)            \
    do {                            \
        events_record();            \
        CHECK_OK(call);             \
        CHECK_EQ(0, events_seen()); \
    } while (0)

/* Cells go when the next step is declared. */
static void test_events_of_cells(void)
{
    const kvc_layer_t rings[2] = {ring_layer(2), ring_layer(3)};
    const uint32_t positions[2] = {4, 5};
    uint32_t cells[2], seq, n;
    kvc_cell_step_t step;
    kvc_config_t config = config_of(rings, 2, 16);
    config.max_seqs = 2;
    config.flags = KVC_SPLIT_POOLS;
    kvc_cache_t *cache = build_cells(storage, &config);
    MAKES_NONE(kvc_batch_seq_new(cache, &seq));
    append_cells(cache, seq, 2, NULL);
    MAKES(KVC_EVENT_EVICTED, KVC_OK, declare_for(cache, seq, 1));
    MAKES_NONE(declare_for(cache, seq, 2));
    append_cells(cache, seq, 2, NULL);
    /* Both pools let go of something: one event for the step. */
    MAKES(KVC_EVENT_EVICTED, KVC_OK, declare_for(cache, seq, 2));
    MAKES_NONE(kvc_cells_place_step(cache, 0, positions, 2, cells, &step));
    MAKES_NONE(kvc_cells_place_step(cache, 1, positions, 2, cells, &step));
    MAKES(KVC_EVENT_REFUSED, KVC_ERR_EVICTED, kvc_batch_rewind(cache, seq, 2));
    MAKES(KVC_EVENT_REFUSED, KVC_ERR_NEVER_FITS, declare_for(cache, seq, 17));
    MAKES(KVC_EVENT_REFUSED, KVC_ERR_WRONG_KIND, kvc_length(cache, &n));
    MAKES_NONE(kvc_cells_shifts_done(cache));
    MAKES_NONE(kvc_clear(cache));
    MAKES(KVC_EVENT_ENDED, KVC_OK, kvc_cache_release(cache));
    /* Where windows free nothing, nothing is told. */
    config.flags = KVC_KEEP_CELLS;
    cache = build_cells(storage, &config);
    seq = new_seq(cache);
    append_cells(cache, seq, 8, NULL);
    MAKES_NONE(declare_for(cache, seq, 2));
    kvc_set_event_hook(NULL, NULL);
}

/* Rows go when the step that takes them is placed. */
static void test_events_of_rows(void)
{
    const kvc_layer_t rings[2] = {ring_layer(2), ring_layer(3)};
    kvc_config_t config = config_of(rings, 2, 64);
    static const uint32_t ids[4] = {0, 0, 1, 1}, positions[4] = {4, 5, 4, 5};
    kvc_span_t spans[2];
    uint32_t seq, n = 0;
    config.max_seqs = 2;
    config.max_write = 2;
    kvc_cache_t *cache = build_rows(storage, &config);
    MAKES_NONE(kvc_batch_seq_new(cache, &seq));
    append_rows(cache, seq, 2);
    append_rows(cache, seq, 2);
    MAKES_NONE(kvc_batch_seq_clone(cache, seq, KVC_UNBOUNDED, &seq));
    MAKES_NONE(kvc_batch_declare_step(cache, ids, 4));
    MAKES(KVC_EVENT_REFUSED, KVC_ERR_BUFFER_TOO_SMALL, kvc_rows_place_step(cache, 0, positions, 4, spans, 1, &n));
    /* Two sequences and two windows: one event for the step. */
    MAKES(KVC_EVENT_EVICTED, KVC_OK, kvc_rows_place_step(cache, 0, positions, 4, spans, 2, &n));
    MAKES_NONE(kvc_rows_place_step(cache, 1, positions, 4, spans, 2, &n));
    MAKES(KVC_EVENT_REFUSED, KVC_ERR_STEP_TOO_LARGE, declare_for(cache, 0, 3));
    MAKES(KVC_EVENT_REFUSED, KVC_ERR_WRONG_KIND, kvc_batch_seq_shift(cache, 0, 0, 1, 1));
    MAKES(KVC_EVENT_ENDED, KVC_OK, kvc_cache_release(cache));
    kvc_set_event_hook(NULL, NULL);
}

static void build_through(kvc_registry_t *registry, const char *kind, uint32_t expected_kind, size_t expected_size)
{
    kvc_config_t config = some_config();
    kvc_cache_t *cache = NULL;
    size_t size = 0;
    uint32_t seq = 0;
    kvc_cache_release((kvc_cache_t *)storage);
    CHECK_OK(kvc_builder_size(registry, "kvcore", kind, &config, &size));
    CHECK_EQ(expected_size, size);
    CHECK_STATUS(KVC_ERR_BUFFER_TOO_SMALL,
                 kvc_builder_build(registry, "kvcore", kind, &config, storage, size - 1, &cache));
    CHECK_OK(kvc_builder_build(registry, "kvcore", kind, &config, storage, size, &cache));
    check_kind(cache, expected_kind);
    /* The backend finds it by its key. */
    kvc_session_t session;
    kvc_cache_t *found = NULL;
    CHECK_OK(kvc_session_open(&session, registry, NULL, cache));
    CHECK_OK(kvc_registry_get(registry, session.key, &found));
    CHECK(found == cache);
    CHECK_OK(kvc_batch_seq_new(found, &seq));
    CHECK_OK(kvc_cache_release(found));
    CHECK_OK(kvc_session_close(&session));
    CHECK_OK(kvc_cache_release(cache));
    /* What this kind refuses is refused here too. */
    config.max_seqs = 0;
    CHECK_STATUS(KVC_ERR_INVALID_CONFIG, kvc_builder_size(registry, "kvcore", kind, &config, &size));
    CHECK_STATUS(KVC_ERR_INVALID_CONFIG,
                 kvc_builder_build(registry, "kvcore", kind, &config, storage, sizeof storage, &cache));
}

static void test_built_in_kinds(void)
{
    kvc_registry_t *registry = new_registry(0);
    kvc_config_t config = some_config();
    size_t cells = 0, rows = 0;
    const char *kind = NULL;
    CHECK_STATUS(KVC_ERR_NOT_FOUND, kvc_builder_size(registry, "kvcore", "cells", &config, &cells));
    CHECK_OK(kvc_cells_register(registry));
    CHECK_STATUS(KVC_ERR_NOT_FOUND, kvc_builder_size(registry, "kvcore", "rows", &config, &rows));
    CHECK_OK(kvc_rows_register(registry));
    CHECK_OK(kvc_builder_kind_at(registry, "kvcore", 0, &kind));
    CHECK_TEXT("cells", kind);
    CHECK_OK(kvc_builder_kind_at(registry, "kvcore", 1, &kind));
    CHECK_TEXT("rows", kind);
    CHECK_OK(kvc_cells_size(&config, &cells));
    CHECK_OK(kvc_rows_size(&config, &rows));
    build_through(registry, "cells", KVC_KIND_CELLS, cells);
    build_through(registry, "rows", KVC_KIND_ROWS, rows);
    CHECK_OK(kvc_builder_unregister(registry, "kvcore", "cells"));
    CHECK_OK(kvc_builder_unregister(registry, "kvcore", "rows"));
    end_registry(registry);
}

/* A size is a multiple of the alignment, exact, and enough for as long as the cache lives. */
static void test_sizes(void)
{
    static const uint32_t seqs[] = {1, 3, 31, 32, 33, KVC_MAX_SEQS}, capacities[] = {1, 31, 32, 33, 200};
    const kvc_layer_t rings[2] = {ring_layer(3), flat_layer()};
    for (size_t i = 0; i < 6 * 5; i++) {
        kvc_config_t config = config_of(rings, 2, capacities[i / 6]);
        size_t size = 0;
        kvc_cache_t *cache = NULL;
        config.max_seqs = seqs[i % 6];
        config.flags = KVC_SPLIT_POOLS;
        uint32_t n = config.capacity < 3 ? config.capacity : 3;
        CHECK_OK(kvc_cells_size(&config, &size));
        CHECK_EQ(0, size % KVC_ALIGN);
        CHECK_OK(kvc_cells_init(at_edge(size, 0xA5), size, &config, &cache));
        while (kvc_batch_seq_new(cache, &(uint32_t){0}) == KVC_OK) {
        }
        append_cells(cache, config.max_seqs - 1, n, NULL);
        CHECK_OK(kvc_batch_seq_keep(cache, config.max_seqs - 1));
        CHECK_EQ(config.capacity - n, free_rows_of(cache));
        CHECK_OK(kvc_rows_size(&config, &size));
        CHECK_EQ(0, size % KVC_ALIGN);
        CHECK_OK(kvc_rows_init(at_edge(size, 0xA5), size, &config, &cache));
        while (kvc_batch_seq_new(cache, &(uint32_t){0}) == KVC_OK) {
        }
        append_rows(cache, config.max_seqs - 1, n);
        CHECK_EQ(config.capacity - n, free_rows_of(cache));
    }
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(test_cells_as_configured),
        TEST(test_rows_as_configured),
        TEST(test_the_end),
        TEST(test_clear),
        TEST(test_events_of_cells),
        TEST(test_events_of_rows),
        TEST(test_built_in_kinds),
        TEST(test_sizes),
    };
    return RUN_ALL(cases);
}
