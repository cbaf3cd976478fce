/* What a shadow of cells compares without changing anything. */

#include <string.h>

#include "cells_shadow.h"
#include "support.h"

static void check_sequence(const cells_shadow_t *shadow, uint32_t seq, uint32_t n)
{
    const cells_model_t *model = &shadow->model;
    const kvc_cache_t *cache = shadow->cache;
    bool live = cells_model_is_live(model, seq), fits = false;
    uint32_t len = 77, next = 77, first = 77;
    kvc_status_t expected = live ? KVC_OK : KVC_ERR_BAD_SEQUENCE;
    CHECK_STATUS(expected, kvc_batch_seq_len(cache, seq, &len));
    CHECK_STATUS(expected, kvc_batch_next_pos(cache, seq, &next));
    CHECK_STATUS(expected, kvc_batch_first_pos(cache, seq, &first));
    CHECK_STATUS(expected, kvc_batch_can_admit(cache, seq, n, &fits));
    CHECK_EQ(live ? cells_model_len(model, seq) : 77, len);
    CHECK_EQ(live ? cells_model_next(model, seq) : 77, next);
    CHECK_EQ(live ? cells_model_first(model, seq) : 77, first);
    CHECK_EQ(live && cells_model_admits(model, seq, n), fits);
}

void cells_shadow_check_queries(cells_shadow_t *shadow, uint32_t n)
{
    uint32_t rows = 0;
    for (uint32_t seq = 0; seq <= shadow->model.config.max_seqs; seq++) {
        check_sequence(shadow, seq, n);
    }
    CHECK_OK(kvc_batch_free_rows(shadow->cache, &rows));
    CHECK_EQ(cells_model_free_rows(&shadow->model), rows);
}

enum { COLUMNS = CELLS_ROWS + 96, WORDS = COLUMNS / 32 + 1, SENTINEL = 0xA5 };

static uint8_t bytes[CELLS_ROWS * COLUMNS + 1];
static uint32_t words[CELLS_ROWS * WORDS + 1];

/* The promise: the row that a query sees holds the token that the model has there, rotated to its position but for the
 * shifts that are pending. */
static bool holds(const cells_shadow_t *shadow, uint32_t pool, uint32_t row, const cells_token_t *token)
{
    const cells_row_t *held = &shadow->rows[pool][row];
    return held->token == token->id && held->rotation + token->in[pool].pending == token->position;
}

static void check_query(const cells_shadow_t *shadow, uint32_t layer, uint32_t i, uint32_t n_columns, size_t stride,
                        size_t row_words)
{
    uint32_t pool = shadow->model.pool_of[layer];
    bool bytes_agree = true, bits_agree = true, kept = true;
    for (uint32_t column = 0; column < stride || column < row_words * 32; column++) {
        const cells_token_t *token = column < n_columns ? cells_model_at(&shadow->model, pool, column) : NULL;
        bool sees = token != NULL && cells_model_sees(&shadow->model, layer, i, token);
        if (column < stride) {
            bytes_agree &= bytes[i * stride + column] == sees;
        }
        if (column < row_words * 32) {
            bits_agree &= (words[i * row_words + column / 32] >> column % 32 & 1u) == sees;
        }
        kept &= !sees || holds(shadow, pool, column, token);
    }
    CHECK(bytes_agree);
    CHECK(bits_agree);
    CHECK(kept);
}

void cells_shadow_check_masks(cells_shadow_t *shadow, uint32_t layer, uint32_t padding)
{
    const cells_state_t *state = &shadow->model.state;
    uint32_t n_columns = cells_model_end(&shadow->model, shadow->model.pool_of[layer]);
    size_t stride = n_columns + padding, row_words = (n_columns + 31) / 32 + padding / 32;
    if (!state->placed) {
        memset(bytes, SENTINEL, 2);
        CHECK_STATUS(KVC_ERR_NO_STEP, kvc_cells_mask_bytes(shadow->cache, layer, bytes, sizeof bytes, COLUMNS));
        CHECK_STATUS(KVC_ERR_NO_STEP, kvc_cells_mask_bits(shadow->cache, layer, words, WORDS * CELLS_ROWS, WORDS));
        CHECK_EQ(SENTINEL, bytes[0]);
        return;
    }
    size_t size = state->n_tokens * stride, n_words = state->n_tokens * row_words;
    memset(bytes, SENTINEL, size + 1);
    memset(words, SENTINEL, (n_words + 1) * sizeof words[0]);
    CHECK_STATUS(KVC_ERR_BUFFER_TOO_SMALL, kvc_cells_mask_bytes(shadow->cache, layer, bytes, size - 1, stride));
    CHECK_STATUS(KVC_ERR_BUFFER_TOO_SMALL, kvc_cells_mask_bits(shadow->cache, layer, words, n_words - 1, row_words));
    CHECK_EQ(SENTINEL, bytes[0]);
    CHECK_OK(kvc_cells_mask_bytes(shadow->cache, layer, bytes, size, stride));
    CHECK_OK(kvc_cells_mask_bits(shadow->cache, layer, words, n_words, row_words));
    for (uint32_t i = 0; i < state->n_tokens; i++) {
        check_query(shadow, layer, i, n_columns, stride, row_words);
    }
    CHECK_EQ(SENTINEL, bytes[size]);
    CHECK_EQ(SENTINEL * 0x01010101u, words[n_words]);
}
