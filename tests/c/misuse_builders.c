/* Misuse of builders. The world's registry has one: ("mine", "ours"), which refuses everything. */

#include "misuse.h"

#define OUT (&world.out)

static kvc_status_t any_size(void *ctx, const kvc_config_t *config, size_t *out)
{
    (void)ctx, (void)config;
    *out = 8;
    return KVC_OK;
}

/* Answers what its context says, and builds nothing. */
static kvc_status_t answer(void *ctx, const kvc_config_t *config, void *storage, size_t size, kvc_cache_t **out)
{
    (void)config, (void)storage, (void)size, (void)out;
    return *(const kvc_status_t *)ctx;
}

static kvc_status_t answer_size(void *ctx, const kvc_config_t *config, size_t *out)
{
    (void)config, (void)out;
    return *(const kvc_status_t *)ctx;
}

static kvc_status_t register_in(kvc_registry_t *registry)
{
    return kvc_builder_register(registry, "mine", "new", any_size, answer, NULL);
}

static kvc_status_t register_backend(const char *name)
{
    return kvc_builder_register(world.registry, name, "new", any_size, answer, NULL);
}

static kvc_status_t register_kind(const char *name)
{
    return kvc_builder_register(world.registry, "mine", name, any_size, answer, NULL);
}

void misuse_of_kvc_builder_register(void)
{
    static const char *const kinds[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e",
                                        "f"};
    kvc_registry_t *registry = world.registry;
    refuse_bad_registries(register_in);
    refuse_bad_names(register_backend);
    refuse_bad_names(register_kind);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_builder_register(registry, "mine", "new", NULL, answer, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_builder_register(registry, "mine", "new", any_size, NULL, NULL));
    REFUSED(KVC_ERR_ALREADY_EXISTS, kvc_builder_register(registry, "mine", "ours", any_size, answer, NULL));
    /* Sixteen kinds for each of a hundred backends fill any table. */
    static char backends[100][4];
    kvc_status_t status = KVC_OK;
    for (size_t i = 0; i < 1600 && status == KVC_OK; i++) {
        char *backend = backends[i / 16];
        backend[0] = 'b';
        backend[1] = (char)('0' + i / 160);
        backend[2] = (char)('0' + i / 16 % 10);
        status = kvc_builder_register(registry, backend, kinds[i % 16], any_size, answer, NULL);
    }
    CHECK_STATUS(KVC_ERR_TABLE_FULL, status);
    REFUSED(KVC_ERR_TABLE_FULL, register_kind("new"));
    REFUSED(KVC_ERR_ALREADY_EXISTS, register_kind("ours"));
}

static kvc_status_t unregister_in(kvc_registry_t *registry)
{
    return kvc_builder_unregister(registry, "mine", "ours");
}

static kvc_status_t unregister_backend(const char *name)
{
    return kvc_builder_unregister(world.registry, name, "ours");
}

static kvc_status_t unregister_kind(const char *name)
{
    return kvc_builder_unregister(world.registry, "mine", name);
}

void misuse_of_kvc_builder_unregister(void)
{
    refuse_bad_registries(unregister_in);
    refuse_bad_names(unregister_backend);
    refuse_bad_names(unregister_kind);
    REFUSED(KVC_ERR_NOT_FOUND, unregister_backend("min"));
    REFUSED(KVC_ERR_NOT_FOUND, unregister_kind("our"));
    REFUSED(KVC_ERR_NOT_FOUND, kvc_builder_unregister(world.registry, "ours", "mine"));
}

static kvc_status_t size_in(kvc_registry_t *registry)
{
    return kvc_builder_size(registry, "mine", "ours", &world.config, &OUT->size);
}

static kvc_status_t size_of_backend(const char *name)
{
    return kvc_builder_size(world.registry, name, "ours", &world.config, &OUT->size);
}

static kvc_status_t size_of_kind(const char *name)
{
    return kvc_builder_size(world.registry, "mine", name, &world.config, &OUT->size);
}

static kvc_status_t size_of_config(const kvc_config_t *config)
{
    return kvc_builder_size(world.registry, "mine", "ours", config, &OUT->size);
}

/* What a foreign function may answer, and what is made of it. */
static const struct {
    kvc_status_t answered, expected;
} answers[] = {
    {KVC_ERR_OUT_OF_CAPACITY, KVC_ERR_OUT_OF_CAPACITY},
    {KVC_ERR_SHARED, KVC_ERR_SHARED},
    {24, KVC_ERR_CORRUPT},
    {-1, KVC_ERR_CORRUPT},
    {INT32_MIN, KVC_ERR_CORRUPT},
};

void misuse_of_kvc_builder_size(void)
{
    kvc_registry_t *registry = world.registry;
    const kvc_config_t *config = &world.config;
    refuse_bad_registries(size_in);
    refuse_bad_names(size_of_backend);
    refuse_bad_names(size_of_kind);
    refuse_bad_configs(size_of_config);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_builder_size(registry, "mine", "ours", config, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_builder_size(registry, "mine", "ours", config, (size_t *)off_by(&OUT->size, 1)));
    REFUSED(KVC_ERR_NOT_FOUND, size_of_kind("theirs"));
    REFUSED(KVC_ERR_UNSUPPORTED, size_of_kind("ours"));
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        kvc_status_t status = answers[i].answered;
        CHECK_OK(kvc_builder_register(registry, "mine", "answers", answer_size, answer, &status));
        REFUSED(answers[i].expected, size_of_kind("answers"));
        CHECK_OK(kvc_builder_unregister(registry, "mine", "answers"));
    }
}

static kvc_status_t build_with(kvc_registry_t *registry, const char *backend, const char *kind,
                               const kvc_config_t *config)
{
    return kvc_builder_build(registry, backend, kind, config, spare_storage, sizeof spare_storage, &OUT->cache);
}

static kvc_status_t build_in(kvc_registry_t *registry)
{
    return build_with(registry, "mine", "ours", &world.config);
}

static kvc_status_t build_backend(const char *name)
{
    return build_with(world.registry, name, "ours", &world.config);
}

static kvc_status_t build_kind(const char *name)
{
    return build_with(world.registry, "mine", name, &world.config);
}

static kvc_status_t build_config(const kvc_config_t *config)
{
    return build_with(world.registry, "mine", "ours", config);
}

/* Answers success and the pointer that its context points to, where a cache should be. */
static kvc_status_t hand_out(void *ctx, const kvc_config_t *config, void *storage, size_t size, kvc_cache_t **out)
{
    (void)config, (void)storage, (void)size;
    *out = *(kvc_cache_t **)ctx;
    return KVC_OK;
}

static void refuse_builders_without_a_cache(void)
{
    kvc_status_t ok = KVC_OK;
    CHECK_OK(kvc_builder_register(world.registry, "mine", "forgets", any_size, answer, &ok));
    REFUSED(KVC_ERR_CORRUPT, build_kind("forgets"));
    kvc_cache_t *no_caches[] = {
        NULL,
        (kvc_cache_t *)off_by(world.cache, 4),
        (kvc_cache_t *)world.nothing,
        (kvc_cache_t *)world.registry,
        world.ended,
    };
    for (size_t i = 0; i < sizeof no_caches / sizeof no_caches[0]; i++) {
        CHECK_OK(kvc_builder_register(world.registry, "mine", "lies", any_size, hand_out, &no_caches[i]));
        REFUSED(KVC_ERR_CORRUPT, build_kind("lies"));
        CHECK_OK(kvc_builder_unregister(world.registry, "mine", "lies"));
    }
}

void misuse_of_kvc_builder_build(void)
{
    kvc_registry_t *registry = world.registry;
    const kvc_config_t *config = &world.config;
    const size_t size = sizeof spare_storage;
    refuse_bad_registries(build_in);
    refuse_bad_names(build_backend);
    refuse_bad_names(build_kind);
    refuse_bad_configs(build_config);
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_builder_build(registry, "mine", "ours", config, NULL, size, &OUT->cache));
    for (size_t by = 1; by < KVC_ALIGN; by++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_builder_build(registry, "mine", "ours", config,
                                                            off_by(spare_storage, by), size - 8, &OUT->cache));
    }
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_builder_build(registry, "mine", "ours", config, spare_storage, size, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_builder_build(registry, "mine", "ours", config, spare_storage, size,
                                                        (kvc_cache_t **)off_by(&OUT->cache, 1)));
    REFUSED(KVC_ERR_NOT_FOUND, build_kind("theirs"));
    REFUSED(KVC_ERR_UNSUPPORTED, build_kind("ours"));
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        kvc_status_t status = answers[i].answered;
        CHECK_OK(kvc_builder_register(registry, "mine", "answers", any_size, answer, &status));
        REFUSED(answers[i].expected, build_kind("answers"));
        CHECK_OK(kvc_builder_unregister(registry, "mine", "answers"));
    }
    refuse_builders_without_a_cache();
    CHECK_OK(kvc_sequence_register(registry));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL,
            kvc_builder_build(registry, "kvcore", "sequence", config, spare_storage, 64, &OUT->cache));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL,
            kvc_builder_build(registry, "kvcore", "sequence", config, spare_storage, 0, &OUT->cache));
}

static kvc_status_t kind_in(kvc_registry_t *registry)
{
    return kvc_builder_kind_at(registry, "mine", 0, &OUT->text);
}

static kvc_status_t kind_of_backend(const char *name)
{
    return kvc_builder_kind_at(world.registry, name, 0, &OUT->text);
}

void misuse_of_kvc_builder_kind_at(void)
{
    refuse_bad_registries(kind_in);
    refuse_bad_names(kind_of_backend);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_builder_kind_at(world.registry, "mine", 0, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_builder_kind_at(world.registry, "mine", 0, (const char **)off_by(&OUT->text, 1)));
    REFUSED(KVC_ERR_NOT_FOUND, kvc_builder_kind_at(world.registry, "mine", 1, &OUT->text));
    REFUSED(KVC_ERR_NOT_FOUND, kvc_builder_kind_at(world.registry, "mine", UINT32_MAX, &OUT->text));
    REFUSED(KVC_ERR_NOT_FOUND, kvc_builder_kind_at(world.registry, "yours", 0, &OUT->text));
}

void misuse_of_kvc_sequence_register(void)
{
    refuse_bad_registries(kvc_sequence_register);
    CHECK_OK(kvc_sequence_register(world.registry));
    REFUSED(KVC_ERR_ALREADY_EXISTS, kvc_sequence_register(world.registry));
}
