/* A shadow of a private-row cache: for each sequence a pool of rows of its own for each layer.
 *
 * Every row remembers which position it holds and in which generation that token was written. Each operation goes to
 * the cache and to the shadow, which foretells the answer from the rows alone, and checks that every read row of a span
 * holds what its plan says. What a clone reads is what kvc_rows_held said to copy. A refused operation must leave every
 * byte of the cache as it was. */

#ifndef KVC_TESTS_ROWS_SHADOW_H
#define KVC_TESTS_ROWS_SHADOW_H

#include "kvcore.h"
#include "naive.h"

enum { ROWS_LAYERS = 4, ROWS_SEQS = 6, ROWS_OF_A_POOL = 48, ROWS_POSITIONS = 256, ROWS_TOKENS = 48 };
enum { ROWS_BYTES = 1 << 13 };

typedef struct {
    uint32_t position;
    uint32_t generation;
} rows_row_t;

typedef struct {
    bool live;
    uint32_t length;
    uint32_t generation_of[ROWS_POSITIONS];
    rows_row_t rows[ROWS_LAYERS][ROWS_OF_A_POOL];
} rows_seq_t;

typedef struct {
    kvc_cache_t *cache;
    size_t cache_bytes;
    kvc_config_t config;
    kvc_layer_t layers[ROWS_LAYERS];
    naive_layout_t layouts[ROWS_LAYERS];
    uint32_t group[ROWS_LAYERS];
    uint32_t n_groups;
    /* The layer whose pool this one uses: itself or its donor. */
    uint32_t pool_of[ROWS_LAYERS];
    uint32_t step_limit;
    uint32_t bound;
    /* Rows of a sequence, however long it is. */
    uint32_t most_rows;
    /* Calls made so far that change something, and how many of them were refused. */
    uint64_t operations, refused;
    uint32_t next_generation;
    /* The declared step: 0 tokens when there is none. */
    uint32_t n_tokens;
    bool placed;
    uint32_t epoch, last_epoch;
    uint32_t ids[ROWS_TOKENS], positions[ROWS_TOKENS];
    /* Pools that the placed step was written to. */
    bool written[ROWS_LAYERS];
    rows_seq_t seqs[ROWS_SEQS];
} rows_shadow_t;

/* Builds a cache in `storage` and its shadow. `config` has an entry for each layer. */
void rows_shadow_init(rows_shadow_t *shadow, void *storage, size_t size, const kvc_config_t *config);

kvc_status_t rows_shadow_declare(rows_shadow_t *shadow, const uint32_t *ids, uint32_t n);
/* Places through one layer with room for `cap` spans, lets that layer write its rows, and checks what it reads. */
kvc_status_t rows_shadow_place(rows_shadow_t *shadow, uint32_t layer, const uint32_t *positions, uint32_t n,
                               uint32_t cap);
/* The positions that the declared step has to have. */
void rows_shadow_positions(const rows_shadow_t *shadow, uint32_t *positions);

kvc_status_t rows_shadow_new(rows_shadow_t *shadow);
kvc_status_t rows_shadow_clone(rows_shadow_t *shadow, uint32_t src, uint32_t upto);
kvc_status_t rows_shadow_release(rows_shadow_t *shadow, uint32_t seq);
kvc_status_t rows_shadow_keep(rows_shadow_t *shadow, uint32_t seq);
kvc_status_t rows_shadow_rewind(rows_shadow_t *shadow, uint32_t seq, uint32_t new_len);
void rows_shadow_clear(rows_shadow_t *shadow);

bool rows_shadow_is_live(const rows_shadow_t *shadow, uint32_t seq);
uint32_t rows_shadow_free_rows(const rows_shadow_t *shadow);

/* Checks what the queries answer for each sequence, and which rows hold what it sees; can_admit for `n` tokens. */
void rows_shadow_check_queries(rows_shadow_t *shadow, uint32_t n);

#endif
