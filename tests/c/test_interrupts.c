/* Interrupts: a call that preempts the holder of a lock answers KVC_ERR_BUSY and changes nothing, retain and release
 * never do, and no call hangs. Calls are interrupted behind every single instruction where the processor can do that,
 * else by a timer. The interrupt calls the same objects as the code that it interrupts. */

/* For sigaction, SIGTRAP and setitimer. */
#define _DEFAULT_SOURCE

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "models.h"
#include "registries.h"
#include "support.h"

static uint64_t storage[CACHE_BYTES / 8];
static kvc_registry_t *registry;
static kvc_cache_t *cache;

/* The interrupt calls only while this is set. A busy answer takes long, so a few of each call are enough. */
static volatile sig_atomic_t armed;
enum { MOST_BUSY = 12 };

static struct {
    uint64_t interrupts;
    unsigned busy_registry, busy_cache;
    /* A second session, to be closed in an interrupt. */
    kvc_session_t session;
    unsigned leaked, told_busy;
    char leaked_key[KVC_KEY_BYTES];
} seen;

static void hook(void *ctx, uint32_t event, kvc_status_t status, const char *key)
{
    (void)ctx;
    if (event == KVC_EVENT_BUSY) {
        CHECK_STATUS(KVC_ERR_BUSY, status);
        seen.told_busy++;
    }
    if (event == KVC_EVENT_LEAKED) {
        seen.leaked++;
        strcpy(seen.leaked_key, key);
    }
}

static bool is_busy(kvc_status_t status)
{
    CHECK(status == KVC_OK || status == KVC_ERR_BUSY);
    return status == KVC_ERR_BUSY;
}

/* The registry's lock is held by the code below. */
static void close_a_session(void)
{
    uint64_t id = seen.session.id;
    if (id == 0) {
        return;
    }
    CHECK_STATUS(KVC_ERR_BUSY, kvc_session_close(&seen.session));
    CHECK_EQ(id, seen.session.id);
    kvc_session_drop(&seen.session);
    CHECK_EQ(0, seen.session.id);
}

static void interrupt(int signal)
{
    uint32_t answer = 77;
    (void)signal;
    if (!armed) {
        return;
    }
    seen.interrupts++;
    CHECK_OK(kvc_cache_retain(cache));
    CHECK_OK(kvc_cache_release(cache));
    CHECK_OK(kvc_cache_kind(cache, &answer));
    if (seen.busy_registry < MOST_BUSY && is_busy(kvc_registry_count(registry, &answer))) {
        CHECK_EQ(KVC_KIND_SEQUENCE, answer);
        seen.busy_registry++;
        close_a_session();
    }
    answer = 77;
    if (seen.busy_cache < MOST_BUSY && is_busy(kvc_length(cache, &answer))) {
        CHECK_EQ(77, answer);
        seen.busy_cache++;
    }
}

/* ThreadSanitizer must not be interrupted within itself, and puts the timer's signals off to places that it likes. */
#if defined(__SANITIZE_THREAD__)
#define PUTS_SIGNALS_OFF 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PUTS_SIGNALS_OFF 1
#endif
#endif

#if defined(__x86_64__) && defined(__linux__) && !defined(PUTS_SIGNALS_OFF)
enum { INTERRUPTS_AT_LEAST = 1000, ROUNDS = 1 };

/* The trap flag: SIGTRAP behind every instruction. The red zone below the stack is left alone. */
static void interrupts_on(void)
{
    armed = 1;
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
                         : "memory", "cc");
}

static void interrupts_off(void)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; andq $-0x101, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
                         : "memory", "cc");
    armed = 0;
}
#else
enum { INTERRUPTS_AT_LEAST = 10, ROUNDS = 20000 };

static void set_timer(long microseconds)
{
    struct itimerval timer;
    memset(&timer, 0, sizeof timer);
    timer.it_interval.tv_usec = microseconds;
    timer.it_value.tv_usec = microseconds;
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void interrupts_on(void)
{
    armed = 1;
    set_timer(100);
}

static void interrupts_off(void)
{
    set_timer(0);
    armed = 0;
}
#endif

static void listen_to_interrupts(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = interrupt;
    CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
}

static void interrupted_calls(void)
{
    kvc_cache_t *got = NULL;
    kvc_session_t session;
    kvc_seq_plan_t plan;
    uint32_t length = length_of(cache);
    kvc_status_t status[10];
    interrupts_on();
    status[0] = kvc_registry_get(registry, "chat", &got);
    status[1] = kvc_cache_release(got);
    status[2] = kvc_registry_install(registry, "other", cache);
    status[3] = kvc_registry_erase(registry, "other");
    status[4] = kvc_session_open(&session, registry, "other", cache);
    status[5] = kvc_session_close(&session);
    status[6] = kvc_seq_plan(cache, 0, length, 2, &plan);
    status[7] = kvc_seq_commit(cache, &plan, 2);
    status[8] = kvc_rewind(cache, length + 1);
    status[9] = kvc_clear(cache);
    interrupts_off();
    for (size_t i = 0; i < 10; i++) {
        CHECK_OK(status[i]);
    }
    CHECK_EQ(0, length_of(cache));
}

static void test_interrupts(void)
{
    registry = new_registry(0);
    cache = build_ring(storage, 4, 4, 0);
    CHECK_OK(kvc_registry_install(registry, "chat", cache));
    CHECK_OK(kvc_session_open(&seen.session, registry, NULL, cache));
    kvc_session_t copy = seen.session;
    kvc_set_event_hook(hook, NULL);
    listen_to_interrupts();
    for (int round = 0; round < ROUNDS; round++) {
        interrupted_calls();
    }
    kvc_set_event_hook(NULL, NULL);
    CHECK(seen.interrupts >= INTERRUPTS_AT_LEAST);
    printf("%u interrupts, %u times busy\n", (unsigned)seen.interrupts, seen.told_busy);
    if (ROUNDS == 1) {
        CHECK_EQ(MOST_BUSY, seen.busy_registry);
        CHECK_EQ(MOST_BUSY, seen.busy_cache);
        CHECK_EQ(1, seen.leaked);
    }
    if (seen.leaked > 0) {
        /* The close, the drop, and all other busy answers; the entry stays. */
        CHECK_EQ(seen.busy_registry + seen.busy_cache + 2, seen.told_busy);
        CHECK_TEXT(copy.key, seen.leaked_key);
        CHECK(peek(registry, copy.key) == cache);
        CHECK_OK(kvc_session_close(&copy));
    }
    CHECK_OK(kvc_registry_erase(registry, "chat"));
    CHECK_OK(kvc_session_close(&copy));
    CHECK_EQ(0, entries_of(registry));
    end_registry(registry);
    /* Nobody lost or kept a reference. */
    uint32_t kind;
    CHECK_OK(kvc_cache_release(cache));
    CHECK_STATUS(KVC_ERR_STALE, kvc_cache_kind(cache, &kind));
}

int main(void)
{
    static const test_case_t cases[] = {TEST(test_interrupts)};
    return RUN_ALL(cases);
}
