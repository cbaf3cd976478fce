/* Misuse of building one-sequence caches, and of their application and backend faces. */

#include <string.h>

#include "misuse.h"

#define OUT (&world.out)

static kvc_status_t size_of_config(const kvc_config_t *config)
{
    return kvc_sequence_size(config, &OUT->size);
}

void misuse_of_kvc_sequence_size(void)
{
    refuse_bad_configs(size_of_config);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_sequence_size(&world.config, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_sequence_size(&world.config, (size_t *)off_by(&OUT->size, 1)));
}

static kvc_status_t init_with_config(const kvc_config_t *config)
{
    return kvc_sequence_init(spare_storage, sizeof spare_storage, config, &OUT->cache);
}

void misuse_of_kvc_sequence_init(void)
{
    const kvc_config_t *config = &world.config;
    size_t size = 0;
    CHECK_OK(kvc_sequence_size(config, &size));
    refuse_bad_configs(init_with_config);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_sequence_init(NULL, size, config, &OUT->cache));
    for (size_t by = 1; by < KVC_ALIGN; by++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_sequence_init(off_by(spare_storage, by), size, config, &OUT->cache));
    }
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_sequence_init(spare_storage, size, config, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_sequence_init(spare_storage, size, config, (kvc_cache_t **)off_by(&OUT->cache, 1)));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_sequence_init(spare_storage, size - 1, config, &OUT->cache));
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_sequence_init(spare_storage, 0, config, &OUT->cache));
}

static kvc_status_t can_extend_by_one(kvc_cache_t *cache)
{
    return kvc_can_extend(cache, 1, &OUT->flag);
}

void misuse_of_kvc_can_extend(void)
{
    bool fits = true;
    refuse_all_caches_but(OFFERED_BY_SEQUENCE, can_extend_by_one);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_can_extend(world.cache, 1, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_can_extend(world.cache, 0, &OUT->flag));
    CHECK_OK(kvc_can_extend(world.cache, UINT32_MAX, &fits));
    CHECK(!fits);
    CHECK_OK(kvc_can_extend(world.cache, UINT32_MAX - 7, &fits));
    CHECK(!fits);
}

static kvc_status_t get_length(kvc_cache_t *cache)
{
    return kvc_length(cache, OUT->u32);
}

void misuse_of_kvc_length(void)
{
    refuse_all_caches_but(OFFERED_BY_SEQUENCE, get_length);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_length(world.cache, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_length(world.cache, (uint32_t *)off_by(OUT->u32, 1)));
}

static kvc_status_t rewind_to_seven(kvc_cache_t *cache)
{
    return kvc_rewind(cache, 7);
}

void misuse_of_kvc_rewind(void)
{
    refuse_all_caches_but(OFFERED_BY_SEQUENCE, rewind_to_seven);
    REFUSED(KVC_ERR_CANNOT_GROW, kvc_rewind(world.cache, 9));
    REFUSED(KVC_ERR_CANNOT_GROW, kvc_rewind(world.cache, UINT32_MAX));
    REFUSED(KVC_ERR_EVICTED, kvc_rewind(world.cache, 3));
}

static kvc_status_t get_floor(kvc_cache_t *cache)
{
    return kvc_rewind_floor(cache, OUT->u32);
}

void misuse_of_kvc_rewind_floor(void)
{
    refuse_all_caches_but(OFFERED_BY_SEQUENCE, get_floor);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rewind_floor(world.cache, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_rewind_floor(world.cache, (uint32_t *)off_by(OUT->u32, 3)));
}

static kvc_status_t clear(kvc_cache_t *cache)
{
    return kvc_clear(cache);
}

void misuse_of_kvc_clear(void)
{
    refuse_caches_of_another_kind(clear);
}

static kvc_status_t get_capacity(kvc_cache_t *cache)
{
    return kvc_capacity(cache, OUT->u32);
}

void misuse_of_kvc_capacity(void)
{
    refuse_caches_of_another_kind(get_capacity);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_capacity(world.cache, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_capacity(world.cache, (uint32_t *)off_by(OUT->u32, 2)));
}

static kvc_status_t plan_one(kvc_cache_t *cache)
{
    return kvc_seq_plan(cache, 0, 8, 1, OUT->plans);
}

void misuse_of_kvc_seq_plan(void)
{
    kvc_seq_plan_t *out = OUT->plans;
    refuse_all_caches_but(OFFERED_BY_SEQUENCE, plan_one);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan(world.cache, 0, 8, 1, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan(world.cache, 0, 8, 1, (kvc_seq_plan_t *)off_by(out, 2)));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan(world.cache, 0, 8, 0, out));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_seq_plan(world.cache, 2, 8, 1, out));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_seq_plan(world.cache, 256, 8, 1, out));
    REFUSED(KVC_ERR_BAD_LAYER, kvc_seq_plan(world.cache, UINT32_MAX, 8, 1, out));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan(world.cache, 1, 7, 1, out));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan(world.cache, 1, 9, 1, out));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan(world.cache, 0, UINT32_MAX, 1, out));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan(world.cache, 0, UINT32_MAX, UINT32_MAX, out));
    REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_seq_plan(world.cache, 0, 8, 5, out));
    REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_seq_plan(world.cache, 0, 8, UINT32_MAX, out));
}

static kvc_status_t plan_step_of_one(kvc_cache_t *cache)
{
    return kvc_seq_plan_step(cache, 8, 1, OUT->plans, 4, OUT->u32);
}

void misuse_of_kvc_seq_plan_step(void)
{
    kvc_cache_t *cache = world.cache;
    kvc_seq_plan_t *out = OUT->plans;
    uint32_t *n = OUT->u32;
    refuse_all_caches_but(OFFERED_BY_SEQUENCE, plan_step_of_one);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan_step(cache, 8, 1, NULL, 4, n));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan_step(cache, 8, 1, NULL, 1, n));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan_step(cache, 8, 1, (kvc_seq_plan_t *)off_by(out, 1), 3, n));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan_step(cache, 8, 1, out, 4, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan_step(cache, 8, 1, out, 4, (uint32_t *)off_by(n, 1)));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan_step(cache, 8, 0, out, 4, n));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_plan_step(cache, 8, 0, NULL, 0, n));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan_step(cache, 7, 1, out, 4, n));
    REFUSED(KVC_ERR_BAD_POSITION, kvc_seq_plan_step(cache, UINT32_MAX, UINT32_MAX, out, 4, n));
    REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_seq_plan_step(cache, 8, 5, out, 4, n));
    REFUSED(KVC_ERR_STEP_TOO_LARGE, kvc_seq_plan_step(cache, 8, UINT32_MAX, out, UINT32_MAX, n));
    /* The number of groups is told beside this status, and nothing else. */
    uint32_t needed = 0;
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_seq_plan_step(cache, 8, 1, out, 1, &needed));
    CHECK_EQ(2, needed);
    needed = 0;
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_seq_plan_step(cache, 8, 1, NULL, 0, &needed));
    CHECK_EQ(2, needed);
    CHECK_EQ(4, floor_of(cache));
}

static kvc_status_t commit_all(kvc_cache_t *cache)
{
    return kvc_seq_commit(cache, &world.plan, 4);
}

void misuse_of_kvc_seq_commit(void)
{
    kvc_seq_plan_t plan = world.plan;
    refuse_all_caches_but(OFFERED_BY_SEQUENCE, commit_all);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_commit(world.cache, NULL, 4));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_seq_commit(world.cache, (const kvc_seq_plan_t *)off_by(&world.plan, 2), 4));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_commit(world.cache, &plan, 5));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_commit(world.cache, &plan, UINT32_MAX));
    REFUSED(KVC_ERR_STALE_PLAN, kvc_seq_commit(world.cache, &plan, 3));
    REFUSED(KVC_ERR_STALE_PLAN, kvc_seq_commit(world.cache, &world.stale_plan, 4));
    REFUSED(KVC_ERR_STALE_PLAN, kvc_seq_commit(world.cache, &world.stale_plan, 0));
#define CHANGED(status, field, value) \
    plan = world.plan;                \
    plan.field = (value);             \
    REFUSED(status, kvc_seq_commit(world.cache, &plan, 4))
    CHANGED(KVC_ERR_INVALID_ARGUMENT, n_tokens, 0);
    CHANGED(KVC_ERR_INVALID_ARGUMENT, n_tokens, 3);
    CHANGED(KVC_ERR_STALE_PLAN, n_tokens, 5);
    CHANGED(KVC_ERR_STALE_PLAN, n_tokens, UINT32_MAX);
    CHANGED(KVC_ERR_STALE_PLAN, position, 5);
    CHANGED(KVC_ERR_STALE_PLAN, position, UINT32_MAX);
    CHANGED(KVC_ERR_STALE_PLAN, epoch, 0);
    CHANGED(KVC_ERR_STALE_PLAN, epoch, plan.epoch + 1);
#undef CHANGED
    /* A plan of no tokens, with none accepted. */
    memset(&plan, 0, sizeof plan);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_seq_commit(world.cache, &plan, 0));
    /* Nothing else in a plan is looked at. */
    memset(&plan, 0xEE, sizeof plan);
    plan.position = world.plan.position;
    plan.n_tokens = world.plan.n_tokens;
    plan.epoch = world.plan.epoch;
    CHECK_OK(kvc_seq_commit(world.cache, &plan, 4));
}
