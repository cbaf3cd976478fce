/* A shadow of a one-sequence cache and of the pools of its layers.
 *
 * Every row of every pool remembers which position it holds and in which generation that token was written. Each
 * operation goes to the cache and to the shadow, which foretells the answer from the rows alone and checks that every
 * read row of a plan holds what the plan says. A refused operation must leave every byte of the cache as it was. */

#ifndef KVC_TESTS_SHADOW_H
#define KVC_TESTS_SHADOW_H

#include "kvcore.h"
#include "naive.h"

enum { SHADOW_LAYERS = 8, SHADOW_ROWS = 640, SHADOW_POSITIONS = 512, SHADOW_PLANS = 4 };

/* A position in the sequence that a row holds, and its token. */
typedef struct {
    uint32_t position;
    uint32_t generation;
} shadow_row_t;

/* A plan that the cache made, and the step that it belongs to. */
typedef struct {
    kvc_seq_plan_t plan;
    uint32_t serial;
} shadow_plan_t;

/* What changes. All of it but the rows and the generations. */
typedef struct {
    uint32_t length;
    uint32_t next_generation;
    /* The newest step: begun at `position`; 0 tokens after a rewind. */
    uint32_t position;
    uint32_t n_tokens;
    uint32_t accepted;
    uint32_t generation;
    uint32_t epoch;
    /* Counts steps, rewinds and clears. */
    uint32_t serial;
    /* Positions from here on were never given a generation. */
    uint32_t high;
    /* Serial of the step that each layer's pool was last written in. */
    uint32_t written_in[SHADOW_LAYERS];
    /* The newest plans, for commits of fresh and of stale ones. */
    shadow_plan_t plans[SHADOW_PLANS];
    uint32_t n_plans;
} shadow_state_t;

typedef struct {
    kvc_cache_t *cache;
    size_t cache_bytes;
    kvc_config_t config;
    kvc_layer_t layers[SHADOW_LAYERS];
    naive_layout_t layouts[SHADOW_LAYERS];
    uint32_t group[SHADOW_LAYERS];
    uint32_t n_groups;
    /* The layer whose pool this one uses: itself or its donor. */
    uint32_t pool_of[SHADOW_LAYERS];
    uint32_t first_row[SHADOW_LAYERS];
    uint32_t n_rows;
    uint32_t step_limit;
    uint32_t bound;
    /* Calls made so far. */
    uint64_t operations;
    shadow_state_t state;
    uint32_t generation_of[SHADOW_POSITIONS];
    shadow_row_t rows[SHADOW_ROWS];
} shadow_t;

/* Builds a cache in `storage` and its shadow. `config` has an entry for each layer. */
void shadow_init(shadow_t *shadow, void *storage, size_t size, const kvc_config_t *config);

/* Plans through one layer, lets that layer write its rows, and checks what it reads. */
kvc_status_t shadow_plan(shadow_t *shadow, uint32_t layer, uint32_t position, uint32_t n);

/* Plans all groups at once, lets every layer write, and checks what each reads. */
kvc_status_t shadow_plan_step(shadow_t *shadow, uint32_t position, uint32_t n);

/* Whether every pool was written in the newest step. */
bool shadow_is_written(const shadow_t *shadow);

/* Commits a plan that was kept: 0 is the newest, SHADOW_PLANS - 1 the oldest. */
kvc_status_t shadow_commit(shadow_t *shadow, uint32_t age, uint32_t accepted);

kvc_status_t shadow_rewind(shadow_t *shadow, uint32_t length);
void shadow_clear(shadow_t *shadow);

/* The answer to a rewind, from what the rows hold. */
kvc_status_t shadow_foretell_rewind(const shadow_t *shadow, uint32_t length);

/* Checks the length, the rewind floor and can_extend. */
void shadow_check_queries(shadow_t *shadow, uint32_t n);

/* Checks the masks of the newest plan for one of its layers. */
void shadow_check_masks(const shadow_t *shadow, uint32_t layer, const int32_t *parents, uint32_t padding);

/* Copies what changes, to go back to it. The cache is plain bytes while nobody calls it, so a copy of them put back at
 * the same address is the same cache at an earlier time. */
typedef struct {
    shadow_state_t state;
    uint32_t generation_of[SHADOW_POSITIONS];
    shadow_row_t rows[SHADOW_ROWS];
    unsigned char cache[1024];
} shadow_saved_t;

void shadow_save(const shadow_t *shadow, shadow_saved_t *saved);
void shadow_restore(shadow_t *shadow, const shadow_saved_t *saved);

#endif
