/* What the files of the shadow of private rows share. */

#ifndef KVC_TESTS_ROWS_PARTS_H
#define KVC_TESTS_ROWS_PARTS_H

#include "rows_shadow.h"

/* A row that holds nothing known; a number that was not told. */
#define NOTHING KVC_UNBOUNDED

static inline uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Around every call that changes something. A status that was not foretold ends the program. */
void rows_before_call(rows_shadow_t *shadow, kvc_status_t foretold);
kvc_status_t rows_after_call(const rows_shadow_t *shadow, kvc_status_t foretold, kvc_status_t got);
/* Events since then that tell of positions that a window dropped. */
unsigned rows_evictions(void);

static inline bool owns_pool(const rows_shadow_t *shadow, uint32_t layer)
{
    return shadow->pool_of[layer] == layer;
}

/* Whether a row of a sequence's pool holds its token at a position. */
bool rows_hold(const rows_shadow_t *shadow, uint32_t seq, uint32_t layer, uint32_t row, uint32_t position);

/* Rows that a sequence takes when it gets longer. */
uint64_t rows_taken(const rows_shadow_t *shadow, uint32_t seq, uint64_t n);

#endif
