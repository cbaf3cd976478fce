/* Every sequence of operations up to a depth, on every small config: windows and step limits of 1 to 3, rollbacks and
 * sinks of 0 to 2, a capacity that clips the ring or none, alone and beside a flat layer. Each operation is followed by
 * the shadow of the pools. Sequences begin with an empty cache, and with one whose next step makes its ring come round.
 *
 * An operation is a step of every length that is kept whole, in part or not at all, or is left open; or a rewind by
 * one, two or three tokens or to 0. After each one the rewind floor is compared with what the rows hold, and at the end of a
 * sequence every rewind that there is. */

#include <inttypes.h>
#include <stdio.h>

#include "models.h"
#include "shadow.h"
#include "support.h"

/* Most operations of a sequence whose steps are of one token; one less for each token more that a step may have. */
enum { DEPTH = 6, LEFT_OPEN = -1 };

/* A step of `tokens` of which `accepted` are kept, or, with 0 tokens, a rewind by `back`. */
typedef struct {
    uint32_t tokens;
    int32_t accepted;
    uint32_t back;
} operation_t;

static uint64_t storage[CACHE_BYTES / 8];
static shadow_t shadow;
static shadow_saved_t saved[DEPTH + 1];
static uint64_t sequences, refused;

static operation_t operations[24];
static uint32_t n_operations;

static void add_operation(uint32_t tokens, int32_t accepted, uint32_t back)
{
    operation_t operation = {tokens, accepted, back};
    operations[n_operations++] = operation;
}

static void list_operations(uint32_t max_write)
{
    n_operations = 0;
    for (uint32_t n = 1; n <= max_write; n++) {
        for (int32_t accepted = 1; accepted <= (int32_t)n; accepted++) {
            add_operation(n, accepted, 0);
        }
    }
    add_operation(max_write, 0, 0);
    add_operation(max_write, LEFT_OPEN, 0);
    for (uint32_t back = 1; back <= 3; back++) {
        add_operation(0, 0, back);
    }
    add_operation(0, 0, KVC_UNBOUNDED);
}

static kvc_status_t apply(const operation_t *operation)
{
    uint32_t length = shadow.state.length;
    if (operation->tokens == 0) {
        return shadow_rewind(&shadow, operation->back > length ? 0 : length - operation->back);
    }
    kvc_status_t status = shadow_plan_step(&shadow, length, operation->tokens);
    if (status == KVC_OK && operation->accepted != LEFT_OPEN) {
        status = shadow_commit(&shadow, 0, (uint32_t)operation->accepted);
    }
    return status;
}

static void try_every_rewind(shadow_saved_t *before)
{
    shadow_save(&shadow, before);
    for (uint32_t length = 0; length <= before->state.length + 1; length++) {
        if (shadow_rewind(&shadow, length) == KVC_OK) {
            shadow_restore(&shadow, before);
        }
    }
}

static void explore(uint32_t depth)
{
    shadow_saved_t *before = &saved[depth];
    shadow_check_queries(&shadow, 1);
    if (depth == 0) {
        sequences++;
        try_every_rewind(before);
        return;
    }
    shadow_save(&shadow, before);
    for (uint32_t i = 0; i < n_operations; i++) {
        if (apply(&operations[i]) == KVC_OK) {
            explore(depth - 1);
            shadow_restore(&shadow, before);
        } else {
            /* A refused operation changes nothing: what would follow it is explored anyway. */
            refused++;
        }
    }
}

static void fill_up_to(uint32_t length)
{
    while (shadow.state.length < length) {
        uint32_t position = shadow.state.length;
        if (shadow_plan_step(&shadow, position, 1) != KVC_OK || shadow_commit(&shadow, 0, 1) != KVC_OK) {
            give_up("cannot fill the cache");
        }
    }
}

static void explore_config(const kvc_config_t *config, uint32_t depth)
{
    list_operations(config->max_write);
    shadow_init(&shadow, storage, sizeof storage, config);
    explore(depth);
    uint32_t rows = shadow.layouts[0].rows;
    if (rows < config->capacity) {
        fill_up_to(rows - 1);
        explore(depth);
    }
    CHECK_OK(kvc_cache_release(shadow.cache));
}

/* `capacity` 0: two rows more than the window and the sinks. */
static void explore_all(uint32_t n_layers, uint32_t capacity, uint32_t depth)
{
    sequences = refused = 0;
    for (uint32_t window = 1; window <= 3; window++) {
        for (uint32_t sinks = 0; sinks <= 2; sinks++) {
            for (uint32_t max_write = 1; max_write <= 3; max_write++) {
                for (uint32_t rollback = 0; rollback <= 2; rollback++) {
                    kvc_layer_t layers[2] = {ring_with_sinks(window, sinks), flat_layer()};
                    uint32_t bound = capacity == 0 ? window + sinks + 2 : capacity;
                    kvc_config_t config = config_of(layers, n_layers, bound);
                    config.max_write = max_write;
                    config.rollback = rollback;
                    explore_config(&config, depth + 1 - max_write);
                }
            }
        }
    }
    printf("%" PRIu32 " layers, capacity %" PRIu32 ": %" PRIu64 " sequences, %" PRIu64 " operations refused\n",
           n_layers, capacity, sequences, refused);
}

static void test_ring_that_only_its_window_bounds(void)
{
    explore_all(1, KVC_UNBOUNDED, DEPTH);
}

static void test_ring_that_the_capacity_clips(void)
{
    explore_all(1, 0, DEPTH - 1);
}

static void test_ring_beside_flat(void)
{
    explore_all(2, 24, DEPTH - 1);
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(test_ring_that_only_its_window_bounds),
        TEST(test_ring_that_the_capacity_clips),
        TEST(test_ring_beside_flat),
    };
    return RUN_ALL(cases);
}
