/* Builders: found by what their names say, called outside the lock with the config as it came. */

#include <stdio.h>
#include <string.h>

#include "models.h"
#include "registries.h"
#include "support.h"

static uint64_t storage[CACHE_BYTES / 8];

/* A builder of sequence caches that notes its calls. */
typedef struct {
    kvc_registry_t *registry;
    kvc_config_t config;
    void *storage;
    size_t size;
    unsigned sized, built;
} builder_t;

static kvc_status_t note_size(void *ctx, const kvc_config_t *config, size_t *out)
{
    builder_t *builder = (builder_t *)ctx;
    builder->config = *config;
    builder->sized++;
    return kvc_sequence_size(config, out);
}

static kvc_status_t note_build(void *ctx, const kvc_config_t *config, void *at, size_t size, kvc_cache_t **out)
{
    builder_t *builder = (builder_t *)ctx;
    builder->config = *config;
    builder->storage = at;
    builder->size = size;
    builder->built++;
    return kvc_sequence_init(at, size, config, out);
}

static kvc_layer_t layers[2];

static kvc_config_t some_config(void)
{
    layers[0] = flat_layer();
    layers[1] = ring_layer(4);
    kvc_config_t config = config_of(layers, 2, 64);
    config.user = storage;
    return config;
}

static void check_kind(kvc_registry_t *registry, const char *backend, uint32_t index, const char *expected)
{
    const char *kind = "unchanged";
    kvc_status_t status = kvc_builder_kind_at(registry, backend, index, &kind);
    CHECK_STATUS(expected == NULL ? KVC_ERR_NOT_FOUND : KVC_OK, status);
    CHECK_TEXT(expected == NULL ? "unchanged" : expected, kind);
}

static void test_building(void)
{
    kvc_registry_t *registry = new_registry(0);
    kvc_config_t config = some_config();
    builder_t builder;
    kvc_cache_t *cache = NULL;
    size_t size = 0, expected = 0;
    memset(&builder, 0, sizeof builder);
    CHECK_OK(kvc_builder_register(registry, "mlx", "single", note_size, note_build, &builder));
    CHECK_OK(kvc_builder_size(registry, "mlx", "single", &config, &size));
    CHECK_OK(kvc_sequence_size(&config, &expected));
    CHECK_EQ(expected, size);
    CHECK(memcmp(&builder.config, &config, sizeof config) == 0);
    CHECK_OK(kvc_builder_build(registry, "mlx", "single", &config, storage, sizeof storage, &cache));
    CHECK(memcmp(&builder.config, &config, sizeof config) == 0);
    CHECK(builder.storage == (void *)storage);
    CHECK_EQ(sizeof storage, builder.size);
    CHECK(cache == (kvc_cache_t *)storage);
    CHECK_EQ(1, builder.sized);
    CHECK_EQ(1, builder.built);
    /* One reference, the caller's; the registry keeps none. */
    CHECK_EQ(0, entries_of(registry));
    CHECK_OK(kvc_cache_release(cache));
    CHECK_STATUS(KVC_ERR_STALE, kvc_clear(cache));
    /* A bad config never reaches the builder. */
    config.capacity = 0;
    CHECK_STATUS(KVC_ERR_INVALID_CONFIG, kvc_builder_size(registry, "mlx", "single", &config, &size));
    CHECK_STATUS(KVC_ERR_INVALID_CONFIG,
                 kvc_builder_build(registry, "mlx", "single", &config, storage, sizeof storage, &cache));
    CHECK_EQ(1, builder.sized);
    CHECK_EQ(1, builder.built);
    end_registry(registry);
}

static void test_names_and_kinds(void)
{
    kvc_registry_t *registry = new_registry(0);
    builder_t builder;
    char longest[KVC_MAX_NAME + 1], same[] = "single";
    memset(&builder, 0, sizeof builder);
    memset(longest, 'q', sizeof longest);
    longest[KVC_MAX_NAME] = 0;
    CHECK_OK(kvc_builder_register(registry, "mlx", "single", note_size, note_build, &builder));
    CHECK_OK(kvc_builder_register(registry, "mlx", "paged", note_size, note_build, &builder));
    CHECK_OK(kvc_builder_register(registry, "qnn", "single", note_size, note_build, &builder));
    CHECK_OK(kvc_builder_register(registry, longest, longest, note_size, note_build, &builder));
    CHECK_STATUS(KVC_ERR_ALREADY_EXISTS,
                 kvc_builder_register(registry, "mlx", same, note_size, note_build, &builder));
    check_kind(registry, "mlx", 0, "single");
    check_kind(registry, "mlx", 1, "paged");
    check_kind(registry, "mlx", 2, NULL);
    check_kind(registry, "qnn", 0, "single");
    check_kind(registry, "qnn", 1, NULL);
    check_kind(registry, longest, 0, longest);
    check_kind(registry, "cuda", 0, NULL);
    CHECK_OK(kvc_builder_unregister(registry, "mlx", same));
    check_kind(registry, "mlx", 0, "paged");
    check_kind(registry, "qnn", 0, "single");
    CHECK_STATUS(KVC_ERR_NOT_FOUND, kvc_builder_unregister(registry, "mlx", "single"));
    /* The string that was registered is the one that is answered. */
    const char *kind = NULL;
    static const char constant[] = "constant";
    CHECK_OK(kvc_builder_register(registry, "mlx", constant, note_size, note_build, &builder));
    CHECK_OK(kvc_builder_kind_at(registry, "mlx", 1, &kind));
    CHECK(kind == constant);
    end_registry(registry);
}

static void test_a_full_table(void)
{
    static char kinds[1025][8];
    kvc_registry_t *registry = new_registry(0), *other = new_registry(1);
    uint32_t n = 0;
    kvc_status_t status = KVC_OK;
    builder_t builder;
    memset(&builder, 0, sizeof builder);
    for (; n < 1025 && status == KVC_OK; n++) {
        snprintf(kinds[n], sizeof kinds[n], "k%u", (unsigned)n);
        status = kvc_builder_register(registry, "mlx", kinds[n], note_size, note_build, &builder);
    }
    CHECK_STATUS(KVC_ERR_TABLE_FULL, status);
    n--;
    CHECK(n >= 1);
    check_kind(registry, "mlx", n - 1, kinds[n - 1]);
    check_kind(registry, "mlx", n, NULL);
    /* A registry's table is its own. */
    check_kind(other, "mlx", 0, NULL);
    CHECK_OK(kvc_builder_register(other, "mlx", "k0", note_size, note_build, &builder));
    CHECK_OK(kvc_builder_unregister(registry, "mlx", "k0"));
    CHECK_OK(kvc_builder_register(registry, "mlx", "new", note_size, note_build, &builder));
    CHECK_STATUS(KVC_ERR_TABLE_FULL,
                 kvc_builder_register(registry, "mlx", "k0", note_size, note_build, &builder));
    check_kind(registry, "mlx", n - 1, "new");
    end_registry(registry);
    end_registry(other);
}

static void test_the_built_in_kind(void)
{
    kvc_registry_t *registry = new_registry(0);
    kvc_config_t config = some_config();
    kvc_cache_t *cache = NULL;
    size_t size = 0;
    check_kind(registry, "kvcore", 0, NULL);
    CHECK_STATUS(KVC_ERR_NOT_FOUND, kvc_builder_size(registry, "kvcore", "sequence", &config, &size));
    CHECK_OK(kvc_sequence_register(registry));
    CHECK_STATUS(KVC_ERR_ALREADY_EXISTS, kvc_sequence_register(registry));
    check_kind(registry, "kvcore", 0, "sequence");
    check_kind(registry, "kvcore", 1, NULL);
    CHECK_OK(kvc_builder_size(registry, "kvcore", "sequence", &config, &size));
    CHECK_EQ(KVC_SEQUENCE_BYTES_FOR(2), size);
    CHECK_STATUS(KVC_ERR_BUFFER_TOO_SMALL,
                 kvc_builder_build(registry, "kvcore", "sequence", &config, storage, size - 1, &cache));
    CHECK_OK(kvc_builder_build(registry, "kvcore", "sequence", &config, storage, size, &cache));
    step(cache, 4);
    CHECK_OK(kvc_cache_release(cache));
    CHECK_OK(kvc_builder_unregister(registry, "kvcore", "sequence"));
    check_kind(registry, "kvcore", 0, NULL);
    CHECK_OK(kvc_sequence_register(registry));
    end_registry(registry);
}

/* Uses its registry while it builds: takes itself out, registers another, installs what it built. */
static kvc_status_t build_and_call_back(void *ctx, const kvc_config_t *config, void *at, size_t size,
                                        kvc_cache_t **out)
{
    builder_t *builder = (builder_t *)ctx;
    kvc_registry_t *registry = builder->registry;
    size_t inner = 0;
    CHECK_OK(kvc_builder_unregister(registry, "mlx", "calls back"));
    CHECK_OK(kvc_sequence_register(registry));
    CHECK_OK(kvc_builder_size(registry, "kvcore", "sequence", config, &inner));
    CHECK_OK(kvc_builder_build(registry, "kvcore", "sequence", config, at, size, out));
    CHECK_OK(kvc_registry_install(registry, "built", *out));
    check_kind(registry, "mlx", 0, NULL);
    builder->built++;
    return KVC_OK;
}

static void test_a_builder_that_calls_the_registry(void)
{
    kvc_config_t config = some_config();
    builder_t builder;
    kvc_cache_t *cache = NULL;
    memset(&builder, 0, sizeof builder);
    builder.registry = new_registry(0);
    CHECK_OK(kvc_builder_register(builder.registry, "mlx", "calls back", note_size, build_and_call_back, &builder));
    CHECK_OK(kvc_builder_build(builder.registry, "mlx", "calls back", &config, storage, sizeof storage, &cache));
    CHECK_EQ(1, builder.built);
    CHECK(peek(builder.registry, "built") == cache);
    CHECK_OK(kvc_cache_release(cache));
    CHECK(peek(builder.registry, "built") == cache);
    end_registry(builder.registry);
    CHECK_STATUS(KVC_ERR_STALE, kvc_clear(cache));
}

static kvc_status_t keep_silent(void *ctx, const kvc_config_t *config, void *at, size_t size, kvc_cache_t **out)
{
    (void)ctx, (void)config, (void)at, (void)size, (void)out;
    return KVC_OK;
}

static void test_success_without_a_cache(void)
{
    kvc_registry_t *registry = new_registry(0);
    kvc_config_t config = some_config();
    kvc_cache_t *cache = (kvc_cache_t *)storage;
    CHECK_OK(kvc_builder_register(registry, "mlx", "silent", note_size, keep_silent, NULL));
    CHECK_STATUS(KVC_ERR_CORRUPT,
                 kvc_builder_build(registry, "mlx", "silent", &config, storage, sizeof storage, &cache));
    CHECK(cache == (kvc_cache_t *)storage);
    end_registry(registry);
}

static void test_closing_forgets_builders(void)
{
    kvc_config_t config = some_config();
    kvc_registry_t *registry = new_registry(0);
    size_t size = 0;
    CHECK_OK(kvc_sequence_register(registry));
    end_registry(registry);
    CHECK_STATUS(KVC_ERR_STALE, kvc_builder_size(registry, "kvcore", "sequence", &config, &size));
    CHECK_STATUS(KVC_ERR_STALE, kvc_sequence_register(registry));
    registry = new_registry(0);
    check_kind(registry, "kvcore", 0, NULL);
    end_registry(registry);
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(test_building),
        TEST(test_names_and_kinds),
        TEST(test_a_full_table),
        TEST(test_the_built_in_kind),
        TEST(test_a_builder_that_calls_the_registry),
        TEST(test_success_without_a_cache),
        TEST(test_closing_forgets_builders),
    };
    return RUN_ALL(cases);
}
