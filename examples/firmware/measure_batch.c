/* What the caches for many sequences take, and the stack of their calls and of those for token trees. Prints and returns as measure.c
 * does. A program of its own: some of these calls are not O(1), and measure.c looks for the longest critical section. */
#include "measure.h"

enum { SEQS = 4, TOKENS = 16, CELLS = 128, NODES = 8 };

/* One after the other in the same memory: machines have as little as 16 KiB. */
KVC_STORAGE(batch_storage, 3072);

static const kvc_layer_t batch_layers[2] = {{KVC_LAYER_FLAT, 0, 0, 4, 64, 0}, {KVC_LAYER_RING, 32, 2, 4, 64, 0}};
static kvc_config_t batch_config;
static kvc_cache_t *batch;
static uint32_t first, second, next_position;
static uint32_t seq_ids[TOKENS], positions[TOKENS], cells[TOKENS];

static void start(void)
{
    MUST(kvc_batch_seq_new(batch, &first));
    next_position = 0;
}

static void cells_init(void) { MUST(kvc_cells_init(batch_storage, sizeof batch_storage, &batch_config, &batch)); }
static void rows_init(void) { MUST(kvc_rows_init(batch_storage, sizeof batch_storage, &batch_config, &batch)); }

static void declare(void)
{
    for (uint32_t token = 0; token < TOKENS; token++) {
        seq_ids[token] = first;
        positions[token] = next_position++;
    }
    MUST(kvc_batch_declare_step(batch, seq_ids, TOKENS));
}

static void place_cells(void)
{
    kvc_cell_step_t step;
    MUST(kvc_cells_place_step(batch, 1, positions, TOKENS, cells, &step));
}

static void mask_of_cells(void)
{
    static uint32_t words[TOKENS * CELLS / 32];
    static uint8_t bytes[TOKENS * 32];
    MUST(kvc_cells_mask_bits(batch, 1, words, TOKENS * CELLS / 32, CELLS / 32));
    MUST(kvc_cells_mask_bytes(batch, 1, bytes, sizeof bytes, 32));
}

static void place_rows(void)
{
    kvc_span_t spans[2];
    uint32_t n_spans = 0;
    MUST(kvc_rows_place_step(batch, 1, positions, TOKENS, spans, 2, &n_spans));
}

static void clone(void) { MUST(kvc_batch_seq_clone(batch, first, 12, &second)); }
static void remove_range(void) { MUST(kvc_batch_seq_remove(batch, first, 12, 14)); }
static void shift(void) { MUST(kvc_batch_seq_shift(batch, first, 14, KVC_UNBOUNDED, -2)); }
static void take_back(void) { MUST(kvc_batch_rewind(batch, first, 13)); }
static void keep(void) { MUST(kvc_batch_seq_keep(batch, first)); }
static void let_go(void) { MUST(kvc_batch_seq_release(batch, first)); }
static void end(void) { MUST(kvc_cache_release(batch)); }

static void shifts(void)
{
    kvc_shift_t runs[4];
    uint32_t n = 0;
    MUST(kvc_cells_shifts(batch, 0, runs, 4, &n));
    MUST(kvc_cells_shifts_done(batch));
}

static void defrag(void)
{
    kvc_move_t moves[4];
    uint32_t n = 0;
    MUST(kvc_cells_defrag(batch, 0, moves, 4, &n));
}

static void admit(void)
{
    bool fits = false;
    MUST(kvc_batch_can_admit(batch, first, TOKENS, &fits));
}

static void trees(void)
{
    static const int32_t parents[NODES] = {-1, 0, 0, 1, 1, 2, 5, 5};
    static const uint32_t rows[NODES] = {6, 7, 0, 1, 2, 3, 4, 5};
    uint32_t places[NODES], n_moves = 0, accepted = 0;
    uint16_t pre[NODES], ends[NODES];
    kvc_move_t moves[NODES];
    MUST(kvc_tree_positions(parents, NODES, 100, places));
    MUST(kvc_tree_intervals(parents, NODES, pre, ends));
    MUST(kvc_tree_moves(rows, parents, NODES, 7, moves, NODES, &n_moves, &accepted));
}

int main(void)
{
    static const struct {
        const char *name;
        void (*call)(void);
    } calls[] = {
        {"kvc_cells_init", cells_init},
        {"kvc_batch_seq_new", start},
        {"kvc_batch_declare_step", declare},
        {"kvc_cells_place_step", place_cells},
        {"kvc_cells_mask", mask_of_cells},
        {"kvc_batch_can_admit", admit},
        {"kvc_batch_seq_clone", clone},
        {"kvc_batch_seq_remove", remove_range},
        {"kvc_batch_seq_shift", shift},
        {"kvc_cells_shifts", shifts},
        {"kvc_cells_defrag", defrag},
        {"kvc_batch_rewind", take_back},
        {"kvc_batch_seq_keep", keep},
        {"kvc_batch_seq_release", let_go},
        {"kvc_cache_release", end},
        {"kvc_rows_init", rows_init},
        {"kvc_batch_seq_new", start},
        {"kvc_batch_declare_step", declare},
        {"kvc_rows_place_step", place_rows},
        {"kvc_batch_seq_clone", clone},
        {"kvc_batch_rewind", take_back},
        {"kvc_batch_seq_keep", keep},
        {"kvc_cache_release", end},
        {"kvc_tree", trees},
    };
    batch_config = kvc_config_default();
    batch_config.n_layers = 2;
    batch_config.n_layer_entries = 2;
    batch_config.layers = batch_layers;
    batch_config.capacity = CELLS;
    batch_config.max_write = TOKENS;
    batch_config.max_seqs = SEQS;
    size_t size = 0;
    must(kvc_cells_size(&batch_config, &size), "kvc_cells_size");
    print_figure("bytes cells_128", size);
    must(kvc_rows_size(&batch_config, &size), "kvc_rows_size");
    print_figure("bytes rows_4", size);
    for (uint32_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        measure_stack(calls[i].name, calls[i].call);
    }
    print_figure("failures", failures);
    return failures < 255 ? (int)failures : 255;
}
