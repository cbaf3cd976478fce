#include "naive.h"

#include <string.h>

#include "support.h"

static uint32_t lesser(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

uint32_t naive_step_limit(const kvc_layer_t *layer, uint32_t max_write)
{
    if (max_write != 0) {
        return max_write;
    }
    return layer->kind == KVC_LAYER_FLAT ? KVC_UNBOUNDED : layer->window;
}

naive_layout_t naive_layout(const kvc_layer_t *layer, uint32_t max_write, uint32_t rollback, uint32_t capacity)
{
    naive_layout_t layout;
    layout.layer = *layer;
    layout.ring = capacity;
    if (layer->kind == KVC_LAYER_RING) {
        uint64_t wanted = (uint64_t)layer->window + naive_step_limit(layer, max_write) - 1 + rollback;
        layout.ring = lesser(wanted, capacity - layer->sinks);
    }
    layout.rows = layer->sinks + layout.ring;
    return layout;
}

uint32_t naive_row(const naive_layout_t *layout, uint32_t position)
{
    uint32_t sinks = layout->layer.sinks;
    if (layout->layer.kind == KVC_LAYER_FLAT || position < sinks) {
        return position;
    }
    return sinks + (position - sinks) % layout->ring;
}

bool naive_sees(const kvc_layer_t *layer, uint32_t query, uint32_t key)
{
    if (key > query) {
        return false;
    }
    return layer->kind == KVC_LAYER_FLAT || key < layer->sinks || query - key < layer->window;
}

/* Rows that a list of positions is in, in the order of the list. */
typedef struct {
    kvc_run_t runs[8];
    uint32_t n_runs;
    uint32_t positions[NAIVE_READ];
    uint32_t n_positions;
    uint32_t highest_row;
} listed_t;

static void list_position(listed_t *list, const naive_layout_t *layout, uint32_t position)
{
    uint32_t row = naive_row(layout, position);
    kvc_run_t *last = list->n_runs == 0 ? NULL : &list->runs[list->n_runs - 1];
    if (last != NULL && last->start + last->len == row && last->pos + last->len == position) {
        last->len++;
    } else if (list->n_runs < 8) {
        kvc_run_t run = {row, 1, position};
        list->runs[list->n_runs++] = run;
    }
    if (list->n_positions < NAIVE_READ) {
        list->positions[list->n_positions++] = position;
    }
    if (row > list->highest_row) {
        list->highest_row = row;
    }
}

static void list_clear(listed_t *list)
{
    list->n_runs = 0;
    list->n_positions = 0;
    list->highest_row = 0;
}

static void list_writes(listed_t *list, const naive_layout_t *layout, uint32_t position, uint32_t n)
{
    list_clear(list);
    for (uint32_t i = 0; i < n; i++) {
        list_position(list, layout, position + i);
    }
}

/* What the first query sees is the oldest; what the last sees the newest. */
static void list_reads(listed_t *list, const naive_layout_t *layout, uint32_t position, uint32_t n)
{
    const kvc_layer_t *layer = &layout->layer;
    list_clear(list);
    uint32_t from = 0;
    if (layer->kind == KVC_LAYER_RING) {
        for (uint32_t sink = 0; sink < lesser(layer->sinks, position + n); sink++) {
            list_position(list, layout, sink);
        }
        from = position < layer->window ? 0 : position - layer->window + 1;
        from = from < layer->sinks ? layer->sinks : from;
    }
    for (uint32_t key = from; key < position + n; key++) {
        list_position(list, layout, key);
    }
}

/* Whether every query sees all that is read up to itself. */
static bool is_causal(const listed_t *reads, const kvc_layer_t *layer, uint32_t position, uint32_t n)
{
    for (uint32_t query = position; query < position + n; query++) {
        for (uint32_t i = 0; i < reads->n_positions && reads->positions[i] <= query; i++) {
            if (!naive_sees(layer, query, reads->positions[i])) {
                return false;
            }
        }
    }
    return true;
}

static bool same_runs(const listed_t *list, const kvc_run_t *runs, uint32_t n_runs)
{
    return n_runs == list->n_runs && memcmp(list->runs, runs, n_runs * sizeof *runs) == 0;
}

bool naive_check_plan(const naive_layout_t *layout, uint32_t position, uint32_t n, const kvc_seq_plan_t *plan)
{
    const kvc_layer_t *layer = &layout->layer;
    listed_t writes, reads;
    list_writes(&writes, layout, position, n);
    list_reads(&reads, layout, position, n);
    uint32_t highest = writes.highest_row > reads.highest_row ? writes.highest_row : reads.highest_row;
    uint32_t mask = KVC_MASK_NONE;
    if (n > 1) {
        mask = is_causal(&reads, layer, position, n) ? KVC_MASK_CAUSAL : KVC_MASK_WINDOW;
    }
    bool good = CHECK(plan->n_write <= 2 && same_runs(&writes, plan->write, plan->n_write));
    good &= CHECK(plan->n_read <= 3 && same_runs(&reads, plan->read, plan->n_read));
    good &= CHECK_EQ(position, plan->position);
    good &= CHECK_EQ(n, plan->n_tokens);
    good &= CHECK_EQ(reads.n_positions, plan->read_len);
    good &= CHECK_EQ(highest + 1, plan->rows_needed);
    good &= CHECK(plan->rows_needed <= layout->rows);
    good &= CHECK_EQ(mask, plan->mask);
    good &= CHECK_EQ(layer->window, plan->window);
    good &= CHECK_EQ(layer->sinks, plan->sinks);
    return good;
}

static uint32_t depth_of(const int32_t *parents, uint32_t node)
{
    uint32_t depth = 0;
    while (parents[node] >= 0) {
        node = (uint32_t)parents[node];
        depth++;
    }
    return depth;
}

static bool is_ancestor_or_self(const int32_t *parents, uint32_t ancestor, uint32_t node)
{
    while (node != ancestor && parents[node] >= 0) {
        node = (uint32_t)parents[node];
    }
    return node == ancestor;
}

/* Whether token `i` of the step sees the read row that holds `key` (in a tree: the row of node `key - position`). */
static bool attends(const kvc_layer_t *layer, const kvc_seq_plan_t *plan, const int32_t *parents, uint32_t i,
                    uint32_t key)
{
    if (parents == NULL) {
        return naive_sees(layer, plan->position + i, key);
    }
    uint32_t query = plan->position + depth_of(parents, i);
    if (key < plan->position) {
        return naive_sees(layer, query, key);
    }
    uint32_t node = key - plan->position;
    return is_ancestor_or_self(parents, node, i) &&
           naive_sees(layer, query, plan->position + depth_of(parents, node));
}

/* The mask of one query over one kind of columns, a byte each. */
static void naive_mask_row(const naive_layout_t *layout, const kvc_seq_plan_t *plan, const int32_t *parents,
                           uint32_t columns, const listed_t *reads, uint32_t i, uint8_t *row, uint32_t n_columns)
{
    memset(row, 0, n_columns);
    for (uint32_t j = 0; j < reads->n_positions; j++) {
        uint32_t key = reads->positions[j];
        if (attends(&layout->layer, plan, parents, i, key)) {
            row[columns == KVC_COLUMNS_READ ? j : naive_row(layout, key)] = 1;
        }
    }
}

enum { MOST_COLUMNS = NAIVE_READ + 64, SENTINEL = 0xA5 };

static uint8_t expected[MOST_COLUMNS];
static uint8_t bytes[NAIVE_TOKENS * MOST_COLUMNS + 1];
static uint32_t words[NAIVE_TOKENS * (MOST_COLUMNS / 32 + 2) + 1];

static uint32_t bit_of(const uint32_t *row, uint32_t column)
{
    return row[column / 32] >> (column % 32) & 1u;
}

static void check_columns(const naive_layout_t *layout, const kvc_seq_plan_t *plan, const int32_t *parents,
                          uint32_t columns, const listed_t *reads, uint32_t padding)
{
    uint32_t needed = columns == KVC_COLUMNS_READ ? reads->n_positions : reads->highest_row + 1;
    uint32_t stride = needed + padding;
    uint32_t row_words = (needed + 31) / 32 + padding / 32;
    size_t size = (size_t)plan->n_tokens * stride, n_words = (size_t)plan->n_tokens * row_words;
    memset(bytes, SENTINEL, size + 1);
    memset(words, SENTINEL, (n_words + 1) * sizeof words[0]);
    CHECK_OK(kvc_plan_mask_bytes(plan, parents, columns, bytes, size, stride));
    CHECK_OK(kvc_plan_mask_bits(plan, parents, columns, words, n_words, row_words));
    bool bytes_agree = true, bits_agree = true;
    for (uint32_t i = 0; i < plan->n_tokens; i++) {
        naive_mask_row(layout, plan, parents, columns, reads, i, expected, needed);
        for (uint32_t j = 0; j < stride; j++) {
            bytes_agree &= bytes[i * stride + j] == (j < needed ? expected[j] : 0);
        }
        for (uint32_t j = 0; j < row_words * 32; j++) {
            bits_agree &= bit_of(words + i * row_words, j) == (j < needed ? expected[j] : 0);
        }
    }
    CHECK(bytes_agree);
    CHECK(bits_agree);
    CHECK_EQ(SENTINEL, bytes[size]);
    CHECK_EQ(SENTINEL * 0x01010101u, words[n_words]);
}

void naive_check_masks(const naive_layout_t *layout, const kvc_seq_plan_t *plan, const int32_t *parents,
                       uint32_t padding)
{
    static uint32_t positions[NAIVE_READ + 1];
    listed_t reads;
    list_reads(&reads, layout, plan->position, plan->n_tokens);
    if (plan->n_tokens > NAIVE_TOKENS || reads.highest_row >= NAIVE_READ || padding > 64) {
        give_up("too large a plan for the naive masks");
    }
    positions[plan->read_len] = KVC_UNBOUNDED;
    CHECK_OK(kvc_plan_positions(plan, positions, plan->read_len));
    CHECK(memcmp(positions, reads.positions, plan->read_len * sizeof positions[0]) == 0);
    CHECK_EQ(KVC_UNBOUNDED, positions[plan->read_len]);
    check_columns(layout, plan, parents, KVC_COLUMNS_READ, &reads, padding);
    check_columns(layout, plan, parents, KVC_COLUMNS_POOL, &reads, padding);
}
