/* Misuse of the calls that caches of many sequences share. */

#include "batches.h"
#include "misuse.h"

#define OUT (&world.out)

/* Sequence 2 of both caches is not live. */
enum { DEAD = 2 };
static const uint32_t dead[] = {DEAD, 3, KVC_MAX_SEQS, 4096, UINT32_MAX};
enum { N_DEAD = sizeof dead / sizeof dead[0], OFFERED_BY_BOTH = OFFERED_BY_CELLS | OFFERED_BY_ROWS };

/* A call for one sequence with everything else in order. */
typedef kvc_status_t (*seq_call_t)(kvc_cache_t *cache, uint32_t seq);

static void refuse_dead_sequences(seq_call_t call, kvc_cache_t *cache)
{
    for (size_t i = 0; i < N_DEAD; i++) {
        REFUSED(KVC_ERR_BAD_SEQUENCE, call(cache, dead[i]));
    }
}

static void refuse_dead_sequences_of_both(seq_call_t call)
{
    refuse_dead_sequences(call, world.cells);
    refuse_dead_sequences(call, world.rows);
}

static kvc_status_t declare_one(kvc_cache_t *cache)
{
    return declare_for(cache, 0, 1);
}

void misuse_of_kvc_batch_declare_step(void)
{
    static const uint32_t ids[4] = {0, 1, 0, DEAD};
    uint32_t unwanted;
    kvc_cache_t *const both[2] = {world.cells, world.rows};
    refuse_all_caches_but(OFFERED_BY_BOTH, declare_one);
    for (size_t i = 0; i < 2; i++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_declare_step(both[i], NULL, 1));
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_declare_step(both[i], NULL, 0));
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_declare_step(both[i], ids, 0));
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_declare_step(both[i], (const uint32_t *)off_by(ids, 1), 1));
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_declare_step(both[i], (const uint32_t *)off_by(ids, 2), 1));
        REFUSED(KVC_ERR_BAD_SEQUENCE, kvc_batch_declare_step(both[i], ids, 4));
        REFUSED(KVC_ERR_BAD_SEQUENCE, kvc_batch_declare_step(both[i], ids + 3, 1));
        for (size_t j = 0; j < N_DEAD; j++) {
            REFUSED(KVC_ERR_BAD_SEQUENCE, kvc_batch_declare_step(both[i], &dead[j], 1));
        }
    }
    /* 5 cells are free of 16; a step has at most 20 tokens. */
    REFUSED(KVC_ERR_OUT_OF_CAPACITY, declare_for(world.cells, 0, 6));
    REFUSED(KVC_ERR_OUT_OF_CAPACITY, declare_for(world.cells, 0, 16));
    REFUSED(KVC_ERR_NEVER_FITS, declare_for(world.cells, 0, 17));
    REFUSED(KVC_ERR_NEVER_FITS, declare_for(world.cells, 0, 20));
    REFUSED(KVC_ERR_STEP_TOO_LARGE, declare_for(world.cells, 0, 21));
    /* 3 rows are free of 13; a sequence has at most 4 tokens in a step. */
    REFUSED(KVC_ERR_OUT_OF_CAPACITY, declare_for(world.rows, 0, 4));
    REFUSED(KVC_ERR_STEP_TOO_LARGE, declare_for(world.rows, 0, 5));
    static const uint32_t alternating[9] = {0, 1, 0, 1, 0, 1, 0, 1, 0};
    REFUSED(KVC_ERR_OUT_OF_CAPACITY, kvc_batch_declare_step(world.rows, alternating, 8));
    REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_batch_declare_step(world.rows, alternating, 9));
    /* The steps that were placed before are still. */
    static const uint32_t in_cells[1] = {15}, in_rows[2] = {0, 1};
    CHECK_OK(kvc_cells_place_step(world.cells, 0, in_cells, 1, &unwanted, &OUT->step));
    CHECK_OK(kvc_rows_place_step(world.rows, 0, in_rows, 2, OUT->spans, 1, &unwanted));
}

static kvc_status_t admit_one(kvc_cache_t *cache)
{
    return kvc_batch_can_admit(cache, 0, 1, &OUT->flag);
}

static kvc_status_t admit_for(kvc_cache_t *cache, uint32_t seq)
{
    return kvc_batch_can_admit(cache, seq, 1, &OUT->flag);
}

void misuse_of_kvc_batch_can_admit(void)
{
    kvc_cache_t *const both[2] = {world.cells, world.rows};
    refuse_all_caches_but(OFFERED_BY_BOTH, admit_one);
    refuse_dead_sequences_of_both(admit_for);
    for (size_t i = 0; i < 2; i++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_can_admit(both[i], 0, 1, NULL));
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_can_admit(both[i], 0, 0, &OUT->flag));
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_can_admit(both[i], DEAD, 0, &OUT->flag));
        CHECK(!admits(both[i], 0, UINT32_MAX));
        CHECK(!admits(both[i], 0, UINT32_MAX - 8));
        CHECK(admits(both[i], 0, 1));
    }
}

static kvc_status_t begin_seq(kvc_cache_t *cache)
{
    return kvc_batch_seq_new(cache, OUT->u32);
}

void misuse_of_kvc_batch_seq_new(void)
{
    kvc_cache_t *const both[2] = {world.cells, world.rows};
    refuse_all_caches_but(OFFERED_BY_BOTH, begin_seq);
    for (size_t i = 0; i < 2; i++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_seq_new(both[i], NULL));
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_seq_new(both[i], (uint32_t *)off_by(OUT->u32, 1)));
        CHECK_EQ(DEAD, new_seq(both[i]));
        REFUSED(KVC_ERR_TABLE_FULL, begin_seq(both[i]));
        CHECK_OK(kvc_batch_seq_release(both[i], 1));
        CHECK_EQ(1, new_seq(both[i]));
        REFUSED(KVC_ERR_TABLE_FULL, begin_seq(both[i]));
    }
}

static kvc_status_t clone_first(kvc_cache_t *cache)
{
    return kvc_batch_seq_clone(cache, 0, KVC_UNBOUNDED, OUT->u32);
}

static kvc_status_t clone_some(kvc_cache_t *cache, uint32_t seq)
{
    return kvc_batch_seq_clone(cache, seq, 0, OUT->u32);
}

void misuse_of_kvc_batch_seq_clone(void)
{
    kvc_cache_t *const both[2] = {world.cells, world.rows};
    refuse_all_caches_but(OFFERED_BY_BOTH, clone_first);
    refuse_dead_sequences_of_both(clone_some);
    for (size_t i = 0; i < 2; i++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_seq_clone(both[i], 0, KVC_UNBOUNDED, NULL));
        REFUSED(KVC_ERR_INVALID_ARGUMENT,
                kvc_batch_seq_clone(both[i], 0, KVC_UNBOUNDED, (uint32_t *)off_by(OUT->u32, 2)));
        /* The window has dropped what comes before 3. */
        REFUSED(KVC_ERR_EVICTED, kvc_batch_seq_clone(both[i], 0, 3, OUT->u32));
        REFUSED(KVC_ERR_EVICTED, kvc_batch_seq_clone(both[i], 0, 1, OUT->u32));
    }
    /* All 8 rows again are more than the 3 that are free. */
    REFUSED(KVC_ERR_OUT_OF_CAPACITY, clone_first(world.rows));
    REFUSED(KVC_ERR_OUT_OF_CAPACITY, kvc_batch_seq_clone(world.rows, 0, 8, OUT->u32));
    for (size_t i = 0; i < 2; i++) {
        CHECK_EQ(DEAD, new_seq(both[i]));
        REFUSED(KVC_ERR_TABLE_FULL, kvc_batch_seq_clone(both[i], 1, KVC_UNBOUNDED, OUT->u32));
        REFUSED(KVC_ERR_TABLE_FULL, kvc_batch_seq_clone(both[i], 0, 0, OUT->u32));
        REFUSED(KVC_ERR_EVICTED, kvc_batch_seq_clone(both[i], 0, 3, OUT->u32));
    }
}

static kvc_status_t remove_some(kvc_cache_t *cache)
{
    return kvc_batch_seq_remove(cache, 0, 2, 4);
}

static kvc_status_t remove_from(kvc_cache_t *cache, uint32_t seq)
{
    return kvc_batch_seq_remove(cache, seq, 0, KVC_UNBOUNDED);
}

void misuse_of_kvc_batch_seq_remove(void)
{
    refuse_all_caches_but(OFFERED_BY_CELLS, remove_some);
    refuse_dead_sequences(remove_from, world.cells);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_seq_remove(world.cells, 0, 1, 0));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_seq_remove(world.cells, 0, UINT32_MAX, UINT32_MAX - 1));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_seq_remove(world.cells, DEAD, 1, 0));
    REFUSED(KVC_ERR_EVICTED, kvc_batch_seq_remove(world.cells, 0, 3, KVC_UNBOUNDED));
    REFUSED(KVC_ERR_EVICTED, kvc_batch_seq_remove(world.cells, 0, 3, 16));
    REFUSED(KVC_ERR_EVICTED, kvc_batch_seq_remove(world.cells, 1, 3, 9));
    CHECK_OK(kvc_batch_seq_remove(world.cells, 1, 3, 8));
}

static kvc_status_t release_first(kvc_cache_t *cache)
{
    return kvc_batch_seq_release(cache, 0);
}

void misuse_of_kvc_batch_seq_release(void)
{
    refuse_all_caches_but(OFFERED_BY_BOTH, release_first);
    refuse_dead_sequences_of_both(kvc_batch_seq_release);
    CHECK_OK(kvc_batch_seq_release(world.cells, 0));
    REFUSED(KVC_ERR_BAD_SEQUENCE, kvc_batch_seq_release(world.cells, 0));
    CHECK_OK(kvc_batch_seq_release(world.rows, 0));
    REFUSED(KVC_ERR_BAD_SEQUENCE, kvc_batch_seq_release(world.rows, 0));
}

static kvc_status_t keep_first(kvc_cache_t *cache)
{
    return kvc_batch_seq_keep(cache, 0);
}

void misuse_of_kvc_batch_seq_keep(void)
{
    refuse_all_caches_but(OFFERED_BY_BOTH, keep_first);
    refuse_dead_sequences_of_both(kvc_batch_seq_keep);
    CHECK_OK(kvc_batch_seq_keep(world.cells, 1));
    REFUSED(KVC_ERR_BAD_SEQUENCE, kvc_batch_seq_keep(world.cells, 0));
    CHECK_OK(kvc_batch_seq_keep(world.rows, 1));
    REFUSED(KVC_ERR_BAD_SEQUENCE, kvc_batch_seq_keep(world.rows, 0));
}

static kvc_status_t shift_some(kvc_cache_t *cache)
{
    return kvc_batch_seq_shift(cache, 0, 14, 15, 1);
}

static kvc_status_t shift_all(kvc_cache_t *cache, uint32_t seq)
{
    return kvc_batch_seq_shift(cache, seq, 0, KVC_UNBOUNDED, 1);
}

void misuse_of_kvc_batch_seq_shift(void)
{
    kvc_cache_t *cells = world.cells;
    refuse_all_caches_but(OFFERED_BY_CELLS, shift_some);
    refuse_dead_sequences(shift_all, cells);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_seq_shift(cells, 0, 1, 0, 1));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_seq_shift(cells, 0, 1, 0, 0));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_seq_shift(cells, DEAD, UINT32_MAX, 0, 1));
    /* Positions 0 to 8 are sequence 1's as well. */
    REFUSED(KVC_ERR_SHARED, shift_all(cells, 0));
    REFUSED(KVC_ERR_SHARED, kvc_batch_seq_shift(cells, 0, 8, 9, 50));
    REFUSED(KVC_ERR_SHARED, kvc_batch_seq_shift(cells, 1, 0, 1, INT32_MIN));
    /* Onto another of its own, below 0, and where positions end. */
    REFUSED(KVC_ERR_BAD_POSITION, kvc_batch_seq_shift(cells, 0, 14, 15, 1));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_batch_seq_shift(cells, 0, 15, 16, -1));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_batch_seq_shift(cells, 0, 14, KVC_UNBOUNDED, -6));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_batch_seq_shift(cells, 0, 14, KVC_UNBOUNDED, -15));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_batch_seq_shift(cells, 0, 14, KVC_UNBOUNDED, 85));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_batch_seq_shift(cells, 0, 14, KVC_UNBOUNDED, INT32_MAX));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_batch_seq_shift(cells, 0, 14, KVC_UNBOUNDED, INT32_MIN));
    /* Once the step's list was read. */
    uint32_t n = 0;
    CHECK_OK(kvc_cells_shifts(cells, 0, OUT->shifts, 4, &n));
    CHECK_EQ(1, n);
    REFUSED(KVC_ERR_UNSUPPORTED, kvc_batch_seq_shift(cells, 0, 14, KVC_UNBOUNDED, 84));
    REFUSED(KVC_ERR_UNSUPPORTED, kvc_batch_seq_shift(cells, 0, 50, 60, 1));
    REFUSED(KVC_ERR_BAD_SEQUENCE, shift_all(cells, DEAD));
    CHECK_OK(kvc_cells_shifts_done(cells));
    CHECK_OK(kvc_batch_seq_shift(cells, 0, 14, KVC_UNBOUNDED, 84));
}

static kvc_status_t rewind_first(kvc_cache_t *cache)
{
    return kvc_batch_rewind(cache, 0, 8);
}

static kvc_status_t rewind_all(kvc_cache_t *cache, uint32_t seq)
{
    return kvc_batch_rewind(cache, seq, 0);
}

void misuse_of_kvc_batch_rewind(void)
{
    refuse_all_caches_but(OFFERED_BY_BOTH, rewind_first);
    refuse_dead_sequences_of_both(rewind_all);
    REFUSED(KVC_ERR_CANNOT_GROW, kvc_batch_rewind(world.cells, 0, 17));
    REFUSED(KVC_ERR_CANNOT_GROW, kvc_batch_rewind(world.cells, 0, UINT32_MAX));
    REFUSED(KVC_ERR_CANNOT_GROW, kvc_batch_rewind(world.cells, 1, 10));
    REFUSED(KVC_ERR_EVICTED, kvc_batch_rewind(world.cells, 0, 3));
    REFUSED(KVC_ERR_EVICTED, kvc_batch_rewind(world.cells, 1, 1));
    REFUSED(KVC_ERR_CANNOT_GROW, kvc_batch_rewind(world.rows, 0, 9));
    REFUSED(KVC_ERR_CANNOT_GROW, kvc_batch_rewind(world.rows, 1, 3));
    REFUSED(KVC_ERR_CANNOT_GROW, kvc_batch_rewind(world.rows, 1, UINT32_MAX));
    REFUSED(KVC_ERR_EVICTED, kvc_batch_rewind(world.rows, 0, 3));
    REFUSED(KVC_ERR_EVICTED, kvc_batch_rewind(world.rows, 0, 1));
}

/* The questions for a number about a sequence are alike. */
typedef kvc_status_t (*number_call_t)(const kvc_cache_t *cache, uint32_t seq, uint32_t *out);
static number_call_t number_call;

static kvc_status_t number_of_first(kvc_cache_t *cache)
{
    return number_call(cache, 0, OUT->u32);
}

static kvc_status_t number_of(kvc_cache_t *cache, uint32_t seq)
{
    return number_call(cache, seq, OUT->u32);
}

static void refuse_bad_questions(number_call_t call)
{
    number_call = call;
    refuse_all_caches_but(OFFERED_BY_BOTH, number_of_first);
    refuse_dead_sequences_of_both(number_of);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(world.cells, 0, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(world.rows, 0, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(world.cells, 0, (uint32_t *)off_by(OUT->u32, 1)));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(world.rows, DEAD, (uint32_t *)off_by(OUT->u32, 3)));
}

void misuse_of_kvc_batch_seq_len(void)
{
    refuse_bad_questions(kvc_batch_seq_len);
}

void misuse_of_kvc_batch_next_pos(void)
{
    refuse_bad_questions(kvc_batch_next_pos);
}

void misuse_of_kvc_batch_first_pos(void)
{
    refuse_bad_questions(kvc_batch_first_pos);
}

static kvc_status_t count_free(kvc_cache_t *cache)
{
    return kvc_batch_free_rows(cache, OUT->u32);
}

void misuse_of_kvc_batch_free_rows(void)
{
    refuse_all_caches_but(OFFERED_BY_BOTH, count_free);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_free_rows(world.cells, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_free_rows(world.rows, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_free_rows(world.cells, (uint32_t *)off_by(OUT->u32, 2)));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_batch_free_rows(world.rows, (uint32_t *)off_by(OUT->u32, 2)));
}
