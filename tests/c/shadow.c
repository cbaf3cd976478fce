#include "shadow.h"

#include <string.h>

#include "support.h"

/* Of a step that was not committed; also a row that holds nothing known. */
#define PENDING KVC_UNBOUNDED
#define NOTHING KVC_UNBOUNDED

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The bytes of the cache before an operation that is foretold to be refused. */
static unsigned char cache_before[1024];

/* Events that tell of positions that a window dropped, and whether the newest operation should have made one. */
static unsigned evictions;
static bool evicts;

static void count_evictions(void *ctx, uint32_t event, kvc_status_t status, const char *key)
{
    (void)status, (void)key;
    *(unsigned *)ctx += event == KVC_EVENT_EVICTED;
}

static void before_call(shadow_t *shadow, kvc_status_t foretold)
{
    shadow->operations++;
    evictions = 0;
    evicts = false;
    if (foretold != KVC_OK) {
        memcpy(cache_before, shadow->cache, shadow->cache_bytes);
    }
}

static bool after_call(const shadow_t *shadow, kvc_status_t foretold, kvc_status_t got)
{
    bool good = CHECK_STATUS(foretold, got);
    if (foretold != KVC_OK) {
        good &= CHECK(memcmp(cache_before, shadow->cache, shadow->cache_bytes) == 0);
    }
    return good;
}

static shadow_row_t *row_of(shadow_t *shadow, uint32_t layer, uint32_t row)
{
    return &shadow->rows[shadow->first_row[shadow->pool_of[layer]] + row];
}

static bool owns_pool(const shadow_t *shadow, uint32_t layer)
{
    return shadow->pool_of[layer] == layer;
}

static bool holds(const shadow_t *shadow, uint32_t layer, uint32_t row, uint32_t position)
{
    const shadow_row_t *held = &shadow->rows[shadow->first_row[shadow->pool_of[layer]] + row];
    return held->position == position && held->generation == shadow->generation_of[position];
}

static void check_layer(shadow_t *shadow, uint32_t layer)
{
    const naive_layout_t *layout = &shadow->layouts[layer];
    kvc_layer_info_t info;
    CHECK_OK(kvc_cache_layer(shadow->cache, layer, &info));
    CHECK(memcmp(&info.layer, &shadow->layers[layer], sizeof info.layer) == 0);
    CHECK_EQ(shadow->group[layer], info.group);
    CHECK_EQ(layout->rows, info.rows);
    uint32_t limit = naive_step_limit(&layout->layer, shadow->config.max_write);
    CHECK_EQ(lesser(limit, shadow->config.capacity), info.max_write);
}

/* Layers alike in everything but whose rows they use are one group, numbered by their first layer. */
static uint32_t find_group(shadow_t *shadow, uint32_t layer)
{
    kvc_layer_t ours = shadow->layers[layer];
    ours.shares_with = 0;
    for (uint32_t other = 0; other < layer; other++) {
        kvc_layer_t theirs = shadow->layers[other];
        theirs.shares_with = 0;
        if (memcmp(&ours, &theirs, sizeof ours) == 0) {
            return shadow->group[other];
        }
    }
    return shadow->n_groups++;
}

static void add_layer(shadow_t *shadow, uint32_t layer)
{
    const kvc_layer_t *entry = &shadow->layers[layer];
    naive_layout_t *layout = &shadow->layouts[layer];
    *layout = naive_layout(entry, shadow->config.max_write, shadow->config.rollback, shadow->config.capacity);
    shadow->group[layer] = find_group(shadow, layer);
    shadow->pool_of[layer] = entry->shares_with == 0 ? layer : shadow->pool_of[entry->shares_with - 1];
    shadow->first_row[layer] = shadow->n_rows;
    shadow->n_rows += owns_pool(shadow, layer) ? layout->rows : 0;
    shadow->step_limit = lesser(shadow->step_limit, naive_step_limit(entry, shadow->config.max_write));
}

void shadow_init(shadow_t *shadow, void *storage, size_t size, const kvc_config_t *config)
{
    memset(shadow, 0, sizeof *shadow);
    if (config->n_layers > SHADOW_LAYERS || config->n_layer_entries != config->n_layers) {
        give_up("no such model for the shadow");
    }
    shadow->config = *config;
    memcpy(shadow->layers, config->layers, config->n_layers * sizeof shadow->layers[0]);
    shadow->config.layers = shadow->layers;
    shadow->step_limit = KVC_UNBOUNDED;
    shadow->bound = config->max_context == 0 ? config->capacity : lesser(config->capacity, config->max_context);
    for (uint32_t layer = 0; layer < config->n_layers; layer++) {
        add_layer(shadow, layer);
    }
    bool built = CHECK_OK(kvc_sequence_size(config, &shadow->cache_bytes)) &&
                 CHECK_OK(kvc_sequence_init(storage, size, config, &shadow->cache));
    if (!built || shadow->n_rows > SHADOW_ROWS || shadow->cache_bytes > sizeof cache_before) {
        give_up("no cache for the shadow");
    }
    kvc_set_event_hook(count_evictions, &evictions);
    for (uint32_t row = 0; row < SHADOW_ROWS; row++) {
        shadow->rows[row].position = NOTHING;
    }
    for (uint32_t layer = 0; layer < config->n_layers; layer++) {
        check_layer(shadow, layer);
    }
}

static bool is_newest_step(const shadow_state_t *state, uint32_t position, uint32_t n)
{
    return position == state->position && n == state->n_tokens &&
           (state->accepted == PENDING || state->accepted == n);
}

static kvc_status_t foretell_plan(const shadow_t *shadow, uint32_t layer, uint32_t position, uint32_t n)
{
    if (n == 0) {
        return KVC_ERR_INVALID_ARGUMENT;
    }
    if (layer >= shadow->config.n_layers) {
        return KVC_ERR_BAD_LAYER;
    }
    if (is_newest_step(&shadow->state, position, n)) {
        return KVC_OK;
    }
    if (position != shadow->state.length) {
        return KVC_ERR_BAD_POSITION;
    }
    if (n > shadow->step_limit) {
        return KVC_ERR_STEP_TOO_LARGE;
    }
    if (n > shadow->bound) {
        return KVC_ERR_NEVER_FITS;
    }
    return n > shadow->bound - shadow->state.length ? KVC_ERR_OUT_OF_CAPACITY : KVC_OK;
}

/* A row that the step will overwrite, which drops what it holds of the sequence. */
static void give_up_row(const shadow_t *shadow, shadow_row_t *row)
{
    uint32_t position = row->position;
    if (position < shadow->state.length && row->generation == shadow->generation_of[position]) {
        evicts = true;
    }
    row->position = NOTHING;
}

/* A new step: in every pool its rows hold nothing known until they are written. */
static void begin_step(shadow_t *shadow, uint32_t position, uint32_t n)
{
    shadow_state_t *state = &shadow->state;
    if (position + n > SHADOW_POSITIONS) {
        give_up("too long a sequence for the shadow");
    }
    state->position = position;
    state->n_tokens = n;
    state->accepted = PENDING;
    state->generation = ++state->next_generation;
    state->serial++;
    for (uint32_t i = position; i < position + n; i++) {
        shadow->generation_of[i] = state->generation;
        for (uint32_t layer = 0; layer < shadow->config.n_layers; layer++) {
            give_up_row(shadow, row_of(shadow, layer, naive_row(&shadow->layouts[layer], i)));
        }
    }
    state->high = state->high > position + n ? state->high : position + n;
}

static void write_rows(shadow_t *shadow, uint32_t layer, const kvc_seq_plan_t *plan)
{
    for (uint32_t run = 0; run < plan->n_write; run++) {
        for (uint32_t i = 0; i < plan->write[run].len; i++) {
            shadow_row_t *row = row_of(shadow, layer, plan->write[run].start + i);
            row->position = plan->write[run].pos + i;
            row->generation = shadow->state.generation;
        }
    }
    shadow->state.written_in[layer] = shadow->state.serial;
}

/* The promise: every read row holds the position that the plan says it holds. */
static void check_reads(const shadow_t *shadow, uint32_t layer, const kvc_seq_plan_t *plan)
{
    bool kept = true;
    bool written = shadow->state.written_in[shadow->pool_of[layer]] == shadow->state.serial;
    for (uint32_t run = 0; run < plan->n_read; run++) {
        for (uint32_t i = 0; i < plan->read[run].len; i++) {
            uint32_t position = plan->read[run].pos + i;
            /* A sharer that runs before its donor finds this step's own rows unwritten. */
            bool expected = written || position < plan->position;
            kept &= !expected || holds(shadow, layer, plan->read[run].start + i, position);
        }
    }
    CHECK(kept);
}

static void run_layer(shadow_t *shadow, uint32_t layer, const kvc_seq_plan_t *plan)
{
    CHECK_EQ(shadow->group[layer], plan->group);
    if (!naive_check_plan(&shadow->layouts[layer], shadow->state.position, shadow->state.n_tokens, plan)) {
        give_up("a plan that cannot be followed");
    }
    if (owns_pool(shadow, layer)) {
        write_rows(shadow, layer, plan);
    }
    check_reads(shadow, layer, plan);
}

/* Follows the cache into the step that it has just planned. */
static void follow_step(shadow_t *shadow, uint32_t position, uint32_t n, const kvc_seq_plan_t *plan)
{
    shadow_state_t *state = &shadow->state;
    if (is_newest_step(state, position, n)) {
        CHECK_EQ(state->epoch, plan->epoch);
        CHECK_EQ(0, evictions);
        return;
    }
    begin_step(shadow, position, n);
    CHECK_EQ(evicts, evictions);
    CHECK(plan->epoch != state->epoch && plan->epoch != 0);
    state->epoch = plan->epoch;
    memmove(state->plans + 1, state->plans, sizeof state->plans - sizeof state->plans[0]);
    state->plans[0].plan = *plan;
    state->plans[0].serial = state->serial;
    state->n_plans = lesser(state->n_plans + 1, SHADOW_PLANS);
}

kvc_status_t shadow_plan(shadow_t *shadow, uint32_t layer, uint32_t position, uint32_t n)
{
    kvc_seq_plan_t plan;
    kvc_status_t foretold = foretell_plan(shadow, layer, position, n);
    before_call(shadow, foretold);
    kvc_status_t status = kvc_seq_plan(shadow->cache, layer, position, n, &plan);
    if (after_call(shadow, foretold, status) && status == KVC_OK) {
        follow_step(shadow, position, n, &plan);
        run_layer(shadow, layer, &plan);
    }
    return status;
}

kvc_status_t shadow_plan_step(shadow_t *shadow, uint32_t position, uint32_t n)
{
    kvc_seq_plan_t plans[KVC_MAX_GROUPS];
    uint32_t n_groups = 0;
    kvc_status_t foretold = foretell_plan(shadow, 0, position, n);
    before_call(shadow, foretold);
    kvc_status_t status = kvc_seq_plan_step(shadow->cache, position, n, plans, KVC_MAX_GROUPS, &n_groups);
    if (!after_call(shadow, foretold, status) || status != KVC_OK || !CHECK_EQ(shadow->n_groups, n_groups)) {
        return status;
    }
    follow_step(shadow, position, n, &plans[0]);
    for (uint32_t layer = 0; layer < shadow->config.n_layers; layer++) {
        CHECK_EQ(plans[0].epoch, plans[shadow->group[layer]].epoch);
        run_layer(shadow, layer, &plans[shadow->group[layer]]);
    }
    return status;
}

bool shadow_is_written(const shadow_t *shadow)
{
    for (uint32_t layer = 0; layer < shadow->config.n_layers; layer++) {
        if (owns_pool(shadow, layer) && shadow->state.written_in[layer] != shadow->state.serial) {
            return false;
        }
    }
    return true;
}

static kvc_status_t foretell_commit(const shadow_state_t *state, const shadow_plan_t *plan, uint32_t accepted)
{
    if (accepted > plan->plan.n_tokens) {
        return KVC_ERR_INVALID_ARGUMENT;
    }
    bool current = plan->serial == state->serial && (state->accepted == PENDING || state->accepted == accepted);
    return current ? KVC_OK : KVC_ERR_STALE_PLAN;
}

kvc_status_t shadow_commit(shadow_t *shadow, uint32_t age, uint32_t accepted)
{
    shadow_state_t *state = &shadow->state;
    const shadow_plan_t *plan = &state->plans[age];
    if (age >= state->n_plans) {
        give_up("no plan of that age");
    }
    kvc_status_t foretold = foretell_commit(state, plan, accepted);
    before_call(shadow, foretold);
    kvc_status_t status = kvc_seq_commit(shadow->cache, &plan->plan, accepted);
    if (after_call(shadow, foretold, status) && status == KVC_OK) {
        state->accepted = accepted;
        state->length = state->position + accepted;
    }
    return status;
}

kvc_status_t shadow_foretell_rewind(const shadow_t *shadow, uint32_t length)
{
    if (length > shadow->state.length) {
        return KVC_ERR_CANNOT_GROW;
    }
    if (length == 0) {
        return KVC_OK;
    }
    for (uint32_t layer = 0; layer < shadow->config.n_layers; layer++) {
        const naive_layout_t *layout = &shadow->layouts[layer];
        for (uint32_t key = 0; key < length && owns_pool(shadow, layer); key++) {
            bool needed = naive_sees(&layout->layer, length, key);
            if (needed && !holds(shadow, layer, naive_row(layout, key), key)) {
                return KVC_ERR_EVICTED;
            }
        }
    }
    return KVC_OK;
}

static void follow_rewind(shadow_t *shadow, uint32_t length)
{
    shadow_state_t *state = &shadow->state;
    state->length = length;
    state->position = length;
    state->n_tokens = 0;
    state->accepted = PENDING;
    state->serial++;
}

kvc_status_t shadow_rewind(shadow_t *shadow, uint32_t length)
{
    kvc_status_t foretold = shadow_foretell_rewind(shadow, length);
    before_call(shadow, foretold);
    kvc_status_t status = kvc_rewind(shadow->cache, length);
    if (after_call(shadow, foretold, status) && status == KVC_OK) {
        follow_rewind(shadow, length);
    }
    return status;
}

void shadow_clear(shadow_t *shadow)
{
    before_call(shadow, KVC_OK);
    if (after_call(shadow, KVC_OK, kvc_clear(shadow->cache))) {
        follow_rewind(shadow, 0);
    }
}

void shadow_check_queries(shadow_t *shadow, uint32_t n)
{
    uint32_t length = NOTHING, floor = NOTHING, lowest = shadow->state.length;
    bool fits = false;
    before_call(shadow, KVC_OK);
    CHECK_OK(kvc_length(shadow->cache, &length));
    CHECK_EQ(shadow->state.length, length);
    while (lowest > 0 && shadow_foretell_rewind(shadow, lowest - 1) == KVC_OK) {
        lowest--;
    }
    CHECK_OK(kvc_rewind_floor(shadow->cache, &floor));
    /* Where only the rewind to 0 is allowed below, it is allowed below the floor too. */
    CHECK_EQ(lowest, floor);
    CHECK_OK(kvc_can_extend(shadow->cache, n, &fits));
    CHECK_EQ(n <= shadow->bound - shadow->state.length, fits);
}

void shadow_check_masks(const shadow_t *shadow, uint32_t layer, const int32_t *parents, uint32_t padding)
{
    const shadow_state_t *state = &shadow->state;
    kvc_seq_plan_t plan;
    if (CHECK_OK(kvc_seq_plan(shadow->cache, layer, state->position, state->n_tokens, &plan))) {
        naive_check_masks(&shadow->layouts[layer], &plan, parents, padding);
    }
}

void shadow_save(const shadow_t *shadow, shadow_saved_t *saved)
{
    saved->state = shadow->state;
    memcpy(saved->generation_of, shadow->generation_of, shadow->state.high * sizeof saved->generation_of[0]);
    memcpy(saved->rows, shadow->rows, shadow->n_rows * sizeof saved->rows[0]);
    memcpy(saved->cache, shadow->cache, shadow->cache_bytes);
}

void shadow_restore(shadow_t *shadow, const shadow_saved_t *saved)
{
    shadow->state = saved->state;
    memcpy(shadow->generation_of, saved->generation_of, saved->state.high * sizeof saved->generation_of[0]);
    memcpy(shadow->rows, saved->rows, shadow->n_rows * sizeof saved->rows[0]);
    memcpy(shadow->cache, saved->cache, shadow->cache_bytes);
}
