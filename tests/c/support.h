/* Checks that count and say where they failed, and memory that a refused call must leave alone. */

#ifndef KVC_TESTS_SUPPORT_H
#define KVC_TESTS_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kvcore.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every check answers whether it held, and may run in any thread. */
#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
#define CHECK_EQ(expected, got) \
    check_equal((uint64_t)(expected), (uint64_t)(got), #got, __FILE__, __LINE__)
#define CHECK_TEXT(expected, got) check_text((expected), (got), #got, __FILE__, __LINE__)
#define CHECK_STATUS(expected, call) check_status((expected), (call), #call, __FILE__, __LINE__)
#define CHECK_OK(call) CHECK_STATUS(KVC_OK, call)

bool check_that(bool holds, const char *what, const char *file, int line);
bool check_equal(uint64_t expected, uint64_t got, const char *what, const char *file, int line);
bool check_text(const char *expected, const char *got, const char *what, const char *file, int line);
bool check_status(kvc_status_t expected, kvc_status_t got, const char *what, const char *file, int line);

/* A named test. Its name is printed beside what fails in it. */
typedef struct {
    const char *name;
    void (*run)(void);
} test_case_t;

#define TEST(function) {#function, function}
#define RUN_ALL(cases) run_cases((cases), sizeof(cases) / sizeof((cases)[0]))

/* Runs the tests, prints how many checks there were, and answers the exit status of the program. */
int run_cases(const test_case_t *cases, size_t n_cases);

/* Ends the program: for a test that cannot go on. */
void give_up(const char *why);

/* Memory that REFUSED compares: it must be the same bytes after the call as before. */
void watch(const void *at, size_t size);
void unwatch_all(void);

/* The call answers exactly this status, tells of it in exactly one event, and changes nothing that is watched. */
#define REFUSED(expected, call) \
    (refusal_begin(), check_refused((expected), (call), #call, __FILE__, __LINE__))

void refusal_begin(void);
bool check_refused(kvc_status_t expected, kvc_status_t got, const char *what, const char *file, int line);

#ifdef __cplusplus
}
#endif

#endif
