/* A shadow of a cell cache and of its pools.
 *
 * Every row of every pool remembers which token it was last written with and how its key is rotated: what a backend has
 * that does no more than what the cache tells it. Each operation goes to the cache and to the model of it, which
 * foretells the answer. Whatever a mask lets a query see must be in the row: the token of that sequence, rotated to
 * where it is now. A refused operation must leave every byte of the cache as it was. */

#ifndef KVC_TESTS_CELLS_SHADOW_H
#define KVC_TESTS_CELLS_SHADOW_H

#include "cells_model.h"
#include "kvcore.h"

enum { CELLS_BYTES = 1 << 15 };

typedef struct {
    uint32_t token;
    int64_t rotation;
} cells_row_t;

typedef struct {
    kvc_cache_t *cache;
    size_t cache_bytes;
    /* Calls made so far that change something, and how many of them were refused. */
    uint64_t operations, refused;
    cells_model_t model;
    cells_row_t rows[CELLS_POOLS][CELLS_ROWS];
} cells_shadow_t;

/* Builds a cache in `storage` and its shadow. `config` has an entry for each layer. */
void cells_shadow_init(cells_shadow_t *shadow, void *storage, size_t size, const kvc_config_t *config);

kvc_status_t cells_shadow_declare(cells_shadow_t *shadow, const uint32_t *seqs, uint32_t n);
/* Places through one layer and writes the rows of its pool. */
kvc_status_t cells_shadow_place(cells_shadow_t *shadow, uint32_t layer, const uint32_t *positions, uint32_t n);
kvc_status_t cells_shadow_new(cells_shadow_t *shadow);
kvc_status_t cells_shadow_clone(cells_shadow_t *shadow, uint32_t src, uint32_t upto);
kvc_status_t cells_shadow_remove(cells_shadow_t *shadow, uint32_t seq, uint32_t from, uint32_t to);
kvc_status_t cells_shadow_release(cells_shadow_t *shadow, uint32_t seq);
kvc_status_t cells_shadow_keep(cells_shadow_t *shadow, uint32_t seq);
kvc_status_t cells_shadow_shift(cells_shadow_t *shadow, uint32_t seq, uint32_t from, uint32_t to, int32_t delta);
kvc_status_t cells_shadow_rewind(cells_shadow_t *shadow, uint32_t seq, uint32_t new_len);
void cells_shadow_clear(cells_shadow_t *shadow);
/* At most `cap` moves, carried out one after the other. */
kvc_status_t cells_shadow_defrag(cells_shadow_t *shadow, uint32_t layer, uint32_t cap);

/* Reads the list of a layer's pool with room for `cap` shifts, and leaves it. */
kvc_status_t cells_shadow_read_shifts(cells_shadow_t *shadow, uint32_t layer, uint32_t cap);
/* Reads the lists of all pools, rotates the rows, and says so. */
void cells_shadow_apply_shifts(cells_shadow_t *shadow);

/* Checks what the queries answer for each sequence; can_admit for `n` tokens. */
void cells_shadow_check_queries(cells_shadow_t *shadow, uint32_t n);
/* Checks both forms of the placed step's mask through one layer, with `padding` more columns than needed. */
void cells_shadow_check_masks(cells_shadow_t *shadow, uint32_t layer, uint32_t padding);

/* Copies what changes, to go back to it: the cache is plain bytes while nobody calls it. */
typedef struct {
    cells_state_t state;
    cells_dropped_t dropped[KVC_MAX_SEQS];
    cells_row_t rows[CELLS_POOLS][CELLS_ROWS];
    unsigned char cache[4096];
} cells_saved_t;

void cells_shadow_save(const cells_shadow_t *shadow, cells_saved_t *saved);
void cells_shadow_restore(cells_shadow_t *shadow, const cells_saved_t *saved);

#endif
