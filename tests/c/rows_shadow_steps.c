/* Steps of a shadow of private rows: declared, placed, written and read. */

#include <string.h>

#include "rows_parts.h"
#include "support.h"

static uint32_t tokens_of(const uint32_t *ids, uint32_t n, uint32_t seq)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        count += ids[i] == seq;
    }
    return count;
}

static kvc_status_t foretell_declare(const rows_shadow_t *shadow, const uint32_t *ids, uint32_t n)
{
    uint32_t most = 0;
    uint64_t rows = 0;
    bool late = false;
    for (uint32_t i = 0; i < n; i++) {
        if (!rows_shadow_is_live(shadow, ids[i])) {
            return KVC_ERR_BAD_SEQUENCE;
        }
    }
    for (uint32_t seq = 0; seq < shadow->config.max_seqs; seq++) {
        uint32_t tokens = tokens_of(ids, n, seq);
        if (tokens > 0) {
            most = tokens > most ? tokens : most;
            rows += rows_taken(shadow, seq, tokens);
            late |= (uint64_t)shadow->seqs[seq].length + tokens > shadow->bound;
        }
    }
    if (n == 0) {
        return KVC_ERR_INVALID_ARGUMENT;
    }
    if (most > shadow->step_limit) {
        return KVC_ERR_STEP_TOO_LARGE;
    }
    if (most > shadow->bound || n > shadow->config.capacity) {
        return KVC_ERR_NEVER_FITS;
    }
    return late || rows > rows_shadow_free_rows(shadow) ? KVC_ERR_OUT_OF_CAPACITY : KVC_OK;
}

kvc_status_t rows_shadow_declare(rows_shadow_t *shadow, const uint32_t *ids, uint32_t n)
{
    kvc_status_t foretold = foretell_declare(shadow, ids, n);
    rows_before_call(shadow, foretold);
    kvc_status_t status = rows_after_call(shadow, foretold, kvc_batch_declare_step(shadow->cache, ids, n));
    CHECK_EQ(0, rows_evictions());
    if (status == KVC_OK) {
        shadow->n_tokens = n;
        shadow->placed = false;
        memcpy(shadow->ids, ids, n * sizeof *ids);
    }
    return status;
}

void rows_shadow_positions(const rows_shadow_t *shadow, uint32_t *positions)
{
    for (uint32_t i = 0; i < shadow->n_tokens; i++) {
        uint32_t before = tokens_of(shadow->ids, i, shadow->ids[i]);
        positions[i] = shadow->placed ? shadow->positions[i] : shadow->seqs[shadow->ids[i]].length + before;
    }
}

static uint32_t count_spans(const rows_shadow_t *shadow)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < shadow->n_tokens; i++) {
        n += i == 0 || shadow->ids[i] != shadow->ids[i - 1];
    }
    return n;
}

static kvc_status_t foretell_place(const rows_shadow_t *shadow, uint32_t layer, const uint32_t *positions, uint32_t n,
                                   uint32_t cap)
{
    uint32_t expected[ROWS_TOKENS];
    if (n == 0) {
        return KVC_ERR_INVALID_ARGUMENT;
    }
    if (layer >= shadow->config.n_layers) {
        return KVC_ERR_BAD_LAYER;
    }
    if (n != shadow->n_tokens) {
        return KVC_ERR_NO_STEP;
    }
    rows_shadow_positions(shadow, expected);
    if (memcmp(expected, positions, n * sizeof *positions) != 0) {
        return shadow->placed ? KVC_ERR_NO_STEP : KVC_ERR_BAD_POSITION;
    }
    return cap < count_spans(shadow) ? KVC_ERR_BUFFER_TOO_SMALL : KVC_OK;
}

/* The step counts: in every pool its rows hold nothing known until they are written. Answers whether one of them held a
 * token of its sequence. */
static bool begin_step(rows_shadow_t *shadow, const uint32_t *positions)
{
    bool evicts = false;
    for (uint32_t i = 0; i < shadow->n_tokens; i++) {
        uint32_t seq = shadow->ids[i];
        rows_seq_t *it = &shadow->seqs[seq];
        if (positions[i] >= ROWS_POSITIONS) {
            give_up("too long a sequence for the shadow");
        }
        for (uint32_t layer = 0; layer < shadow->config.n_layers; layer++) {
            rows_row_t *row = &it->rows[shadow->pool_of[layer]][naive_row(&shadow->layouts[layer], positions[i])];
            bool known = row->position != NOTHING && row->position < it->length;
            evicts |= known && row->generation == it->generation_of[row->position];
            row->position = NOTHING;
        }
        it->generation_of[positions[i]] = ++shadow->next_generation;
    }
    for (uint32_t i = 0; i < shadow->n_tokens; i++) {
        shadow->seqs[shadow->ids[i]].length++;
        shadow->positions[i] = positions[i];
    }
    memset(shadow->written, 0, sizeof shadow->written);
    shadow->placed = true;
    return evicts;
}

static void write_span(rows_shadow_t *shadow, uint32_t layer, const kvc_span_t *span)
{
    rows_seq_t *it = &shadow->seqs[span->seq];
    for (uint32_t run = 0; run < span->plan.n_write; run++) {
        const kvc_run_t *write = &span->plan.write[run];
        for (uint32_t i = 0; i < write->len; i++) {
            rows_row_t *row = &it->rows[layer][write->start + i];
            row->position = write->pos + i;
            row->generation = it->generation_of[write->pos + i];
        }
    }
}

/* The promise: every read row holds the position that the plan says it holds. */
static void check_reads(const rows_shadow_t *shadow, uint32_t layer, const kvc_span_t *span)
{
    bool kept = true, written = shadow->written[shadow->pool_of[layer]];
    uint32_t before = shadow->seqs[span->seq].length - tokens_of(shadow->ids, shadow->n_tokens, span->seq);
    for (uint32_t run = 0; run < span->plan.n_read; run++) {
        const kvc_run_t *read = &span->plan.read[run];
        for (uint32_t i = 0; i < read->len; i++) {
            /* A sharer that runs before its donor finds this step's own rows unwritten. */
            bool expected = written || read->pos + i < before;
            kept &= !expected || rows_hold(shadow, span->seq, layer, read->start + i, read->pos + i);
        }
    }
    CHECK(kept);
}

/* Whose tokens each span is, and a plan like that of the one-sequence cache. */
static void check_spans(rows_shadow_t *shadow, uint32_t layer, const kvc_span_t *spans, uint32_t n_spans)
{
    uint32_t token = 0;
    for (uint32_t i = 0; i < n_spans; i++) {
        const kvc_span_t *span = &spans[i];
        uint32_t end = token;
        while (end < shadow->n_tokens && shadow->ids[end] == shadow->ids[token]) {
            end++;
        }
        bool good = CHECK_EQ(shadow->ids[token], span->seq) && CHECK_EQ(end - token, span->n_tokens) &&
                    naive_check_plan(&shadow->layouts[layer], shadow->positions[token], end - token, &span->plan);
        if (!good) {
            give_up("a plan that cannot be followed");
        }
        CHECK_EQ(shadow->group[layer], span->plan.group);
        CHECK_EQ(shadow->epoch, span->plan.epoch);
        token = end;
    }
    CHECK_EQ(shadow->n_tokens, token);
}

kvc_status_t rows_shadow_place(rows_shadow_t *shadow, uint32_t layer, const uint32_t *positions, uint32_t n,
                               uint32_t cap)
{
    kvc_span_t spans[ROWS_TOKENS];
    uint32_t n_spans = NOTHING;
    kvc_status_t foretold = foretell_place(shadow, layer, positions, n, cap);
    bool is_first = !shadow->placed;
    rows_before_call(shadow, foretold);
    kvc_status_t got = kvc_rows_place_step(shadow->cache, layer, positions, n, spans, cap, &n_spans);
    rows_after_call(shadow, foretold, got);
    bool told = got == KVC_OK || got == KVC_ERR_BUFFER_TOO_SMALL;
    CHECK_EQ(told ? count_spans(shadow) : NOTHING, n_spans);
    if (got != KVC_OK) {
        return got;
    }
    CHECK_EQ(is_first && begin_step(shadow, positions), rows_evictions());
    if (is_first) {
        shadow->last_epoch = shadow->epoch;
        shadow->epoch = spans[0].plan.epoch;
        CHECK(shadow->epoch != 0 && shadow->epoch != shadow->last_epoch);
    }
    check_spans(shadow, layer, spans, n_spans);
    for (uint32_t i = 0; i < n_spans && owns_pool(shadow, layer); i++) {
        write_span(shadow, layer, &spans[i]);
        shadow->written[layer] = true;
    }
    for (uint32_t i = 0; i < n_spans; i++) {
        check_reads(shadow, layer, &spans[i]);
        naive_check_masks(&shadow->layouts[layer], &spans[i].plan, NULL, i);
    }
    return got;
}
