/* What the misuse of every function has in common: a world of good and bad objects, all watched, and the ways in which
 * an argument can be bad. */

#ifndef KVC_TESTS_MISUSE_H
#define KVC_TESTS_MISUSE_H

#include "models.h"
#include "support.h"

/* Every function of the header. test_misuse.c compares the list with the header itself. */
#define EVERY_FUNCTION(X)                                                                                  \
    X(kvc_abi_version) X(kvc_builder_build) X(kvc_builder_kind_at) X(kvc_builder_register)                 \
    X(kvc_builder_size) X(kvc_builder_unregister) X(kvc_cache_config) X(kvc_cache_drop_face)               \
    X(kvc_cache_face) X(kvc_cache_kind) X(kvc_cache_layer) X(kvc_cache_on_release) X(kvc_cache_release)    \
    X(kvc_cache_retain) X(kvc_cache_set_face) X(kvc_can_extend) X(kvc_capacity) X(kvc_clear)               \
    X(kvc_config_check) X(kvc_external_init) X(kvc_grow_rows) X(kvc_layout_plan) X(kvc_length)             \
    X(kvc_plan_mask_bits) X(kvc_plan_mask_bytes) X(kvc_plan_positions) X(kvc_pool_bytes)                   \
    X(kvc_registry_count) X(kvc_registry_deinit) X(kvc_registry_erase) X(kvc_registry_get)                 \
    X(kvc_registry_global) X(kvc_registry_init) X(kvc_registry_install) X(kvc_registry_key_at)             \
    X(kvc_registry_size) X(kvc_rewind) X(kvc_rewind_floor) X(kvc_seq_commit) X(kvc_seq_plan)               \
    X(kvc_seq_plan_step) X(kvc_sequence_init) X(kvc_sequence_register) X(kvc_sequence_size)                \
    X(kvc_session_close) X(kvc_session_drop) X(kvc_session_open) X(kvc_set_event_hook) X(kvc_status_name)  \
    X(kvc_unique_key)

#define DECLARE_MISUSE(function) void misuse_of_##function(void);
EVERY_FUNCTION(DECLARE_MISUSE)

/* Places for results. A refused call leaves them as they are. */
typedef struct {
    kvc_seq_plan_t plans[4];
    kvc_config_t config;
    kvc_layer_info_t info;
    kvc_session_t session;
    kvc_cache_t *cache;
    kvc_registry_t *registry;
    void *pointer;
    const char *text;
    uint64_t u64;
    size_t size;
    uint32_t u32[64];
    uint8_t bytes[256];
    char key[KVC_KEY_BYTES];
    bool flag;
} outputs_t;

/* Objects of every sort. `cache` has a flat layer 0, a ring layer 1 of window 4 and steps of 4, and 8 of its 16
 * positions are held. `registry` has it under "taken", and a builder ("mine", "ours"). */
typedef struct {
    kvc_cache_t *cache;
    /* A cache without a reference. */
    kvc_cache_t *ended;
    /* An external cache that offers nothing, and one without a reference. */
    kvc_cache_t *external;
    kvc_cache_t *ended_external;
    kvc_registry_t *registry;
    kvc_registry_t *closed;
    /* Aligned memory without any object in it. */
    void *nothing;
    /* The layers and config of `cache`. */
    kvc_layer_t layers[2];
    kvc_config_t config;
    /* A committed plan of `cache`, and an older one. */
    kvc_seq_plan_t plan;
    kvc_seq_plan_t stale_plan;
    outputs_t out;
} world_t;

extern world_t world;

/* Room for a cache or a registry that a misused call would build. Watched. */
extern uint64_t spare_storage[512];

/* Builds the world anew and watches all of it. */
void world_build(void);

/* The same address, `by` bytes on. */
void *off_by(const void *at, size_t by);

/* Each refuses every bad object in turn, through a call with everything else in order. */
typedef kvc_status_t (*cache_call_t)(kvc_cache_t *cache);
typedef kvc_status_t (*registry_call_t)(kvc_registry_t *registry);
typedef kvc_status_t (*name_call_t)(const char *name);
typedef kvc_status_t (*config_call_t)(const kvc_config_t *config);
typedef kvc_status_t (*plan_call_t)(const kvc_seq_plan_t *plan);

/* NULL, misaligned, no cache, a registry, ended. */
void refuse_bad_caches(cache_call_t call);
/* The same, and a cache that does not offer the call. */
void refuse_caches_of_another_kind(cache_call_t call);
void refuse_bad_registries(registry_call_t call);
void refuse_bad_names(name_call_t call);
/* NULL, misaligned, of another size, with bad layers: what no config may have. */
void refuse_bad_configs(config_call_t call);
/* Plans that no layout could have made. */
void refuse_bad_plans(plan_call_t call);

#endif
