/* Threads for stress tests: all of them begin at the same time, with a number and random numbers of their own. */

#ifndef KVC_TESTS_THREADS_H
#define KVC_TESTS_THREADS_H

#include "kvcore.h"
#include "rng.h"

enum { THREADS = 4 };

typedef struct {
    unsigned number;
    rng_t rng;
} thread_t;

/* Runs `work` in THREADS threads and waits for all of them. */
void in_threads(void (*work)(thread_t *thread));

/* Waits until every thread of in_threads is here. */
void meet(void);

/* Counters that any thread may use. */
uint32_t add_to(uint32_t *counter, uint32_t n);
uint32_t value_of(const uint32_t *counter);

/* Checks that the status is KVC_OK, KVC_ERR_BUSY, or one of two others, and answers whether it is KVC_OK. */
bool is_ok_or(kvc_status_t status, kvc_status_t other, kvc_status_t another);

#endif
