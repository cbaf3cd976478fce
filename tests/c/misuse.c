#include "misuse.h"

#include <string.h>

#include "batches.h"
#include "edge.h"
#include "registries.h"

world_t world;
uint64_t spare_storage[512];

static uint64_t cache_storage[CACHE_BYTES / 8];
static uint64_t ended_storage[CACHE_BYTES / 8];
static uint64_t external_storage[KVC_EXTERNAL_BYTES / 8];
static uint64_t ended_external_storage[KVC_EXTERNAL_BYTES / 8];
static uint64_t claiming_storage[KVC_KIND_PAGED][KVC_EXTERNAL_BYTES / 8];
static uint64_t cells_storage[BATCH_BYTES / 8], ended_cells_storage[BATCH_BYTES / 8];
static uint64_t rows_storage[BATCH_BYTES / 8], ended_rows_storage[BATCH_BYTES / 8];
static uint64_t nothing[64];

/* An external cache that offers nothing. */
static const kvc_external_t empty_table = {
    sizeof(kvc_external_t), KVC_KIND_SEQUENCE, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL};

static kvc_external_t claims[KVC_KIND_PAGED];

static kvc_status_t refuse_size(void *ctx, const kvc_config_t *config, size_t *out)
{
    (void)ctx, (void)config, (void)out;
    return KVC_ERR_UNSUPPORTED;
}

static kvc_status_t refuse_build(void *ctx, const kvc_config_t *config, void *storage, size_t size,
                                 kvc_cache_t **out)
{
    (void)ctx, (void)config, (void)storage, (void)size, (void)out;
    return KVC_ERR_UNSUPPORTED;
}

static void build_caches(void)
{
    world.layers[0] = flat_layer();
    world.layers[1] = ring_layer(4);
    world.config = config_of(world.layers, 2, 16);
    world.config.max_write = 4;
    /* For the kinds of many sequences; others do not look at it. */
    world.config.max_seqs = 2;
    world.cache = build(cache_storage, &world.config);
    world.stale_plan = step(world.cache, 4);
    world.plan = step(world.cache, 4);
    world.ended = build(ended_storage, &world.config);
    CHECK_OK(kvc_cache_release(world.ended));
    CHECK_OK(kvc_external_init(external_storage, sizeof external_storage, &empty_table, &world, &world.external));
    CHECK_OK(kvc_external_init(ended_external_storage, sizeof ended_external_storage, &empty_table, &world,
                               &world.ended_external));
    CHECK_OK(kvc_cache_release(world.ended_external));
}

static void build_claiming(void)
{
    for (uint32_t i = 0; i < KVC_KIND_PAGED; i++) {
        claims[i] = empty_table;
        claims[i].kind = KVC_KIND_SEQUENCE + i;
        CHECK_OK(kvc_external_init(claiming_storage[i], sizeof claiming_storage[i], &claims[i], &world,
                                   &world.claiming[i]));
    }
}

static void build_cells_of_the_world(void)
{
    static const uint32_t position = 15;
    kvc_config_t config = world.config;
    uint32_t cell;
    kvc_cell_step_t step;
    config.max_seqs = 3;
    config.max_write = 20;
    config.max_context = 100;
    config.flags = KVC_SPLIT_POOLS;
    world.ended_cells = build_cells(ended_cells_storage, &config);
    CHECK_OK(kvc_cache_release(world.ended_cells));
    world.cells = build_cells(cells_storage, &config);
    uint32_t seq = new_seq(world.cells);
    append_cells(world.cells, seq, 4, NULL);
    append_cells(world.cells, seq, 4, NULL);
    append_cells(world.cells, seq, 1, NULL);
    CHECK_EQ(1, clone_of(world.cells, seq, KVC_UNBOUNDED));
    append_cells(world.cells, seq, 1, NULL);
    CHECK_OK(kvc_batch_seq_shift(world.cells, seq, 9, 10, 5));
    CHECK_OK(declare_for(world.cells, seq, 1));
    CHECK_OK(kvc_cells_place_step(world.cells, 0, &position, 1, &cell, &step));
}

static void build_rows_of_the_world(void)
{
    kvc_config_t config = world.config;
    config.capacity = 13;
    config.max_seqs = 3;
    config.max_context = 100;
    world.ended_rows = build_rows(ended_rows_storage, &config);
    CHECK_OK(kvc_cache_release(world.ended_rows));
    world.rows = build_rows(rows_storage, &config);
    uint32_t seq = new_seq(world.rows);
    append_rows(world.rows, seq, 4);
    append_rows(world.rows, seq, 4);
    append_rows(world.rows, new_seq(world.rows), 2);
}

static void build_registries(void)
{
    world.registry = new_registry(0);
    world.closed = new_registry(1);
    end_registry(world.closed);
    CHECK_OK(kvc_registry_install(world.registry, "taken", world.cache));
    CHECK_OK(kvc_builder_register(world.registry, "mine", "ours", refuse_size, refuse_build, NULL));
}

void world_build(void)
{
    unwatch_all();
    if (world.registry != NULL) {
        kvc_registry_deinit(world.registry);
        kvc_cache_release(world.external);
        for (uint32_t i = 0; i < KVC_KIND_PAGED; i++) {
            kvc_cache_release(world.claiming[i]);
        }
    }
    memset(&world, 0, sizeof world);
    memset(spare_storage, 0x3C, sizeof spare_storage);
    world.nothing = nothing;
    build_caches();
    build_claiming();
    build_cells_of_the_world();
    build_rows_of_the_world();
    build_registries();
    memset(&world.out, 0x5A, sizeof world.out);
    watch(&world, sizeof world);
    watch(spare_storage, sizeof spare_storage);
    watch(cache_storage, sizeof cache_storage);
    watch(ended_storage, sizeof ended_storage);
    watch(external_storage, sizeof external_storage);
    watch(ended_external_storage, sizeof ended_external_storage);
    watch(claiming_storage, sizeof claiming_storage);
    watch(cells_storage, sizeof cells_storage);
    watch(ended_cells_storage, sizeof ended_cells_storage);
    watch(rows_storage, sizeof rows_storage);
    watch(ended_rows_storage, sizeof ended_rows_storage);
    watch(world.registry, kvc_registry_size());
    watch(world.closed, kvc_registry_size());
    watch(nothing, sizeof nothing);
}

void *off_by(const void *at, size_t by)
{
    return (void *)((uintptr_t)at + by);
}

void refuse_bad_caches(cache_call_t call)
{
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(NULL));
    for (size_t by = 1; by < KVC_ALIGN; by++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, call((kvc_cache_t *)off_by(world.cache, by)));
    }
    REFUSED(KVC_ERR_CORRUPT, call((kvc_cache_t *)world.nothing));
    REFUSED(KVC_ERR_CORRUPT, call((kvc_cache_t *)spare_storage));
    REFUSED(KVC_ERR_CORRUPT, call((kvc_cache_t *)world.registry));
    REFUSED(KVC_ERR_STALE, call(world.ended));
    REFUSED(KVC_ERR_STALE, call(world.ended_external));
    REFUSED(KVC_ERR_STALE, call(world.ended_cells));
    REFUSED(KVC_ERR_STALE, call(world.ended_rows));
}

void refuse_caches_of_another_kind(cache_call_t call)
{
    refuse_bad_caches(call);
    REFUSED(KVC_ERR_WRONG_KIND, call(world.external));
    for (uint32_t i = 0; i < KVC_KIND_PAGED; i++) {
        REFUSED(KVC_ERR_WRONG_KIND, call(world.claiming[i]));
    }
}

void refuse_all_caches_but(unsigned offered_by, cache_call_t call)
{
    refuse_caches_of_another_kind(call);
    if ((offered_by & OFFERED_BY_SEQUENCE) == 0) {
        REFUSED(KVC_ERR_WRONG_KIND, call(world.cache));
    }
    if ((offered_by & OFFERED_BY_CELLS) == 0) {
        REFUSED(KVC_ERR_WRONG_KIND, call(world.cells));
    }
    if ((offered_by & OFFERED_BY_ROWS) == 0) {
        REFUSED(KVC_ERR_WRONG_KIND, call(world.rows));
    }
}

void refuse_bad_registries(registry_call_t call)
{
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(NULL));
    for (size_t by = 1; by < KVC_ALIGN; by++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, call((kvc_registry_t *)off_by(world.registry, by)));
    }
    REFUSED(KVC_ERR_CORRUPT, call((kvc_registry_t *)world.nothing));
    REFUSED(KVC_ERR_CORRUPT, call((kvc_registry_t *)spare_storage));
    REFUSED(KVC_ERR_CORRUPT, call((kvc_registry_t *)world.cache));
    REFUSED(KVC_ERR_STALE, call(world.closed));
}

void refuse_bad_names(name_call_t call)
{
    /* The second is read to its last byte and no further. */
    static char too_long[KVC_MAX_NAME + 2];
    static const char *unended;
    if (unended == NULL) {
        memset(too_long, 'n', sizeof too_long - 1);
        unended = (const char *)at_edge(KVC_MAX_NAME + 1, 'n');
    }
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(NULL));
    REFUSED(KVC_ERR_NAME_TOO_LONG, call(""));
    REFUSED(KVC_ERR_NAME_TOO_LONG, call(too_long));
    REFUSED(KVC_ERR_NAME_TOO_LONG, call(unended));
}


static void refuse_config(config_call_t call, kvc_status_t status, const kvc_config_t *config)
{
    REFUSED(status, call(config));
}

static void refuse_bad_config_fields(config_call_t call)
{
    kvc_config_t bad = world.config;
#define BAD_FIELD(status, field, value)      \
    bad.field = (value);                     \
    refuse_config(call, (status), &bad);     \
    bad = world.config
    BAD_FIELD(KVC_ERR_INVALID_ARGUMENT, struct_size, 0);
    BAD_FIELD(KVC_ERR_INVALID_ARGUMENT, struct_size, bad.struct_size - 1);
    BAD_FIELD(KVC_ERR_INVALID_ARGUMENT, struct_size, bad.struct_size + 8);
    BAD_FIELD(KVC_ERR_INVALID_ARGUMENT, struct_size, UINT32_MAX);
    BAD_FIELD(KVC_ERR_INVALID_ARGUMENT, layers, NULL);
    BAD_FIELD(KVC_ERR_INVALID_ARGUMENT, layers, (const kvc_layer_t *)off_by(world.layers, 2));
    BAD_FIELD(KVC_ERR_INVALID_CONFIG, capacity, 0);
    /* A flat layer has an end. */
    BAD_FIELD(KVC_ERR_INVALID_CONFIG, capacity, KVC_UNBOUNDED);
    BAD_FIELD(KVC_ERR_INVALID_CONFIG, flags, 4);
    BAD_FIELD(KVC_ERR_INVALID_CONFIG, flags, UINT32_MAX - KVC_KEEP_CELLS);
    BAD_FIELD(KVC_ERR_INVALID_CONFIG, n_layers, 0);
    BAD_FIELD(KVC_ERR_INVALID_CONFIG, n_layers, 3);
    BAD_FIELD(KVC_ERR_INVALID_CONFIG, n_layers, KVC_MAX_LAYERS + 1);
    BAD_FIELD(KVC_ERR_INVALID_CONFIG, n_layers, UINT32_MAX);
    BAD_FIELD(KVC_ERR_INVALID_CONFIG, n_layer_entries, 0);
    BAD_FIELD(KVC_ERR_INVALID_CONFIG, n_layer_entries, 3);
    BAD_FIELD(KVC_ERR_INVALID_CONFIG, n_layer_entries, KVC_MAX_LAYERS + 1);
    BAD_FIELD(KVC_ERR_INVALID_CONFIG, n_layer_entries, UINT32_MAX);
#undef BAD_FIELD
}

static void refuse_bad_layers(config_call_t call)
{
    /* The first layer is flat, the second a ring. */
    static const kvc_layer_t bad[][2] = {
        {{2, 0, 0, 2, 16, 0}, {1, 4, 0, 2, 16, 0}},          /* no such kind */
        {{UINT32_MAX, 0, 0, 2, 16, 0}, {1, 4, 0, 2, 16, 0}}, /* nor this one */
        {{0, 4, 0, 2, 16, 0}, {1, 4, 0, 2, 16, 0}},          /* flat with a window */
        {{0, 0, 1, 2, 16, 0}, {1, 4, 0, 2, 16, 0}},          /* flat with sinks */
        {{0, 0, 0, 2, 16, 0}, {1, 0, 0, 2, 16, 0}},          /* ring without a window */
        {{0, 0, 0, 2, 16, 0}, {1, 4, 16, 2, 16, 0}},         /* sinks that fill the capacity */
        {{0, 0, 0, 2, 16, 0}, {1, 4, UINT32_MAX, 2, 16, 0}}, /* or more than it */
        {{0, 0, 0, 2, 16, 1}, {1, 4, 0, 2, 16, 0}},          /* its own donor */
        {{0, 0, 0, 2, 16, 2}, {0, 0, 0, 2, 16, 0}},          /* a donor behind it */
        {{0, 0, 0, 2, 16, 0}, {1, 4, 0, 2, 16, 1}},          /* a donor of another kind */
        {{1, 5, 0, 2, 16, 0}, {1, 4, 0, 2, 16, 1}},          /* of another window */
        {{1, 4, 1, 2, 16, 0}, {1, 4, 0, 2, 16, 1}},          /* of other sinks */
        {{0, 0, 0, 2, 16, 0}, {0, 0, 0, 4, 16, 1}},          /* of other heads */
        {{0, 0, 0, 2, 16, 0}, {0, 0, 0, 2, 32, 1}},          /* of another head size */
        {{0, 0, 0, 2, 16, 0}, {0, 0, 0, 2, 16, 3}},          /* a donor that is no layer */
        {{0, 0, 0, 2, 16, 0}, {0, 0, 0, 2, 16, UINT32_MAX}},
    };
    kvc_config_t config = world.config;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        config.layers = bad[i];
        refuse_config(call, KVC_ERR_INVALID_CONFIG, &config);
    }
    /* Nine groups, one more than there may be. */
    kvc_layer_t many[KVC_MAX_GROUPS + 1];
    for (uint32_t i = 0; i <= KVC_MAX_GROUPS; i++) {
        many[i] = ring_layer(i + 1);
    }
    config = config_of(many, KVC_MAX_GROUPS + 1, 64);
    config.max_seqs = 2;
    refuse_config(call, KVC_ERR_INVALID_CONFIG, &config);
}

void refuse_bad_configs(config_call_t call)
{
    refuse_config(call, KVC_ERR_INVALID_ARGUMENT, NULL);
    for (size_t by = 1; by < sizeof(void *); by++) {
        refuse_config(call, KVC_ERR_INVALID_ARGUMENT, (const kvc_config_t *)off_by(&world.config, by));
    }
    refuse_bad_config_fields(call);
    refuse_bad_layers(call);
}

void refuse_bad_plans(plan_call_t call)
{
    /* Seven rows: two runs to write, two to read. */
    kvc_layer_t layer = ring_layer(4);
    kvc_seq_plan_t good, bad;
    CHECK_OK(kvc_layout_plan(&layer, 4, 0, 6, 3, &good));
    CHECK(good.n_write == 2 && good.n_read == 2);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call((const kvc_seq_plan_t *)off_by(&good, 1)));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call((const kvc_seq_plan_t *)off_by(&good, 2)));
    memset(&bad, 0, sizeof bad);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(&bad));
    memset(&bad, 0xFF, sizeof bad);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(&bad));
#define BAD_PLAN(field, value) \
    bad = good;                \
    bad.field = (value);       \
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(&bad))
    BAD_PLAN(n_tokens, 0);
    BAD_PLAN(n_tokens, 2);
    BAD_PLAN(n_tokens, UINT32_MAX);
    BAD_PLAN(position, 5);
    BAD_PLAN(position, UINT32_MAX);
    BAD_PLAN(n_write, 0);
    BAD_PLAN(n_write, 1);
    BAD_PLAN(n_write, 3);
    BAD_PLAN(n_write, UINT32_MAX);
    BAD_PLAN(n_read, 0);
    BAD_PLAN(n_read, 1);
    BAD_PLAN(n_read, 3);
    BAD_PLAN(n_read, 4);
    BAD_PLAN(n_read, UINT32_MAX);
    BAD_PLAN(read_len, 0);
    BAD_PLAN(read_len, good.read_len - 1);
    BAD_PLAN(read_len, good.read_len + 1);
    BAD_PLAN(read_len, UINT32_MAX);
    for (size_t run = 0; run < 2; run++) {
        BAD_PLAN(write[run].len, 0);
        BAD_PLAN(write[run].len, UINT32_MAX);
        BAD_PLAN(write[run].start, UINT32_MAX);
        BAD_PLAN(write[run].pos, good.write[run].pos + 1);
        BAD_PLAN(write[run].pos, UINT32_MAX);
        BAD_PLAN(read[run].len, 0);
        BAD_PLAN(read[run].len, UINT32_MAX);
        BAD_PLAN(read[run].start, UINT32_MAX);
        BAD_PLAN(read[run].pos, UINT32_MAX);
    }
    /* Runs that overlap, or are out of order. */
    BAD_PLAN(read[1].pos, good.read[1].pos - 1);
    BAD_PLAN(read[0].pos, good.read[0].pos + 1);
    /* A run of no rows, in its place. */
    bad = good;
    bad.n_read = 3;
    bad.read[2].pos = good.position + good.n_tokens;
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(&bad));
    /* All three runs to read are good: there are no more. */
    layer.sinks = 1;
    CHECK_OK(kvc_layout_plan(&layer, 4, 0, 7, 3, &good));
    CHECK_EQ(3, good.n_read);
    BAD_PLAN(n_read, 4);
    BAD_PLAN(n_read, UINT32_MAX);
    BAD_PLAN(n_write, 3);
#undef BAD_PLAN
}
