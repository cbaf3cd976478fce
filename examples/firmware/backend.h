/* The backend's side: owns the K/V pools, finds its cache by key, and does exactly what the plans say. */
#ifndef BACKEND_H
#define BACKEND_H

#include <stdbool.h>

#include "kvcore.h"
#include "model.h"

enum { MAX_STEP = 5 }; /* most tokens of a step: the cache's max_write */

/* K and V of one position. A real backend would not note whose they are: it lets the example check each row it reads.
 */
typedef struct {
    int16_t key[DIM];
    int16_t value[DIM];
    uint16_t position;
    uint8_t token;
    bool written;
} row_t;

typedef struct {
    kvc_cache_t *cache;
    kvc_layer_info_t layers[LAYERS];
    row_t *pool[LAYERS]; /* its own, or its donor's */
    kvc_seq_plan_t plans[KVC_MAX_GROUPS];
    uint32_t steps, wraps; /* steps made, and those that went on at the begin of a ring */
} backend_t;

/* Finds the cache and hands out rows for its pools. */
void backend_attach(backend_t *, kvc_registry_t *, const char *key, row_t *rows, uint32_t n_rows);
void backend_detach(backend_t *);

/* One step: the last n of the len tokens are new. states gets the last layer's output for each of them. */
void backend_forward(backend_t *, const uint8_t *history, uint32_t len, uint32_t n, int32_t states[][DIM]);

/* Closes the step: its first tokens stay. */
void backend_commit(backend_t *, uint32_t accepted);

/* Counts and shows what did not hold. */
void check(bool holds, const char *what);
void must(kvc_status_t status, const char *call);
uint32_t failures(void);

#endif
