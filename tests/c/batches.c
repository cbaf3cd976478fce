#include "batches.h"

#include <string.h>

#include "support.h"

/* Makes room in `storage`: refused where no cache stands, or an ended one. */
static void end_former(void *storage)
{
    kvc_cache_release((kvc_cache_t *)storage);
}

static kvc_cache_t *must_be_built(kvc_status_t status, kvc_cache_t *cache)
{
    if (!CHECK_OK(status) || !CHECK(cache != NULL)) {
        give_up("no cache, no test");
    }
    return cache;
}

kvc_cache_t *build_cells(void *storage, const kvc_config_t *config)
{
    kvc_cache_t *cache = NULL;
    end_former(storage);
    kvc_status_t status = kvc_cells_init(storage, BATCH_BYTES, config, &cache);
    return must_be_built(status, cache);
}

kvc_cache_t *build_rows(void *storage, const kvc_config_t *config)
{
    kvc_cache_t *cache = NULL;
    end_former(storage);
    kvc_status_t status = kvc_rows_init(storage, BATCH_BYTES, config, &cache);
    return must_be_built(status, cache);
}

kvc_cache_t *build_flat_cells(void *storage, uint32_t capacity, uint32_t max_seqs)
{
    kvc_layer_t layer = flat_layer();
    kvc_config_t config = config_of(&layer, 1, capacity);
    config.max_seqs = max_seqs;
    return build_cells(storage, &config);
}

uint32_t new_seq(kvc_cache_t *cache)
{
    uint32_t seq = KVC_UNBOUNDED;
    if (!CHECK_OK(kvc_batch_seq_new(cache, &seq))) {
        give_up("no sequence, no test");
    }
    return seq;
}

uint32_t clone_of(kvc_cache_t *cache, uint32_t seq, uint32_t upto)
{
    uint32_t clone = KVC_UNBOUNDED;
    if (!CHECK_OK(kvc_batch_seq_clone(cache, seq, upto, &clone))) {
        give_up("no clone, no test");
    }
    return clone;
}

uint32_t len_of_seq(const kvc_cache_t *cache, uint32_t seq)
{
    uint32_t length = KVC_UNBOUNDED;
    CHECK_OK(kvc_batch_seq_len(cache, seq, &length));
    return length;
}

uint32_t next_of_seq(const kvc_cache_t *cache, uint32_t seq)
{
    uint32_t position = KVC_UNBOUNDED;
    CHECK_OK(kvc_batch_next_pos(cache, seq, &position));
    return position;
}

uint32_t first_of_seq(const kvc_cache_t *cache, uint32_t seq)
{
    uint32_t position = KVC_UNBOUNDED - 1;
    CHECK_OK(kvc_batch_first_pos(cache, seq, &position));
    return position;
}

uint32_t free_rows_of(const kvc_cache_t *cache)
{
    uint32_t rows = KVC_UNBOUNDED;
    CHECK_OK(kvc_batch_free_rows(cache, &rows));
    return rows;
}

bool admits(const kvc_cache_t *cache, uint32_t seq, uint32_t n)
{
    bool fits = false;
    CHECK_OK(kvc_batch_can_admit(cache, seq, n, &fits));
    return fits;
}

kvc_status_t declare_for(kvc_cache_t *cache, uint32_t seq, uint32_t n)
{
    uint32_t ids[STEP_TOKENS];
    if (n > STEP_TOKENS) {
        give_up("too long a step for this test");
    }
    for (uint32_t i = 0; i < n; i++) {
        ids[i] = seq;
    }
    return kvc_batch_declare_step(cache, ids, n);
}

/* Declares, and answers the positions that continue the sequence. */
static void begin_step(kvc_cache_t *cache, uint32_t seq, uint32_t n, uint32_t *positions)
{
    uint32_t next = next_of_seq(cache, seq);
    if (!CHECK_OK(declare_for(cache, seq, n))) {
        give_up("no step, no test");
    }
    for (uint32_t i = 0; i < n; i++) {
        positions[i] = next + i;
    }
}

kvc_cell_step_t append_cells(kvc_cache_t *cache, uint32_t seq, uint32_t n, uint32_t *cells)
{
    uint32_t positions[STEP_TOKENS], unwanted[STEP_TOKENS];
    kvc_cell_step_t step;
    begin_step(cache, seq, n, positions);
    if (!CHECK_OK(kvc_cells_place_step(cache, 0, positions, n, cells == NULL ? unwanted : cells, &step))) {
        give_up("no placement, no test");
    }
    return step;
}

kvc_span_t append_rows(kvc_cache_t *cache, uint32_t seq, uint32_t n)
{
    uint32_t positions[STEP_TOKENS], n_spans = 0;
    kvc_span_t span;
    begin_step(cache, seq, n, positions);
    if (!CHECK_OK(kvc_rows_place_step(cache, 0, positions, n, &span, 1, &n_spans)) || !CHECK_EQ(1, n_spans)) {
        give_up("no placement, no test");
    }
    return span;
}

const char *seen_by(kvc_cache_t *cache, uint32_t layer, uint32_t n_tokens, uint32_t i, uint32_t n)
{
    static char text[65];
    static uint8_t mask[STEP_TOKENS * 64];
    memset(mask, 0xEE, sizeof mask);
    CHECK_OK(kvc_cells_mask_bytes(cache, layer, mask, (size_t)n_tokens * 64, 64));
    for (uint32_t column = 0; column < 64; column++) {
        text[column] = (char)('0' + mask[i * 64 + column]);
    }
    CHECK(strspn(text + n, "0") == 64 - n);
    text[n] = 0;
    return text;
}
