/* Threads that share one cache of many sequences: each call is atomic. Whoever declares last decides what the next
 * placement is for, so steps of others come between; what is handed out is whole all the same, and when the last thread
 * is done every row is either held or free. */

#include <stdio.h>

#include "batches.h"
#include "support.h"
#include "threads.h"

enum { ITERATIONS = 30000, CAPACITY = 96, MAX_WRITE = 6, MAX_SEQS = 24, OWN = 5 };

static uint64_t storage[BATCH_BYTES / 8];
static kvc_cache_t *cache;
static bool is_cells;
static uint32_t placements, refusals, ends;

/* The sequences that a thread began and has not let go of. */
typedef struct {
    uint32_t ids[OWN];
    uint32_t n;
} owned_t;

static owned_t owned[THREADS];

static void count_end(void *ctx, void *at)
{
    (void)at;
    add_to((uint32_t *)ctx, 1);
}

/* Answers whether it went well. What else it may be depends on what the others did meanwhile. */
static bool went_well(kvc_status_t status, const kvc_status_t *others, size_t n_others)
{
    bool allowed = status == KVC_OK || status == KVC_ERR_BUSY;
    for (size_t i = 0; i < n_others; i++) {
        allowed |= status == others[i];
    }
    if (!CHECK(allowed)) {
        fprintf(stderr, "%s is not a status that may come here\n", kvc_status_name(status));
    }
    add_to(&refusals, status != KVC_OK);
    return status == KVC_OK;
}

#define WENT_WELL(call, ...)                                   \
    went_well((call), (const kvc_status_t[]){__VA_ARGS__},     \
              sizeof((const kvc_status_t[]){__VA_ARGS__}) / sizeof(kvc_status_t))

static void begin_or_clone(thread_t *thread, owned_t *own)
{
    uint32_t seq = KVC_UNBOUNDED;
    if (own->n == OWN) {
        return;
    }
    kvc_status_t status;
    if (own->n > 0 && rng_one_in(&thread->rng, 2)) {
        uint32_t src = own->ids[rng_below(&thread->rng, own->n)];
        uint32_t upto = rng_one_in(&thread->rng, 2) ? KVC_UNBOUNDED : rng_below(&thread->rng, 8);
        status = kvc_batch_seq_clone(cache, src, upto, &seq);
    } else {
        status = kvc_batch_seq_new(cache, &seq);
    }
    if (WENT_WELL(status, KVC_ERR_TABLE_FULL, KVC_ERR_OUT_OF_CAPACITY, KVC_ERR_EVICTED)) {
        CHECK(seq < MAX_SEQS);
        own->ids[own->n++] = seq;
    }
}

static void let_go(thread_t *thread, owned_t *own)
{
    uint32_t at = rng_below(&thread->rng, own->n);
    if (WENT_WELL(kvc_batch_seq_release(cache, own->ids[at]), KVC_OK)) {
        own->ids[at] = own->ids[--own->n];
    }
}

static void place_cells(const uint32_t *positions, uint32_t n)
{
    uint32_t cells[MAX_WRITE];
    kvc_cell_step_t step;
    kvc_status_t status = kvc_cells_place_step(cache, n % 2, positions, n, cells, &step);
    if (WENT_WELL(status, KVC_ERR_NO_STEP, KVC_ERR_BAD_POSITION)) {
        add_to(&placements, 1);
        CHECK_EQ(n, step.n_tokens);
        CHECK(step.read_len <= CAPACITY && step.mask <= KVC_MASK_EXPLICIT);
        for (uint32_t i = 0; i < n; i++) {
            CHECK(cells[i] < step.read_len);
            CHECK(i == 0 || cells[i] > cells[i - 1]);
        }
        uint8_t mask[MAX_WRITE * CAPACITY];
        status = kvc_cells_mask_bytes(cache, 0, mask, sizeof mask, CAPACITY);
        WENT_WELL(status, KVC_ERR_NO_STEP);
    }
}

static void place_rows(const uint32_t *positions, uint32_t n)
{
    kvc_span_t spans[MAX_WRITE];
    uint32_t n_spans = 0, n_tokens = 0;
    kvc_status_t status = kvc_rows_place_step(cache, n % 2, positions, n, spans, MAX_WRITE, &n_spans);
    if (WENT_WELL(status, KVC_ERR_NO_STEP, KVC_ERR_BAD_POSITION)) {
        add_to(&placements, 1);
        for (uint32_t i = 0; i < n_spans; i++) {
            const kvc_seq_plan_t *plan = &spans[i].plan;
            CHECK_EQ(positions[n_tokens], plan->position);
            CHECK_EQ(spans[0].plan.epoch, plan->epoch);
            CHECK_EQ(spans[i].n_tokens, plan->n_tokens);
            CHECK(plan->read_len <= plan->position + plan->n_tokens);
            n_tokens += spans[i].n_tokens;
        }
        CHECK_EQ(n, n_tokens);
    }
}

/* Tokens of one or two of the thread's own sequences. */
static void declare_and_place(thread_t *thread, const owned_t *own)
{
    uint32_t ids[MAX_WRITE], positions[MAX_WRITE], n = rng_from(&thread->rng, 1, MAX_WRITE);
    uint32_t first = own->ids[rng_below(&thread->rng, own->n)], next = 0;
    uint32_t second = own->ids[rng_below(&thread->rng, own->n)], next_of_second = 0;
    uint32_t turn = rng_from(&thread->rng, 1, n);
    for (uint32_t i = 0; i < n; i++) {
        ids[i] = i < turn ? first : second;
    }
    kvc_status_t status = kvc_batch_declare_step(cache, ids, n);
    if (!WENT_WELL(status, KVC_ERR_OUT_OF_CAPACITY) || !WENT_WELL(kvc_batch_next_pos(cache, first, &next), KVC_OK) ||
        !WENT_WELL(kvc_batch_next_pos(cache, second, &next_of_second), KVC_OK)) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        positions[i] = i < turn || first == second ? next + i : next_of_second + i - turn;
    }
    if (is_cells) {
        place_cells(positions, n);
    } else {
        place_rows(positions, n);
    }
}

static void go_back(thread_t *thread, const owned_t *own)
{
    uint32_t seq = own->ids[rng_below(&thread->rng, own->n)], next = 0;
    if (!WENT_WELL(kvc_batch_next_pos(cache, seq, &next), KVC_OK)) {
        return;
    }
    uint32_t target = rng_one_in(&thread->rng, 2) ? 0 : rng_below(&thread->rng, next + 1);
    WENT_WELL(kvc_batch_rewind(cache, seq, target), KVC_ERR_EVICTED);
}

static void move_cells(thread_t *thread, const owned_t *own)
{
    kvc_shift_t shifts[CAPACITY];
    kvc_move_t moves[4];
    uint32_t n = 0, seq = own->ids[rng_below(&thread->rng, own->n)];
    switch (rng_below(&thread->rng, 4)) {
    case 0:
        WENT_WELL(kvc_batch_seq_shift(cache, seq, 0, KVC_UNBOUNDED, 1), KVC_ERR_SHARED, KVC_ERR_UNSUPPORTED);
        break;
    case 1:
        if (WENT_WELL(kvc_cells_shifts(cache, 0, shifts, CAPACITY, &n), KVC_OK)) {
            CHECK(n <= CAPACITY);
            WENT_WELL(kvc_cells_shifts_done(cache), KVC_OK);
        }
        break;
    case 2:
        WENT_WELL(kvc_batch_seq_remove(cache, seq, 1, 3), KVC_ERR_EVICTED);
        break;
    default:
        if (WENT_WELL(kvc_cells_defrag(cache, 1, moves, 4, &n), KVC_ERR_UNSUPPORTED)) {
            CHECK(n <= 4);
        }
        break;
    }
}

static void ask(thread_t *thread, const owned_t *own)
{
    uint32_t seq = own->ids[rng_below(&thread->rng, own->n)], n = 0;
    bool fits = true;
    if (WENT_WELL(kvc_batch_free_rows(cache, &n), KVC_OK)) {
        CHECK(n <= CAPACITY);
    }
    if (WENT_WELL(kvc_batch_seq_len(cache, seq, &n), KVC_OK)) {
        CHECK(n <= CAPACITY);
    }
    WENT_WELL(kvc_batch_first_pos(cache, seq, &n), KVC_OK);
    if (WENT_WELL(kvc_batch_can_admit(cache, seq, CAPACITY + 1, &fits), KVC_OK) && is_cells) {
        CHECK(!fits);
    }
}

static void hammer(thread_t *thread)
{
    owned_t *own = &owned[thread->number];
    for (unsigned i = 0; i < ITERATIONS; i++) {
        uint32_t pick = rng_below(&thread->rng, 16);
        if (own->n == 0 || pick == 0) {
            begin_or_clone(thread, own);
        } else if (pick == 1) {
            let_go(thread, own);
        } else if (pick < 4) {
            go_back(thread, own);
        } else if (pick < 6 && is_cells) {
            move_cells(thread, own);
        } else if (pick < 8) {
            ask(thread, own);
        } else {
            declare_and_place(thread, own);
        }
    }
}

/* Whoever is alone holds what is not free; nobody holds nothing. */
static void check_conservation(void)
{
    uint32_t held = 0, seqs = 0;
    for (unsigned thread = 0; thread < THREADS; thread++) {
        for (uint32_t i = 0; i < owned[thread].n; i++) {
            held += len_of_seq(cache, owned[thread].ids[i]);
            seqs++;
        }
    }
    uint32_t free_rows = free_rows_of(cache);
    CHECK(is_cells ? CAPACITY - free_rows <= held : CAPACITY - free_rows == held);
    for (unsigned thread = 0; thread < THREADS; thread++) {
        while (owned[thread].n > 0) {
            uint32_t seq = owned[thread].ids[--owned[thread].n];
            if (--seqs == 0) {
                CHECK_EQ(CAPACITY - len_of_seq(cache, seq), free_rows_of(cache));
            }
            CHECK_OK(kvc_batch_seq_release(cache, seq));
        }
    }
    CHECK_EQ(CAPACITY, free_rows_of(cache));
    for (uint32_t seq = 0; seq < MAX_SEQS; seq++) {
        CHECK_EQ(seq, new_seq(cache));
    }
}

static void share(bool cells)
{
    const kvc_layer_t layers[2] = {flat_layer(), ring_with_sinks(5, 1)};
    kvc_config_t config = config_of(layers, 2, CAPACITY);
    config.max_seqs = MAX_SEQS;
    config.max_write = MAX_WRITE;
    is_cells = cells;
    placements = refusals = ends = 0;
    cache = cells ? build_cells(storage, &config) : build_rows(storage, &config);
    CHECK_OK(kvc_cache_on_release(cache, count_end, &ends));
    in_threads(hammer);
    CHECK(placements > ITERATIONS / 10);
    printf("%s: %u placements, %u calls refused\n", cells ? "cells" : "rows", (unsigned)placements,
           (unsigned)refusals);
    check_conservation();
    CHECK_OK(kvc_cache_release(cache));
    CHECK_EQ(1, ends);
}

static void test_shared_cells(void)
{
    share(true);
}

static void test_private_rows(void)
{
    share(false);
}

int main(void)
{
    static const test_case_t cases[] = {TEST(test_shared_cells), TEST(test_private_rows)};
    return RUN_ALL(cases);
}
