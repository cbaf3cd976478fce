#include "support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"

/* More failures than these are counted, not printed. */
enum { MOST_PRINTED = 40, MOST_WATCHED = 16, MOST_WATCHED_BYTES = 1 << 19 };

static uint64_t checks, failures;
static const char *running = "";

typedef struct {
    const unsigned char *at;
    size_t size;
} watched_t;

static watched_t watched[MOST_WATCHED];
static size_t n_watched, n_watched_bytes;
static unsigned char watched_bytes[MOST_WATCHED_BYTES];

/* Counts a check. A failed one is to be described if this answers true. */
static bool count_failure(bool holds, const char *file, int line)
{
    __atomic_fetch_add(&checks, 1, __ATOMIC_RELAXED);
    if (holds) {
        return false;
    }
    if (__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED) >= MOST_PRINTED) {
        return false;
    }
    const char *slash = strrchr(file, '/');
    fprintf(stderr, "%s:%d: in %s: ", slash == NULL ? file : slash + 1, line, running);
    return true;
}

bool check_that(bool holds, const char *what, const char *file, int line)
{
    if (count_failure(holds, file, line)) {
        fprintf(stderr, "expected %s\n", what);
    }
    return holds;
}

bool check_equal(uint64_t expected, uint64_t got, const char *what, const char *file, int line)
{
    bool holds = expected == got;
    if (count_failure(holds, file, line)) {
        fprintf(stderr, "%s: expected %" PRIu64 ", got %" PRIu64 "\n", what, expected, got);
    }
    return holds;
}

bool check_text(const char *expected, const char *got, const char *what, const char *file, int line)
{
    bool holds = got != NULL && strcmp(expected, got) == 0;
    if (count_failure(holds, file, line)) {
        fprintf(stderr, "%s: expected \"%s\", got \"%s\"\n", what, expected, got == NULL ? "(null)" : got);
    }
    return holds;
}

bool check_status(kvc_status_t expected, kvc_status_t got, const char *what, const char *file, int line)
{
    bool holds = expected == got;
    if (count_failure(holds, file, line)) {
        fprintf(stderr, "%s: expected %s, got %s (%" PRId32 ")\n", what, kvc_status_name(expected),
                kvc_status_name(got), got);
    }
    return holds;
}

int run_cases(const test_case_t *cases, size_t n_cases)
{
    for (size_t i = 0; i < n_cases; i++) {
        running = cases[i].name;
        cases[i].run();
    }
    printf("%zu tests, %" PRIu64 " checks, %" PRIu64 " failures\n", n_cases, checks, failures);
    /* A program that checked nothing has not passed. */
    return checks > 0 && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

void give_up(const char *why)
{
    fprintf(stderr, "%s: %s\n", running, why);
    exit(EXIT_FAILURE);
}

void watch(const void *at, size_t size)
{
    if (n_watched == MOST_WATCHED || size > MOST_WATCHED_BYTES - n_watched_bytes) {
        give_up("too much memory to watch");
    }
    watched[n_watched].at = (const unsigned char *)at;
    watched[n_watched].size = size;
    n_watched++;
    n_watched_bytes += size;
}

void unwatch_all(void)
{
    n_watched = 0;
    n_watched_bytes = 0;
}

void refusal_begin(void)
{
    unsigned char *copy = watched_bytes;
    for (size_t i = 0; i < n_watched; i++) {
        memcpy(copy, watched[i].at, watched[i].size);
        copy += watched[i].size;
    }
    events_record();
}

static void check_watched(const char *what, const char *file, int line)
{
    const unsigned char *copy = watched_bytes;
    for (size_t i = 0; i < n_watched; i++) {
        size_t at = 0;
        while (at < watched[i].size && copy[at] == watched[i].at[at]) {
            at++;
        }
        if (count_failure(at == watched[i].size, file, line)) {
            fprintf(stderr, "%s: changed byte %zu of watched region %zu\n", what, at, i);
        }
        copy += watched[i].size;
    }
}

bool check_refused(kvc_status_t expected, kvc_status_t got, const char *what, const char *file, int line)
{
    kvc_set_event_hook(NULL, NULL);
    check_watched(what, file, line);
    uint32_t event = expected == KVC_ERR_BUSY ? KVC_EVENT_BUSY : KVC_EVENT_REFUSED;
    bool told = events_seen() == 1 && event_at(0)->event == event && event_at(0)->status == expected;
    if (count_failure(told, file, line)) {
        fprintf(stderr, "%s: expected one event with status %s, got %zu events\n", what,
                kvc_status_name(expected), events_seen());
    }
    return check_status(expected, got, what, file, line);
}
