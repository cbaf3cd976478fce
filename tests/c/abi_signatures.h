/* The signature of every function and of every entry of an external cache's table, as the interface page has them. */

#ifndef KVC_TESTS_ABI_SIGNATURES_H
#define KVC_TESTS_ABI_SIGNATURES_H

#include <string.h>

#include "support.h"

/* Does not compile if the function has another type. Counts in `n_functions`. */
#define FUNCTION(name, result, ...)          \
    do {                                     \
        result (*typed)(__VA_ARGS__) = name; \
        n_functions += typed != NULL;        \
    } while (0)

/* Answers how many functions there are. */
static size_t check_function_signatures(void)
{
    size_t n_functions = 0;
    FUNCTION(kvc_status_name, const char *, kvc_status_t);
    FUNCTION(kvc_abi_version, uint32_t, void);
    FUNCTION(kvc_set_event_hook, void, kvc_event_fn, void *);
    FUNCTION(kvc_config_check, kvc_status_t, const kvc_config_t *);
    FUNCTION(kvc_sequence_size, kvc_status_t, const kvc_config_t *, size_t *);
    FUNCTION(kvc_sequence_init, kvc_status_t, void *, size_t, const kvc_config_t *, kvc_cache_t **);
    FUNCTION(kvc_cache_on_release, kvc_status_t, kvc_cache_t *, kvc_release_fn, void *);
    FUNCTION(kvc_cache_retain, kvc_status_t, kvc_cache_t *);
    FUNCTION(kvc_cache_release, kvc_status_t, kvc_cache_t *);
    FUNCTION(kvc_cache_kind, kvc_status_t, const kvc_cache_t *, uint32_t *);
    FUNCTION(kvc_cache_config, kvc_status_t, const kvc_cache_t *, kvc_config_t *);
    FUNCTION(kvc_cache_layer, kvc_status_t, const kvc_cache_t *, uint32_t, kvc_layer_info_t *);
    FUNCTION(kvc_cache_set_face, kvc_status_t, kvc_cache_t *, const char *, void *, void (*)(void *));
    FUNCTION(kvc_cache_drop_face, kvc_status_t, kvc_cache_t *, const char *);
    FUNCTION(kvc_cache_face, kvc_status_t, const kvc_cache_t *, const char *, void **);
    FUNCTION(kvc_external_init, kvc_status_t, void *, size_t, const kvc_external_t *, void *, kvc_cache_t **);
    FUNCTION(kvc_clear, kvc_status_t, kvc_cache_t *);
    FUNCTION(kvc_capacity, kvc_status_t, const kvc_cache_t *, uint32_t *);
    FUNCTION(kvc_can_extend, kvc_status_t, const kvc_cache_t *, uint32_t, bool *);
    FUNCTION(kvc_length, kvc_status_t, const kvc_cache_t *, uint32_t *);
    FUNCTION(kvc_rewind, kvc_status_t, kvc_cache_t *, uint32_t);
    FUNCTION(kvc_rewind_floor, kvc_status_t, const kvc_cache_t *, uint32_t *);
    FUNCTION(kvc_seq_plan, kvc_status_t, kvc_cache_t *, uint32_t, uint32_t, uint32_t, kvc_seq_plan_t *);
    FUNCTION(kvc_seq_plan_step, kvc_status_t, kvc_cache_t *, uint32_t, uint32_t, kvc_seq_plan_t *, uint32_t,
             uint32_t *);
    FUNCTION(kvc_seq_commit, kvc_status_t, kvc_cache_t *, const kvc_seq_plan_t *, uint32_t);
    FUNCTION(kvc_layout_plan, kvc_status_t, const kvc_layer_t *, uint32_t, uint32_t, uint32_t, uint32_t,
             kvc_seq_plan_t *);
    FUNCTION(kvc_plan_positions, kvc_status_t, const kvc_seq_plan_t *, uint32_t *, size_t);
    FUNCTION(kvc_plan_mask_bytes, kvc_status_t, const kvc_seq_plan_t *, const int32_t *, uint32_t, uint8_t *,
             size_t, size_t);
    FUNCTION(kvc_plan_mask_bits, kvc_status_t, const kvc_seq_plan_t *, const int32_t *, uint32_t, uint32_t *,
             size_t, size_t);
    FUNCTION(kvc_grow_rows, uint32_t, uint32_t, uint32_t, uint32_t);
    FUNCTION(kvc_pool_bytes, kvc_status_t, uint32_t, uint32_t, uint32_t, uint32_t, uint64_t *);
    FUNCTION(kvc_tree_positions, kvc_status_t, const int32_t *, uint32_t, uint32_t, uint32_t *);
    FUNCTION(kvc_tree_intervals, kvc_status_t, const int32_t *, uint32_t, uint16_t *, uint16_t *);
    FUNCTION(kvc_tree_moves, kvc_status_t, const uint32_t *, const int32_t *, uint32_t, int32_t, kvc_move_t *,
             uint32_t, uint32_t *, uint32_t *);
    FUNCTION(kvc_registry_global, kvc_registry_t *, void);
    FUNCTION(kvc_registry_size, size_t, void);
    FUNCTION(kvc_registry_init, kvc_status_t, void *, size_t, kvc_registry_t **);
    FUNCTION(kvc_registry_deinit, kvc_status_t, kvc_registry_t *);
    FUNCTION(kvc_registry_install, kvc_status_t, kvc_registry_t *, const char *, kvc_cache_t *);
    FUNCTION(kvc_registry_get, kvc_status_t, kvc_registry_t *, const char *, kvc_cache_t **);
    FUNCTION(kvc_registry_erase, kvc_status_t, kvc_registry_t *, const char *);
    FUNCTION(kvc_registry_count, kvc_status_t, kvc_registry_t *, uint32_t *);
    FUNCTION(kvc_registry_key_at, kvc_status_t, kvc_registry_t *, uint32_t, char *, size_t);
    FUNCTION(kvc_unique_key, kvc_status_t, char *, size_t);
    FUNCTION(kvc_session_open, kvc_status_t, kvc_session_t *, kvc_registry_t *, const char *, kvc_cache_t *);
    FUNCTION(kvc_session_close, kvc_status_t, kvc_session_t *);
    FUNCTION(kvc_session_drop, void, kvc_session_t *);
    FUNCTION(kvc_builder_register, kvc_status_t, kvc_registry_t *, const char *, const char *, kvc_builder_size_fn,
             kvc_builder_fn, void *);
    FUNCTION(kvc_builder_unregister, kvc_status_t, kvc_registry_t *, const char *, const char *);
    FUNCTION(kvc_builder_size, kvc_status_t, kvc_registry_t *, const char *, const char *, const kvc_config_t *,
             size_t *);
    FUNCTION(kvc_builder_build, kvc_status_t, kvc_registry_t *, const char *, const char *, const kvc_config_t *,
             void *, size_t, kvc_cache_t **);
    FUNCTION(kvc_builder_kind_at, kvc_status_t, kvc_registry_t *, const char *, uint32_t, const char **);
    FUNCTION(kvc_sequence_register, kvc_status_t, kvc_registry_t *);
    FUNCTION(kvc_batch_declare_step, kvc_status_t, kvc_cache_t *, const uint32_t *, uint32_t);
    FUNCTION(kvc_batch_can_admit, kvc_status_t, const kvc_cache_t *, uint32_t, uint32_t, bool *);
    FUNCTION(kvc_batch_seq_new, kvc_status_t, kvc_cache_t *, uint32_t *);
    FUNCTION(kvc_batch_seq_clone, kvc_status_t, kvc_cache_t *, uint32_t, uint32_t, uint32_t *);
    FUNCTION(kvc_batch_seq_remove, kvc_status_t, kvc_cache_t *, uint32_t, uint32_t, uint32_t);
    FUNCTION(kvc_batch_seq_release, kvc_status_t, kvc_cache_t *, uint32_t);
    FUNCTION(kvc_batch_seq_keep, kvc_status_t, kvc_cache_t *, uint32_t);
    FUNCTION(kvc_batch_seq_shift, kvc_status_t, kvc_cache_t *, uint32_t, uint32_t, uint32_t, int32_t);
    FUNCTION(kvc_batch_rewind, kvc_status_t, kvc_cache_t *, uint32_t, uint32_t);
    FUNCTION(kvc_batch_seq_len, kvc_status_t, const kvc_cache_t *, uint32_t, uint32_t *);
    FUNCTION(kvc_batch_next_pos, kvc_status_t, const kvc_cache_t *, uint32_t, uint32_t *);
    FUNCTION(kvc_batch_first_pos, kvc_status_t, const kvc_cache_t *, uint32_t, uint32_t *);
    FUNCTION(kvc_batch_free_rows, kvc_status_t, const kvc_cache_t *, uint32_t *);
    FUNCTION(kvc_cells_size, kvc_status_t, const kvc_config_t *, size_t *);
    FUNCTION(kvc_cells_init, kvc_status_t, void *, size_t, const kvc_config_t *, kvc_cache_t **);
    FUNCTION(kvc_cells_place_step, kvc_status_t, kvc_cache_t *, uint32_t, const uint32_t *, uint32_t, uint32_t *,
             kvc_cell_step_t *);
    FUNCTION(kvc_cells_mask_bytes, kvc_status_t, kvc_cache_t *, uint32_t, uint8_t *, size_t, size_t);
    FUNCTION(kvc_cells_mask_bits, kvc_status_t, kvc_cache_t *, uint32_t, uint32_t *, size_t, size_t);
    FUNCTION(kvc_cells_shifts, kvc_status_t, kvc_cache_t *, uint32_t, kvc_shift_t *, uint32_t, uint32_t *);
    FUNCTION(kvc_cells_shifts_done, kvc_status_t, kvc_cache_t *);
    FUNCTION(kvc_cells_defrag, kvc_status_t, kvc_cache_t *, uint32_t, kvc_move_t *, uint32_t, uint32_t *);
    FUNCTION(kvc_cells_register, kvc_status_t, kvc_registry_t *);
    FUNCTION(kvc_rows_size, kvc_status_t, const kvc_config_t *, size_t *);
    FUNCTION(kvc_rows_init, kvc_status_t, void *, size_t, const kvc_config_t *, kvc_cache_t **);
    FUNCTION(kvc_rows_place_step, kvc_status_t, kvc_cache_t *, uint32_t, const uint32_t *, uint32_t, kvc_span_t *,
             uint32_t, uint32_t *);
    FUNCTION(kvc_rows_held, kvc_status_t, const kvc_cache_t *, uint32_t, uint32_t, kvc_run_t *, uint32_t, uint32_t *);
    FUNCTION(kvc_rows_register, kvc_status_t, kvc_registry_t *);
    return n_functions;
}

/* Does not compile if the field or variable has another type. */
#define POINTER(pointer, result, ...)           \
    do {                                        \
        result (*typed)(__VA_ARGS__) = pointer; \
        CHECK(typed == NULL);                   \
    } while (0)

static void check_entry_signatures(void)
{
    kvc_external_t table;
    memset(&table, 0, sizeof table);
    POINTER(table.capacity, int32_t, void *, uint32_t *);
    POINTER(table.clear, int32_t, void *);
    POINTER(table.can_extend, int32_t, void *, uint32_t, bool *);
    POINTER(table.length, int32_t, void *, uint32_t *);
    POINTER(table.rewind, int32_t, void *, uint32_t);
    POINTER(table.rewind_floor, int32_t, void *, uint32_t *);
    POINTER(table.seq_plan, int32_t, void *, uint32_t, uint32_t, uint32_t, kvc_seq_plan_t *);
    POINTER(table.seq_plan_step, int32_t, void *, uint32_t, uint32_t, kvc_seq_plan_t *, uint32_t, uint32_t *);
    POINTER(table.seq_commit, int32_t, void *, const kvc_seq_plan_t *, uint32_t);
    POINTER(table.batch_declare_step, int32_t, void *, const uint32_t *, uint32_t);
    POINTER(table.batch_can_admit, int32_t, void *, uint32_t, uint32_t, bool *);
    POINTER(table.batch_seq_new, int32_t, void *, uint32_t *);
    POINTER(table.batch_seq_clone, int32_t, void *, uint32_t, uint32_t, uint32_t *);
    POINTER(table.batch_seq_remove, int32_t, void *, uint32_t, uint32_t, uint32_t);
    POINTER(table.batch_seq_release, int32_t, void *, uint32_t);
    POINTER(table.batch_seq_keep, int32_t, void *, uint32_t);
    POINTER(table.batch_seq_shift, int32_t, void *, uint32_t, uint32_t, uint32_t, int32_t);
    POINTER(table.batch_rewind, int32_t, void *, uint32_t, uint32_t);
    POINTER(table.batch_seq_len, int32_t, void *, uint32_t, uint32_t *);
    POINTER(table.batch_next_pos, int32_t, void *, uint32_t, uint32_t *);
    POINTER(table.batch_first_pos, int32_t, void *, uint32_t, uint32_t *);
    POINTER(table.batch_free_rows, int32_t, void *, uint32_t *);
    POINTER(table.cells_place_step, int32_t, void *, uint32_t, const uint32_t *, uint32_t, uint32_t *,
            kvc_cell_step_t *);
    POINTER(table.cells_mask_bytes, int32_t, void *, uint32_t, uint8_t *, size_t, size_t);
    POINTER(table.cells_mask_bits, int32_t, void *, uint32_t, uint32_t *, size_t, size_t);
    POINTER(table.cells_shifts, int32_t, void *, uint32_t, kvc_shift_t *, uint32_t, uint32_t *);
    POINTER(table.cells_shifts_done, int32_t, void *);
    POINTER(table.cells_defrag, int32_t, void *, uint32_t, kvc_move_t *, uint32_t, uint32_t *);
    POINTER(table.rows_place_step, int32_t, void *, uint32_t, const uint32_t *, uint32_t, kvc_span_t *, uint32_t,
            uint32_t *);
}

static void check_callback_signatures(void)
{
    kvc_event_fn event = NULL;
    kvc_release_fn release = NULL;
    kvc_drop_fn drop = NULL;
    kvc_builder_size_fn size = NULL;
    kvc_builder_fn build = NULL;
    POINTER(event, void, void *, uint32_t, kvc_status_t, const char *);
    POINTER(release, void, void *, void *);
    POINTER(drop, void, void *);
    POINTER(size, kvc_status_t, void *, const kvc_config_t *, size_t *);
    POINTER(build, kvc_status_t, void *, const kvc_config_t *, void *, size_t, kvc_cache_t **);
}

#endif
