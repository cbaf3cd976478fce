#include "abi.h"

#include <string.h>

#include "models.h"

static void check_status_names(void)
{
    /* The names are those of the macros, the numbers those of the design. */
#define NAMED(number, constant)  \
    CHECK_EQ(number, constant); \
    CHECK_TEXT(#constant, kvc_status_name(number))
    NAMED(0, KVC_OK);
    NAMED(1, KVC_ERR_INVALID_ARGUMENT);
    NAMED(2, KVC_ERR_INVALID_CONFIG);
    NAMED(3, KVC_ERR_OUT_OF_CAPACITY);
    NAMED(4, KVC_ERR_NEVER_FITS);
    NAMED(5, KVC_ERR_STEP_TOO_LARGE);
    NAMED(6, KVC_ERR_BAD_LAYER);
    NAMED(7, KVC_ERR_BAD_POSITION);
    NAMED(8, KVC_ERR_EVICTED);
    NAMED(9, KVC_ERR_CANNOT_GROW);
    NAMED(10, KVC_ERR_STALE_PLAN);
    NAMED(11, KVC_ERR_NOT_FOUND);
    NAMED(12, KVC_ERR_ALREADY_EXISTS);
    NAMED(13, KVC_ERR_TABLE_FULL);
    NAMED(14, KVC_ERR_NAME_TOO_LONG);
    NAMED(15, KVC_ERR_WRONG_KIND);
    NAMED(16, KVC_ERR_BUFFER_TOO_SMALL);
    NAMED(17, KVC_ERR_BUSY);
    NAMED(18, KVC_ERR_STALE);
    NAMED(19, KVC_ERR_CORRUPT);
    NAMED(20, KVC_ERR_UNSUPPORTED);
    NAMED(21, KVC_ERR_BAD_SEQUENCE);
    NAMED(22, KVC_ERR_NO_STEP);
    NAMED(23, KVC_ERR_SHARED);
#undef NAMED
    static const kvc_status_t unknown[] = {24, -1, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        const char *name = kvc_status_name(unknown[i]);
        CHECK(name != NULL && strcmp(name, "KVC_OK") != 0);
    }
}

static void check_default_config(void)
{
    kvc_config_t config = kvc_config_default(), zero;
    memset(&zero, 0, sizeof zero);
    CHECK_EQ(sizeof config, config.struct_size);
    CHECK_EQ(512, config.initial_capacity);
    CHECK(config.layers == NULL && config.user == NULL);
    config.struct_size = 0;
    config.initial_capacity = 0;
    config.layers = zero.layers;
    config.user = zero.user;
    CHECK(memcmp(&config, &zero, sizeof config) == 0);
}

/* What a builder was given. */
static kvc_config_t seen;
static kvc_layer_t seen_layers[2];

static kvc_status_t size_and_see(void *ctx, const kvc_config_t *config, size_t *out)
{
    (void)ctx;
    seen = *config;
    memcpy(seen_layers, config->layers, sizeof seen_layers);
    *out = 4321;
    return KVC_OK;
}

static kvc_status_t build_nothing(void *ctx, const kvc_config_t *config, void *storage, size_t size,
                                  kvc_cache_t **out)
{
    (void)ctx, (void)config, (void)storage, (void)size, (void)out;
    return KVC_ERR_UNSUPPORTED;
}

/* Every field of a config has another value, goes into the library and comes out again: both sides have it at the same
 * place. */
static void check_config_round_trip(void)
{
    const kvc_layer_t layers[2] = {{KVC_LAYER_RING, 21, 22, 23, 24, 0}, {KVC_LAYER_FLAT, 0, 0, 31, 32, 0}};
    kvc_config_t config = config_of(layers, 2, 101);
    config.max_write = 102;
    config.rollback = 103;
    config.max_context = 104;
    config.initial_capacity = 105;
    config.kv_dtype = -106;
    config.max_seqs = 107;
    config.block_size = 108;
    config.max_blocks_per_seq = 109;
    config.watermark = 110;
    config.flags = KVC_SPLIT_POOLS | KVC_KEEP_CELLS;
    config.user = &config;
    kvc_registry_t *registry = kvc_registry_global();
    size_t size = 0;
    CHECK_OK(kvc_builder_register(registry, "abi", "seen", size_and_see, build_nothing, NULL));
    CHECK_OK(kvc_builder_size(registry, "abi", "seen", &config, &size));
    CHECK_OK(kvc_builder_unregister(registry, "abi", "seen"));
    CHECK_EQ(4321, size);
    seen.layers = config.layers;
    CHECK(memcmp(&seen, &config, sizeof config) == 0);
    CHECK(memcmp(seen_layers, layers, sizeof layers) == 0);
}

void abi_check_values(void)
{
    CHECK_EQ(KVC_ABI_VERSION, kvc_abi_version());
    CHECK(kvc_check_header());
    check_status_names();
    check_default_config();
    check_config_round_trip();
}
