/* Caches of many sequences that someone else implements: the batch face, the cells face and the rows face. Every entry
 * is called with its object and its arguments, what it answers is passed on, and a missing one is not offered. */

#include <string.h>

#include "foreign.h"
#include "support.h"

static foreign_t foreign;
static uint64_t storage[KVC_EXTERNAL_BYTES / 8];
static kvc_external_t table;

static kvc_cache_t *build_external(uint32_t kind)
{
    kvc_cache_t *cache = NULL;
    kvc_cache_release((kvc_cache_t *)storage);
    table = foreign_table(kind);
    memset(&foreign, 0, sizeof foreign);
    CHECK_OK(kvc_external_init(storage, sizeof storage, &table, &foreign, &cache));
    return cache;
}

static void check_called(const char *name, uint64_t a, uint64_t b, uint64_t c)
{
    CHECK_TEXT(name, foreign.called);
    CHECK_EQ(a, foreign.arguments[0]);
    CHECK_EQ(b, foreign.arguments[1]);
    CHECK_EQ(c, foreign.arguments[2]);
    foreign.called = "";
}

static void test_the_batch_face(void)
{
    static const uint32_t ids[3] = {4, 5, 4};
    kvc_cache_t *cache = build_external(KVC_KIND_CELLS);
    uint32_t out = 0;
    bool fits = false;
    CHECK_OK(kvc_batch_declare_step(cache, ids, 3));
    CHECK(foreign.input == ids);
    check_called("batch_declare_step", 3, 0, 0);
    /* Foreign code may write a byte that is no bool. */
    foreign.truth = 0x80;
    CHECK_OK(kvc_batch_can_admit(cache, 6, UINT32_MAX, &fits));
    CHECK(fits);
    check_called("batch_can_admit", 6, UINT32_MAX, 0);
    foreign.truth = 0;
    CHECK_OK(kvc_batch_can_admit(cache, UINT32_MAX, 1, &fits));
    CHECK(!fits);
    check_called("batch_can_admit", UINT32_MAX, 1, 0);
    CHECK_OK(kvc_batch_seq_remove(cache, 9, 10, 10));
    check_called("batch_seq_remove", 9, 10, 10);
    CHECK_OK(kvc_batch_seq_release(cache, 12));
    check_called("batch_seq_release", 12, 0, 0);
    CHECK_OK(kvc_batch_seq_keep(cache, 13));
    check_called("batch_seq_keep", 13, 0, 0);
    CHECK_OK(kvc_batch_seq_shift(cache, 14, 15, 16, -17));
    CHECK_EQ((uint32_t)-17, foreign.arguments[3]);
    check_called("batch_seq_shift", 14, 15, 16);
    CHECK_OK(kvc_batch_rewind(cache, 18, 19));
    check_called("batch_rewind", 18, 19, 0);
    /* Each number is that of its own entry. */
#define ANSWERS(number, a, b, name, call) \
    foreign.value = (number);             \
    CHECK_OK(call);                       \
    CHECK_EQ((number), out);              \
    check_called((name), (a), (b), 0)
    ANSWERS(70, 0, 0, "batch_seq_new", kvc_batch_seq_new(cache, &out));
    ANSWERS(71, 7, KVC_UNBOUNDED, "batch_seq_clone", kvc_batch_seq_clone(cache, 7, KVC_UNBOUNDED, &out));
    ANSWERS(72, 8, 0, "batch_seq_len", kvc_batch_seq_len(cache, 8, &out));
    ANSWERS(73, 9, 0, "batch_next_pos", kvc_batch_next_pos(cache, 9, &out));
    ANSWERS(KVC_UNBOUNDED, 10, 0, "batch_first_pos", kvc_batch_first_pos(cache, 10, &out));
    ANSWERS(75, 0, 0, "batch_free_rows", kvc_batch_free_rows(cache, &out));
#undef ANSWERS
}

static void test_the_cells_face(void)
{
    static const uint32_t positions[3] = {7, 8, 9};
    kvc_cache_t *cache = build_external(KVC_KIND_CELLS);
    uint32_t cells[4] = {0, 0, 0, 5}, words[4], n = 0;
    uint8_t bytes[8];
    kvc_cell_step_t step;
    kvc_shift_t shifts[3];
    kvc_move_t moves[3];
    CHECK_OK(kvc_cells_place_step(cache, 1, positions, 3, cells, &step));
    CHECK(foreign.input == positions && foreign.output == cells);
    CHECK_EQ(0x11111111, cells[2]);
    CHECK_EQ(5, cells[3]);
    CHECK_EQ(0x22222222, step.write_start);
    check_called("cells_place_step", 1, 3, 0);
    CHECK_OK(kvc_cells_mask_bytes(cache, 2, bytes, 8, 4));
    CHECK(foreign.output == bytes);
    check_called("cells_mask_bytes", 2, 8, 4);
    CHECK_OK(kvc_cells_mask_bits(cache, 3, words, 4, 2));
    CHECK(foreign.output == words);
    check_called("cells_mask_bits", 3, 4, 2);
    foreign.value = 2;
    CHECK_OK(kvc_cells_shifts(cache, 4, shifts, 3, &n));
    CHECK(foreign.output == shifts);
    CHECK_EQ(2, n);
    check_called("cells_shifts", 4, 3, 0);
    CHECK_OK(kvc_cells_shifts_done(cache));
    check_called("cells_shifts_done", 0, 0, 0);
    foreign.value = 3;
    CHECK_OK(kvc_cells_defrag(cache, 5, moves, 3, &n));
    CHECK(foreign.output == moves);
    CHECK_EQ(3, n);
    check_called("cells_defrag", 5, 3, 0);
    /* With no room there need be no place for results. */
    foreign.value = 0;
    CHECK_OK(kvc_cells_shifts(cache, 6, NULL, 0, &n));
    check_called("cells_shifts", 6, 0, 0);
    CHECK_OK(kvc_cells_defrag(cache, 7, NULL, 0, &n));
    CHECK_EQ(0, n);
    check_called("cells_defrag", 7, 0, 0);
}

static void test_the_rows_face(void)
{
    static const uint32_t positions[3] = {7, 8, 0};
    kvc_cache_t *cache = build_external(KVC_KIND_ROWS);
    kvc_span_t spans[4];
    kvc_run_t runs[3];
    uint32_t n = 0;
    foreign.value = 2;
    CHECK_OK(kvc_rows_place_step(cache, 1, positions, 3, spans, 4, &n));
    CHECK(foreign.input == positions && foreign.output == spans);
    CHECK_EQ(2, n);
    check_called("rows_place_step", 1, 3, 4);
    /* The table has no entry for this one. */
    CHECK_STATUS(KVC_ERR_WRONG_KIND, kvc_rows_held(cache, 0, 0, runs, 3, &n));
    CHECK_TEXT("", foreign.called);
}

/* More results than there is room for would be beyond the caller's array. */
static void test_numbers_that_cannot_be(void)
{
    static const uint32_t positions[1] = {0};
    kvc_cache_t *cache = build_external(KVC_KIND_ROWS);
    kvc_span_t span;
    kvc_shift_t shift;
    kvc_move_t move;
    uint32_t n = 77;
    for (foreign.value = 2; foreign.value != 0; foreign.value = foreign.value == 2 ? UINT32_MAX : 0) {
        CHECK_STATUS(KVC_ERR_CORRUPT, kvc_cells_shifts(cache, 0, &shift, 1, &n));
        CHECK_STATUS(KVC_ERR_CORRUPT, kvc_cells_defrag(cache, 0, &move, 1, &n));
        CHECK_STATUS(KVC_ERR_CORRUPT, kvc_rows_place_step(cache, 0, positions, 1, &span, 1, &n));
        CHECK_EQ(77, n);
    }
}

static void refuse_the_batch_face(kvc_cache_t *cache, kvc_status_t expected, uint32_t *out, bool *fits)
{
    static const uint32_t ids[1] = {0};
    REFUSED(expected, kvc_batch_declare_step(cache, ids, 1));
    REFUSED(expected, kvc_batch_can_admit(cache, 0, 1, fits));
    REFUSED(expected, kvc_batch_seq_new(cache, out));
    REFUSED(expected, kvc_batch_seq_clone(cache, 0, 1, out));
    REFUSED(expected, kvc_batch_seq_remove(cache, 0, 0, 1));
    REFUSED(expected, kvc_batch_seq_release(cache, 0));
    REFUSED(expected, kvc_batch_seq_keep(cache, 0));
    REFUSED(expected, kvc_batch_seq_shift(cache, 0, 0, 1, 1));
    REFUSED(expected, kvc_batch_rewind(cache, 0, 0));
    REFUSED(expected, kvc_batch_seq_len(cache, 0, out));
    REFUSED(expected, kvc_batch_next_pos(cache, 0, out));
    REFUSED(expected, kvc_batch_first_pos(cache, 0, out));
    REFUSED(expected, kvc_batch_free_rows(cache, out));
}

static void refuse_all(kvc_cache_t *cache, kvc_status_t expected)
{
    static const uint32_t positions[1] = {0};
    static uint32_t out = 5, cell = 6, n = 7;
    static uint8_t byte = 8;
    static bool fits = true;
    static kvc_cell_step_t step;
    static kvc_shift_t shift;
    static kvc_move_t move;
    static kvc_span_t span;
    unwatch_all();
    watch(&out, sizeof out);
    watch(&cell, sizeof cell);
    watch(&byte, sizeof byte);
    watch(&fits, sizeof fits);
    watch(&step, sizeof step);
    watch(storage, sizeof storage);
    refuse_the_batch_face(cache, expected, &out, &fits);
    REFUSED(expected, kvc_cells_place_step(cache, 0, positions, 1, &cell, &step));
    REFUSED(expected, kvc_cells_mask_bytes(cache, 0, &byte, 1, 1));
    REFUSED(expected, kvc_cells_mask_bits(cache, 0, &cell, 1, 1));
    REFUSED(expected, kvc_cells_shifts_done(cache));
    REFUSED(expected, kvc_cells_defrag(cache, 0, &move, 1, &out));
    /* A number is told beside this status only. */
    uint32_t told = expected == KVC_ERR_BUFFER_TOO_SMALL ? foreign.value : 7;
    n = 7;
    REFUSED(expected, kvc_cells_shifts(cache, 0, &shift, 1, &n));
    CHECK_EQ(told, n);
    n = 7;
    REFUSED(expected, kvc_rows_place_step(cache, 0, positions, 1, &span, 1, &n));
    CHECK_EQ(told, n);
    unwatch_all();
}

static void test_statuses_are_passed_on(void)
{
    kvc_cache_t *cache = build_external(KVC_KIND_CELLS);
    foreign.value = 1234;
    foreign.truth = 1;
    for (foreign.answer = 1; foreign.answer <= 23; foreign.answer++) {
        refuse_all(cache, foreign.answer);
    }
    static const kvc_status_t unknown[] = {24, -1, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        foreign.answer = unknown[i];
        refuse_all(cache, KVC_ERR_CORRUPT);
    }
}

static void test_arguments_are_checked_before_foreign_code(void)
{
    kvc_cache_t *cache = build_external(KVC_KIND_CELLS);
    uint32_t array[4] = {0}, n;
    bool fits;
    kvc_cell_step_t step;
    kvc_shift_t shift;
    kvc_move_t move;
    kvc_span_t span;
    foreign.called = "nothing";
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_batch_declare_step(cache, NULL, 1));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_batch_declare_step(cache, array, 0));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_batch_can_admit(cache, 0, 0, &fits));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_batch_can_admit(cache, 0, 1, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_batch_seq_new(cache, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_batch_seq_clone(cache, 0, 0, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_batch_seq_remove(cache, 0, 1, 0));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_batch_seq_shift(cache, 0, 1, 0, 1));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_batch_seq_len(cache, 0, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_batch_next_pos(cache, 0, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_batch_first_pos(cache, 0, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_batch_free_rows(cache, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_cells_place_step(cache, 0, NULL, 1, array, &step));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_cells_place_step(cache, 0, array, 1, NULL, &step));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_cells_place_step(cache, 0, array, 1, array, &step));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_cells_place_step(cache, 0, array, 0, array + 1, &step));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_cells_place_step(cache, 0, array, 1, array + 1, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_cells_mask_bytes(cache, 0, NULL, 1, 1));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_cells_mask_bits(cache, 0, NULL, 1, 1));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_cells_shifts(cache, 0, NULL, 1, &n));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_cells_shifts(cache, 0, &shift, 1, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_cells_defrag(cache, 0, NULL, 1, &n));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_cells_defrag(cache, 0, &move, 1, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_rows_place_step(cache, 0, NULL, 1, &span, 1, &n));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_rows_place_step(cache, 0, array, 0, &span, 1, &n));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_rows_place_step(cache, 0, array, 1, NULL, 1, &n));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_rows_place_step(cache, 0, array, 1, &span, 1, NULL));
    CHECK_TEXT("nothing", foreign.called);
}

static void test_entries_that_are_missing(void)
{
    static const uint32_t input[1] = {0};
    kvc_cache_t *cache = build_external(KVC_KIND_PAGED);
    uint32_t out = 0, word = 0;
    uint8_t byte = 0;
    bool fits = false;
    kvc_cell_step_t step;
    kvc_shift_t shift;
    kvc_move_t move;
    kvc_span_t span;
    /* One entry less, and only that one answers so. */
#define WITHOUT(entry, call)                  \
    table.entry = NULL;                       \
    CHECK_STATUS(KVC_ERR_WRONG_KIND, call);   \
    table = foreign_table(KVC_KIND_PAGED);       \
    foreign.called = "";                      \
    CHECK_OK(call);                           \
    CHECK_TEXT(#entry, foreign.called)
    WITHOUT(batch_declare_step, kvc_batch_declare_step(cache, input, 1));
    WITHOUT(batch_can_admit, kvc_batch_can_admit(cache, 0, 1, &fits));
    WITHOUT(batch_seq_new, kvc_batch_seq_new(cache, &out));
    WITHOUT(batch_seq_clone, kvc_batch_seq_clone(cache, 0, 1, &out));
    WITHOUT(batch_seq_remove, kvc_batch_seq_remove(cache, 0, 0, 1));
    WITHOUT(batch_seq_release, kvc_batch_seq_release(cache, 0));
    WITHOUT(batch_seq_keep, kvc_batch_seq_keep(cache, 0));
    WITHOUT(batch_seq_shift, kvc_batch_seq_shift(cache, 0, 0, 1, 1));
    WITHOUT(batch_rewind, kvc_batch_rewind(cache, 0, 0));
    WITHOUT(batch_seq_len, kvc_batch_seq_len(cache, 0, &out));
    WITHOUT(batch_next_pos, kvc_batch_next_pos(cache, 0, &out));
    WITHOUT(batch_first_pos, kvc_batch_first_pos(cache, 0, &out));
    WITHOUT(batch_free_rows, kvc_batch_free_rows(cache, &out));
    WITHOUT(cells_place_step, kvc_cells_place_step(cache, 0, input, 1, &word, &step));
    WITHOUT(cells_mask_bytes, kvc_cells_mask_bytes(cache, 0, &byte, 1, 1));
    WITHOUT(cells_mask_bits, kvc_cells_mask_bits(cache, 0, &word, 1, 1));
    WITHOUT(cells_shifts, kvc_cells_shifts(cache, 0, &shift, 1, &out));
    WITHOUT(cells_shifts_done, kvc_cells_shifts_done(cache));
    WITHOUT(cells_defrag, kvc_cells_defrag(cache, 0, &move, 1, &out));
    WITHOUT(rows_place_step, kvc_rows_place_step(cache, 0, input, 1, &span, 1, &out));
#undef WITHOUT
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(test_the_batch_face),
        TEST(test_the_cells_face),
        TEST(test_the_rows_face),
        TEST(test_numbers_that_cannot_be),
        TEST(test_statuses_are_passed_on),
        TEST(test_arguments_are_checked_before_foreign_code),
        TEST(test_entries_that_are_missing),
    };
    return RUN_ALL(cases);
}
