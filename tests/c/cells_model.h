/* A cell cache once more, written down from the rules one token at a time: who owns each token, at which position, in
 * which row of each pool. Slow, obvious, and without a line in common with the library. */

#ifndef KVC_TESTS_CELLS_MODEL_H
#define KVC_TESTS_CELLS_MODEL_H

#include "kvcore.h"

/* Limits of what this can follow. */
enum { CELLS_LAYERS = 4, CELLS_POOLS = 3, CELLS_ROWS = 96, CELLS_TOKENS = 192, CELLS_POSITIONS = 512 };

#define CELLS_NOWHERE KVC_UNBOUNDED

/* A token in one pool. Nobody owns it there: the row is free, or belongs to another. */
typedef struct {
    uint64_t owners;
    uint32_t row;
    /* By how much its key has yet to be rotated. */
    int64_t pending;
} cells_copy_t;

typedef struct {
    /* Never the same twice; 0: this entry is free. */
    uint32_t id;
    uint32_t position;
    cells_copy_t in[CELLS_POOLS];
} cells_token_t;

typedef struct {
    uint32_t n_rows, window, sinks;
    /* Windows free the rows that they have passed. */
    bool evicts;
} cells_pool_t;

/* What changes, but for what was dropped. */
typedef struct {
    uint64_t live;
    uint32_t next_id;
    /* The declared step: 0 tokens when there is none. */
    uint32_t n_tokens;
    bool placed;
    /* A step was declared since there were pending shifts; somebody read them since and is applying them. */
    bool fixed, frozen;
    /* The shifts of each pool: read since the last kvc_batch_declare_step or kvc_cells_shifts_done, and changed since. */
    bool read[CELLS_POOLS], stale[CELLS_POOLS];
    uint32_t seqs[CELLS_ROWS];
    uint32_t positions[CELLS_ROWS];
    /* The entries of the tokens placed. */
    uint32_t placed_at[CELLS_ROWS];
    cells_token_t tokens[CELLS_TOKENS];
} cells_state_t;

/* Position behind the highest one of a sequence that a window has dropped from each pool; 0: none. */
typedef struct {
    uint32_t end[CELLS_POOLS];
} cells_dropped_t;

typedef struct {
    kvc_config_t config;
    kvc_layer_t layers[CELLS_LAYERS];
    uint32_t group[CELLS_LAYERS];
    uint32_t n_groups;
    uint32_t pool_of[CELLS_LAYERS];
    cells_pool_t pools[CELLS_POOLS];
    uint32_t n_pools;
    /* Entries in use are below this. */
    uint32_t n_entries;
    uint32_t step_limit;
    cells_state_t state;
    cells_dropped_t dropped[KVC_MAX_SEQS];
} cells_model_t;

void cells_model_init(cells_model_t *model, const kvc_config_t *config);

/* What the queries answer. */
uint32_t cells_model_len(const cells_model_t *model, uint32_t seq);
uint32_t cells_model_next(const cells_model_t *model, uint32_t seq);
uint32_t cells_model_first(const cells_model_t *model, uint32_t seq);
uint32_t cells_model_free_rows(const cells_model_t *model);
bool cells_model_admits(const cells_model_t *model, uint32_t seq, uint32_t n);
bool cells_model_is_live(const cells_model_t *model, uint32_t seq);

/* The token in a row, or NULL. */
const cells_token_t *cells_model_at(const cells_model_t *model, uint32_t pool, uint32_t row);
/* Highest row in use + 1. */
uint32_t cells_model_end(const cells_model_t *model, uint32_t pool);
/* Whether token `i` of the placed step sees a token that is in the pool of the layer. */
bool cells_model_sees(const cells_model_t *model, uint32_t layer, uint32_t i, const cells_token_t *token);

/* Each answers the status that the cache should, and, if it is KVC_OK, does what the cache does. */
kvc_status_t cells_model_declare(cells_model_t *model, const uint32_t *seqs, uint32_t n, bool *evicted);
kvc_status_t cells_model_place(cells_model_t *model, uint32_t layer, const uint32_t *positions, uint32_t n);
kvc_status_t cells_model_new(cells_model_t *model, uint32_t *seq);
kvc_status_t cells_model_clone(cells_model_t *model, uint32_t src, uint32_t upto, uint32_t *seq);
kvc_status_t cells_model_remove(cells_model_t *model, uint32_t seq, uint32_t from, uint32_t to);
kvc_status_t cells_model_release(cells_model_t *model, uint32_t seq);
kvc_status_t cells_model_keep(cells_model_t *model, uint32_t seq);
kvc_status_t cells_model_shift(cells_model_t *model, uint32_t seq, uint32_t from, uint32_t to, int32_t delta);
kvc_status_t cells_model_rewind(cells_model_t *model, uint32_t seq, uint32_t new_len);
void cells_model_clear(cells_model_t *model);
void cells_model_shifts_done(cells_model_t *model);
/* The list of a pool was read; whether there was any. */
void cells_model_shifts_read(cells_model_t *model, uint32_t pool, bool any);
/* One row moves to a free one. */
void cells_model_move(cells_model_t *model, uint32_t pool, uint32_t from, uint32_t to);
void cells_model_end_step(cells_model_t *model);

#endif
