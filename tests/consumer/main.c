/* An application in C99 that was given an installed kvcore. Ends with the line number of the first surprise. */
#include <kvcore.h>

#define LAYERS 2

/* Entries that a registry of this build is expected to have. */
#ifndef EXPECTED_CACHES
#define EXPECTED_CACHES 16
#endif

/* The exit code of a process has 8 bits. */
#define CHECK(condition) do { if (!(condition)) { return __LINE__ % 255 + 1; } } while (0)

KVC_STORAGE(cache_storage, KVC_SEQUENCE_BYTES_FOR(LAYERS));

static int decode(kvc_cache_t *application)
{
    kvc_session_t session;
    kvc_cache_t *backend;
    kvc_seq_plan_t plan;
    CHECK(kvc_session_open(&session, kvc_registry_global(), "consumer", application) == KVC_OK);
    CHECK(kvc_registry_get(kvc_registry_global(), session.key, &backend) == KVC_OK && backend == application);
    for (uint32_t position = 0; position < 12; position++) {
        CHECK(kvc_seq_plan(backend, 0, position, 1, &plan) == KVC_OK);
        /* A window of 4 and steps of 1: a ring of 4 rows. */
        CHECK(plan.n_write == 1 && plan.write[0].start == position % 4 && plan.write[0].pos == position);
        CHECK(plan.read_len == (position < 4 ? position + 1 : 4) && plan.mask == KVC_MASK_NONE);
        CHECK(kvc_seq_plan(backend, 1, position, 1, &plan) == KVC_OK && plan.write[0].start == position);
        CHECK(kvc_seq_commit(backend, &plan, 1) == KVC_OK);
    }
    CHECK(kvc_cache_release(backend) == KVC_OK);
    /* The window left these positions behind. */
    CHECK(kvc_rewind(application, 6) == KVC_ERR_EVICTED);
    CHECK(kvc_session_close(&session) == KVC_OK);
    CHECK(kvc_registry_get(kvc_registry_global(), "consumer", &backend) == KVC_ERR_NOT_FOUND);
    return 0;
}

/* The size of a registry was set when the library was built. */
static int fill(kvc_cache_t *cache)
{
    char key[KVC_KEY_BYTES];
    for (int entry = 0; entry < EXPECTED_CACHES; entry++) {
        CHECK(kvc_unique_key(key, sizeof key) == KVC_OK);
        CHECK(kvc_registry_install(kvc_registry_global(), key, cache) == KVC_OK);
    }
    CHECK(kvc_unique_key(key, sizeof key) == KVC_OK);
    CHECK(kvc_registry_install(kvc_registry_global(), key, cache) == KVC_ERR_TABLE_FULL);
    return 0;
}

int main(void)
{
    const kvc_layer_t layers[LAYERS] = {{.kind = KVC_LAYER_RING, .window = 4}, {.kind = KVC_LAYER_FLAT}};
    kvc_config_t config = kvc_config_default();
    config.capacity = 32;
    config.n_layers = config.n_layer_entries = LAYERS;
    config.layers = layers;
    config.max_write = 1;
    kvc_cache_t *cache;
    CHECK(kvc_check_header());
    CHECK(kvc_sequence_init(cache_storage, sizeof cache_storage, &config, &cache) == KVC_OK);
    int surprise = decode(cache);
    return surprise != 0 ? surprise : fill(cache);
}
