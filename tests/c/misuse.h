/* What the misuse of every function has in common: a world of good and bad objects, all watched, and the ways in which
 * an argument can be bad. */

#ifndef KVC_TESTS_MISUSE_H
#define KVC_TESTS_MISUSE_H

#include "models.h"
#include "support.h"

/* Every function of the header. test_misuse.c compares the list with the header itself. */
#define EVERY_FUNCTION(X)                                                                             \
    X(kvc_abi_version) X(kvc_batch_can_admit) X(kvc_batch_declare_step) X(kvc_batch_first_pos)        \
    X(kvc_batch_free_rows) X(kvc_batch_next_pos) X(kvc_batch_rewind) X(kvc_batch_seq_clone)           \
    X(kvc_batch_seq_keep) X(kvc_batch_seq_len) X(kvc_batch_seq_new) X(kvc_batch_seq_release)          \
    X(kvc_batch_seq_remove) X(kvc_batch_seq_shift) X(kvc_builder_build) X(kvc_builder_kind_at)        \
    X(kvc_builder_register) X(kvc_builder_size) X(kvc_builder_unregister) X(kvc_cache_config)         \
    X(kvc_cache_drop_face) X(kvc_cache_face) X(kvc_cache_kind) X(kvc_cache_layer)                     \
    X(kvc_cache_on_release) X(kvc_cache_release) X(kvc_cache_retain) X(kvc_cache_set_face)            \
    X(kvc_can_extend) X(kvc_capacity) X(kvc_cells_defrag) X(kvc_cells_init) X(kvc_cells_mask_bits)    \
    X(kvc_cells_mask_bytes) X(kvc_cells_place_step) X(kvc_cells_register) X(kvc_cells_shifts)         \
    X(kvc_cells_shifts_done) X(kvc_cells_size) X(kvc_clear) X(kvc_config_check) X(kvc_external_init)  \
    X(kvc_grow_rows) X(kvc_layout_plan) X(kvc_length) X(kvc_plan_mask_bits) X(kvc_plan_mask_bytes)    \
    X(kvc_plan_positions) X(kvc_pool_bytes) X(kvc_registry_count) X(kvc_registry_deinit)              \
    X(kvc_registry_erase) X(kvc_registry_get) X(kvc_registry_global) X(kvc_registry_init)             \
    X(kvc_registry_install) X(kvc_registry_key_at) X(kvc_registry_size) X(kvc_rewind)                 \
    X(kvc_rewind_floor) X(kvc_rows_held) X(kvc_rows_init) X(kvc_rows_place_step) X(kvc_rows_register) \
    X(kvc_rows_size) X(kvc_seq_commit) X(kvc_seq_plan) X(kvc_seq_plan_step) X(kvc_sequence_init)      \
    X(kvc_sequence_register) X(kvc_sequence_size) X(kvc_session_close) X(kvc_session_drop)            \
    X(kvc_session_open) X(kvc_set_event_hook) X(kvc_status_name) X(kvc_tree_intervals)                \
    X(kvc_tree_moves) X(kvc_tree_positions) X(kvc_unique_key)

#define DECLARE_MISUSE(function) void misuse_of_##function(void);
EVERY_FUNCTION(DECLARE_MISUSE)

/* Places for results. A refused call leaves them as they are. */
typedef struct {
    kvc_seq_plan_t plans[4];
    kvc_config_t config;
    kvc_layer_info_t info;
    kvc_span_t spans[4];
    kvc_cell_step_t step;
    kvc_shift_t shifts[4];
    kvc_move_t moves[4];
    kvc_run_t runs[4];
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
 * positions are held. `registry` has it under "taken", and a builder ("mine", "ours").
 *
 * `cells` has the same layers, each with a pool of 16 cells, and 2 of at most 3 sequences. Sequence 1 is a clone of
 * sequence 0 when that had positions 0 to 8; what is pending is the shift of position 9 to 14; the placed step is one
 * token of sequence 0 at 15. The ring's pool has let go of all that the window has passed.
 *
 * `rows` has the same layers and 13 rows shared, and 2 of at most 3 sequences: sequence 0 of 8 tokens, and sequence 1
 * of 2, which are the placed step. */
typedef struct {
    kvc_cache_t *cache;
    /* A cache without a reference. */
    kvc_cache_t *ended;
    /* An external cache that offers nothing, and one without a reference. */
    kvc_cache_t *external;
    kvc_cache_t *ended_external;
    /* External caches that offer nothing, one for each family that it may claim. */
    kvc_cache_t *claiming[KVC_KIND_PAGED];
    kvc_cache_t *cells;
    kvc_cache_t *rows;
    kvc_cache_t *ended_cells;
    kvc_cache_t *ended_rows;
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
/* The same, and caches that do not offer the call, whatever family they claim. */
void refuse_caches_of_another_kind(cache_call_t call);

/* Which of our own kinds offer a call. */
enum { OFFERED_BY_SEQUENCE = 1, OFFERED_BY_CELLS = 2, OFFERED_BY_ROWS = 4 };
/* The same, and each of our own kinds that does not offer the call. */
void refuse_all_caches_but(unsigned offered_by, cache_call_t call);
void refuse_bad_registries(registry_call_t call);
void refuse_bad_names(name_call_t call);
/* NULL, misaligned, of another size, with bad layers: what no config may have. */
void refuse_bad_configs(config_call_t call);
/* Plans that no layout could have made. */
void refuse_bad_plans(plan_call_t call);

#endif
