/* kvcore: integer bookkeeping of a KV cache that lives outside the model's graph.
 *
 * Names: a position is the index of a token in its sequence, a row an index in a layer's K/V pool, a step one
 * forward of n new tokens. Every call that can fail answers a status and then leaves everything as it was, its
 * out-parameters too (but for the needed size beside KVC_ERR_BUFFER_TOO_SMALL). Every call may come from any thread;
 * none ever hangs. Objects live in storage of the caller, aligned to KVC_ALIGN; nothing is allocated.
 *
 * An archive built with the feature critical-section calls two functions that the firmware supplies; they nest:
 *   uint32_t kvc_port_irq_save(void)              interrupts off; answers what restore takes
 *   void     kvc_port_irq_restore(uint32_t state) as they were
 */

#ifndef KVCORE_H
#define KVCORE_H

/* Generated from the Rust source by cbindgen: do not edit. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef struct kvc_cache kvc_cache_t;       /* a cache of any kind, in its owner's storage */
typedef struct kvc_registry kvc_registry_t;

// Version of this header; see `kvc_check_header`.
#define KVC_ABI_VERSION 1u

// Alignment of every storage.
#define KVC_ALIGN 8u

// A capacity that only windows bound; also "none" for a row or position.
#define KVC_UNBOUNDED UINT32_MAX

// Most bytes of a key or name, without the NUL.
#define KVC_MAX_NAME 63u

// Bytes of a key with its NUL.
#define KVC_KEY_BYTES 64u

// Most layer groups of a model.
#define KVC_MAX_GROUPS 8u

// Most open faces of a cache.
#define KVC_MAX_FACES 4u

// Most layers of a model.
#define KVC_MAX_LAYERS 255u

// Most sequences of a cell cache.
#define KVC_MAX_SEQS 64u

// A layer that keeps all history.
#define KVC_LAYER_FLAT 0u

// A layer with a sliding window, optionally with sinks.
#define KVC_LAYER_RING 1u

// Plans one sequence.
#define KVC_KIND_SEQUENCE 1u

// A pool of cells shared by many sequences.
#define KVC_KIND_CELLS 2u

// Many sequences with private rows.
#define KVC_KIND_ROWS 3u

// Blocks, tables, prefix reuse.
#define KVC_KIND_PAGED 4u

// No mask: one query, and it sees every read row.
#define KVC_MASK_NONE 0u

// Lower-right aligned causal mask.
#define KVC_MASK_CAUSAL 1u

// A band of `window` positions for each query, plus the sinks.
#define KVC_MASK_WINDOW 2u

// Only the bytes or bits describe it.
#define KVC_MASK_EXPLICIT 3u

// Column j of a mask: the j-th read row.
#define KVC_COLUMNS_READ 0u

// Column j of a mask: pool row j.
#define KVC_COLUMNS_POOL 1u

// Bytes of storage of an external cache.
#define KVC_EXTERNAL_BYTES 256u

// Flag of cell caches: each layer group has a pool of its own.
#define KVC_SPLIT_POOLS 1u

// Flag of cell caches: windows do not free cells.
#define KVC_KEEP_CELLS 2u

// A cache went into a registry, under the key.
#define KVC_EVENT_INSTALLED 1u

// An entry left its registry.
#define KVC_EVENT_ERASED 2u

// A step made a window drop positions.
#define KVC_EVENT_EVICTED 3u

// A call failed with the status.
#define KVC_EVENT_REFUSED 4u

// A call gave up waiting for a lock.
#define KVC_EVENT_BUSY 5u

// A session guard could not erase its entry, which stays.
#define KVC_EVENT_LEAKED 6u

// The last reference of a cache went.
#define KVC_EVENT_ENDED 7u

// A status: `KVC_OK` or one of `KVC_ERR_…`.
typedef int32_t kvc_status_t;

// Kind, window and shape of a layer. All zero is an ordinary flat layer.
//
// Layers that are equal but for `shares_with` form one layer group: planned once, used by all.
typedef struct {
  // `KVC_LAYER_FLAT` or `KVC_LAYER_RING`.
  uint32_t kind;
  // Ring: positions that a query may attend to, itself included, 1 or more. Flat: 0.
  uint32_t window;
  // Ring: first positions of the sequence, kept for good. Flat: 0.
  uint32_t sinks;
  // Heads of K and V; only pool sizes depend on it.
  uint32_t n_kv_heads;
  // Elements of a head; only pool sizes depend on it.
  uint32_t head_dim;
  // Donor layer + 1 of a KV-shared layer, 0 for a layer with rows of its own.
  uint32_t shares_with;
} kvc_layer_t;

// `kvc_config_t`: one config for every kind of cache. Start from `kvc_config_default()`.
typedef struct {
  // `sizeof(kvc_config_t)`; must match exactly.
  uint32_t struct_size;
  // Positions (sequence); cells; rows shared (rows); blocks times `block_size` (paged).
  // `KVC_UNBOUNDED` where only windows bound a one-sequence cache.
  uint32_t capacity;
  // Layers of the model, 1 to `KVC_MAX_LAYERS`.
  uint32_t n_layers;
  // Entries at `layers`: 1 (the same for all) or `n_layers`.
  uint32_t n_layer_entries;
  // The layers; read during the call only.
  const kvc_layer_t *layers;
  // Most tokens of a step; 0: each ring layer's own window, no bound for flat layers (cells: as many as the capacity).
  uint32_t max_write;
  // Extra ring rows (cells: positions kept beyond a window): rejected tokens that can be taken back.
  uint32_t rollback;
  // Positions that a sequence may reach; 0: no bound of its own.
  uint32_t max_context;
  // Rows that a growing pool starts with.
  uint32_t initial_capacity;
  // Element type of the tensors, opaque here.
  int32_t kv_dtype;
  // Most sequences: 1 to `KVC_MAX_SEQS` (cells), 1 to 4096 (rows).
  uint32_t max_seqs;
  // Rows of a block (paged).
  uint32_t block_size;
  // Most blocks of a sequence (paged).
  uint32_t max_blocks_per_seq;
  // Blocks kept free at admission (paged).
  uint32_t watermark;
  // `KVC_SPLIT_POOLS`, `KVC_KEEP_CELLS`.
  uint32_t flags;
  // Handed to a builder untouched.
  const void *user;
} kvc_config_t;

// Says how many bytes of storage a cache of this config wants.
typedef kvc_status_t (*kvc_builder_size_fn)(void *ctx, const kvc_config_t *config, size_t *out);

// Builds a cache in the storage, with one reference for the caller. Runs outside every lock; may call the registry.
typedef kvc_status_t (*kvc_builder_fn)(void *ctx,
                                       const kvc_config_t *config,
                                       void *storage,
                                       size_t size,
                                       kvc_cache_t **out);

// Runs once, when the last reference of a cache went: the storage is the owner's again, and may be freed here.
typedef void (*kvc_release_fn)(void *ctx, void *storage);

// What a cache answers about one of its layers.
typedef struct {
  // The layer as configured.
  kvc_layer_t layer;
  // Its group; where a cell cache has a pool for each group, also its pool.
  uint32_t group;
  // Rows of its pool, at most.
  uint32_t rows;
  // Most tokens that its own layout allows in one step.
  uint32_t max_write;
} kvc_layer_info_t;

// Runs on the object of a face when the face is dropped or its cache ends. May be NULL.
typedef void (*kvc_drop_fn)(void *object);

// Consecutive rows of a pool that hold consecutive positions.
typedef struct {
  // First row.
  uint32_t start;
  // Rows.
  uint32_t len;
  // Position of the first row.
  uint32_t pos;
} kvc_run_t;

// One step of one layer group of a one-sequence cache.
//
// Rows are rows of the layer's pool; columns of a mask are the read rows in the order of `read`.
// The plan is plain data: copying it is fine, and only `position`, `n_tokens` and `epoch` matter to a
// commit.
typedef struct {
  // Where the rows of the new tokens go, in order; the first `n_write` count.
  kvc_run_t write[2];
  // Which rows attention reads, oldest first, this step's own included; the first `n_read` count.
  kvc_run_t read[3];
  // Runs in `write`: 1 or 2.
  uint32_t n_write;
  // Runs in `read`: 1 to 3.
  uint32_t n_read;
  // Position of the step's first token.
  uint32_t position;
  // Tokens of the step, 1 or more.
  uint32_t n_tokens;
  // Rows read in all: the number of columns of the mask.
  uint32_t read_len;
  // Highest row touched + 1: what a growing pool must hold by now.
  uint32_t rows_needed;
  // `KVC_MASK_NONE`, `KVC_MASK_CAUSAL` or `KVC_MASK_WINDOW`.
  uint32_t mask;
  // Positions that a query may attend to, itself included; 0: all.
  uint32_t window;
  // First positions of the sequence that every query sees.
  uint32_t sinks;
  // The layer group.
  uint32_t group;
  // Which step of its cache this is; 0 for a plan that no cache made.
  uint32_t epoch;
} kvc_seq_plan_t;

// A placed step of a cell cache.
typedef struct {
  // `MASK_NONE` or `MASK_CAUSAL`, which need no mask (lower-right aligned: the last token sees every row), else `MASK_EXPLICIT`.
  uint32_t mask;
  // Tokens placed.
  uint32_t n_tokens;
  // Rows read, from row 0 on: columns of the mask.
  uint32_t read_len;
  // First cell of the only write run; `KVC_UNBOUNDED` when the cells are scattered.
  uint32_t write_start;
} kvc_cell_step_t;

// Rows whose keys must be rotated by a change of position.
typedef struct {
  // First row.
  uint32_t row;
  // Rows.
  uint32_t len;
  // Positions to move by.
  int32_t delta;
} kvc_shift_t;

// Rows to move.
typedef struct {
  // First source row.
  uint32_t from;
  // First target row.
  uint32_t to;
  // Rows.
  uint32_t len;
} kvc_move_t;

// Consecutive tokens of a step that belong to one sequence, planned over its private rows.
typedef struct {
  // Sequence.
  uint32_t seq;
  // Tokens.
  uint32_t n_tokens;
  // What they write and read.
  kvc_seq_plan_t plan;
} kvc_span_t;

// `kvc_external_t`: the functions of an external cache, each like the call of that name with the object in
// place of the cache. A null entry answers `KVC_ERR_WRONG_KIND`. They run without any lock, in the thread of
// the caller, and follow the rules of the calls: a status, and nothing changed on failure. Arguments that every cache
// refuses (null pointers, no tokens, arrays that overlap) do not reach them.
typedef struct {
  // `sizeof(kvc_external_t)`; must match exactly.
  uint32_t struct_size;
  // The family it plays: what `kvc_cache_kind` answers.
  uint32_t kind;
  // `kvc_capacity`.
  int32_t (*capacity)(void *object, uint32_t *out);
  // `kvc_clear`.
  int32_t (*clear)(void *object);
  // `kvc_can_extend`.
  int32_t (*can_extend)(void *object, uint32_t n, bool *out);
  // `kvc_length`.
  int32_t (*length)(void *object, uint32_t *out);
  // `kvc_rewind`.
  int32_t (*rewind)(void *object, uint32_t new_len);
  // `kvc_rewind_floor`.
  int32_t (*rewind_floor)(void *object, uint32_t *out);
  // `kvc_seq_plan`.
  int32_t (*seq_plan)(void *object, uint32_t layer, uint32_t position, uint32_t n, kvc_seq_plan_t *out);
  // `kvc_seq_plan_step`.
  int32_t (*seq_plan_step)(void *object,
                           uint32_t position,
                           uint32_t n,
                           kvc_seq_plan_t *plans,
                           uint32_t cap,
                           uint32_t *n_groups);
  // `kvc_seq_commit`.
  int32_t (*seq_commit)(void *object, const kvc_seq_plan_t *plan, uint32_t accepted);
  // `kvc_batch_declare_step`.
  int32_t (*batch_declare_step)(void *object, const uint32_t *seq_ids, uint32_t n_tokens);
  // `kvc_batch_can_admit`.
  int32_t (*batch_can_admit)(void *object, uint32_t seq, uint32_t n, bool *out);
  // `kvc_batch_seq_new`.
  int32_t (*batch_seq_new)(void *object, uint32_t *out_seq);
  // `kvc_batch_seq_clone`.
  int32_t (*batch_seq_clone)(void *object, uint32_t src, uint32_t upto, uint32_t *out_seq);
  // `kvc_batch_seq_remove`.
  int32_t (*batch_seq_remove)(void *object, uint32_t seq, uint32_t from, uint32_t to);
  // `kvc_batch_seq_release`.
  int32_t (*batch_seq_release)(void *object, uint32_t seq);
  // `kvc_batch_seq_keep`.
  int32_t (*batch_seq_keep)(void *object, uint32_t seq);
  // `kvc_batch_seq_shift`.
  int32_t (*batch_seq_shift)(void *object, uint32_t seq, uint32_t from, uint32_t to, int32_t delta);
  // `kvc_batch_rewind`.
  int32_t (*batch_rewind)(void *object, uint32_t seq, uint32_t new_len);
  // `kvc_batch_seq_len`.
  int32_t (*batch_seq_len)(void *object, uint32_t seq, uint32_t *out);
  // `kvc_batch_next_pos`.
  int32_t (*batch_next_pos)(void *object, uint32_t seq, uint32_t *out);
  // `kvc_batch_first_pos`.
  int32_t (*batch_first_pos)(void *object, uint32_t seq, uint32_t *out);
  // `kvc_batch_free_rows`.
  int32_t (*batch_free_rows)(void *object, uint32_t *out);
  // `kvc_cells_place_step`.
  int32_t (*cells_place_step)(void *object,
                              uint32_t layer,
                              const uint32_t *positions,
                              uint32_t n,
                              uint32_t *cells,
                              kvc_cell_step_t *out);
  // `kvc_cells_mask_bytes`.
  int32_t (*cells_mask_bytes)(void *object, uint32_t layer, uint8_t *out, size_t size, size_t row_stride);
  // `kvc_cells_mask_bits`.
  int32_t (*cells_mask_bits)(void *object, uint32_t layer, uint32_t *out, size_t words, size_t row_words);
  // `kvc_cells_shifts`.
  int32_t (*cells_shifts)(void *object, uint32_t layer, kvc_shift_t *out, uint32_t cap, uint32_t *n);
  // `kvc_cells_shifts_done`.
  int32_t (*cells_shifts_done)(void *object);
  // `kvc_cells_defrag`.
  int32_t (*cells_defrag)(void *object, uint32_t layer, kvc_move_t *out, uint32_t cap, uint32_t *n);
  // `kvc_rows_place_step`.
  int32_t (*rows_place_step)(void *object,
                             uint32_t layer,
                             const uint32_t *positions,
                             uint32_t n,
                             kvc_span_t *out,
                             uint32_t cap,
                             uint32_t *n_spans);
} kvc_external_t;

// `kvc_session_t`: an entry in a registry for as long as the application works with a cache. Plain data that holds
// no reference: copies are harmless.
typedef struct {
  // Where the entry stands.
  kvc_registry_t *registry;
  // Which entry it is; 0 when closed.
  uint64_t id;
  // Its key, for the backend.
  char key[KVC_KEY_BYTES];
} kvc_session_t;

// What an event hook looks like: context, event (`KVC_EVENT_…`), status (`KVC_OK` if none is concerned), key or
// NULL. Runs without any lock in the context of the call that caused the event, an interrupt too; it must not
// block. It may call the library; calls that cause events come back to it.
typedef void (*kvc_event_fn)(void*, uint32_t, kvc_status_t, const char*);

// Success.
#define KVC_OK 0

// Null or misaligned pointer, zero tokens, number outside its range, wrong `struct_size`.
#define KVC_ERR_INVALID_ARGUMENT 1

// A config that contradicts itself or passes a limit; nothing is built.
#define KVC_ERR_INVALID_CONFIG 2

// No room now; room may come (rewind, removal, release).
#define KVC_ERR_OUT_OF_CAPACITY 3

// Would not fit into the same cache even when empty.
#define KVC_ERR_NEVER_FITS 4

// More tokens than `max_write` allows.
#define KVC_ERR_STEP_TOO_LARGE 5

// No such layer.
#define KVC_ERR_BAD_LAYER 6

// A gap, or a position already held: a step continues its sequence.
#define KVC_ERR_BAD_POSITION 7

// The target needs rows that a window has already dropped.
#define KVC_ERR_EVICTED 8

// Rewind beyond the length.
#define KVC_ERR_CANNOT_GROW 9

// The cache was rewound, cleared or stepped since this plan was made.
#define KVC_ERR_STALE_PLAN 10

// Nothing stands under that name or index.
#define KVC_ERR_NOT_FOUND 11

// The name or the slot is taken.
#define KVC_ERR_ALREADY_EXISTS 12

// A fixed table has no free entry.
#define KVC_ERR_TABLE_FULL 13

// Key, backend id, kind or face name over its limit, or empty.
#define KVC_ERR_NAME_TOO_LONG 14

// This cache does not offer that face.
#define KVC_ERR_WRONG_KIND 15

// The caller's buffer is too small.
#define KVC_ERR_BUFFER_TOO_SMALL 16

// The lock is held and the caller may not wait.
#define KVC_ERR_BUSY 17

// The object was released.
#define KVC_ERR_STALE 18

// Damaged storage or snapshot, or no such object there.
#define KVC_ERR_CORRUPT 19

// Not supported by this object.
#define KVC_ERR_UNSUPPORTED 20

// Unknown sequence id.
#define KVC_ERR_BAD_SEQUENCE 21

// A placement or commit without a declared step.
#define KVC_ERR_NO_STEP 22

// Would change rows that another sequence also owns.
#define KVC_ERR_SHARED 23

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Declares the next step, before any compute: the sequence of each of its `n_tokens` tokens. All of it is admitted or
// nothing. A successful declaration replaces an earlier one, and cells that every window has passed, and no rewind
// within `rollback` can need, are free (event `KVC_EVENT_EVICTED`); a refused one leaves everything as it is. A verb that
// succeeds ends the step, even one that changes nothing. Verbs are the calls that change what sequences hold or where:
// new, clone, remove, release, keep, shift, rewind, clear and defrag. So while a forward runs the application makes none:
// placing and masks answer `KVC_ERR_NO_STEP` from then on, and the tokens that were placed count until they are rewound.
// The ids are read during the call only.
// `KVC_ERR_INVALID_ARGUMENT` (also 0 tokens), `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`,
// `KVC_ERR_BAD_SEQUENCE`, `KVC_ERR_STEP_TOO_LARGE` above `max_write`, `KVC_ERR_NEVER_FITS`, `KVC_ERR_OUT_OF_CAPACITY`,
// `KVC_ERR_BUSY`. Any thread. O(tokens + sequences + cells freed), where only cells that windows have passed make room
// O(rows / 32 * sequences); with the lock held (feature `critical-section`: interrupts off for as long; so with every
// call whose cost names tokens, rows or sequences).
//
// Pointers are NULL or valid; `seq_ids` for `n_tokens` elements.
kvc_status_t kvc_batch_declare_step(kvc_cache_t *cache,
                                    const uint32_t *seq_ids,
                                    uint32_t n_tokens);

// Whether `n` more tokens of a sequence fit now, in steps of any size: into the free rows and those that windows
// would let go of, and below `max_context`. `KVC_ERR_INVALID_ARGUMENT` (also 0 tokens), `KVC_ERR_STALE`,
// `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_SEQUENCE`, `KVC_ERR_BUSY`. Any thread. O(groups), where
// only cells that windows have passed make room O(rows / 32 * sequences), with the lock held.
//
// Pointers are NULL or valid.
kvc_status_t kvc_batch_can_admit(const kvc_cache_t *cache,
                                 uint32_t seq,
                                 uint32_t n,
                                 bool *out);

// A new, empty sequence under the lowest free id. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
// `KVC_ERR_WRONG_KIND`, `KVC_ERR_TABLE_FULL` with `max_seqs` sequences, `KVC_ERR_BUSY`. A verb. Any thread.
// O(sequences), with the lock held.
//
// Pointers are NULL or valid.
kvc_status_t kvc_batch_seq_new(kvc_cache_t *cache,
                               uint32_t *out_seq);

// A new sequence with the positions of `src` below `upto` (`KVC_UNBOUNDED`, or any number above the next position: all
// of them). Cells are shared, nothing is copied; with private rows the backend copies what `kvc_rows_held` lists.
// `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_SEQUENCE`,
// `KVC_ERR_EVICTED` when a window has dropped what a sequence of `upto` tokens needs, `KVC_ERR_OUT_OF_CAPACITY`
// (private rows), `KVC_ERR_TABLE_FULL`, `KVC_ERR_BUSY`. A verb. Any thread. O(rows + sequences), with the lock held.
//
// Pointers are NULL or valid.
kvc_status_t kvc_batch_seq_clone(kvc_cache_t *cache,
                                 uint32_t src,
                                 uint32_t upto,
                                 uint32_t *out_seq);

// Takes positions `from .. to` out of a sequence (cells only); its id stays, and so do the others' shares of the
// cells. None in the range is fine. Without anything left the sequence begins at 0 again.
// `KVC_ERR_INVALID_ARGUMENT` (also `from` above `to`), `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`,
// `KVC_ERR_BAD_SEQUENCE`, `KVC_ERR_EVICTED` where something is left and the next token would need what a window has
// dropped, `KVC_ERR_BUSY`. A verb. Any thread. O(rows), with the lock held.
//
// The cache is NULL or valid.
kvc_status_t kvc_batch_seq_remove(kvc_cache_t *cache,
                                  uint32_t seq,
                                  uint32_t from,
                                  uint32_t to);

// Ends a sequence: all of it and its id. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
// `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_SEQUENCE`, `KVC_ERR_BUSY`. A verb. Any thread. O(rows), with the lock held.
//
// The cache is NULL or valid.
kvc_status_t kvc_batch_seq_release(kvc_cache_t *cache,
                                   uint32_t seq);

// Ends every other sequence. Statuses of `kvc_batch_seq_release`. A verb. Any thread. O(rows + sequences), with the
// lock held.
//
// The cache is NULL or valid.
kvc_status_t kvc_batch_seq_keep(kvc_cache_t *cache,
                                uint32_t seq);

// Moves positions `from .. to` of a sequence by `delta` (cells only). The keys in their rows have to be rotated
// before the next step: see `kvc_cells_shifts`. None in the range, or `delta` 0, is fine. `KVC_ERR_INVALID_ARGUMENT`
// (also `from` above `to`), `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_SEQUENCE`,
// `KVC_ERR_SHARED` when another sequence owns one of the cells too, `KVC_ERR_BAD_POSITION` when one would end below 0,
// beyond `max_context` or on a position that the sequence holds, or when what is pending for a row would leave 32 bits,
// `KVC_ERR_EVICTED` where the next token would then miss what a window has dropped (let a window's worth of positions
// move down together), `KVC_ERR_UNSUPPORTED` while a step's shifts are being applied (until `kvc_cells_shifts_done`),
// `KVC_ERR_BUSY`. A verb. Any thread. O(rows), with the lock held.
//
// The cache is NULL or valid.
kvc_status_t kvc_batch_seq_shift(kvc_cache_t *cache,
                                 uint32_t seq,
                                 uint32_t from,
                                 uint32_t to,
                                 int32_t delta);

// Drops the positions of a sequence from `new_len` on. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
// `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_SEQUENCE`, `KVC_ERR_EVICTED` when a window has dropped what the next token would
// need (never for 0; below the highest position that was dropped all count as dropped), `KVC_ERR_CANNOT_GROW` above the next position, `KVC_ERR_BUSY`. A verb; it also cancels a step:
// rewind each of its sequences to its old next position. Any thread. O(rows), with the lock held.
//
// The cache is NULL or valid.
kvc_status_t kvc_batch_rewind(kvc_cache_t *cache,
                              uint32_t seq,
                              uint32_t new_len);

// Tokens that a sequence holds now; with split pools, in the pool that holds most of them. `KVC_ERR_INVALID_ARGUMENT`,
// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_SEQUENCE`, `KVC_ERR_BUSY`. Any thread.
// O(groups).
//
// Pointers are NULL or valid.
kvc_status_t kvc_batch_seq_len(const kvc_cache_t *cache,
                               uint32_t seq,
                               uint32_t *out);

// The position that a sequence goes on from: its highest one + 1, or 0. What a window dropped counts. Statuses of
// `kvc_batch_seq_len`. Any thread. O(groups).
//
// Pointers are NULL or valid.
kvc_status_t kvc_batch_next_pos(const kvc_cache_t *cache,
                                uint32_t seq,
                                uint32_t *out);

// The lowest position that a sequence holds now, in any pool; `KVC_UNBOUNDED` when it is empty. Statuses of
// `kvc_batch_seq_len`. Any thread. O(groups).
//
// Pointers are NULL or valid.
kvc_status_t kvc_batch_first_pos(const kvc_cache_t *cache, uint32_t seq, uint32_t *out);

// Rows that are free now; with split pools, in the fullest of them. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`,
// `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BUSY`. Any thread. O(groups).
//
// Pointers are NULL or valid.
kvc_status_t kvc_batch_free_rows(const kvc_cache_t *cache,
                                 uint32_t *out);

// Registers a builder under (backend id, kind): string constants of 1 to `KVC_MAX_NAME` bytes.
// `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_ALREADY_EXISTS`,
// `KVC_ERR_TABLE_FULL`, `KVC_ERR_BUSY`. Any thread. O(builders).
//
// Pointers are NULL or valid; the functions accept `ctx`, from any thread, while the builder is registered.
kvc_status_t kvc_builder_register(kvc_registry_t *registry,
                                  const char *backend_id,
                                  const char *kind,
                                  kvc_builder_size_fn size,
                                  kvc_builder_fn build,
                                  void *ctx);

// Takes a builder out; a build that has already begun goes on. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_NAME_TOO_LONG`,
// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_NOT_FOUND`, `KVC_ERR_BUSY`. Any thread. O(builders).
//
// Pointers are NULL or valid.
kvc_status_t kvc_builder_unregister(kvc_registry_t *registry,
                                    const char *backend_id,
                                    const char *kind);

// Bytes of storage that a cache of this kind and config wants. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_NAME_TOO_LONG`,
// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_NOT_FOUND`, `KVC_ERR_INVALID_CONFIG`, `KVC_ERR_BUSY`, and what the
// builder answers (`KVC_ERR_CORRUPT` for a number that is no status). Any thread. O(builders), and what the builder does.
//
// Pointers are NULL or valid.
kvc_status_t kvc_builder_size(kvc_registry_t *registry,
                              const char *backend_id,
                              const char *kind,
                              const kvc_config_t *config,
                              size_t *out);

// Builds a cache in `size` bytes of storage aligned to `KVC_ALIGN`, with one reference for the caller. Statuses of
// `kvc_builder_size`; `KVC_ERR_CORRUPT` also for a builder that reports success without a cache. Any thread.
// O(builders), and what the builder does.
//
// Pointers are NULL or valid; the storage stays, used by nobody else, until the cache ended.
kvc_status_t kvc_builder_build(kvc_registry_t *registry,
                               const char *backend_id,
                               const char *kind,
                               const kvc_config_t *config,
                               void *storage,
                               size_t size,
                               kvc_cache_t **out);

// The kind of the `index`-th builder of a backend: the string that was registered. `KVC_ERR_INVALID_ARGUMENT`,
// `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_NOT_FOUND` behind the last one,
// `KVC_ERR_BUSY`. Any thread. O(builders).
//
// Pointers are NULL or valid.
kvc_status_t kvc_builder_kind_at(kvc_registry_t *registry,
                                 const char *backend_id,
                                 uint32_t index,
                                 const char **out);

// Registers the built-in one-sequence kind: backend id "kvcore", kind "sequence". Statuses of
// `kvc_builder_register`. Any thread. O(builders).
//
// The registry is NULL or valid.
kvc_status_t kvc_sequence_register(kvc_registry_t *registry);

// Checks a config without building anything. Any thread. O(layers).
// `KVC_ERR_INVALID_ARGUMENT`: NULL or misaligned pointer (also `layers`), wrong `struct_size`.
// `KVC_ERR_INVALID_CONFIG`: no capacity; no layer, or more than `KVC_MAX_LAYERS`; a number of entries that is
// neither 1 nor `n_layers`; an unknown layer kind; a ring without a window; a flat layer with a window or sinks,
// or without a capacity; sinks that fill the capacity; a donor that does not stand before its sharer or has
// another layout; more than `KVC_MAX_GROUPS` layer groups; an unknown flag. The many-sequence kinds refuse more: see
// `kvc_cells_size` and `kvc_rows_size`.
//
// Pointers are NULL or valid.
kvc_status_t kvc_config_check(const kvc_config_t *config);

// Calls `release(ctx, storage)` when the last reference goes, after the faces were dropped. Once: a second call is
// `KVC_ERR_ALREADY_EXISTS`. Else `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_BUSY`.
// Any thread. O(1).
//
// The cache is NULL or valid; `release` accepts `ctx`, from any thread.
kvc_status_t kvc_cache_on_release(kvc_cache_t *cache,
                                  kvc_release_fn release,
                                  void *ctx);

// One more reference. Never `KVC_ERR_BUSY`. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
// `KVC_ERR_OUT_OF_CAPACITY` at 2^32 - 1 references. Any thread. O(1).
//
// The cache is NULL or valid; the caller holds a reference.
kvc_status_t kvc_cache_retain(kvc_cache_t *cache);

// Lets go of one reference. The last one ends the cache: its faces are dropped, newest first, then the release
// callback runs, and the storage is not touched any more. Never `KVC_ERR_BUSY`. `KVC_ERR_INVALID_ARGUMENT`,
// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`. Any thread. O(faces).
//
// The cache is NULL or valid; the caller gives up a reference that it holds.
kvc_status_t kvc_cache_release(kvc_cache_t *cache);

// Family of a cache: `KVC_KIND_…`; of an external cache the one that it claims. `KVC_ERR_INVALID_ARGUMENT`,
// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`. Any thread. O(1).
//
// Pointers are NULL or valid.
kvc_status_t kvc_cache_kind(const kvc_cache_t *cache, uint32_t *out);

// The resolved config: `max_write` is what a step may really have, `initial_capacity` at most the largest pool,
// fields of other kinds are 0, `layers` and `user` are NULL and `n_layer_entries` is 0 (`kvc_cache_layer` answers
// for each layer). `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_BUSY`,
// `KVC_ERR_WRONG_KIND` for an external cache. Any thread. O(1).
//
// Pointers are NULL or valid.
kvc_status_t kvc_cache_config(const kvc_cache_t *cache,
                              kvc_config_t *out);

// A layer, its group, the rows of its pool at most, and the most tokens that its layout allows in a step.
// `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_BUSY`, `KVC_ERR_WRONG_KIND` for an
// external cache, `KVC_ERR_BAD_LAYER`. Any thread. O(1).
//
// Pointers are NULL or valid.
kvc_status_t kvc_cache_layer(const kvc_cache_t *cache, uint32_t layer, kvc_layer_info_t *out);

// Attaches an object under a name (a string constant, 1 to `KVC_MAX_NAME` bytes), to be found from every reference
// to the cache. `drop(object)`, if not NULL, runs when the face is dropped or the cache ends.
// `KVC_ERR_INVALID_ARGUMENT` (also a NULL object), `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
// `KVC_ERR_ALREADY_EXISTS`, `KVC_ERR_TABLE_FULL` beyond `KVC_MAX_FACES`, `KVC_ERR_BUSY`. Any thread. O(faces).
//
// Pointers are NULL or valid; the object lives until it is dropped; the name stays for good.
kvc_status_t kvc_cache_set_face(kvc_cache_t *cache,
                                const char *name,
                                void *face,
                                kvc_drop_fn drop);

// Takes a face off and drops its object. Only the party that set a face drops it, when nobody uses it.
// `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_NOT_FOUND`,
// `KVC_ERR_BUSY`. Any thread. O(faces).
//
// Pointers are NULL or valid.
kvc_status_t kvc_cache_drop_face(kvc_cache_t *cache,
                                 const char *name);

// The object attached under a name; borrowed for as long as the caller holds a reference and the face is not
// dropped. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
// `KVC_ERR_NOT_FOUND`, `KVC_ERR_BUSY`. Any thread. O(faces).
//
// Pointers are NULL or valid.
kvc_status_t kvc_cache_face(const kvc_cache_t *cache, const char *name, void **out);

// Builds a cache that the functions of `table` implement over `object`, in `KVC_EXTERNAL_BYTES` of storage aligned to
// `KVC_ALIGN`, with one reference for the caller. `KVC_ERR_INVALID_ARGUMENT` (NULL or misaligned pointers, wrong
// `struct_size`, a kind that is none), `KVC_ERR_BUFFER_TOO_SMALL`. A number that is no status, from one of the
// functions, reaches their callers as `KVC_ERR_CORRUPT`. Any thread. O(1).
//
// Pointers are NULL or valid; storage, table and object stay until the cache ended.
kvc_status_t kvc_external_init(void *storage,
                               size_t size,
                               const kvc_external_t *table,
                               void *object,
                               kvc_cache_t **out);

// Empties a cache of any kind. Plans made before are stale, and all sequence ids are free. `KVC_ERR_INVALID_ARGUMENT`,
// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND` for an external cache without it, `KVC_ERR_BUSY`. Any thread.
// O(groups); many-sequence kinds O(rows + sequences), with the lock held.
//
// The cache is NULL or valid.
kvc_status_t kvc_clear(kvc_cache_t *cache);

// Positions, cells or rows that a cache can hold, as configured (`max_context` may end a sequence earlier);
// `KVC_UNBOUNDED` where only windows bound it.
// `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND` for an external cache without
// it, `KVC_ERR_BUSY`. Any thread. O(1).
//
// Pointers are NULL or valid.
kvc_status_t kvc_capacity(const kvc_cache_t *cache,
                          uint32_t *out);

// Bytes of storage that a cell cache of this config wants. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_INVALID_CONFIG` (as
// `kvc_config_check`, and: `capacity` is `KVC_UNBOUNDED`; `max_seqs` is not 1 to `KVC_MAX_SEQS`; window and `rollback`
// are over 32 bits together; no memory is that large). With `S` sequences a cell takes about 10 + `S` / 8 bytes (4 more
// where windows evict), in each pool; a token of the largest step 8 and 4 a pool. Any thread. O(layers).
//
// Pointers are NULL or valid.
kvc_status_t kvc_cells_size(const kvc_config_t *config,
                            size_t *out);

// Builds a cell cache in `size` bytes of storage aligned to `KVC_ALIGN`, with one reference for the caller.
// `capacity`: cells of a pool; one pool serves all layers, or with `KVC_SPLIT_POOLS` one each layer group.
// `max_write`: most tokens of a step, all sequences together (0: as many as the capacity). `rollback`: positions kept
// beyond a window. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_INVALID_CONFIG`, `KVC_ERR_BUFFER_TOO_SMALL`. Any thread.
// O(size).
//
// Pointers are NULL or valid; the storage stays, used by nobody else, until the cache ended.
kvc_status_t kvc_cells_init(void *storage,
                            size_t size,
                            const kvc_config_t *config,
                            kvc_cache_t **out);

// Places the declared step: token `i` at position `positions[i]` of its sequence goes to row `cells[i]` of the layer's
// pool. The first call places for all layers; every further one, of the same or another layer, with the same positions
// gets the same placement. From then on the tokens count. Positions rise in each sequence; gaps are legal. The pool of a
// layer is the only one, or with `KVC_SPLIT_POOLS` that of its group (`kvc_cache_layer`); a layer that shares rows uses
// its donor's. With mask `KVC_MASK_NONE` or `KVC_MASK_CAUSAL` no mask need be asked for. Both arrays have `n` elements
// and must not overlap; they are used during the call only.
// `KVC_ERR_INVALID_ARGUMENT` (also 0 tokens, and arrays that overlap), `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
// `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_LAYER`, `KVC_ERR_NO_STEP` (nothing declared, another number of tokens, or other
// positions than those placed), `KVC_ERR_BAD_POSITION` below a sequence's next position and for 2^32 - 1,
// `KVC_ERR_OUT_OF_CAPACITY` from `max_context` on, `KVC_ERR_BUSY`. Any thread. O(tokens * log(rows)), with the lock held.
//
// Pointers are NULL or valid; `positions` and `cells` for `n` elements.
kvc_status_t kvc_cells_place_step(kvc_cache_t *cache,
                                  uint32_t layer,
                                  const uint32_t *positions,
                                  uint32_t n,
                                  uint32_t *cells,
                                  kvc_cell_step_t *out);

// Writes the attention mask of the placed step for a layer, one byte a column (1: attend): `n_tokens` rows of
// `row_stride` bytes, column `j` for row `j` of the pool; columns from `read_len` on are 0. `KVC_ERR_INVALID_ARGUMENT`,
// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_LAYER`, `KVC_ERR_NO_STEP` before a placement,
// `KVC_ERR_BUFFER_TOO_SMALL` for a stride below `read_len` or `size` below `n_tokens * row_stride`, `KVC_ERR_BUSY`. Any
// thread. O(tokens * `row_stride`), with the lock held.
//
// Pointers are NULL or valid; `out` for `size` bytes.
kvc_status_t kvc_cells_mask_bytes(kvc_cache_t *cache,
                                  uint32_t layer,
                                  uint8_t *out,
                                  size_t size,
                                  size_t row_stride);

// Writes the attention mask of the placed step for a layer, one bit a column: column `j` is bit `j % 32` of word
// `j / 32` of its row; `n_tokens` rows of `row_words` words. Otherwise as `kvc_cells_mask_bytes`, with words in place
// of bytes.
//
// Pointers are NULL or valid; `out` for `words` words.
kvc_status_t kvc_cells_mask_bits(kvc_cache_t *cache,
                                 uint32_t layer,
                                 uint32_t *out,
                                 size_t words,
                                 size_t row_words);

// Lists the pending shifts of a layer's pool, runs of rows in ascending order: rotate the keys in them by `delta`
// positions, in every layer with rows of its own, before anything reads them; then call `kvc_cells_shifts_done`. A step
// that is declared over pending shifts freezes them: from the first time that a list with any is read, shift and
// defragmentation are refused until they are done, and every layer reads the same. A forward that failed in between
// lists and rotates the other layers later, or requires `kvc_clear`. Where verbs may come from another thread meanwhile,
// list, place the step, then rotate: if placing answers `KVC_ERR_NO_STEP`, rotate nothing. `*n`: how many there are. `out`
// may be NULL with `cap` 0. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`,
// `KVC_ERR_BAD_LAYER`, `KVC_ERR_BUFFER_TOO_SMALL` for `cap`
// below the number, which `*n` then tells, `KVC_ERR_BUSY`. Any thread. O(rows), with the lock held.
//
// Pointers are NULL or valid; `out` for `cap` elements.
kvc_status_t kvc_cells_shifts(kvc_cache_t *cache,
                              uint32_t layer,
                              kvc_shift_t *out,
                              uint32_t cap,
                              uint32_t *n);

// The pending shifts were applied on every layer: forgets them, but for those of a pool that changed since it was listed.
// None pending is fine. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BUSY`. Any thread. O(rows), with the lock held.
//
// The cache is NULL or valid.
kvc_status_t kvc_cells_shifts_done(kvc_cache_t *cache);

// Moves tokens from the highest rows of a layer's pool into the lowest free ones, at most `cap` moves at a time, and
// lists the moves: carry them out in the given order, for every layer of the pool with rows of its own, before the next
// step. Source and
// target of a move never overlap. `*n` 0: there was nothing to move, the pool is compact (or `cap` is 0, when `out` may
// be NULL). `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_LAYER`,
// `KVC_ERR_UNSUPPORTED` while a step's shifts are being applied, `KVC_ERR_BUSY`. A verb. Any thread. O(rows *
// sequences), with the lock held.
//
// Pointers are NULL or valid; `out` for `cap` elements.
kvc_status_t kvc_cells_defrag(kvc_cache_t *cache,
                              uint32_t layer,
                              kvc_move_t *out,
                              uint32_t cap,
                              uint32_t *n);

// Registers the built-in cell cache: backend id "kvcore", kind "cells". Statuses of `kvc_builder_register`. Any thread.
// O(builders).
//
// The registry is NULL or valid.
kvc_status_t kvc_cells_register(kvc_registry_t *registry);

// Plans a step by arithmetic alone: any position, no cache, no end to the pool. `max_write` 0: the layer's window.
// `KVC_ERR_INVALID_ARGUMENT` (also 0 tokens, or positions over 32 bits), `KVC_ERR_INVALID_CONFIG` for a layer that
// contradicts itself, `KVC_ERR_STEP_TOO_LARGE`. `group` and `epoch` are 0. Any thread. O(1).
//
// Pointers are NULL or valid.
kvc_status_t kvc_layout_plan(const kvc_layer_t *layer,
                             uint32_t max_write,
                             uint32_t rollback,
                             uint32_t position,
                             uint32_t n,
                             kvc_seq_plan_t *out);

// Writes the position of each read row, in the order of the mask's columns: `plan->read_len` of them. (The step's own
// rows count on from `plan->position`; the nodes of a token tree have positions of their own, `plan->position` and
// their depth.)
// `KVC_ERR_INVALID_ARGUMENT` (also a plan that contradicts itself), `KVC_ERR_BUFFER_TOO_SMALL` for `cap` below that.
// Any thread. O(`read_len`).
//
// Pointers are NULL or valid; `out` for `cap` elements.
kvc_status_t kvc_plan_positions(const kvc_seq_plan_t *plan,
                                uint32_t *out,
                                size_t cap);

// Writes the attention mask of a plan, one byte a column (1: attend), `plan->n_tokens` rows of `row_stride` bytes;
// columns beyond the mask are 0. `columns`: `KVC_COLUMNS_READ` (`read_len` columns) or `KVC_COLUMNS_POOL` (up to the
// highest read row). With `parents` (`n_tokens` of them, at most 256) the step is a token tree: `parents[i] < i`, or -1
// for a child of the committed prefix. A node sees the prefix within its window, its ancestors less than `window` levels
// up, and itself. `KVC_ERR_INVALID_ARGUMENT` (also a plan or parents that contradict themselves),
// `KVC_ERR_BUFFER_TOO_SMALL` for a stride below the columns or `size` below `n_tokens * row_stride`. Any thread.
// O(`n_tokens` * `row_stride`).
//
// Pointers are NULL or valid; `out` for `size` bytes, `parents` for `plan->n_tokens` elements.
kvc_status_t kvc_plan_mask_bytes(const kvc_seq_plan_t *plan,
                                 const int32_t *parents_or_null,
                                 uint32_t columns,
                                 uint8_t *out,
                                 size_t size,
                                 size_t row_stride);

// Writes the attention mask of a plan, one bit a column: column `j` is bit `j % 32` of word `j / 32` of its row;
// `plan->n_tokens` rows of `row_words` words. Otherwise as `kvc_plan_mask_bytes`, with words in place of bytes.
//
// Pointers are NULL or valid; `out` for `words` words, `parents` for `plan->n_tokens` elements.
kvc_status_t kvc_plan_mask_bits(const kvc_seq_plan_t *plan,
                                const int32_t *parents_or_null,
                                uint32_t columns,
                                uint32_t *out,
                                size_t words,
                                size_t row_words);

// The next size of a growing pool: `current` doubled (from at least 1) until it holds `needed` rows, at most `max`;
// 0 if `needed` is over `max`. A pool that is large enough keeps its size. Any thread. O(log(needed / current)).
uint32_t kvc_grow_rows(uint32_t current,
                       uint32_t needed,
                       uint32_t max);

// Bytes of K or of V alone: `rows * n_kv_heads * head_dim` elements of `bits` bits, packed. `KVC_ERR_INVALID_ARGUMENT`
// (also 0 heads, dimension or bits, more than 64 bits an element, or more elements or bytes than 64 bits count). Any thread. O(1).
//
// `out` is NULL or valid.
kvc_status_t kvc_pool_bytes(uint32_t rows,
                            uint32_t n_kv_heads,
                            uint32_t head_dim,
                            uint32_t bits,
                            uint64_t *out);

// The registry of the process: shared by all that link this library once. A constant, never NULL. An application
// and a delegate that are two shared objects, each with kvcore inside, have two of them. Any thread. O(1).
kvc_registry_t *kvc_registry_global(void);

// Bytes of storage of a registry; depends on the limits of the build. Any thread. O(1).
size_t kvc_registry_size(void);

// Builds an empty registry in `size` bytes of storage aligned to `KVC_ALIGN`. `KVC_ERR_INVALID_ARGUMENT`,
// `KVC_ERR_BUFFER_TOO_SMALL`. Any thread. O(1).
//
// Pointers are NULL or valid; the storage stays, used by nobody else, until the registry was deinitialised and no
// session struct of it is used any more.
kvc_status_t kvc_registry_init(void *storage,
                               size_t size,
                               kvc_registry_t **out);

// Closes a registry: every other call answers `KVC_ERR_STALE` from now on, builders are forgotten, and the entries'
// references are let go one by one, outside the lock. Close sessions first. `KVC_ERR_INVALID_ARGUMENT`,
// `KVC_ERR_CORRUPT`, `KVC_ERR_STALE` when it is closed, `KVC_ERR_UNSUPPORTED` for the global one, `KVC_ERR_BUSY`: call
// again. Any thread. O(entries).
//
// The registry is NULL or valid.
kvc_status_t kvc_registry_deinit(kvc_registry_t *registry);

// Puts a cache under a key (copied, 1 to `KVC_MAX_NAME` bytes); the entry holds a reference of its own.
// `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_ALREADY_EXISTS`,
// `KVC_ERR_TABLE_FULL`, `KVC_ERR_OUT_OF_CAPACITY` for a cache with 2^32 - 1 references, `KVC_ERR_BUSY`. Any thread.
// O(entries).
//
// Pointers are NULL or valid; the cache's storage outlives its last reference.
kvc_status_t kvc_registry_install(kvc_registry_t *registry,
                                  const char *key,
                                  kvc_cache_t *cache);

// The cache under a key, with a reference that the caller releases. `KVC_ERR_INVALID_ARGUMENT`,
// `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_NOT_FOUND`, `KVC_ERR_OUT_OF_CAPACITY` for a
// cache with 2^32 - 1 references, `KVC_ERR_BUSY`. Any thread. O(entries).
//
// Pointers are NULL or valid.
kvc_status_t kvc_registry_get(kvc_registry_t *registry,
                              const char *key,
                              kvc_cache_t **out);

// Takes an entry out and lets go of its reference; whoever else holds one goes on. `KVC_ERR_INVALID_ARGUMENT`,
// `KVC_ERR_NAME_TOO_LONG`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_NOT_FOUND`, `KVC_ERR_BUSY`. Any thread.
// O(entries).
//
// Pointers are NULL or valid.
kvc_status_t kvc_registry_erase(kvc_registry_t *registry,
                                const char *key);

// Caches installed. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_BUSY`. Any thread. O(1).
//
// Pointers are NULL or valid.
kvc_status_t kvc_registry_count(kvc_registry_t *registry,
                                uint32_t *out);

// Copies the key at an index below the count, with its NUL, into `size` bytes; `KVC_KEY_BYTES` are always enough.
// The order changes when entries go. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
// `KVC_ERR_NOT_FOUND`, `KVC_ERR_BUFFER_TOO_SMALL`, `KVC_ERR_BUSY`. Any thread. O(index).
//
// Pointers are NULL or valid; `out` for `size` bytes.
kvc_status_t kvc_registry_key_at(kvc_registry_t *registry,
                                 uint32_t index,
                                 char *out,
                                 size_t size);

// Writes a key that no other call in this process ever gets: "cache-N". `KVC_ERR_INVALID_ARGUMENT`,
// `KVC_ERR_BUFFER_TOO_SMALL` (`KVC_KEY_BYTES` are always enough), `KVC_ERR_OUT_OF_CAPACITY` when all numbers were
// given. Never `KVC_ERR_BUSY`. Any thread. O(1).
//
// `out` is NULL or valid for `size` bytes.
kvc_status_t kvc_unique_key(char *out,
                            size_t size);

// Installs a cache under a key of the caller's, or with NULL under a generated one that nobody took. The entry holds
// a reference of its own. `out` is written over: close what it held before. Statuses of `kvc_registry_install`. Any
// thread. O(entries).
//
// Pointers are NULL or valid; the cache's storage outlives its last reference.
kvc_status_t kvc_session_open(kvc_session_t *out,
                              kvc_registry_t *registry,
                              const char *key_or_null,
                              kvc_cache_t *cache);

// Erases the entry that the session made, if it is still that one, and marks this struct closed. Closing twice, or
// closing a copy, is fine; so is a zeroed struct. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE` when the registry is
// closed, `KVC_ERR_CORRUPT`, `KVC_ERR_BUSY`: still open, call again. One struct is for one thread at a time.
// O(entries).
//
// The session is NULL or valid, and so is its registry unless its id is 0.
kvc_status_t kvc_session_close(kvc_session_t *session);

// `kvc_session_close` for a guard, which cannot answer: if the lock stays held, the entry is left in its registry and
// reported as `KVC_EVENT_LEAKED`. The struct is closed in any case. One struct is for one thread at a time. O(entries).
//
// As `kvc_session_close`.
void kvc_session_drop(kvc_session_t *session);

// Bytes of storage that a private-row cache of this config wants. `KVC_ERR_INVALID_ARGUMENT`,
// `KVC_ERR_INVALID_CONFIG` (as `kvc_config_check`, and: `capacity` is `KVC_UNBOUNDED`; `max_seqs` is not 1 to 4096).
// Any thread. O(layers).
//
// Pointers are NULL or valid.
kvc_status_t kvc_rows_size(const kvc_config_t *config,
                           size_t *out);

// Builds a private-row cache in `size` bytes of storage aligned to `KVC_ALIGN`, with one reference for the caller.
// `capacity`: rows that all sequences together may hold; `max_write`, `rollback` and `max_context` are each
// sequence's. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_INVALID_CONFIG`, `KVC_ERR_BUFFER_TOO_SMALL`. Any thread. O(size).
//
// Pointers are NULL or valid; the storage stays, used by nobody else, until the cache ended.
kvc_status_t kvc_rows_init(void *storage,
                           size_t size,
                           const kvc_config_t *config,
                           kvc_cache_t **out);

// Places the declared step and plans it for a layer: one span for each run of tokens of the same sequence, in the
// order of the tokens. Rows of a span's plan are those of that sequence's own pool of the layer. The first call counts
// for all layers; every further one with the same positions gets the plans of its own layer. There is no commit. Rows
// that the step writes over are given up now (event `KVC_EVENT_EVICTED`). All spans may be written before any is read.
// `*n_spans`: how many there are. `positions` has `n` elements; the arrays must not overlap and are used during the
// call only; `out` may be NULL with `cap` 0. `KVC_ERR_INVALID_ARGUMENT` (also 0 tokens, and arrays that overlap),
// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_LAYER`, `KVC_ERR_NO_STEP` (nothing declared,
// another number of tokens, or other positions than those placed), `KVC_ERR_BAD_POSITION` unless positions go on from
// each sequence's length, `KVC_ERR_BUFFER_TOO_SMALL` for `cap` below the number of spans, which `*n_spans` then tells
// (nothing is placed), `KVC_ERR_BUSY`. Any thread. O(tokens), with the lock held.
//
// Pointers are NULL or valid; `positions` for `n` elements, `out` for `cap`.
kvc_status_t kvc_rows_place_step(kvc_cache_t *cache,
                                 uint32_t layer,
                                 const uint32_t *positions,
                                 uint32_t n,
                                 kvc_span_t *out,
                                 uint32_t cap,
                                 uint32_t *n_spans);

// Lists the rows of a sequence's own pool of a layer that hold what its next token can see, at most 3 runs, oldest
// first. After `kvc_batch_seq_clone`, and before the source's next step, this is what to copy to the clone: each row to the
// row of the same index.
// `*n`: how many runs. `out` may be NULL with `cap` 0. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
// `KVC_ERR_WRONG_KIND` (also for an external cache), `KVC_ERR_BAD_LAYER`, `KVC_ERR_BAD_SEQUENCE`,
// `KVC_ERR_BUFFER_TOO_SMALL` for `cap` below the number, which `*n` then tells, `KVC_ERR_BUSY`. Any thread. O(1).
//
// Pointers are NULL or valid; `out` for `cap` elements.
kvc_status_t kvc_rows_held(const kvc_cache_t *cache,
                           uint32_t layer,
                           uint32_t seq,
                           kvc_run_t *out,
                           uint32_t cap,
                           uint32_t *n);

// Registers the built-in private-row cache: backend id "kvcore", kind "rows". Statuses of `kvc_builder_register`. Any
// thread. O(builders).
//
// The registry is NULL or valid.
kvc_status_t kvc_rows_register(kvc_registry_t *registry);

// Bytes of storage that a one-sequence cache of this config wants. `KVC_ERR_INVALID_ARGUMENT`,
// `KVC_ERR_INVALID_CONFIG`. Any thread. O(layers).
//
// Pointers are NULL or valid.
kvc_status_t kvc_sequence_size(const kvc_config_t *config, size_t *out);

// Builds a one-sequence cache in `size` bytes of storage aligned to `KVC_ALIGN`, with one reference for the caller.
// `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_INVALID_CONFIG`, `KVC_ERR_BUFFER_TOO_SMALL`. Any thread. O(layers).
//
// Pointers are NULL or valid; the storage stays, used by nobody else, until the cache ended.
kvc_status_t kvc_sequence_init(void *storage,
                               size_t size,
                               const kvc_config_t *config,
                               kvc_cache_t **out);

// Whether `n` more tokens, in steps of at most `max_write`, fit. `KVC_ERR_INVALID_ARGUMENT` (also 0 tokens),
// `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BUSY`. Any thread. O(1).
//
// Pointers are NULL or valid.
kvc_status_t kvc_can_extend(const kvc_cache_t *cache, uint32_t n, bool *out);

// Tokens held: the position of the next one. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
// `KVC_ERR_WRONG_KIND`, `KVC_ERR_BUSY`. Any thread. O(1).
//
// Pointers are NULL or valid.
kvc_status_t kvc_length(const kvc_cache_t *cache, uint32_t *out);

// Takes the length back to `new_len`, if everything that the next token would see is still in its rows. Plans made
// before are stale afterwards. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`,
// `KVC_ERR_CANNOT_GROW` beyond the length, `KVC_ERR_EVICTED` when a window has dropped what the target needs,
// `KVC_ERR_BUSY`. Any thread. O(groups).
//
// The cache is NULL or valid.
kvc_status_t kvc_rewind(kvc_cache_t *cache,
                        uint32_t new_len);

// The smallest length such that a rewind to every length from there to the present one is allowed now; 0 when all
// are. `KVC_ERR_INVALID_ARGUMENT`, `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`, `KVC_ERR_BUSY`. Any
// thread. O(groups).
//
// Pointers are NULL or valid.
kvc_status_t kvc_rewind_floor(const kvc_cache_t *cache,
                              uint32_t *out);

// Plans a step of `n` tokens at `position`, which is the length, for one layer. The same step may be planned again,
// for every layer and in any order, until it is partly committed or another begins. The rows of the step count as
// overwritten from now on. `KVC_ERR_INVALID_ARGUMENT` (also 0 tokens), `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`,
// `KVC_ERR_WRONG_KIND`, `KVC_ERR_BAD_LAYER`, `KVC_ERR_BAD_POSITION`, `KVC_ERR_STEP_TOO_LARGE`, `KVC_ERR_NEVER_FITS`,
// `KVC_ERR_OUT_OF_CAPACITY`, `KVC_ERR_BUSY`. A step that any layer would refuse is refused. Any thread. O(1).
//
// Pointers are NULL or valid.
kvc_status_t kvc_seq_plan(kvc_cache_t *cache,
                          uint32_t layer,
                          uint32_t position,
                          uint32_t n,
                          kvc_seq_plan_t *out);

// Plans a step for all layer groups at once: `plans[g]` for group `g`, `*n_groups` of them. The same as
// `kvc_seq_plan` of a layer of each group. Statuses of `kvc_seq_plan`, without `KVC_ERR_BAD_LAYER`;
// `KVC_ERR_BUFFER_TOO_SMALL` for `cap` below the number of groups, which `*n_groups` then tells (`plans` may be NULL
// with `cap` 0). Any thread. O(groups).
//
// Pointers are NULL or valid; `plans` for `cap` elements.
kvc_status_t kvc_seq_plan_step(kvc_cache_t *cache,
                               uint32_t position,
                               uint32_t n,
                               kvc_seq_plan_t *plans,
                               uint32_t cap,
                               uint32_t *n_groups);

// Keeps the first `accepted` tokens of the newest step: the length becomes `plan->position + accepted`. Reads only
// `position`, `n_tokens` and `epoch`. Once per step or once per layer, the result is the same. A partial commit
// closes the step: plan every layer before it. `accepted` 0 closes a step that failed. `KVC_ERR_INVALID_ARGUMENT`
// (also more tokens than the step has), `KVC_ERR_STALE`, `KVC_ERR_CORRUPT`, `KVC_ERR_WRONG_KIND`,
// `KVC_ERR_STALE_PLAN` for a plan older than the newest step, rewind or clear, and for another `accepted` than
// before, `KVC_ERR_BUSY`. Any thread. O(1).
//
// Pointers are NULL or valid.
kvc_status_t kvc_seq_commit(kvc_cache_t *cache,
                            const kvc_seq_plan_t *plan,
                            uint32_t accepted);

// Name of a status constant, such as `KVC_ERR_EVICTED`. Never NULL; a constant. Any thread. O(1).
const char *kvc_status_name(kvc_status_t status);

// Version of the interface that the library was built with; see `kvc_check_header`. Any thread. O(1).
uint32_t kvc_abi_version(void);

// Sets the event hook of the process, or none with NULL. Set it before caches are shared between threads: a
// call that runs meanwhile may still use the old one. O(1).
//
// The hook accepts `ctx`, from any thread that calls the library, until it is replaced.
void kvc_set_event_hook(kvc_event_fn hook, void *ctx);

// Writes the position of each node of a token tree: `base`, the position of the step's first row, and the node's depth.
// `parents[i]` is the node that node `i` continues, one before it, or -1 for a child of the committed prefix; a tree has
// 1 to 256 nodes. `KVC_ERR_INVALID_ARGUMENT` (also parents that are no tree, a position over 32 bits, and arrays that
// overlap). Any thread. O(`n`); where `base + n` passes 32 bits, O(`n` * depth).
//
// Pointers are NULL or valid for `n` elements.
kvc_status_t kvc_tree_positions(const int32_t *parents,
                                uint32_t n,
                                uint32_t base,
                                uint32_t *out);

// Writes the interval of each node of a token tree, for kernels that take intervals in place of a mask: node `i` sees
// node `j` of the same step iff `pre[j] <= pre[i] < end[j]`. `pre` numbers the nodes depth first, siblings by their
// index; `end` is the number behind the last descendant. A window is not in it: one that is smaller than the tree is
// deep hides ancestors that lie `window` levels up or more. `parents` as for `kvc_tree_positions`.
// `KVC_ERR_INVALID_ARGUMENT` (also parents that are no tree, and arrays that overlap). Any thread. O(`n`).
//
// Pointers are NULL or valid for `n` elements.
kvc_status_t kvc_tree_intervals(const int32_t *parents,
                                uint32_t n,
                                uint16_t *pre,
                                uint16_t *end);

// Lists the moves of rows that make the accepted path of a token tree contiguous: the path to `leaf`, its `k`-th node
// moved to `rows[k]`. `rows` are the `n` rows that the step wrote in a pool, in order, no row twice (that is not
// checked); `parents` as for `kvc_tree_positions`. Carry the moves out in the given order, once in every pool (a layer
// that shares rows has none of its own), then commit `*accepted` tokens (private rows: rewind to that many tokens of
// the step): the leaf's depth + 1, or 0, and no moves, with `leaf` -1. No row is overwritten before it was read.
// Source and target of a move may overlap, and then the target lies below the source: copy row by row in ascending
// order, or with `memmove`. `*n_moves`: how many moves there are, never more than tokens accepted. `out` may be NULL
// with `cap` 0. `KVC_ERR_INVALID_ARGUMENT` (also parents that are no tree, a leaf that is neither -1 nor a node, and
// arrays that overlap), `KVC_ERR_BUFFER_TOO_SMALL` for `cap` below the number of moves, which `*n_moves` then tells.
// Any thread. O(`n`).
//
// Pointers are NULL or valid; `rows` and `parents` for `n` elements, `out` for `cap`.
kvc_status_t kvc_tree_moves(const uint32_t *rows,
                            const int32_t *parents,
                            uint32_t n,
                            int32_t leaf,
                            kvc_move_t *out,
                            uint32_t cap,
                            uint32_t *n_moves,
                            uint32_t *accepted);

// Where a uint64_t may be aligned to 4 bytes (i386), the compiler is asked for KVC_ALIGN.
#if defined(__GNUC__)
#define KVC_ALIGNED __attribute__((aligned(KVC_ALIGN)))
#else
#define KVC_ALIGNED
#endif

// A static buffer for a cache or a registry: KVC_STORAGE(my_cache, KVC_SEQUENCE_BYTES_FOR(34));
#define KVC_STORAGE(name, bytes) static uint64_t name[((bytes) + 7u) / 8u] KVC_ALIGNED

// Bytes of storage of a one-sequence cache of n_layers layers, as a constant expression. The same as
// kvc_sequence_size answers.
#define KVC_SEQUENCE_BYTES_FOR(n_layers) \
  ((16u + 16u * sizeof(void *) + 288u + 2u * (size_t)(n_layers) + 7u) / 8u * 8u)

// A config with struct_size set, initial_capacity 512 and the rest 0.
static inline kvc_config_t kvc_config_default(void) {
  kvc_config_t config = {0, 0, 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL};
  config.struct_size = (uint32_t)sizeof(kvc_config_t);
  config.initial_capacity = 512u;
  return config;
}

// Whether this header and the library belong together.
static inline bool kvc_check_header(void) { return KVC_ABI_VERSION == kvc_abi_version(); }

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* KVCORE_H */
