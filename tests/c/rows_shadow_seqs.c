/* Sequences of a shadow of private rows, and what the cache answers about them. */

#include <string.h>

#include "rows_parts.h"
#include "support.h"

static void end_step(rows_shadow_t *shadow)
{
    shadow->n_tokens = 0;
    shadow->placed = false;
}

static uint32_t free_id(const rows_shadow_t *shadow)
{
    uint32_t seq = 0;
    while (seq < shadow->config.max_seqs && shadow->seqs[seq].live) {
        seq++;
    }
    return seq;
}

static void begin_seq(rows_shadow_t *shadow, uint32_t seq)
{
    rows_seq_t *it = &shadow->seqs[seq];
    memset(it, 0, sizeof *it);
    it->live = true;
    for (uint32_t row = 0; row < ROWS_LAYERS * ROWS_OF_A_POOL; row++) {
        it->rows[row / ROWS_OF_A_POOL][row % ROWS_OF_A_POOL].position = NOTHING;
    }
    end_step(shadow);
}

kvc_status_t rows_shadow_new(rows_shadow_t *shadow)
{
    uint32_t seq = NOTHING, expected = free_id(shadow);
    kvc_status_t foretold = expected == shadow->config.max_seqs ? KVC_ERR_TABLE_FULL : KVC_OK;
    rows_before_call(shadow, foretold);
    kvc_status_t status = rows_after_call(shadow, foretold, kvc_batch_seq_new(shadow->cache, &seq));
    CHECK_EQ(status == KVC_OK ? expected : NOTHING, seq);
    if (status == KVC_OK) {
        begin_seq(shadow, seq);
    }
    return status;
}

/* The answer to a rewind, from what the rows hold. */
static kvc_status_t foretell_cut(const rows_shadow_t *shadow, uint32_t seq, uint32_t length)
{
    for (uint32_t layer = 0; layer < shadow->config.n_layers && length > 0; layer++) {
        const naive_layout_t *layout = &shadow->layouts[layer];
        for (uint32_t key = 0; key < length; key++) {
            bool needed = naive_sees(&layout->layer, length, key);
            if (needed && !rows_hold(shadow, seq, layer, naive_row(layout, key), key)) {
                return KVC_ERR_EVICTED;
            }
        }
    }
    return KVC_OK;
}

kvc_status_t rows_shadow_rewind(rows_shadow_t *shadow, uint32_t seq, uint32_t new_len)
{
    kvc_status_t foretold = KVC_ERR_BAD_SEQUENCE;
    if (rows_shadow_is_live(shadow, seq)) {
        bool grows = new_len > shadow->seqs[seq].length;
        foretold = grows ? KVC_ERR_CANNOT_GROW : foretell_cut(shadow, seq, new_len);
    }
    rows_before_call(shadow, foretold);
    kvc_status_t status = rows_after_call(shadow, foretold, kvc_batch_rewind(shadow->cache, seq, new_len));
    if (status == KVC_OK) {
        shadow->seqs[seq].length = new_len;
        end_step(shadow);
    }
    return status;
}

/* Checks the list of rows that hold what the next token of a sequence sees: all of it, oldest first. */
static uint32_t list_held(const rows_shadow_t *shadow, uint32_t layer, uint32_t seq, kvc_run_t *runs)
{
    const naive_layout_t *layout = &shadow->layouts[layer];
    uint32_t n = NOTHING, n_told = NOTHING, run = 0, done = 0, length = shadow->seqs[seq].length;
    if (!CHECK_OK(kvc_rows_held(shadow->cache, layer, seq, runs, 3, &n)) || !CHECK(n <= 3)) {
        give_up("no list of rows");
    }
    for (uint32_t key = 0; key < length; key++) {
        if (!naive_sees(&layout->layer, length, key)) {
            continue;
        }
        if (run < n && done == runs[run].len) {
            run++;
            done = 0;
        }
        bool listed = run < n && runs[run].start + done == naive_row(layout, key) && runs[run].pos + done == key;
        CHECK(listed && rows_hold(shadow, seq, layer, runs[run].start + done, key));
        done++;
    }
    CHECK(n == 0 ? done == 0 : run == n - 1 && done == runs[run].len);
    if (n > 0) {
        CHECK_STATUS(KVC_ERR_BUFFER_TOO_SMALL, kvc_rows_held(shadow->cache, layer, seq, NULL, 0, &n_told));
        CHECK_EQ(n, n_told);
    }
    return n;
}

/* What a backend does: copies what is listed for the source, each row to the row of the same index. */
static void copy_rows(rows_shadow_t *shadow, uint32_t src, uint32_t clone)
{
    for (uint32_t layer = 0; layer < shadow->config.n_layers; layer++) {
        kvc_run_t runs[3];
        uint32_t n = 0;
        CHECK_OK(kvc_rows_held(shadow->cache, layer, clone, runs, 3, &n));
        for (uint32_t run = 0; run < n && owns_pool(shadow, layer); run++) {
            for (uint32_t row = runs[run].start; row < runs[run].start + runs[run].len; row++) {
                shadow->seqs[clone].rows[layer][row] = shadow->seqs[src].rows[layer][row];
            }
        }
    }
}

kvc_status_t rows_shadow_clone(rows_shadow_t *shadow, uint32_t src, uint32_t upto)
{
    uint32_t seq = NOTHING, length = 0, expected = free_id(shadow);
    kvc_status_t foretold = KVC_ERR_BAD_SEQUENCE;
    if (rows_shadow_is_live(shadow, src)) {
        length = lesser(shadow->seqs[src].length, upto);
        foretold = foretell_cut(shadow, src, length);
        if (foretold == KVC_OK && lesser(length, shadow->most_rows) > rows_shadow_free_rows(shadow)) {
            foretold = KVC_ERR_OUT_OF_CAPACITY;
        }
        if (foretold == KVC_OK && expected == shadow->config.max_seqs) {
            foretold = KVC_ERR_TABLE_FULL;
        }
    }
    rows_before_call(shadow, foretold);
    kvc_status_t status = rows_after_call(shadow, foretold, kvc_batch_seq_clone(shadow->cache, src, upto, &seq));
    CHECK_EQ(status == KVC_OK ? expected : NOTHING, seq);
    if (status == KVC_OK) {
        begin_seq(shadow, seq);
        shadow->seqs[seq].length = length;
        memcpy(shadow->seqs[seq].generation_of, shadow->seqs[src].generation_of, length * sizeof(uint32_t));
        copy_rows(shadow, src, seq);
    }
    return status;
}

kvc_status_t rows_shadow_release(rows_shadow_t *shadow, uint32_t seq)
{
    kvc_status_t foretold = rows_shadow_is_live(shadow, seq) ? KVC_OK : KVC_ERR_BAD_SEQUENCE;
    rows_before_call(shadow, foretold);
    kvc_status_t status = rows_after_call(shadow, foretold, kvc_batch_seq_release(shadow->cache, seq));
    if (status == KVC_OK) {
        shadow->seqs[seq].live = false;
        end_step(shadow);
    }
    return status;
}

kvc_status_t rows_shadow_keep(rows_shadow_t *shadow, uint32_t seq)
{
    kvc_status_t foretold = rows_shadow_is_live(shadow, seq) ? KVC_OK : KVC_ERR_BAD_SEQUENCE;
    rows_before_call(shadow, foretold);
    kvc_status_t status = rows_after_call(shadow, foretold, kvc_batch_seq_keep(shadow->cache, seq));
    for (uint32_t other = 0; status == KVC_OK && other < shadow->config.max_seqs; other++) {
        shadow->seqs[other].live &= other == seq;
        end_step(shadow);
    }
    return status;
}

void rows_shadow_clear(rows_shadow_t *shadow)
{
    rows_before_call(shadow, KVC_OK);
    rows_after_call(shadow, KVC_OK, kvc_clear(shadow->cache));
    for (uint32_t seq = 0; seq < shadow->config.max_seqs; seq++) {
        shadow->seqs[seq].live = false;
    }
    end_step(shadow);
}

/* The lowest position from which on some layer has all of the sequence. */
static uint32_t first_of(const rows_shadow_t *shadow, uint32_t seq)
{
    uint32_t length = shadow->seqs[seq].length, lowest = length;
    for (uint32_t layer = 0; layer < shadow->config.n_layers; layer++) {
        const naive_layout_t *layout = &shadow->layouts[layer];
        bool whole = layout->layer.kind == KVC_LAYER_FLAT || layout->layer.sinks > 0;
        uint32_t first = whole ? 0 : length;
        while (first > 0 && rows_hold(shadow, seq, layer, naive_row(layout, first - 1), first - 1)) {
            first--;
        }
        lowest = lesser(lowest, first);
    }
    return lowest < length ? lowest : KVC_UNBOUNDED;
}

static void check_sequence(rows_shadow_t *shadow, uint32_t seq, uint32_t n)
{
    bool live = rows_shadow_is_live(shadow, seq), fits = false;
    kvc_status_t expected = live ? KVC_OK : KVC_ERR_BAD_SEQUENCE;
    uint32_t len = 77, next = 77, first = 77;
    CHECK_STATUS(expected, kvc_batch_seq_len(shadow->cache, seq, &len));
    CHECK_STATUS(expected, kvc_batch_next_pos(shadow->cache, seq, &next));
    CHECK_STATUS(expected, kvc_batch_first_pos(shadow->cache, seq, &first));
    CHECK_STATUS(expected, kvc_batch_can_admit(shadow->cache, seq, n, &fits));
    if (!live) {
        return;
    }
    uint64_t length = shadow->seqs[seq].length;
    CHECK_EQ(length, len);
    CHECK_EQ(length, next);
    CHECK_EQ(first_of(shadow, seq), first);
    bool has_room = rows_taken(shadow, seq, n) <= rows_shadow_free_rows(shadow);
    CHECK_EQ(has_room && length + n <= shadow->bound, fits);
    for (uint32_t layer = 0; layer < shadow->config.n_layers; layer++) {
        kvc_run_t runs[3];
        list_held(shadow, layer, seq, runs);
    }
}

void rows_shadow_check_queries(rows_shadow_t *shadow, uint32_t n)
{
    uint32_t rows = 0;
    for (uint32_t seq = 0; seq <= shadow->config.max_seqs; seq++) {
        check_sequence(shadow, seq, n);
    }
    CHECK_OK(kvc_batch_free_rows(shadow->cache, &rows));
    CHECK_EQ(rows_shadow_free_rows(shadow), rows);
}
