/* A timer's interrupt calls the registry and the cache that the code below it is using.
 *
 * Each round lets the timer fire once, a little later than in the round before, so that in the end every part of the
 * calls was interrupted. A call in the interrupt is done or answers KVC_ERR_BUSY with nothing changed. With the
 * default lock KVC_ERR_BUSY has to be met; with critical-section (argument "never-busy") it must never be. The calls
 * below never see it: the interrupt is over when they go on. No hang, and nothing is corrupted.
 */
#include <string.h>

#include "kvcore.h"
#include "platform.h"
#include "print.h"

/* SysTick: counts down at the core's clock and interrupts at 0. */
typedef struct {
    uint32_t control, reload, now;
} systick_t;

#define SYSTICK ((volatile systick_t *)0xE000E010u)
enum { ENABLE = 1, INTERRUPT = 2, CORE_CLOCK = 4 };

/* Ticks that a round is longer than the one before. Under QEMU with -icount shift=10 an instruction takes 1024 ns: 25.6
 * ticks at the 25 MHz of an MPS2, 16.4 at the 16 MHz of a micro:bit. */
enum { STEP = 12, LONGEST_ROUND = 1 << 20 };

enum { WINDOW = 4, CAPACITY = 64, KINDS_OF_ROUNDS = 2 };

KVC_STORAGE(storage, KVC_SEQUENCE_BYTES_FOR(1));
static kvc_registry_t *registry;
static kvc_cache_t *cache;

/* What the calls in interrupts came to. */
static volatile struct {
    uint32_t interrupts, registry_done, registry_busy, cache_done, cache_busy, failures;
    bool fired;
} seen;

/* Whether the interrupt only looks, or takes the cache's length back to 0 too. */
static volatile bool clears;

static void check(bool holds, const char *what)
{
    if (!holds && seen.failures++ < 10) {
        print("FAILED: ");
        print(what);
        print("\n");
    }
}

static void call_registry(void)
{
    kvc_cache_t *found = NULL;
    uint32_t count = 77;
    kvc_status_t status = kvc_registry_get(registry, "chat", &found);
    if (status == KVC_ERR_BUSY) {
        check(found == NULL, "a busy get writes nothing");
        check(kvc_registry_count(registry, &count) == KVC_ERR_BUSY && count == 77, "the lock is still held");
        check(kvc_registry_install(registry, "tick", cache) == KVC_ERR_BUSY, "install is busy too");
        seen.registry_busy++;
        return;
    }
    check(status == KVC_OK && found == cache, "the interrupt finds the cache");
    check(kvc_cache_release(found) == KVC_OK, "release");
    check(kvc_registry_count(registry, &count) == KVC_OK && (count == 1 || count == 2), "count");
    check(kvc_registry_install(registry, "tick", cache) == KVC_OK, "install");
    check(kvc_registry_erase(registry, "tick") == KVC_OK, "erase");
    seen.registry_done++;
}

static void call_cache(void)
{
    uint32_t length = 77, kind = 0;
    bool fits = false;
    check(kvc_cache_retain(cache) == KVC_OK && kvc_cache_release(cache) == KVC_OK, "counts never wait");
    check(kvc_cache_kind(cache, &kind) == KVC_OK && kind == KVC_KIND_SEQUENCE, "kind");
    kvc_status_t status = kvc_length(cache, &length);
    if (status == KVC_ERR_BUSY) {
        check(length == 77, "a busy length writes nothing");
        check(kvc_clear(cache) == KVC_ERR_BUSY, "clear is busy too");
        seen.cache_busy++;
        return;
    }
    check(status == KVC_OK && length <= CAPACITY, "length");
    check(kvc_can_extend(cache, 1, &fits) == KVC_OK && fits, "can_extend");
    if (clears) {
        check(kvc_clear(cache) == KVC_OK, "clear");
    }
    seen.cache_done++;
}

void tick(void);
void tick(void)
{
    SYSTICK->control = 0;
    seen.fired = true;
    seen.interrupts++;
    call_registry();
    call_cache();
}

static void fire_after(uint32_t ticks)
{
    seen.fired = false;
    SYSTICK->reload = ticks;
    SYSTICK->now = 0;
    SYSTICK->control = ENABLE | INTERRUPT | CORE_CLOCK;
}

/* Plans, commits and takes back. Once the interrupt has cleared the cache, a call may find its plan stale or the
 * length 0. */
static void use_cache(void)
{
    kvc_seq_plan_t plan;
    uint32_t length = 0;
    kvc_status_t status[4];
    status[0] = kvc_length(cache, &length);
    status[1] = kvc_seq_plan(cache, 0, length, 2, &plan);
    status[2] = status[1] == KVC_OK ? kvc_seq_commit(cache, &plan, 2) : KVC_OK;
    status[3] = kvc_rewind(cache, length + 1);
    bool disturbed = clears && seen.fired;
    check(status[0] == KVC_OK, "kvc_length");
    check(status[1] == KVC_OK || (disturbed && status[1] == KVC_ERR_BAD_POSITION), "kvc_seq_plan");
    check(status[2] == KVC_OK || (disturbed && status[2] == KVC_ERR_STALE_PLAN), "kvc_seq_commit");
    check(status[3] == KVC_OK || (disturbed && status[3] == KVC_ERR_CANNOT_GROW), "kvc_rewind");
}

static void use_registry(void)
{
    kvc_cache_t *found = NULL;
    kvc_session_t session;
    check(kvc_registry_get(registry, "chat", &found) == KVC_OK && found == cache, "kvc_registry_get");
    check(kvc_cache_release(found) == KVC_OK, "kvc_cache_release");
    check(kvc_session_open(&session, registry, "other", cache) == KVC_OK, "kvc_session_open");
    check(kvc_session_close(&session) == KVC_OK, "kvc_session_close");
}

/* Steps from an empty cache are planned as the layout alone says; the registry has its one entry. */
static void check_intact(void)
{
    kvc_layer_t layer = {KVC_LAYER_RING, WINDOW, 0, 1, 1, 0};
    uint32_t count = 0;
    check(kvc_clear(cache) == KVC_OK, "kvc_clear");
    for (uint32_t position = 0; position < 4u * WINDOW; position += 3u) {
        kvc_seq_plan_t plan, alone;
        check(kvc_seq_plan(cache, 0, position, 3, &plan) == KVC_OK, "a plan afterwards");
        check(kvc_layout_plan(&layer, WINDOW, 2, position, 3, &alone) == KVC_OK, "kvc_layout_plan");
        alone.epoch = plan.epoch;
        check(memcmp(&plan, &alone, sizeof plan) == 0, "a plan is what the layout says");
        check(kvc_seq_commit(cache, &plan, 3) == KVC_OK, "a commit afterwards");
    }
    check(kvc_clear(cache) == KVC_OK, "kvc_clear");
    check(kvc_registry_count(registry, &count) == KVC_OK && count == 1, "one entry is left");
}

/* One round with the timer set: whether it fired before the calls were over. */
static bool interrupted_round(uint32_t ticks)
{
    fire_after(ticks);
    use_registry();
    use_cache();
    SYSTICK->control = 0;
    return seen.fired;
}

static void build(void)
{
    kvc_layer_t layer = {KVC_LAYER_RING, WINDOW, 0, 1, 1, 0};
    kvc_config_t config = kvc_config_default();
    config.capacity = CAPACITY;
    config.n_layers = 1;
    config.n_layer_entries = 1;
    config.layers = &layer;
    config.max_write = WINDOW;
    config.rollback = 2;
    registry = kvc_registry_global();
    check(kvc_sequence_init(storage, sizeof storage, &config, &cache) == KVC_OK, "kvc_sequence_init");
    check(kvc_registry_install(registry, "chat", cache) == KVC_OK, "kvc_registry_install");
}

/* Later and later, until the calls are over before the timer fires. */
static void sweep(void)
{
    uint32_t ticks = STEP, rounds = 0;
    while (interrupted_round(ticks) && ticks < LONGEST_ROUND) {
        ticks += STEP;
        if (++rounds % 16 == 0) {
            check_intact();
        } else {
            check(kvc_clear(cache) == KVC_OK, "kvc_clear");
        }
    }
    check(rounds > 500, "the calls were interrupted in many places");
    check_intact();
}

static void end(void)
{
    uint32_t kind = 0;
    check(kvc_registry_erase(registry, "chat") == KVC_OK, "kvc_registry_erase");
    check(kvc_cache_release(cache) == KVC_OK, "kvc_cache_release");
    check(kvc_cache_kind(cache, &kind) == KVC_ERR_STALE, "nobody lost or kept a reference");
}

int main(int argc, char **argv)
{
    bool never_busy = argc > 1 && strcmp(argv[1], "never-busy") == 0;
    build();
    for (uint32_t kind = 0; kind < KINDS_OF_ROUNDS; kind++) {
        clears = kind == 1;
        sweep();
    }
    end();
    print_figure("interrupts", seen.interrupts);
    print_figure("registry done", seen.registry_done);
    print_figure("registry busy", seen.registry_busy);
    print_figure("cache done", seen.cache_done);
    print_figure("cache busy", seen.cache_busy);
    check(seen.registry_done > 100 && seen.cache_done > 100, "most calls in interrupts are done");
    if (never_busy) {
        check(seen.registry_busy == 0 && seen.cache_busy == 0, "critical sections are never busy");
    } else {
        check(seen.registry_busy > 20 && seen.cache_busy > 20, "busy was met");
    }
    print_figure("failures", seen.failures);
    /* More would not fit an exit status. */
    return seen.failures < 255 ? (int)seen.failures : 255;
}
