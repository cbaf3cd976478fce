/* Caches that someone else implements: every entry of the table is called with its object and its arguments, its status
 * is passed on, and an entry that is missing is a face that the cache does not offer. */

#include <string.h>

#include "edge.h"
#include "models.h"
#include "support.h"

/* A foreign cache: what it was called with, and what it answers. */
typedef struct {
    kvc_status_t answer;
    uint32_t value;
    uint8_t truth;
    const char *called;
    uint32_t arguments[3];
    const void *plan;
    kvc_cache_t *self;
} foreign_t;

static foreign_t foreign;
static uint64_t storage[KVC_EXTERNAL_BYTES / 8];

static foreign_t *called(void *object, const char *name, uint32_t a, uint32_t b, uint32_t c)
{
    foreign_t *it = (foreign_t *)object;
    it->called = name;
    it->arguments[0] = a;
    it->arguments[1] = b;
    it->arguments[2] = c;
    return it;
}

static int32_t foreign_capacity(void *object, uint32_t *out)
{
    foreign_t *it = called(object, "capacity", 0, 0, 0);
    *out = it->value;
    return it->answer;
}

static int32_t foreign_clear(void *object)
{
    return called(object, "clear", 0, 0, 0)->answer;
}

static int32_t foreign_can_extend(void *object, uint32_t n, bool *out)
{
    foreign_t *it = called(object, "can_extend", n, 0, 0);
    memcpy(out, &it->truth, 1);
    return it->answer;
}

static int32_t foreign_length(void *object, uint32_t *out)
{
    foreign_t *it = called(object, "length", 0, 0, 0);
    *out = it->value;
    return it->answer;
}

static int32_t foreign_rewind(void *object, uint32_t new_len)
{
    return called(object, "rewind", new_len, 0, 0)->answer;
}

static int32_t foreign_rewind_floor(void *object, uint32_t *out)
{
    foreign_t *it = called(object, "rewind_floor", 0, 0, 0);
    *out = it->value;
    return it->answer;
}

static int32_t foreign_plan(void *object, uint32_t layer, uint32_t position, uint32_t n, kvc_seq_plan_t *out)
{
    foreign_t *it = called(object, "seq_plan", layer, position, n);
    if (it->answer == KVC_OK) {
        memset(out, 0x11, sizeof *out);
    }
    return it->answer;
}

static int32_t foreign_plan_step(void *object, uint32_t position, uint32_t n, kvc_seq_plan_t *plans, uint32_t cap,
                                 uint32_t *n_groups)
{
    foreign_t *it = called(object, "seq_plan_step", position, n, cap);
    if (it->answer == KVC_OK) {
        memset(plans, 0x22, it->value * sizeof *plans);
    }
    *n_groups = it->value;
    return it->answer;
}

static int32_t foreign_commit(void *object, const kvc_seq_plan_t *plan, uint32_t accepted)
{
    foreign_t *it = called(object, "seq_commit", accepted, 0, 0);
    it->plan = plan;
    return it->answer;
}

static kvc_external_t table_of(uint32_t kind)
{
    kvc_external_t table;
    memset(&table, 0, sizeof table);
    table.struct_size = (uint32_t)sizeof table;
    table.kind = kind;
    table.capacity = foreign_capacity;
    table.clear = foreign_clear;
    table.can_extend = foreign_can_extend;
    table.length = foreign_length;
    table.rewind = foreign_rewind;
    table.rewind_floor = foreign_rewind_floor;
    table.seq_plan = foreign_plan;
    table.seq_plan_step = foreign_plan_step;
    table.seq_commit = foreign_commit;
    return table;
}

/* The table outlives the cache. */
static kvc_external_t table;

static kvc_cache_t *build_external(uint32_t kind)
{
    kvc_cache_t *cache = NULL;
    kvc_cache_release((kvc_cache_t *)storage);
    table = table_of(kind);
    memset(&foreign, 0, sizeof foreign);
    CHECK_OK(kvc_external_init(storage, sizeof storage, &table, &foreign, &cache));
    foreign.self = cache;
    return cache;
}

static void check_called(const char *name, uint32_t a, uint32_t b, uint32_t c)
{
    CHECK_TEXT(name, foreign.called);
    CHECK_EQ(a, foreign.arguments[0]);
    CHECK_EQ(b, foreign.arguments[1]);
    CHECK_EQ(c, foreign.arguments[2]);
    foreign.called = "";
}

static void test_every_entry_is_called(void)
{
    kvc_cache_t *cache = build_external(KVC_KIND_SEQUENCE);
    kvc_seq_plan_t plans[3], plan;
    uint32_t out = 0;
    bool fits = false;
    foreign.value = 77;
    CHECK_OK(kvc_capacity(cache, &out));
    CHECK_EQ(77, out);
    check_called("capacity", 0, 0, 0);
    CHECK_OK(kvc_clear(cache));
    check_called("clear", 0, 0, 0);
    foreign.value = 78;
    CHECK_OK(kvc_length(cache, &out));
    CHECK_EQ(78, out);
    check_called("length", 0, 0, 0);
    CHECK_OK(kvc_rewind(cache, UINT32_MAX));
    check_called("rewind", UINT32_MAX, 0, 0);
    foreign.value = 79;
    CHECK_OK(kvc_rewind_floor(cache, &out));
    CHECK_EQ(79, out);
    check_called("rewind_floor", 0, 0, 0);
    /* Foreign code may write a byte that is no bool. */
    foreign.truth = 0x80;
    CHECK_OK(kvc_can_extend(cache, 5, &fits));
    CHECK(fits);
    check_called("can_extend", 5, 0, 0);
    foreign.truth = 0;
    CHECK_OK(kvc_can_extend(cache, UINT32_MAX, &fits));
    CHECK(!fits);
    check_called("can_extend", UINT32_MAX, 0, 0);
    CHECK_OK(kvc_seq_plan(cache, 1, 2, 3, &plan));
    CHECK_EQ(0x11111111, plan.epoch);
    check_called("seq_plan", 1, 2, 3);
    foreign.value = 2;
    plans[2].epoch = 5;
    CHECK_OK(kvc_seq_plan_step(cache, 4, 5, plans, 3, &out));
    CHECK_EQ(2, out);
    CHECK_EQ(0x22222222, plans[1].epoch);
    CHECK_EQ(5, plans[2].epoch);
    check_called("seq_plan_step", 4, 5, 3);
    CHECK_OK(kvc_seq_commit(cache, &plan, 6));
    CHECK(memcmp(foreign.plan, &plan, sizeof plan) == 0);
    check_called("seq_commit", 6, 0, 0);
}

static void refuse_all(kvc_cache_t *cache, kvc_status_t expected)
{
    static kvc_seq_plan_t plan;
    static uint32_t out = 5, n_groups = 6;
    static bool fits = true;
    unwatch_all();
    watch(&plan, sizeof plan);
    watch(&out, sizeof out);
    watch(&fits, sizeof fits);
    watch(storage, sizeof storage);
    REFUSED(expected, kvc_capacity(cache, &out));
    REFUSED(expected, kvc_clear(cache));
    REFUSED(expected, kvc_can_extend(cache, 1, &fits));
    REFUSED(expected, kvc_length(cache, &out));
    REFUSED(expected, kvc_rewind(cache, 1));
    REFUSED(expected, kvc_rewind_floor(cache, &out));
    REFUSED(expected, kvc_seq_plan(cache, 0, 0, 1, &plan));
    n_groups = 6;
    REFUSED(expected, kvc_seq_plan_step(cache, 0, 1, &plan, 1, &n_groups));
    /* Told beside this status only. */
    CHECK_EQ(expected == KVC_ERR_BUFFER_TOO_SMALL ? foreign.value : 6, n_groups);
    kvc_seq_plan_t some = plan;
    some.n_tokens = 4;
    REFUSED(expected, kvc_seq_commit(cache, &some, 1));
    unwatch_all();
}

static void test_statuses_are_passed_on(void)
{
    kvc_cache_t *cache = build_external(KVC_KIND_SEQUENCE);
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
    kvc_cache_t *cache = build_external(KVC_KIND_SEQUENCE);
    kvc_seq_plan_t plan;
    uint32_t out = 0;
    bool fits;
    memset(&plan, 0, sizeof plan);
    foreign.called = "nothing";
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_capacity(cache, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_can_extend(cache, 0, &fits));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_can_extend(cache, 1, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_length(cache, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_rewind_floor(cache, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan(cache, 0, 0, 0, &plan));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan(cache, 0, 0, 1, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan_step(cache, 0, 1, NULL, 1, &out));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan_step(cache, 0, 1, &plan, 1, NULL));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan_step(cache, 0, 0, &plan, 1, &out));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_seq_commit(cache, NULL, 0));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_seq_commit(cache, &plan, 0));
    CHECK_TEXT("nothing", foreign.called);
}

static void test_entries_that_are_missing(void)
{
    kvc_cache_t *cache = build_external(KVC_KIND_ROWS);
    kvc_seq_plan_t plan;
    uint32_t out = 0;
    bool fits = false;
    memset(&plan, 0x33, sizeof plan);
    /* One entry less, and only that one answers so. */
#define WITHOUT(entry, call)                        \
    table.entry = NULL;                             \
    CHECK_STATUS(KVC_ERR_WRONG_KIND, call);         \
    table = table_of(KVC_KIND_ROWS);                \
    foreign.called = "";                            \
    CHECK_OK(call);                                 \
    CHECK_TEXT(#entry, foreign.called)
    WITHOUT(capacity, kvc_capacity(cache, &out));
    WITHOUT(clear, kvc_clear(cache));
    WITHOUT(can_extend, kvc_can_extend(cache, 1, &fits));
    WITHOUT(length, kvc_length(cache, &out));
    WITHOUT(rewind, kvc_rewind(cache, 0));
    WITHOUT(rewind_floor, kvc_rewind_floor(cache, &out));
    WITHOUT(seq_plan, kvc_seq_plan(cache, 0, 0, 1, &plan));
    WITHOUT(seq_plan_step, kvc_seq_plan_step(cache, 0, 1, &plan, 1, &out));
    memset(&plan, 0x33, sizeof plan);
    WITHOUT(seq_commit, kvc_seq_commit(cache, &plan, 1));
#undef WITHOUT
}

/* Calls its own cache: no lock is held while foreign code runs. */
static int32_t length_that_calls_back(void *object, uint32_t *out)
{
    foreign_t *it = (foreign_t *)object;
    void *found = NULL;
    CHECK_OK(kvc_cache_retain(it->self));
    CHECK_OK(kvc_cache_set_face(it->self, "inner", it, NULL));
    CHECK_OK(kvc_cache_face(it->self, "inner", &found));
    CHECK_OK(kvc_cache_drop_face(it->self, "inner"));
    CHECK_OK(kvc_clear(it->self));
    CHECK_OK(kvc_cache_release(it->self));
    *out = 3;
    return found == it ? KVC_OK : KVC_ERR_UNSUPPORTED;
}

static void test_foreign_code_runs_without_a_lock(void)
{
    kvc_cache_t *cache = build_external(KVC_KIND_SEQUENCE);
    table.length = length_that_calls_back;
    CHECK_EQ(3, length_of(cache));
    CHECK_TEXT("clear", foreign.called);
}

static void note_release(void *ctx, void *at)
{
    *(void **)ctx = at;
}

/* The family is what a cache claims, and no more than a claim: its storage ends with 256 bytes. */
static void test_families(void)
{
    for (uint32_t kind = KVC_KIND_SEQUENCE; kind <= KVC_KIND_PAGED; kind++) {
        void *edge = at_edge(KVC_EXTERNAL_BYTES, 0xFF), *released = NULL;
        kvc_cache_t *cache = NULL;
        kvc_config_t config;
        kvc_layer_info_t info;
        uint32_t out = 0;
        table = table_of(kind);
        memset(&foreign, 0, sizeof foreign);
        CHECK_OK(kvc_external_init(edge, KVC_EXTERNAL_BYTES, &table, &foreign, &cache));
        CHECK_OK(kvc_cache_kind(cache, &out));
        CHECK_EQ(kind, out);
        CHECK_STATUS(KVC_ERR_WRONG_KIND, kvc_cache_config(cache, &config));
        CHECK_STATUS(KVC_ERR_WRONG_KIND, kvc_cache_layer(cache, 0, &info));
        CHECK_OK(kvc_clear(cache));
        CHECK_TEXT("clear", foreign.called);
        CHECK_OK(kvc_cache_on_release(cache, note_release, &released));
        CHECK_OK(kvc_cache_release(cache));
        CHECK(released == edge);
        CHECK_STATUS(KVC_ERR_STALE, kvc_clear(cache));
    }
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(test_every_entry_is_called),
        TEST(test_statuses_are_passed_on),
        TEST(test_arguments_are_checked_before_foreign_code),
        TEST(test_entries_that_are_missing),
        TEST(test_foreign_code_runs_without_a_lock),
        TEST(test_families),
    };
    return RUN_ALL(cases);
}
