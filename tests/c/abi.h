/* The binary interface, as numbers: sizes, offsets, constants and signatures. The same list is compiled as C99 and as
 * C++17. What depends on the size of a pointer is given for 64 and for 32 bits. */

#ifndef KVC_TESTS_ABI_H
#define KVC_TESTS_ABI_H

#include "support.h"

#ifdef __cplusplus
#define ABI_CHECK(condition) static_assert(condition, #condition)
#else
#define ABI_JOIN(a, b) a##b
#define ABI_NAME(line) ABI_JOIN(abi_check_at_line_, line)
#define ABI_CHECK(condition) typedef char ABI_NAME(__LINE__)[(condition) ? 1 : -1]
#endif

#define BITS(on_64, on_32) (sizeof(void *) == 8 ? (on_64) : (on_32))
#define SIZE(type, size) ABI_CHECK(sizeof(type) == (size))
#define AT(type, field, offset) ABI_CHECK(offsetof(type, field) == (offset))
#define IS(constant, value) ABI_CHECK((constant) == (value))

ABI_CHECK(sizeof(void *) == 8 || sizeof(void *) == 4);
ABI_CHECK(sizeof(size_t) == sizeof(void *) && sizeof(bool) == 1 && sizeof(kvc_status_t) == 4);

SIZE(kvc_layer_t, 24);
AT(kvc_layer_t, kind, 0);
AT(kvc_layer_t, window, 4);
AT(kvc_layer_t, sinks, 8);
AT(kvc_layer_t, n_kv_heads, 12);
AT(kvc_layer_t, head_dim, 16);
AT(kvc_layer_t, shares_with, 20);

SIZE(kvc_config_t, BITS(72, 64));
AT(kvc_config_t, struct_size, 0);
AT(kvc_config_t, capacity, 4);
AT(kvc_config_t, n_layers, 8);
AT(kvc_config_t, n_layer_entries, 12);
AT(kvc_config_t, layers, 16);
AT(kvc_config_t, max_write, BITS(24, 20));
AT(kvc_config_t, rollback, BITS(28, 24));
AT(kvc_config_t, max_context, BITS(32, 28));
AT(kvc_config_t, initial_capacity, BITS(36, 32));
AT(kvc_config_t, kv_dtype, BITS(40, 36));
AT(kvc_config_t, max_seqs, BITS(44, 40));
AT(kvc_config_t, block_size, BITS(48, 44));
AT(kvc_config_t, max_blocks_per_seq, BITS(52, 48));
AT(kvc_config_t, watermark, BITS(56, 52));
AT(kvc_config_t, flags, BITS(60, 56));
AT(kvc_config_t, user, BITS(64, 60));

SIZE(kvc_layer_info_t, 36);
AT(kvc_layer_info_t, layer, 0);
AT(kvc_layer_info_t, group, 24);
AT(kvc_layer_info_t, rows, 28);
AT(kvc_layer_info_t, max_write, 32);

SIZE(kvc_run_t, 12);
AT(kvc_run_t, start, 0);
AT(kvc_run_t, len, 4);
AT(kvc_run_t, pos, 8);

SIZE(kvc_seq_plan_t, 104);
AT(kvc_seq_plan_t, write, 0);
AT(kvc_seq_plan_t, read, 24);
AT(kvc_seq_plan_t, n_write, 60);
AT(kvc_seq_plan_t, n_read, 64);
AT(kvc_seq_plan_t, position, 68);
AT(kvc_seq_plan_t, n_tokens, 72);
AT(kvc_seq_plan_t, read_len, 76);
AT(kvc_seq_plan_t, rows_needed, 80);
AT(kvc_seq_plan_t, mask, 84);
AT(kvc_seq_plan_t, window, 88);
AT(kvc_seq_plan_t, sinks, 92);
AT(kvc_seq_plan_t, group, 96);
AT(kvc_seq_plan_t, epoch, 100);

SIZE(kvc_cell_step_t, 16);
AT(kvc_cell_step_t, mask, 0);
AT(kvc_cell_step_t, n_tokens, 4);
AT(kvc_cell_step_t, read_len, 8);
AT(kvc_cell_step_t, write_start, 12);

SIZE(kvc_shift_t, 12);
AT(kvc_shift_t, row, 0);
AT(kvc_shift_t, len, 4);
AT(kvc_shift_t, delta, 8);

SIZE(kvc_move_t, 12);
AT(kvc_move_t, from, 0);
AT(kvc_move_t, to, 4);
AT(kvc_move_t, len, 8);

SIZE(kvc_span_t, 112);
AT(kvc_span_t, seq, 0);
AT(kvc_span_t, n_tokens, 4);
AT(kvc_span_t, plan, 8);

/* The 64-bit number is where its own alignment puts it: 4 on some 32-bit machines. */
typedef struct {
    char before;
    uint64_t number;
} abi_aligned_t;
#define ABI_SESSION_ID BITS(8, offsetof(abi_aligned_t, number))

SIZE(kvc_session_t, ABI_SESSION_ID + 72);
AT(kvc_session_t, registry, 0);
AT(kvc_session_t, id, ABI_SESSION_ID);
AT(kvc_session_t, key, ABI_SESSION_ID + 8);

#define ENTRY_AT(field, index) AT(kvc_external_t, field, 8 + (index) * sizeof(void *))
SIZE(kvc_external_t, BITS(240, 124));
AT(kvc_external_t, struct_size, 0);
AT(kvc_external_t, kind, 4);
ENTRY_AT(capacity, 0);
ENTRY_AT(clear, 1);
ENTRY_AT(can_extend, 2);
ENTRY_AT(length, 3);
ENTRY_AT(rewind, 4);
ENTRY_AT(rewind_floor, 5);
ENTRY_AT(seq_plan, 6);
ENTRY_AT(seq_plan_step, 7);
ENTRY_AT(seq_commit, 8);
ENTRY_AT(batch_declare_step, 9);
ENTRY_AT(batch_can_admit, 10);
ENTRY_AT(batch_seq_new, 11);
ENTRY_AT(batch_seq_clone, 12);
ENTRY_AT(batch_seq_remove, 13);
ENTRY_AT(batch_seq_release, 14);
ENTRY_AT(batch_seq_keep, 15);
ENTRY_AT(batch_seq_shift, 16);
ENTRY_AT(batch_rewind, 17);
ENTRY_AT(batch_seq_len, 18);
ENTRY_AT(batch_next_pos, 19);
ENTRY_AT(batch_first_pos, 20);
ENTRY_AT(batch_free_rows, 21);
ENTRY_AT(cells_place_step, 22);
ENTRY_AT(cells_mask_bytes, 23);
ENTRY_AT(cells_mask_bits, 24);
ENTRY_AT(cells_shifts, 25);
ENTRY_AT(cells_shifts_done, 26);
ENTRY_AT(cells_defrag, 27);
ENTRY_AT(rows_place_step, 28);

IS(KVC_ABI_VERSION, 1);
IS(KVC_ALIGN, 8);
IS(KVC_UNBOUNDED, 0xFFFFFFFFu);
IS(KVC_MAX_NAME, 63);
IS(KVC_KEY_BYTES, 64);
IS(KVC_MAX_GROUPS, 8);
IS(KVC_MAX_FACES, 4);
IS(KVC_MAX_LAYERS, 255);
IS(KVC_MAX_SEQS, 64);
IS(KVC_EXTERNAL_BYTES, 256);
IS(KVC_LAYER_FLAT, 0);
IS(KVC_LAYER_RING, 1);
IS(KVC_KIND_SEQUENCE, 1);
IS(KVC_KIND_CELLS, 2);
IS(KVC_KIND_ROWS, 3);
IS(KVC_KIND_PAGED, 4);
IS(KVC_MASK_NONE, 0);
IS(KVC_MASK_CAUSAL, 1);
IS(KVC_MASK_WINDOW, 2);
IS(KVC_MASK_EXPLICIT, 3);
IS(KVC_COLUMNS_READ, 0);
IS(KVC_COLUMNS_POOL, 1);
IS(KVC_SPLIT_POOLS, 1);
IS(KVC_KEEP_CELLS, 2);
IS(KVC_EVENT_INSTALLED, 1);
IS(KVC_EVENT_ERASED, 2);
IS(KVC_EVENT_EVICTED, 3);
IS(KVC_EVENT_REFUSED, 4);
IS(KVC_EVENT_BUSY, 5);
IS(KVC_EVENT_LEAKED, 6);
IS(KVC_EVENT_ENDED, 7);

/* A constant expression; within the budget of 512 bytes on a 32-bit core. */
ABI_CHECK(KVC_SEQUENCE_BYTES_FOR(34) % KVC_ALIGN == 0);
ABI_CHECK(KVC_SEQUENCE_BYTES_FOR(34) > KVC_SEQUENCE_BYTES_FOR(1));
ABI_CHECK(KVC_SEQUENCE_BYTES_FOR(34) <= BITS(640, 512));

/* Checks names and numbers of the statuses, the default config and what both sides make of a config. */
#ifdef __cplusplus
extern "C"
#endif
void abi_check_values(void);

#endif
