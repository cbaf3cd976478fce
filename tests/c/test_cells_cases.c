/* The cases C1 to C5, C9 and C10: what has gone wrong in programs that share a pool of cells between sequences. Each
 * stands for its kind, so each has its neighbours. */

#include <string.h>

#include "batches.h"
#include "support.h"

static uint64_t storage[BATCH_BYTES / 8];

/* C1. */
static void test_a_clone_keeps_what_its_source_leaves(void)
{
    kvc_cache_t *cache = build_flat_cells(storage, 16, 4);
    uint32_t a = new_seq(cache), cells[2];
    append_cells(cache, a, 4, NULL);
    uint32_t b = clone_of(cache, a, KVC_UNBOUNDED);
    CHECK_EQ(12, free_rows_of(cache));
    CHECK_OK(kvc_batch_seq_release(cache, a));
    CHECK_EQ(12, free_rows_of(cache));
    CHECK_EQ(4, len_of_seq(cache, b));
    CHECK_EQ(0, first_of_seq(cache, b));
    append_cells(cache, b, 1, cells);
    CHECK_EQ(4, cells[0]);
    CHECK_TEXT("11111", seen_by(cache, 0, 1, 0, 5));
    CHECK_OK(kvc_batch_seq_release(cache, b));
    CHECK_EQ(16, free_rows_of(cache));
}

/* The same where the source's tokens are removed and its id stays, and where the clone has a part only. */
static void test_a_clone_of_a_part(void)
{
    kvc_cache_t *cache = build_flat_cells(storage, 16, 4);
    uint32_t a = new_seq(cache), cells[2];
    append_cells(cache, a, 4, NULL);
    uint32_t b = clone_of(cache, a, 2);
    CHECK_EQ(2, len_of_seq(cache, b));
    CHECK_EQ(2, next_of_seq(cache, b));
    CHECK_OK(kvc_batch_seq_remove(cache, a, 0, KVC_UNBOUNDED));
    /* Cells 2 and 3 had one owner. */
    CHECK_EQ(14, free_rows_of(cache));
    CHECK_EQ(0, len_of_seq(cache, a));
    CHECK_EQ(0, next_of_seq(cache, a));
    CHECK_EQ(KVC_UNBOUNDED, first_of_seq(cache, a));
    append_cells(cache, b, 1, cells);
    CHECK_EQ(2, cells[0]);
    CHECK_TEXT("111", seen_by(cache, 0, 1, 0, 3));
    /* The id is still live, and begins anew. */
    append_cells(cache, a, 1, cells);
    CHECK_EQ(3, cells[0]);
    CHECK_TEXT("0001", seen_by(cache, 0, 1, 0, 4));
    CHECK_OK(kvc_batch_seq_keep(cache, a));
    CHECK_EQ(15, free_rows_of(cache));
    CHECK_STATUS(KVC_ERR_BAD_SEQUENCE, kvc_batch_seq_release(cache, b));
    /* A clone of nothing, and of more than there is. */
    b = clone_of(cache, a, 0);
    CHECK_EQ(0, len_of_seq(cache, b));
    CHECK_EQ(1, len_of_seq(cache, clone_of(cache, a, 100)));
}

/* C2. */
static void test_three_owners_in_six_orders(void)
{
    static const uint32_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t order = 0; order < 6; order++) {
        kvc_cache_t *cache = build_flat_cells(storage, 16, 3);
        uint32_t ids[3];
        ids[0] = new_seq(cache);
        append_cells(cache, ids[0], 4, NULL);
        ids[1] = clone_of(cache, ids[0], KVC_UNBOUNDED);
        append_cells(cache, ids[1], 2, NULL);
        ids[2] = clone_of(cache, ids[1], KVC_UNBOUNDED);
        append_cells(cache, ids[2], 1, NULL);
        append_cells(cache, ids[0], 3, NULL);
        CHECK_EQ(6, free_rows_of(cache));
        for (size_t i = 0; i < 3; i++) {
            CHECK_OK(kvc_batch_seq_release(cache, ids[orders[order][i]]));
        }
        CHECK_EQ(16, free_rows_of(cache));
    }
}

static void test_as_many_owners_as_there_may_be(void)
{
    kvc_cache_t *cache = build_flat_cells(storage, 8, KVC_MAX_SEQS);
    uint32_t seq = new_seq(cache), cells[1];
    append_cells(cache, seq, 4, NULL);
    for (uint32_t i = 1; i < KVC_MAX_SEQS; i++) {
        CHECK_EQ(i, clone_of(cache, seq, KVC_UNBOUNDED));
    }
    CHECK_STATUS(KVC_ERR_TABLE_FULL, kvc_batch_seq_clone(cache, seq, KVC_UNBOUNDED, cells));
    CHECK_STATUS(KVC_ERR_TABLE_FULL, kvc_batch_seq_new(cache, cells));
    for (uint32_t i = 0; i + 1 < KVC_MAX_SEQS; i++) {
        CHECK_OK(kvc_batch_seq_release(cache, i));
        CHECK_EQ(4, free_rows_of(cache));
    }
    append_cells(cache, KVC_MAX_SEQS - 1, 1, cells);
    CHECK_TEXT("11111", seen_by(cache, 0, 1, 0, 5));
    CHECK_EQ(0, new_seq(cache));
    CHECK_OK(kvc_batch_seq_keep(cache, 0));
    CHECK_EQ(8, free_rows_of(cache));
}

/* C3. */
static void test_cells_that_no_longer_ascend(void)
{
    kvc_cache_t *cache = build_flat_cells(storage, 16, 4);
    uint32_t a = new_seq(cache), cells[2];
    kvc_cell_step_t step = append_cells(cache, a, 5, NULL);
    CHECK_EQ(KVC_MASK_CAUSAL, step.mask);
    CHECK_EQ(0, step.write_start);
    CHECK_EQ(5, step.n_tokens);
    CHECK_EQ(5, step.read_len);
    CHECK_OK(kvc_batch_seq_remove(cache, a, 0, 2));
    CHECK_EQ(2, first_of_seq(cache, a));
    step = append_cells(cache, a, 2, cells);
    CHECK_EQ(0, cells[0]);
    CHECK_EQ(1, cells[1]);
    CHECK_EQ(KVC_MASK_EXPLICIT, step.mask);
    /* One run, though not at the tail. */
    CHECK_EQ(0, step.write_start);
    CHECK_EQ(5, step.read_len);
    CHECK_TEXT("10111", seen_by(cache, 0, 2, 0, 5));
    CHECK_TEXT("11111", seen_by(cache, 0, 2, 1, 5));
    step = append_cells(cache, a, 1, cells);
    CHECK_EQ(5, cells[0]);
    CHECK_TEXT("111111", seen_by(cache, 0, 1, 0, 6));
}

/* Tokens that go to two holes. */
static void test_a_step_in_scattered_cells(void)
{
    kvc_cache_t *cache = build_flat_cells(storage, 16, 4);
    uint32_t a = new_seq(cache), cells[3];
    append_cells(cache, a, 5, NULL);
    CHECK_OK(kvc_batch_seq_remove(cache, a, 1, 2));
    CHECK_OK(kvc_batch_seq_remove(cache, a, 3, 4));
    kvc_cell_step_t step = append_cells(cache, a, 3, cells);
    CHECK_EQ(1, cells[0]);
    CHECK_EQ(3, cells[1]);
    CHECK_EQ(5, cells[2]);
    CHECK_EQ(KVC_UNBOUNDED, step.write_start);
    CHECK_EQ(KVC_MASK_EXPLICIT, step.mask);
    CHECK_TEXT("111010", seen_by(cache, 0, 3, 0, 6));
}

/* C4. */
static void test_positions_that_are_held(void)
{
    kvc_cache_t *cache = build_flat_cells(storage, 16, 4);
    uint32_t a = new_seq(cache), cells[2] = {77, 77};
    kvc_cell_step_t step;
    append_cells(cache, a, 4, NULL);
    static const uint32_t bad[][2] = {{3, 4}, {0, 4}, {4, 4}, {5, 4}, {4, UINT32_MAX}, {UINT32_MAX, 4}};
    CHECK_OK(declare_for(cache, a, 2));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_STATUS(KVC_ERR_BAD_POSITION, kvc_cells_place_step(cache, 0, bad[i], 2, cells, &step));
        CHECK_EQ(77, cells[0]);
        CHECK_EQ(4, len_of_seq(cache, a));
        CHECK_EQ(12, free_rows_of(cache));
    }
    /* The declaration stands; a gap is legal. */
    static const uint32_t gap[2] = {6, 9};
    CHECK_OK(kvc_cells_place_step(cache, 0, gap, 2, cells, &step));
    CHECK_EQ(6, len_of_seq(cache, a));
    CHECK_EQ(10, next_of_seq(cache, a));
    /* What was left out is out of reach now. */
    static const uint32_t late[1] = {8};
    CHECK_OK(declare_for(cache, a, 1));
    CHECK_STATUS(KVC_ERR_BAD_POSITION, kvc_cells_place_step(cache, 0, late, 1, cells, &step));
    /* Two sequences may hold the same position, also in one step. */
    const uint32_t ids[2] = {new_seq(cache), a};
    static const uint32_t positions[2] = {10, 10};
    CHECK_OK(kvc_batch_declare_step(cache, ids, 2));
    CHECK_OK(kvc_cells_place_step(cache, 0, positions, 2, cells, &step));
    CHECK_EQ(KVC_MASK_EXPLICIT, step.mask);
    CHECK_TEXT("00000010", seen_by(cache, 0, 2, 0, 8));
    CHECK_TEXT("11111101", seen_by(cache, 0, 2, 1, 8));
}

/* C5. */
static void test_holes_of_a_middle_sequence(void)
{
    enum { ROUNDS = 80, CAPACITY = 256 };
    static uint64_t large[BATCH_BYTES / 8];
    kvc_cache_t *cache = build_flat_cells(large, CAPACITY, 3);
    uint32_t ids[3], cells[3];
    kvc_cell_step_t step;
    for (uint32_t i = 0; i < 3; i++) {
        ids[i] = new_seq(cache);
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t positions[3] = {round, round, round};
        CHECK_OK(kvc_batch_declare_step(cache, ids, 3));
        CHECK_OK(kvc_cells_place_step(cache, 0, positions, 3, cells, &step));
        CHECK_EQ(3 * round + 1, cells[1]);
    }
    CHECK_EQ(CAPACITY - 3 * ROUNDS, free_rows_of(cache));
    CHECK(!admits(cache, ids[1], ROUNDS));
    CHECK_OK(kvc_batch_seq_release(cache, ids[1]));
    CHECK(!admits(cache, ids[0], CAPACITY - 2 * ROUNDS + 1));
    CHECK(admits(cache, ids[0], CAPACITY - 2 * ROUNDS));
    ids[1] = new_seq(cache);
    CHECK_EQ(1, ids[1]);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        append_cells(cache, ids[1], 1, cells);
        CHECK_EQ(3 * round + 1, cells[0]);
    }
    CHECK_EQ(CAPACITY - 3 * ROUNDS, free_rows_of(cache));
}

/* C9. */
static void test_flat_and_windowed_layers(void)
{
    const kvc_layer_t layers[3] = {flat_layer(), ring_layer(2), ring_with_sinks(1, 1)};
    kvc_config_t config = config_of(layers, 3, 16);
    config.max_seqs = 2;
    kvc_cache_t *cache = build_cells(storage, &config);
    uint32_t a = new_seq(cache), cells[2], again[2];
    static const uint32_t positions[2] = {3, 4};
    kvc_cell_step_t flat, ring, sinks;
    append_cells(cache, a, 3, NULL);
    CHECK_OK(declare_for(cache, a, 2));
    CHECK_OK(kvc_cells_place_step(cache, 1, positions, 2, cells, &ring));
    CHECK_OK(kvc_cells_place_step(cache, 0, positions, 2, again, &flat));
    CHECK(memcmp(cells, again, sizeof cells) == 0);
    CHECK_OK(kvc_cells_place_step(cache, 2, positions, 2, again, &sinks));
    CHECK(memcmp(cells, again, sizeof cells) == 0);
    CHECK_EQ(5, len_of_seq(cache, a));
    CHECK_EQ(11, free_rows_of(cache));
    CHECK_EQ(KVC_MASK_CAUSAL, flat.mask);
    CHECK_EQ(KVC_MASK_EXPLICIT, ring.mask);
    CHECK_EQ(KVC_MASK_EXPLICIT, sinks.mask);
    CHECK_EQ(3, ring.write_start);
    CHECK_TEXT("11110", seen_by(cache, 0, 2, 0, 5));
    CHECK_TEXT("11111", seen_by(cache, 0, 2, 1, 5));
    CHECK_TEXT("00110", seen_by(cache, 1, 2, 0, 5));
    CHECK_TEXT("00011", seen_by(cache, 1, 2, 1, 5));
    CHECK_TEXT("10010", seen_by(cache, 2, 2, 0, 5));
    CHECK_TEXT("10001", seen_by(cache, 2, 2, 1, 5));
}

/* Where all windows have passed a cell it is free again; beside a flat layer only with a pool for each group. */
static void test_cells_that_every_window_has_passed(void)
{
    const kvc_layer_t layers[3] = {ring_layer(2), ring_with_sinks(3, 1), flat_layer()};
    for (uint32_t way = 0; way < 4; way++) {
        kvc_config_t config = config_of(layers, way == 1 ? 3 : 2, 12);
        config.max_seqs = 2;
        config.flags = way == 2 ? KVC_KEEP_CELLS : way == 3 ? KVC_KEEP_CELLS | KVC_SPLIT_POOLS : 0;
        kvc_cache_t *cache = build_cells(storage, &config);
        uint32_t a = new_seq(cache);
        for (uint32_t i = 0; i < 10; i++) {
            append_cells(cache, a, 1, NULL);
        }
        CHECK_EQ(10, next_of_seq(cache, a));
        CHECK_EQ(0, first_of_seq(cache, a));
        /* Freed before the newest token: what it cannot see. Left are the sink, 7, 8 and itself. */
        uint32_t held = way == 0 ? 4 : 10;
        CHECK_EQ(held, len_of_seq(cache, a));
        CHECK_EQ(12 - held, free_rows_of(cache));
        CHECK_STATUS(way == 0 ? KVC_ERR_EVICTED : KVC_OK, kvc_batch_rewind(cache, a, 8));
        CHECK_OK(kvc_batch_rewind(cache, a, 0));
        CHECK_EQ(12, free_rows_of(cache));
    }
}

/* C10. */
static void test_steps_that_do_not_fit_their_declaration(void)
{
    kvc_cache_t *cache = build_flat_cells(storage, 8, 4);
    uint32_t a = new_seq(cache), cells[8] = {77};
    static const uint32_t positions[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    kvc_cell_step_t step;
    /* Nothing declared. */
    CHECK_STATUS(KVC_ERR_NO_STEP, kvc_cells_place_step(cache, 0, positions, 1, cells, &step));
    CHECK_OK(declare_for(cache, a, 2));
    CHECK_STATUS(KVC_ERR_NO_STEP, kvc_cells_place_step(cache, 0, positions, 3, cells, &step));
    CHECK_STATUS(KVC_ERR_NO_STEP, kvc_cells_place_step(cache, 0, positions, 1, cells, &step));
    CHECK_EQ(77, cells[0]);
    CHECK_EQ(0, len_of_seq(cache, a));
    CHECK_OK(kvc_cells_place_step(cache, 0, positions, 2, cells, &step));
    /* Again for another layer is one thing, a second step another. */
    CHECK_OK(kvc_cells_place_step(cache, 0, positions, 2, cells, &step));
    CHECK_STATUS(KVC_ERR_NO_STEP, kvc_cells_place_step(cache, 0, positions + 2, 2, cells, &step));
    CHECK_STATUS(KVC_ERR_NO_STEP, kvc_cells_place_step(cache, 0, positions, 1, cells, &step));
    CHECK_EQ(2, len_of_seq(cache, a));
    append_cells(cache, a, 2, NULL);
    CHECK_STATUS(KVC_ERR_OUT_OF_CAPACITY, declare_for(cache, a, 5));
    CHECK_STATUS(KVC_ERR_NEVER_FITS, declare_for(cache, a, 9));
    CHECK(admits(cache, a, 4));
    CHECK(!admits(cache, a, 5));
    /* A refused declaration leaves the step before it: it is still placed. */
    CHECK_OK(kvc_cells_place_step(cache, 0, positions + 2, 2, cells, &step));
    CHECK_EQ(2, cells[0]);
    CHECK_OK(declare_for(cache, a, 4));
    CHECK_STATUS(KVC_ERR_OUT_OF_CAPACITY, declare_for(cache, a, 5));
    CHECK_OK(kvc_cells_place_step(cache, 0, positions + 4, 4, cells, &step));
    CHECK_EQ(0, free_rows_of(cache));
}

/* Any verb ends the step; its tokens stay. */
static void test_verbs_end_the_step(void)
{
    for (uint32_t verb = 0; verb < 9; verb++) {
        kvc_cache_t *cache = build_flat_cells(storage, 8, 4);
        uint32_t a = new_seq(cache), b = new_seq(cache), cells[2], n = 0, unwanted;
        static const uint32_t positions[2] = {0, 1};
        kvc_cell_step_t step;
        kvc_move_t move;
        uint8_t mask[4];
        append_cells(cache, a, 2, NULL);
        CHECK_OK(kvc_cells_mask_bytes(cache, 0, mask, 4, 2));
        switch (verb) {
        case 0: CHECK_OK(kvc_batch_seq_new(cache, &unwanted)); break;
        case 1: CHECK_OK(kvc_batch_seq_clone(cache, a, 1, &unwanted)); break;
        case 2: CHECK_OK(kvc_batch_seq_remove(cache, b, 0, 1)); break;
        case 3: CHECK_OK(kvc_batch_seq_release(cache, b)); break;
        case 4: CHECK_OK(kvc_batch_seq_keep(cache, a)); break;
        case 5: CHECK_OK(kvc_batch_seq_shift(cache, a, 0, KVC_UNBOUNDED, 1)); break;
        case 6: CHECK_OK(kvc_batch_rewind(cache, b, 0)); break;
        case 7: CHECK_OK(kvc_cells_defrag(cache, 0, &move, 1, &n)); break;
        default: CHECK_OK(kvc_clear(cache)); break;
        }
        CHECK_STATUS(KVC_ERR_NO_STEP, kvc_cells_mask_bytes(cache, 0, mask, 4, 2));
        CHECK_STATUS(KVC_ERR_NO_STEP, kvc_cells_place_step(cache, 0, positions, 2, cells, &step));
        CHECK_EQ(verb == 8 ? 8 : 6, free_rows_of(cache));
    }
}

/* A step that failed half-way is cancelled by rewinding each sequence. */
static void test_a_cancelled_step(void)
{
    kvc_cache_t *cache = build_flat_cells(storage, 8, 4);
    const uint32_t ids[3] = {new_seq(cache), new_seq(cache), 0};
    static const uint32_t positions[3] = {2, 0, 3};
    uint32_t cells[3];
    kvc_cell_step_t step;
    append_cells(cache, ids[0], 2, NULL);
    CHECK_OK(kvc_batch_declare_step(cache, ids, 3));
    CHECK_OK(kvc_cells_place_step(cache, 0, positions, 3, cells, &step));
    CHECK_EQ(3, free_rows_of(cache));
    CHECK_OK(kvc_batch_rewind(cache, ids[0], 2));
    CHECK_OK(kvc_batch_rewind(cache, ids[1], 0));
    CHECK_EQ(6, free_rows_of(cache));
    CHECK_OK(kvc_batch_declare_step(cache, ids, 3));
    CHECK_OK(kvc_cells_place_step(cache, 0, positions, 3, cells, &step));
    CHECK_EQ(2, cells[0]);
    CHECK_STATUS(KVC_ERR_CANNOT_GROW, kvc_batch_rewind(cache, ids[0], 5));
    CHECK_OK(kvc_batch_rewind(cache, ids[0], 4));
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(test_a_clone_keeps_what_its_source_leaves),
        TEST(test_a_clone_of_a_part),
        TEST(test_three_owners_in_six_orders),
        TEST(test_as_many_owners_as_there_may_be),
        TEST(test_cells_that_no_longer_ascend),
        TEST(test_a_step_in_scattered_cells),
        TEST(test_positions_that_are_held),
        TEST(test_holes_of_a_middle_sequence),
        TEST(test_flat_and_windowed_layers),
        TEST(test_cells_that_every_window_has_passed),
        TEST(test_steps_that_do_not_fit_their_declaration),
        TEST(test_verbs_end_the_step),
        TEST(test_a_cancelled_step),
    };
    return RUN_ALL(cases);
}
