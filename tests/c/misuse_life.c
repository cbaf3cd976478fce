/* Misuse of the life of a cache, of its faces, and of external caches. */

#include <string.h>

#include "misuse.h"

#define OUT (&world.out)

static void never_released(void *ctx, void *storage)
{
    (void)ctx, (void)storage;
    give_up("a refused callback was called");
}

static void never_dropped(void *object)
{
    (void)object;
    give_up("a refused face was dropped");
}

static kvc_status_t set_on_release(kvc_cache_t *cache)
{
    return kvc_cache_on_release(cache, never_released, NULL);
}

static void let_be(void *ctx, void *storage)
{
    (void)ctx, (void)storage;
}

void misuse_of_kvc_cache_on_release(void)
{
    refuse_bad_caches(set_on_release);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_on_release(world.cache, NULL, NULL));
    CHECK_OK(kvc_cache_on_release(world.cache, let_be, NULL));
    REFUSED(KVC_ERR_ALREADY_EXISTS, kvc_cache_on_release(world.cache, never_released, NULL));
    REFUSED(KVC_ERR_ALREADY_EXISTS, kvc_cache_on_release(world.cache, let_be, NULL));
}

void misuse_of_kvc_cache_retain(void)
{
    refuse_bad_caches(kvc_cache_retain);
}

void misuse_of_kvc_cache_release(void)
{
    refuse_bad_caches(kvc_cache_release);
}

static kvc_status_t get_kind(kvc_cache_t *cache)
{
    return kvc_cache_kind(cache, OUT->u32);
}

void misuse_of_kvc_cache_kind(void)
{
    refuse_bad_caches(get_kind);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_kind(world.cache, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_kind(world.cache, (uint32_t *)off_by(OUT->u32, 2)));
}

static kvc_status_t get_config(kvc_cache_t *cache)
{
    return kvc_cache_config(cache, &OUT->config);
}

void misuse_of_kvc_cache_config(void)
{
    refuse_caches_of_another_kind(get_config);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_config(world.cache, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_config(world.cache, (kvc_config_t *)off_by(&OUT->config, 1)));
}

static kvc_status_t get_layer(kvc_cache_t *cache)
{
    return kvc_cache_layer(cache, 0, &OUT->info);
}

void misuse_of_kvc_cache_layer(void)
{
    refuse_caches_of_another_kind(get_layer);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_layer(world.cache, 0, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_layer(world.cache, 0, (kvc_layer_info_t *)off_by(&OUT->info, 1)));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_cache_layer(world.cache, 2, &OUT->info));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_cache_layer(world.cache, 256, &OUT->info));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_cache_layer(world.cache, UINT32_MAX, &OUT->info));
}

static kvc_status_t set_face_of(kvc_cache_t *cache)
{
    return kvc_cache_set_face(cache, "face", &world, never_dropped);
}

static kvc_status_t set_face_named(const char *name)
{
    return kvc_cache_set_face(world.cache, name, &world, never_dropped);
}

void misuse_of_kvc_cache_set_face(void)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    refuse_bad_caches(set_face_of);
    refuse_bad_names(set_face_named);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_set_face(world.cache, "face", NULL, never_dropped));
    for (size_t i = 0; i < KVC_MAX_FACES; i++) {
        CHECK_OK(kvc_cache_set_face(world.cache, names[i], &world, NULL));
        REFUSED(KVC_ERR_ALREADY_EXISTS, set_face_named(names[i]));
    }
    REFUSED(KVC_ERR_TABLE_FULL, set_face_named("e"));
    /* The same name at another address is the same name. */
    char copy[] = "d";
    REFUSED(KVC_ERR_ALREADY_EXISTS, set_face_named(copy));
}

static kvc_status_t drop_face_of(kvc_cache_t *cache)
{
    return kvc_cache_drop_face(cache, "face");
}

static kvc_status_t drop_face_named(const char *name)
{
    return kvc_cache_drop_face(world.cache, name);
}

void misuse_of_kvc_cache_drop_face(void)
{
    refuse_bad_caches(drop_face_of);
    refuse_bad_names(drop_face_named);
    REFUSED(KVC_ERR_NOT_FOUND, drop_face_named("face"));
    CHECK_OK(kvc_cache_set_face(world.cache, "face", &world, NULL));
    REFUSED(KVC_ERR_NOT_FOUND, drop_face_named("fac"));
    REFUSED(KVC_ERR_NOT_FOUND, drop_face_named("faces"));
    CHECK_OK(drop_face_named("face"));
    REFUSED(KVC_ERR_NOT_FOUND, drop_face_named("face"));
}

static kvc_status_t find_face_of(kvc_cache_t *cache)
{
    return kvc_cache_face(cache, "face", &OUT->pointer);
}

static kvc_status_t find_face_named(const char *name)
{
    return kvc_cache_face(world.cache, name, &OUT->pointer);
}

void misuse_of_kvc_cache_face(void)
{
    refuse_bad_caches(find_face_of);
    refuse_bad_names(find_face_named);
    REFUSED(KVC_ERR_NOT_FOUND, find_face_named("face"));
    CHECK_OK(kvc_cache_set_face(world.cache, "face", &world, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_face(world.cache, "face", NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_cache_face(world.cache, "face", (void **)off_by(&OUT->pointer, 1)));
    REFUSED(KVC_ERR_NOT_FOUND, find_face_named("fac"));
    REFUSED(KVC_ERR_NOT_FOUND, find_face_named("faces"));
    REFUSED(KVC_ERR_NOT_FOUND, find_face_named("Face"));
}

void misuse_of_kvc_external_init(void)
{
    kvc_external_t good, bad;
    memset(&good, 0, sizeof good);
    good.struct_size = (uint32_t)sizeof good;
    good.kind = KVC_KIND_CELLS;
    void *at = spare_storage;
    const size_t size = KVC_EXTERNAL_BYTES;
    kvc_cache_t **out = &OUT->cache;
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_external_init(NULL, size, &good, &world, out));
    for (size_t by = 1; by < KVC_ALIGN; by++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_external_init(off_by(at, by), size, &good, &world, out));
    }
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_external_init(at, size, NULL, &world, out));
    for (size_t by = 1; by < sizeof(void *); by++) {
        const kvc_external_t *table = (const kvc_external_t *)off_by(&good, by);
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_external_init(at, size, table, &world, out));
    }
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_external_init(at, size, &good, NULL, out));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_external_init(at, size, &good, &world, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_external_init(at, size, &good, &world, (kvc_cache_t **)off_by(out, 1)));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_external_init(at, size - 1, &good, &world, out));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_external_init(at, 0, &good, &world, out));
#define BAD_TABLE(field, value) \
    bad = good;                 \
    bad.field = (value);        \
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_external_init(at, size, &bad, &world, out))
    BAD_TABLE(struct_size, 0);
    BAD_TABLE(struct_size, good.struct_size - 1);
    BAD_TABLE(struct_size, good.struct_size + 8);
    BAD_TABLE(struct_size, UINT32_MAX);
    BAD_TABLE(kind, 0);
    BAD_TABLE(kind, KVC_KIND_PAGED + 1);
    BAD_TABLE(kind, UINT32_MAX);
#undef BAD_TABLE
}
