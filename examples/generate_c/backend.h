/* The backend's side: owns the K/V pools, finds the cache by its key, and does exactly what its plans say. It never
 * works out a row itself.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include "kvcore.h"
#include "model.h"

enum { MAX_STEP = 8 }; /* most tokens of a step: the cache's max_write */

/* What a row really holds. A real backend would not keep it: it lets the example check every row that it reads. */
typedef struct {
    uint32_t position;
    uint8_t token;
    bool written;
} held_t;

/* K and V of one layer, a row for each position held. */
typedef struct {
    float *keys;
    float *values;
    held_t *held;
    uint32_t rows, most_rows;
} pool_t;

typedef struct {
    kvc_cache_t *cache;
    kvc_layer_info_t layers[LAYERS];
    uint32_t pool_of[LAYERS]; /* its own, or its donor's */
    pool_t pools[LAYERS];
    kvc_seq_plan_t plans[KVC_MAX_GROUPS]; /* the newest step, a plan for each layer group */
} backend_t;

void backend_attach(backend_t *, kvc_registry_t *, const char *key);
void backend_detach(backend_t *);

/* One step: the last n of the len tokens are new. */
void backend_forward(backend_t *, const uint8_t *history, uint32_t len, uint32_t n, float logits[][VOCAB]);

/* Closes the step: its first tokens stay. */
void backend_commit(backend_t *, uint32_t accepted);

/* Ends the program with a message unless all is well. */
void must(kvc_status_t, const char *call);
void die(const char *message);

#endif
