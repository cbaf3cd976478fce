/* The arithmetic of plans and masks once more, written down from the formulas, one position and one (query, key)
 * pair at a time. Slow, obvious, and without a line in common with the library. */

#ifndef KVC_TESTS_NAIVE_H
#define KVC_TESTS_NAIVE_H

#include "kvcore.h"

/* Limits of what this can check. */
enum { NAIVE_TOKENS = 64, NAIVE_READ = 512 };

typedef struct {
    kvc_layer_t layer;
    /* Rows of the ring, or of the whole flat pool. */
    uint32_t ring;
    /* Rows of the pool. */
    uint32_t rows;
} naive_layout_t;

naive_layout_t naive_layout(const kvc_layer_t *layer, uint32_t max_write, uint32_t rollback, uint32_t capacity);

uint32_t naive_row(const naive_layout_t *layout, uint32_t position);

/* Whether a query at one position sees a key at another. */
bool naive_sees(const kvc_layer_t *layer, uint32_t query, uint32_t key);

/* Most tokens of a step that the layer's own layout allows. */
uint32_t naive_step_limit(const kvc_layer_t *layer, uint32_t max_write);

/* Checks every field of a plan but `group` and `epoch`. */
bool naive_check_plan(const naive_layout_t *layout, uint32_t position, uint32_t n, const kvc_seq_plan_t *plan);

/* Checks the positions of the read rows, and both forms of the mask over both kinds of columns, with `padding` more
 * columns than needed. With `parents` the step is a token tree. The plan has passed naive_check_plan. */
void naive_check_masks(const naive_layout_t *layout, const kvc_seq_plan_t *plan, const int32_t *parents,
                       uint32_t padding);

#endif
