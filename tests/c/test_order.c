/* The order of checks. Of two errors at once the earlier one is answered: argument, stale object, kind, layer,
 * position, step size, what never fits, capacity. */

#include <string.h>

#include "misuse.h"

#define OUT (&world.out)

/* A closed registry, a cache without a reference, and a key that is too long. */
static const char long_key[] = "0123456789012345678901234567890123456789012345678901234567890123";

static void argument_before_stale(void)
{
    kvc_cache_t *ended = world.ended;
    kvc_seq_plan_t plan = world.plan;
    plan.n_tokens = 0;
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_length(ended, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_capacity(ended, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rewind_floor(ended, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_can_extend(ended, 0, &OUT->flag));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_can_extend(ended, 1, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan(ended, 0, 0, 0, OUT->plans));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan(ended, 0, 0, 1, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan_step(ended, 0, 0, OUT->plans, 4, OUT->u32));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan_step(ended, 0, 1, NULL, 4, OUT->u32));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_commit(ended, NULL, 0));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_commit(ended, &plan, 0));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_commit(ended, &world.plan, 5));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_on_release(ended, NULL, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_kind(ended, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_config(ended, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_layer(ended, 0, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_set_face(ended, "face", NULL, NULL));
    REFUSED(KVC_ERR_NAME_TOO_LONG, kvc_cache_set_face(ended, long_key, &world, NULL));
    REFUSED(KVC_ERR_NAME_TOO_LONG, kvc_cache_drop_face(ended, ""));
    REFUSED(KVC_ERR_NAME_TOO_LONG, kvc_cache_face(ended, long_key, &OUT->pointer));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_face(ended, "face", NULL));
}

static void argument_before_a_closed_registry(void)
{
    kvc_registry_t *closed = world.closed;
    REFUSED(KVC_ERR_NAME_TOO_LONG, kvc_registry_install(closed, long_key, world.cache));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_registry_install(closed, "key", NULL));
    REFUSED(KVC_ERR_NAME_TOO_LONG, kvc_registry_get(closed, "", &OUT->cache));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_registry_get(closed, "key", NULL));
    REFUSED(KVC_ERR_NAME_TOO_LONG, kvc_registry_erase(closed, long_key));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_registry_count(closed, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_registry_key_at(closed, 0, NULL, 64));
    REFUSED(KVC_ERR_NAME_TOO_LONG, kvc_session_open(&OUT->session, closed, long_key, world.cache));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_session_open(NULL, closed, NULL, world.cache));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_session_open(&OUT->session, closed, NULL, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_builder_register(closed, "mine", "new", NULL, NULL, NULL));
    REFUSED(KVC_ERR_NAME_TOO_LONG, kvc_builder_unregister(closed, "mine", long_key));
    REFUSED(KVC_ERR_NAME_TOO_LONG, kvc_builder_size(closed, long_key, "ours", &world.config, &OUT->size));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_builder_size(closed, "mine", "ours", NULL, &OUT->size));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_builder_kind_at(closed, "mine", 0, NULL));
    REFUSED(KVC_ERR_NAME_TOO_LONG, kvc_builder_kind_at(closed, "", 0, &OUT->text));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_builder_build(closed, "mine", "ours", &world.config, NULL, 4096, &OUT->cache));
}

static void stale_before_the_rest(void)
{
    kvc_registry_t *closed = world.closed;
    kvc_config_t bad = world.config;
    bad.capacity = 0;
    /* The ended external cache offers nothing either. */
    REFUSED(KVC_ERR_STALE, kvc_length(world.ended_external, OUT->u32));
    REFUSED(KVC_ERR_STALE, kvc_rewind(world.ended, UINT32_MAX));
    REFUSED(KVC_ERR_STALE, kvc_cache_layer(world.ended, 99, &OUT->info));
    REFUSED(KVC_ERR_STALE, kvc_seq_plan(world.ended, 99, 5, 99, OUT->plans));
    REFUSED(KVC_ERR_STALE, kvc_seq_plan_step(world.ended, 5, 99, NULL, 0, OUT->u32));
    REFUSED(KVC_ERR_STALE, kvc_seq_commit(world.ended, &world.stale_plan, 4));
    REFUSED(KVC_ERR_STALE, kvc_cache_drop_face(world.ended, "nobody"));
    /* Both objects of an install. */
    REFUSED(KVC_ERR_STALE, kvc_registry_install(world.registry, "taken", world.ended));
    REFUSED(KVC_ERR_STALE, kvc_registry_install(closed, "taken", world.ended));
    REFUSED(KVC_ERR_STALE, kvc_registry_get(closed, "nobody", &OUT->cache));
    REFUSED(KVC_ERR_STALE, kvc_registry_key_at(closed, 0, OUT->key, 0));
    REFUSED(KVC_ERR_STALE, kvc_builder_size(closed, "no", "body", &bad, &OUT->size));
    bad = world.config;
    bad.n_layer_entries = KVC_MAX_LAYERS + 1;
    REFUSED(KVC_ERR_STALE, kvc_builder_size(closed, "no", "body", &bad, &OUT->size));
}

static void kind_before_the_rest(void)
{
    REFUSED(KVC_ERR_WRONG_KIND, kvc_cache_layer(world.external, UINT32_MAX, &OUT->info));
    REFUSED(KVC_ERR_WRONG_KIND, kvc_seq_plan(world.external, UINT32_MAX, 5, 99, OUT->plans));
    REFUSED(KVC_ERR_WRONG_KIND, kvc_seq_plan_step(world.external, 5, 99, NULL, 0, OUT->u32));
    REFUSED(KVC_ERR_WRONG_KIND, kvc_seq_commit(world.external, &world.stale_plan, 0));
    REFUSED(KVC_ERR_WRONG_KIND, kvc_rewind(world.external, UINT32_MAX));
}

static void layer_position_and_step_size(void)
{
    kvc_cache_t *cache = world.cache;
    uint32_t n_groups = 0;
    REFUSED(KVC_ERR_BAD_LAYER, kvc_seq_plan(cache, 2, 5, 1, OUT->plans));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_seq_plan(cache, 2, 8, 99, OUT->plans));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan(cache, 0, 5, 5, OUT->plans));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan(cache, 0, 5, 99, OUT->plans));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan_step(cache, 5, 99, OUT->plans, 4, OUT->u32));
    /* The room for the plans is an argument. */
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_seq_plan_step(cache, 5, 99, OUT->plans, 1, &n_groups));
    CHECK_EQ(2, n_groups);
}

static void step_size_never_fits_and_capacity(void)
{
    static uint64_t storage[CACHE_BYTES / 8];
    kvc_layer_t layer = flat_layer();
    kvc_config_t config = config_of(&layer, 1, 16);
    config.max_write = 4;
    kvc_cache_t *cache = build(storage, &config);
    for (uint32_t i = 0; i < 14; i++) {
        step(cache, 1);
    }
    watch(storage, sizeof storage);
    REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_seq_plan(cache, 0, 14, 5, OUT->plans));
    REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_seq_plan(cache, 0, 14, 17, OUT->plans));
    REFUSED(KVC_ERR_OUT_OF_CAPACITY, kvc_seq_plan(cache, 0, 14, 3, OUT->plans));

    config.max_write = 0;
    unwatch_all();
    cache = build(storage, &config);
    step(cache, 14);
    watch(storage, sizeof storage);
    REFUSED(KVC_ERR_NEVER_FITS, kvc_seq_plan(cache, 0, 14, 17, OUT->plans));
    REFUSED(KVC_ERR_NEVER_FITS, kvc_seq_plan(cache, 0, 14, UINT32_MAX, OUT->plans));
    REFUSED(KVC_ERR_OUT_OF_CAPACITY, kvc_seq_plan(cache, 0, 14, 16, OUT->plans));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan(cache, 0, 13, 17, OUT->plans));

    /* A context below the capacity is what a sequence may reach. */
    config.max_context = 10;
    unwatch_all();
    cache = build(storage, &config);
    step(cache, 8);
    watch(storage, sizeof storage);
    REFUSED(KVC_ERR_NEVER_FITS, kvc_seq_plan(cache, 0, 8, 11, OUT->plans));
    REFUSED(KVC_ERR_OUT_OF_CAPACITY, kvc_seq_plan(cache, 0, 8, 10, OUT->plans));
    REFUSED(KVC_ERR_OUT_OF_CAPACITY, kvc_seq_plan(cache, 0, 8, 3, OUT->plans));
}

static void building(void)
{
    kvc_config_t bad = world.config;
    bad.capacity = 0;
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_sequence_size(&bad, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_sequence_init(NULL, 0, &bad, &OUT->cache));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_sequence_init(off_by(spare_storage, 4), 0, &bad, &OUT->cache));
    REFUSED(KVC_ERR_INVALID_CONFIG, kvc_sequence_init(spare_storage, 0, &bad, &OUT->cache));
    /* A builder is found, then the config is looked into, then it is called. */
    REFUSED(KVC_ERR_NOT_FOUND, kvc_builder_size(world.registry, "mine", "theirs", &bad, &OUT->size));
    REFUSED(KVC_ERR_INVALID_CONFIG, kvc_builder_size(world.registry, "mine", "ours", &bad, &OUT->size));
    bad = world.config;
    bad.n_layer_entries = KVC_MAX_LAYERS + 1;
    REFUSED(KVC_ERR_NOT_FOUND, kvc_builder_size(world.registry, "mine", "theirs", &bad, &OUT->size));
    bad.struct_size = 0;
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_builder_size(world.registry, "mine", "theirs", &bad, &OUT->size));
    kvc_external_t table;
    memset(&table, 0, sizeof table);
    table.struct_size = (uint32_t)sizeof table;
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_external_init(spare_storage, 0, &table, &world, &OUT->cache));
}

static void names_and_tables(void)
{
    kvc_registry_t *registry = world.registry;
    REFUSED(KVC_ERR_NAME_TOO_LONG, kvc_registry_install(registry, long_key, world.ended));
    REFUSED(KVC_ERR_STALE, kvc_registry_install(registry, "taken", world.ended));
    REFUSED(KVC_ERR_NOT_FOUND, kvc_registry_key_at(registry, 1, OUT->key, 0));
    CHECK_OK(kvc_cache_set_face(world.cache, "a", &world, NULL));
    CHECK_OK(kvc_cache_set_face(world.cache, "b", &world, NULL));
    CHECK_OK(kvc_cache_set_face(world.cache, "c", &world, NULL));
    CHECK_OK(kvc_cache_set_face(world.cache, "d", &world, NULL));
    REFUSED(KVC_ERR_ALREADY_EXISTS, kvc_cache_set_face(world.cache, "a", &world, NULL));
    REFUSED(KVC_ERR_NAME_TOO_LONG, kvc_cache_set_face(world.cache, long_key, &world, NULL));
}

#define IN_A_NEW_WORLD(test)     \
    static void test_##test(void) \
    {                            \
        world_build();           \
        test();                  \
    }
IN_A_NEW_WORLD(argument_before_stale)
IN_A_NEW_WORLD(argument_before_a_closed_registry)
IN_A_NEW_WORLD(stale_before_the_rest)
IN_A_NEW_WORLD(kind_before_the_rest)
IN_A_NEW_WORLD(layer_position_and_step_size)
IN_A_NEW_WORLD(step_size_never_fits_and_capacity)
IN_A_NEW_WORLD(building)
IN_A_NEW_WORLD(names_and_tables)

int main(void)
{
    static const test_case_t cases[] = {
        TEST(test_argument_before_stale),
        TEST(test_argument_before_a_closed_registry),
        TEST(test_stale_before_the_rest),
        TEST(test_kind_before_the_rest),
        TEST(test_layer_position_and_step_size),
        TEST(test_step_size_never_fits_and_capacity),
        TEST(test_building),
        TEST(test_names_and_tables),
    };
    return RUN_ALL(cases);
}
