/* Every sequence of operations up to a depth, on every small config of cells: windows of 1 to 3 with and without sinks
 * and rollback, flat layers, both together in one pool or two, cells kept or freed. Each operation is followed by the
 * shadow of the pools. Sequences begin with an empty cache, and with one in which a clone shares what a window begins
 * to drop.
 *
 * An operation is a step of one or two sequences through every layer, with a gap or without; a verb with each of its
 * small arguments; shifts that are read, or carried out. After each one every query is asked. */

#include <inttypes.h>
#include <stdio.h>

#include "cells_shadow.h"
#include "models.h"
#include "support.h"

enum { DEPTH = 5, CAPACITY = 5, SEQS = 2 };

typedef enum { NEW, CLONE, RELEASE, KEEP, STEP, REMOVE, SHIFT, REWIND, DEFRAG, READ, APPLY } verb_t;

/* What `a`, `b` and `c` mean is the verb's. */
typedef struct {
    verb_t verb;
    uint32_t seq, a, b;
    int32_t c;
} operation_t;

static const operation_t operations[] = {
    {NEW, 0, 0, 0, 0},
    {CLONE, 0, KVC_UNBOUNDED, 0, 0},
    {CLONE, 0, 2, 0, 0},
    {CLONE, 1, 1, 0, 0},
    {RELEASE, 0, 0, 0, 0},
    {RELEASE, 1, 0, 0, 0},
    {KEEP, 1, 0, 0, 0},
    /* Tokens of the sequence, then tokens of the other one, then the gap before the first. */
    {STEP, 0, 1, 0, 0},
    {STEP, 0, 2, 0, 0},
    {STEP, 1, 2, 0, 0},
    {STEP, 0, 1, 1, 0},
    {STEP, 0, 1, 0, 1},
    {REMOVE, 0, 0, 1, 0},
    {REMOVE, 0, 1, 3, 0},
    {REMOVE, 0, 2, KVC_UNBOUNDED, 0},
    {REMOVE, 1, 0, KVC_UNBOUNDED, 0},
    {SHIFT, 0, 1, KVC_UNBOUNDED, -1},
    {SHIFT, 0, 1, KVC_UNBOUNDED, 1},
    {SHIFT, 0, 0, 2, 2},
    {SHIFT, 1, 0, KVC_UNBOUNDED, 1},
    /* By so many tokens. */
    {REWIND, 0, 1, 0, 0},
    {REWIND, 0, 3, 0, 0},
    {REWIND, 1, 1, 0, 0},
    {DEFRAG, 0, 1, 0, 0},
    {DEFRAG, 0, CAPACITY, 0, 0},
    {READ, 0, 0, 0, 0},
    {APPLY, 0, 0, 0, 0},
};
enum { N_OPERATIONS = sizeof operations / sizeof operations[0] };

static uint64_t storage[CELLS_BYTES / 8];
static cells_shadow_t shadow;
static cells_saved_t saved[DEPTH + 1];
static uint64_t sequences, refused;

/* Declares and places the step through every layer, and checks all masks. */
static kvc_status_t run_step(const operation_t *it)
{
    uint32_t ids[4] = {0}, positions[4] = {0}, n = it->a + it->b, n_layers = shadow.model.config.n_layers;
    for (uint32_t i = 0; i < n; i++) {
        ids[i] = i < it->a ? it->seq : 1 - it->seq;
    }
    kvc_status_t status = cells_shadow_declare(&shadow, ids, n);
    if (status != KVC_OK) {
        return status;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t next = cells_model_next(&shadow.model, ids[i]) + (uint32_t)it->c;
        positions[i] = i > 0 && ids[i] == ids[i - 1] ? positions[i - 1] + 1 : next;
    }
    for (uint32_t layer = 0; layer < n_layers; layer++) {
        cells_shadow_place(&shadow, layer, positions, n);
        cells_shadow_check_masks(&shadow, layer, 0);
    }
    return KVC_OK;
}

static kvc_status_t rewind_by(uint32_t seq, uint32_t n)
{
    uint32_t next = cells_model_is_live(&shadow.model, seq) ? cells_model_next(&shadow.model, seq) : 0;
    return cells_shadow_rewind(&shadow, seq, n > next ? 0 : next - n);
}

static kvc_status_t apply(const operation_t *it)
{
    switch (it->verb) {
    case NEW: return cells_shadow_new(&shadow);
    case CLONE: return cells_shadow_clone(&shadow, it->seq, it->a);
    case RELEASE: return cells_shadow_release(&shadow, it->seq);
    case KEEP: return cells_shadow_keep(&shadow, it->seq);
    case STEP: return run_step(it);
    case REMOVE: return cells_shadow_remove(&shadow, it->seq, it->a, it->b);
    case SHIFT: return cells_shadow_shift(&shadow, it->seq, it->a, it->b, it->c);
    case REWIND: return rewind_by(it->seq, it->a);
    case DEFRAG: return cells_shadow_defrag(&shadow, shadow.model.config.n_layers - 1, it->a);
    case READ: return cells_shadow_read_shifts(&shadow, 0, CAPACITY);
    case APPLY: break;
    }
    cells_shadow_apply_shifts(&shadow);
    return KVC_OK;
}

static void explore(uint32_t depth)
{
    cells_saved_t *before = &saved[depth];
    cells_shadow_check_queries(&shadow, 2);
    if (depth == 0) {
        sequences++;
        return;
    }
    cells_shadow_save(&shadow, before);
    for (uint32_t i = 0; i < N_OPERATIONS; i++) {
        if (apply(&operations[i]) == KVC_OK) {
            explore(depth - 1);
            cells_shadow_restore(&shadow, before);
        } else {
            /* A refused operation changes nothing: what would follow it is explored anyway. */
            refused++;
        }
    }
}

static void must(const operation_t *it)
{
    if (apply(it) != KVC_OK) {
        give_up("the beginning is refused");
    }
}

/* A sequence of four tokens, and a clone of it. */
static void begin_with_a_clone(void)
{
    static const operation_t beginning[] = {
        {NEW, 0, 0, 0, 0}, {STEP, 0, 2, 0, 0}, {STEP, 0, 1, 0, 0}, {CLONE, 0, KVC_UNBOUNDED, 0, 0}, {STEP, 0, 1, 0, 0}};
    for (size_t i = 0; i < sizeof beginning / sizeof beginning[0]; i++) {
        must(&beginning[i]);
    }
}

static void explore_config(const kvc_config_t *config)
{
    cells_shadow_init(&shadow, storage, sizeof storage, config);
    explore(DEPTH);
    cells_shadow_clear(&shadow);
    begin_with_a_clone();
    explore(DEPTH - 1);
    CHECK_OK(kvc_cache_release(shadow.cache));
}

static void explore_layers(const kvc_layer_t *layers, uint32_t n_layers, uint32_t flags, uint32_t rollback)
{
    kvc_config_t config = config_of(layers, n_layers, CAPACITY);
    config.max_seqs = SEQS;
    config.max_write = 3;
    config.rollback = rollback;
    config.flags = flags;
    explore_config(&config);
}

static void report(const char *what)
{
    printf("%s: %" PRIu64 " sequences, %" PRIu64 " operations refused\n", what, sequences, refused);
    sequences = refused = 0;
}

static void test_flat(void)
{
    const kvc_layer_t layers[1] = {flat_layer()};
    explore_layers(layers, 1, 0, 0);
    report("flat");
}

static void test_windows(void)
{
    for (uint32_t window = 1; window <= 3; window++) {
        for (uint32_t sinks = 0; sinks <= 1; sinks++) {
            const kvc_layer_t layers[1] = {ring_with_sinks(window, sinks)};
            explore_layers(layers, 1, 0, window == 2);
        }
    }
    report("windowed");
}

static void test_windows_of_two_layers(void)
{
    const kvc_layer_t layers[2] = {ring_with_sinks(2, 1), ring_layer(1)};
    explore_layers(layers, 2, 0, 0);
    explore_layers(layers, 2, KVC_SPLIT_POOLS, 0);
    report("two windows");
}

static void test_flat_beside_windows(void)
{
    const kvc_layer_t layers[2] = {flat_layer(), ring_layer(2)};
    explore_layers(layers, 2, 0, 0);
    explore_layers(layers, 2, KVC_SPLIT_POOLS, 0);
    explore_layers(layers, 2, KVC_SPLIT_POOLS | KVC_KEEP_CELLS, 0);
    report("mixed");
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(test_flat),
        TEST(test_windows),
        TEST(test_windows_of_two_layers),
        TEST(test_flat_beside_windows),
    };
    return RUN_ALL(cases);
}
