/* The cases C6 to C8: positions that are shifted, and rows that move. */

#include <string.h>

#include "batches.h"
#include "support.h"

static uint64_t storage[BATCH_BYTES / 8];

static void check_shifts(kvc_cache_t *cache, const kvc_shift_t *expected, uint32_t n)
{
    kvc_shift_t shifts[16];
    uint32_t n_shifts = 99;
    CHECK_OK(kvc_cells_shifts(cache, 0, shifts, 16, &n_shifts));
    if (CHECK_EQ(n, n_shifts)) {
        CHECK(n == 0 || memcmp(expected, shifts, n * sizeof *expected) == 0);
    }
}

/* C6. */
static void test_shifts_that_add_up(void)
{
    kvc_cache_t *cache = build_flat_cells(storage, 16, 4);
    uint32_t a = new_seq(cache);
    append_cells(cache, a, 4, NULL);
    CHECK_OK(kvc_batch_seq_shift(cache, a, 0, KVC_UNBOUNDED, 3));
    CHECK_EQ(3, first_of_seq(cache, a));
    CHECK_EQ(7, next_of_seq(cache, a));
    CHECK_OK(kvc_batch_seq_shift(cache, a, 3, 7, 10));
    CHECK_EQ(13, first_of_seq(cache, a));
    static const kvc_shift_t sum[] = {{0, 4, 13}};
    check_shifts(cache, sum, 1);
    check_shifts(cache, sum, 1);
    /* Half of them further: two runs. */
    CHECK_OK(kvc_batch_seq_shift(cache, a, 15, KVC_UNBOUNDED, 1));
    static const kvc_shift_t halves[] = {{0, 2, 13}, {2, 2, 14}};
    check_shifts(cache, halves, 2);
    kvc_shift_t one;
    uint32_t n = 0;
    CHECK_STATUS(KVC_ERR_BUFFER_TOO_SMALL, kvc_cells_shifts(cache, 0, &one, 1, &n));
    CHECK_EQ(2, n);
    n = 0;
    CHECK_STATUS(KVC_ERR_BUFFER_TOO_SMALL, kvc_cells_shifts(cache, 0, NULL, 0, &n));
    CHECK_EQ(2, n);
    /* All the way back: nothing to rotate. */
    CHECK_OK(kvc_batch_seq_shift(cache, a, 16, KVC_UNBOUNDED, -1));
    CHECK_OK(kvc_batch_seq_shift(cache, a, 0, KVC_UNBOUNDED, -13));
    check_shifts(cache, NULL, 0);
    CHECK_EQ(0, first_of_seq(cache, a));
    CHECK_OK(kvc_batch_seq_shift(cache, a, 0, KVC_UNBOUNDED, 0));
    check_shifts(cache, NULL, 0);
    /* A cell that is freed has nothing to rotate, and nor has the token that comes there next. */
    CHECK_OK(kvc_batch_seq_shift(cache, a, 0, KVC_UNBOUNDED, 5));
    CHECK_OK(kvc_batch_seq_remove(cache, a, 6, 7));
    static const kvc_shift_t holed[] = {{0, 1, 5}, {2, 2, 5}};
    check_shifts(cache, holed, 2);
    append_cells(cache, a, 1, NULL);
    check_shifts(cache, holed, 2);
    CHECK_OK(kvc_cells_shifts_done(cache));
    check_shifts(cache, NULL, 0);
    CHECK_OK(kvc_cells_shifts_done(cache));
}

/* What a step has begun to read stays as it was until it is carried out. */
static void test_frozen_shifts(void)
{
    kvc_cache_t *cache = build_flat_cells(storage, 16, 4);
    kvc_move_t move;
    uint32_t a = new_seq(cache), n = 0;
    append_cells(cache, a, 4, NULL);
    static const kvc_shift_t all[] = {{0, 4, 2}}, rest[] = {{0, 3, 2}};
    CHECK_OK(kvc_batch_seq_shift(cache, a, 0, KVC_UNBOUNDED, 2));
    /* Read between steps: not frozen. */
    check_shifts(cache, all, 1);
    CHECK_OK(kvc_batch_seq_shift(cache, a, 0, KVC_UNBOUNDED, 1));
    CHECK_OK(kvc_batch_seq_shift(cache, a, 0, KVC_UNBOUNDED, -1));
    CHECK_OK(declare_for(cache, a, 1));
    check_shifts(cache, all, 1);
    CHECK_STATUS(KVC_ERR_UNSUPPORTED, kvc_batch_seq_shift(cache, a, 0, KVC_UNBOUNDED, 1));
    CHECK_STATUS(KVC_ERR_UNSUPPORTED, kvc_cells_defrag(cache, 0, &move, 1, &n));
    CHECK_EQ(2, first_of_seq(cache, a));
    append_cells(cache, a, 1, NULL);
    check_shifts(cache, all, 1);
    /* Verbs that move nothing go on. */
    CHECK_OK(kvc_batch_rewind(cache, a, 5));
    check_shifts(cache, rest, 1);
    CHECK_OK(kvc_cells_shifts_done(cache));
    CHECK_OK(kvc_batch_seq_shift(cache, a, 0, KVC_UNBOUNDED, 1));
    CHECK_OK(declare_for(cache, a, 1));
    check_shifts(cache, (const kvc_shift_t[]){{0, 3, 1}}, 1);
    /* A forward that failed while it rotated: begin anew. */
    CHECK_OK(kvc_clear(cache));
    check_shifts(cache, NULL, 0);
    a = new_seq(cache);
    append_cells(cache, a, 2, NULL);
    CHECK_OK(kvc_batch_seq_shift(cache, a, 0, KVC_UNBOUNDED, 1));
}

/* C7. */
static void test_removals_after_a_shift(void)
{
    kvc_cache_t *cache = build_flat_cells(storage, 16, 4);
    uint32_t a = new_seq(cache), cells[2];
    append_cells(cache, a, 8, NULL);
    CHECK_OK(kvc_batch_seq_remove(cache, a, 2, 4));
    CHECK_OK(kvc_batch_seq_shift(cache, a, 4, KVC_UNBOUNDED, -2));
    CHECK_EQ(6, next_of_seq(cache, a));
    static const kvc_shift_t tail[] = {{4, 4, -2}};
    check_shifts(cache, tail, 1);
    /* Positions 2 and 3 are what 4 and 5 were. */
    CHECK_OK(kvc_batch_seq_remove(cache, a, 2, 4));
    CHECK_EQ(4, len_of_seq(cache, a));
    static const kvc_shift_t rest[] = {{6, 2, -2}};
    check_shifts(cache, rest, 1);
    CHECK_OK(kvc_batch_seq_shift(cache, a, 4, 6, -2));
    CHECK_EQ(4, next_of_seq(cache, a));
    append_cells(cache, a, 2, cells);
    CHECK_EQ(2, cells[0]);
    CHECK_TEXT("11100011", seen_by(cache, 0, 2, 0, 8));
    CHECK_TEXT("11110011", seen_by(cache, 0, 2, 1, 8));
}

/* C8. */
static void test_shifts_of_shared_cells(void)
{
    kvc_cache_t *cache = build_flat_cells(storage, 16, 4);
    uint32_t a = new_seq(cache);
    append_cells(cache, a, 4, NULL);
    uint32_t b = clone_of(cache, a, 2);
    CHECK_STATUS(KVC_ERR_SHARED, kvc_batch_seq_shift(cache, a, 0, KVC_UNBOUNDED, 1));
    CHECK_STATUS(KVC_ERR_SHARED, kvc_batch_seq_shift(cache, a, 1, 2, 100));
    CHECK_STATUS(KVC_ERR_SHARED, kvc_batch_seq_shift(cache, b, 0, KVC_UNBOUNDED, 1));
    CHECK_EQ(0, first_of_seq(cache, a));
    CHECK_EQ(4, next_of_seq(cache, a));
    check_shifts(cache, NULL, 0);
    /* Behind the shared ones, and once they are not shared any more. */
    CHECK_OK(kvc_batch_seq_shift(cache, a, 2, KVC_UNBOUNDED, 1));
    CHECK_OK(kvc_batch_seq_release(cache, b));
    CHECK_OK(kvc_batch_seq_shift(cache, a, 0, KVC_UNBOUNDED, 1));
    static const kvc_shift_t both[] = {{0, 2, 1}, {2, 2, 2}};
    check_shifts(cache, both, 2);
}

/* As a backend does: lists them, and then they are done. */
static void carry_out_shifts(kvc_cache_t *cache)
{
    kvc_shift_t shifts[16];
    uint32_t n = 0;
    CHECK_OK(kvc_cells_shifts(cache, 0, shifts, 16, &n));
    CHECK(n > 0);
    CHECK_OK(kvc_cells_shifts_done(cache));
}

static void test_shifts_to_bad_positions(void)
{
    kvc_cache_t *cache = build_flat_cells(storage, 16, 4);
    uint32_t a = new_seq(cache);
    append_cells(cache, a, 6, NULL);
    static const struct {
        uint32_t from, to;
        int32_t delta;
    } bad[] = {{0, 6, -1}, {3, 6, -1}, {0, 3, 3}, {2, 3, 1}, {5, 6, -6}, {0, 6, INT32_MIN}, {2, 4, 2}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_STATUS(KVC_ERR_BAD_POSITION, kvc_batch_seq_shift(cache, a, bad[i].from, bad[i].to, bad[i].delta));
        check_shifts(cache, NULL, 0);
        CHECK_EQ(6, next_of_seq(cache, a));
    }
    /* Onto positions of its own range is fine, and so is beyond the others. */
    CHECK_OK(kvc_batch_seq_shift(cache, a, 2, 6, 1));
    CHECK_OK(kvc_batch_seq_shift(cache, a, 0, 2, 7));
    CHECK_EQ(3, first_of_seq(cache, a));
    CHECK_EQ(9, next_of_seq(cache, a));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_batch_seq_shift(cache, a, 5, 4, 1));
    CHECK_OK(kvc_batch_seq_shift(cache, a, 4, 4, INT32_MAX));
    CHECK_OK(kvc_batch_seq_shift(cache, a, 50, 60, INT32_MIN));
    /* What is pending is a number of 32 bits; then as far as positions go. */
    CHECK_STATUS(KVC_ERR_BAD_POSITION, kvc_batch_seq_shift(cache, a, 8, 9, INT32_MAX));
    carry_out_shifts(cache);
    CHECK_OK(kvc_batch_seq_shift(cache, a, 8, 9, INT32_MAX));
    carry_out_shifts(cache);
    CHECK_EQ(8u + INT32_MAX + 1u, next_of_seq(cache, a));
    CHECK_STATUS(KVC_ERR_BAD_POSITION, kvc_batch_seq_shift(cache, a, 1u << 31, KVC_UNBOUNDED, INT32_MAX));
    CHECK_OK(kvc_batch_seq_shift(cache, a, 1u << 31, KVC_UNBOUNDED, INT32_MAX - 8));
    CHECK_EQ(KVC_UNBOUNDED, next_of_seq(cache, a));
    CHECK_STATUS(KVC_ERR_BAD_POSITION, kvc_batch_seq_shift(cache, a, 1u << 31, KVC_UNBOUNDED, 1));
    CHECK_STATUS(KVC_ERR_OUT_OF_CAPACITY, declare_for(cache, a, 1));
}

/* The largest step down that there is, onto a position that is held and onto one that is not. */
static void test_shifts_by_half_of_all_positions(void)
{
    kvc_cache_t *cache = build_flat_cells(storage, 16, 4);
    const uint32_t half = 1u << 31;
    uint32_t a = new_seq(cache), cells[3];
    const uint32_t positions[3] = {8, half + 8, half + 9};
    kvc_cell_step_t step;
    CHECK_OK(declare_for(cache, a, 3));
    CHECK_OK(kvc_cells_place_step(cache, 0, positions, 3, cells, &step));
    CHECK_STATUS(KVC_ERR_BAD_POSITION, kvc_batch_seq_shift(cache, a, half + 8, half + 9, INT32_MIN));
    CHECK_STATUS(KVC_ERR_BAD_POSITION, kvc_batch_seq_shift(cache, a, half, KVC_UNBOUNDED, INT32_MIN));
    CHECK_OK(kvc_batch_seq_shift(cache, a, half + 9, half + 10, INT32_MIN));
    CHECK_EQ(half + 9, next_of_seq(cache, a));
    check_shifts(cache, (const kvc_shift_t[]){{2, 1, INT32_MIN}}, 1);
}

/* A sink that one pool keeps is a position that the sequence holds, though the other pool has let go of it. */
static void test_shifts_onto_what_another_pool_holds(void)
{
    const kvc_layer_t layers[2] = {ring_layer(4), ring_with_sinks(1, 2)};
    kvc_config_t config = config_of(layers, 2, 16);
    config.max_seqs = 1;
    config.flags = KVC_SPLIT_POOLS;
    kvc_cache_t *cache = build_cells(storage, &config);
    uint32_t a = new_seq(cache);
    for (uint32_t i = 0; i < 8; i++) {
        append_cells(cache, a, 1, NULL);
    }
    /* Layer 0 has 4 to 7, layer 1 has 0, 1 and 7. */
    CHECK_STATUS(KVC_ERR_BAD_POSITION, kvc_batch_seq_shift(cache, a, 2, KVC_UNBOUNDED, -3));
    CHECK_EQ(8, next_of_seq(cache, a));
    check_shifts(cache, NULL, 0);
    CHECK_OK(kvc_batch_seq_shift(cache, a, 2, KVC_UNBOUNDED, -2));
    CHECK_EQ(6, next_of_seq(cache, a));
}

/* Cells that are moved together, a few at a time. */
static void test_holes_that_are_filled(void)
{
    kvc_cache_t *cache = build_flat_cells(storage, 16, 4);
    uint32_t a = new_seq(cache), b = new_seq(cache), n = 77, cells[1];
    kvc_move_t moves[16];
    for (uint32_t i = 0; i < 6; i++) {
        append_cells(cache, i % 2 == 0 ? a : b, 2, NULL);
    }
    CHECK_OK(kvc_batch_seq_shift(cache, b, 4, 6, 1));
    CHECK_OK(kvc_batch_seq_release(cache, a));
    CHECK_OK(kvc_cells_defrag(cache, 0, NULL, 0, &n));
    CHECK_EQ(0, n);
    /* b has cells 2, 3, 6, 7, 10 and 11. */
    CHECK_OK(kvc_cells_defrag(cache, 0, moves, 1, &n));
    CHECK_EQ(1, n);
    CHECK(moves[0].from == 10 && moves[0].to == 0 && moves[0].len == 2);
    static const kvc_shift_t moved[] = {{0, 2, 1}};
    check_shifts(cache, moved, 1);
    CHECK_OK(kvc_cells_defrag(cache, 0, moves, 16, &n));
    CHECK_EQ(1, n);
    CHECK(moves[0].from == 6 && moves[0].to == 4 && moves[0].len == 2);
    CHECK_OK(kvc_cells_defrag(cache, 0, moves, 16, &n));
    CHECK_EQ(0, n);
    kvc_cell_step_t step = append_cells(cache, b, 1, cells);
    CHECK_EQ(6, cells[0]);
    CHECK_EQ(7, step.read_len);
    CHECK_EQ(KVC_MASK_EXPLICIT, step.mask);
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(test_shifts_that_add_up),
        TEST(test_frozen_shifts),
        TEST(test_removals_after_a_shift),
        TEST(test_shifts_of_shared_cells),
        TEST(test_shifts_to_bad_positions),
        TEST(test_shifts_by_half_of_all_positions),
        TEST(test_shifts_onto_what_another_pool_holds),
        TEST(test_holes_that_are_filled),
    };
    return RUN_ALL(cases);
}
