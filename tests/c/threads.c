/* For barriers. */
#define _POSIX_C_SOURCE 200809L

#include "threads.h"

#include <pthread.h>
#include <stdio.h>

#include "support.h"

static pthread_barrier_t barrier;
static void (*running_work)(thread_t *thread);

static void *run(void *argument)
{
    meet();
    running_work((thread_t *)argument);
    return NULL;
}

void in_threads(void (*work)(thread_t *thread))
{
    pthread_t handles[THREADS];
    thread_t threads[THREADS];
    running_work = work;
    if (pthread_barrier_init(&barrier, NULL, THREADS) != 0) {
        give_up("no barrier");
    }
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i].number = i;
        threads[i].rng.state = 1000 + i;
        if (pthread_create(&handles[i], NULL, run, &threads[i]) != 0) {
            give_up("no thread");
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(handles[i], NULL);
    }
    pthread_barrier_destroy(&barrier);
}

void meet(void)
{
    pthread_barrier_wait(&barrier);
}

uint32_t add_to(uint32_t *counter, uint32_t n)
{
    return __atomic_add_fetch(counter, n, __ATOMIC_ACQ_REL);
}

uint32_t value_of(const uint32_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

bool is_ok_or(kvc_status_t status, kvc_status_t other, kvc_status_t another)
{
    bool allowed = status == KVC_OK || status == KVC_ERR_BUSY || status == other || status == another;
    if (!CHECK(allowed)) {
        fprintf(stderr, "%s is not a status that may come here\n", kvc_status_name(status));
    }
    return status == KVC_OK;
}
