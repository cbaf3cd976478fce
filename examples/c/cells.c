/* Two conversations in one pool of cells: a shared prompt, a batch, rejected tokens, a context shift, compaction.
 * Shows kvc_cells_size, kvc_cells_init, kvc_batch_seq_new, kvc_batch_can_admit, kvc_batch_declare_step,
 * kvc_batch_next_pos, kvc_cells_place_step, kvc_cells_mask_bytes, kvc_cells_mask_bits, kvc_batch_seq_clone,
 * kvc_batch_free_rows, kvc_batch_rewind, kvc_batch_seq_shift, kvc_batch_seq_keep, kvc_batch_seq_remove,
 * kvc_cells_shifts, kvc_cells_shifts_done, kvc_cells_defrag, kvc_batch_seq_len, kvc_batch_first_pos,
 * kvc_batch_seq_release. */
#include "must.h"

enum { LAYERS = 2, CELLS = 32, SEQS = 4, STEP = 8 };
KVC_STORAGE(storage, 4096);

/* What a backend would have in each row of a layer: a token, its key rotated to a position. */
typedef struct {
  char token;
  int32_t rotation;
} row_t;
static row_t pool[LAYERS][CELLS];

/* The backend's part of a step, in every layer: rotate what was shifted, write the new rows, attend under the mask. */
static int forward(kvc_cache_t *cache, const char *tokens, const uint32_t *positions, uint32_t n) {
  for (uint32_t layer = 0; layer < LAYERS; layer++) {
    kvc_shift_t shifts[CELLS];
    uint32_t n_shifts = 0, cells[STEP];
    MUST(kvc_cells_shifts(cache, layer, shifts, CELLS, &n_shifts));
    for (uint32_t i = 0; i < n_shifts; i++) {
      for (uint32_t row = shifts[i].row; row < shifts[i].row + shifts[i].len; row++) {
        pool[layer][row].rotation += shifts[i].delta;
      }
    }
    kvc_cell_step_t step;
    MUST(kvc_cells_place_step(cache, layer, positions, n, cells, &step));
    for (uint32_t i = 0; i < n; i++) {
      const row_t row = {tokens[i], (int32_t)positions[i]};
      pool[layer][cells[i]] = row;
    }
    uint8_t mask[STEP][CELLS];
    MUST(kvc_cells_mask_bytes(cache, layer, mask[0], sizeof mask, CELLS));
    for (uint32_t i = 0; i < n; i++) {
      printf("layer %u: %c at %2u sees ", (unsigned)layer, tokens[i], (unsigned)positions[i]);
      for (uint32_t row = 0; row < step.read_len; row++) putchar(mask[i][row] != 0 ? pool[layer][row].token : '.');
      printf("\n");
    }
  }
  MUST(kvc_cells_shifts_done(cache)); /* every layer has rotated its rows */
  return 0;
}

/* Tokens of one conversation: admission by the application, before any compute, then the forward. */
static int append(kvc_cache_t *cache, uint32_t seq, const char *tokens, uint32_t n) {
  uint32_t ids[STEP], positions[STEP], next = 0;
  MUST(kvc_batch_next_pos(cache, seq, &next));
  for (uint32_t i = 0; i < n; i++) {
    ids[i] = seq;
    positions[i] = next + i;
  }
  MUST(kvc_batch_declare_step(cache, ids, n));
  return forward(cache, tokens, positions, n);
}

static int batch_of_two(kvc_cache_t *cache, uint32_t a, uint32_t b) {
  const uint32_t ids[2] = {a, b};
  uint32_t positions[2], bits[2];
  MUST(kvc_batch_next_pos(cache, a, &positions[0]));
  MUST(kvc_batch_next_pos(cache, b, &positions[1]));
  MUST(kvc_batch_declare_step(cache, ids, 2));
  if (forward(cache, "xy", positions, 2) != 0) return 1;
  /* The mask as bits: both see the prompt, and neither the other's token. */
  MUST(kvc_cells_mask_bits(cache, 1, bits, 2, 1));
  SHOWS(bits[0] == 0x7fu && bits[1] == 0xbfu);
  return 0;
}

int main(void) {
  const kvc_layer_t layers[LAYERS] = {{KVC_LAYER_RING, 4, 0, 1, 64, 0}, {KVC_LAYER_FLAT, 0, 0, 1, 64, 0}};
  kvc_config_t config = kvc_config_default();
  config.capacity = CELLS;
  config.n_layers = config.n_layer_entries = LAYERS;
  config.layers = layers;
  config.max_seqs = SEQS;
  config.max_write = STEP;
  size_t size = 0;
  kvc_cache_t *cache = NULL;
  MUST(kvc_cells_size(&config, &size));
  SHOWS(size <= sizeof storage);
  MUST(kvc_cells_init(storage, sizeof storage, &config, &cache));

  /* A prompt, and a second conversation that shares its cells: nothing is copied. */
  uint32_t a = 0, b = 0, rows = 0;
  bool fits = false;
  MUST(kvc_batch_seq_new(cache, &a));
  MUST(kvc_batch_can_admit(cache, a, 6, &fits));
  SHOWS(fits);
  if (append(cache, a, "prompt", 6) != 0) return 1;
  MUST(kvc_batch_seq_clone(cache, a, KVC_UNBOUNDED, &b));
  MUST(kvc_batch_free_rows(cache, &rows));
  SHOWS(rows == CELLS - 6);

  /* One token of each in one step; then b's is rejected. */
  if (batch_of_two(cache, a, b) != 0) return 1;
  MUST(kvc_batch_rewind(cache, b, 6));
  if (append(cache, b, "z", 1) != 0) return 1;

  /* a's context is full: drop three tokens, move the rest down. Not while b has a share in those cells. */
  SHOWS(kvc_batch_seq_shift(cache, a, 4, KVC_UNBOUNDED, -3) == KVC_ERR_SHARED);
  MUST(kvc_batch_seq_keep(cache, a));
  MUST(kvc_batch_seq_remove(cache, a, 1, 4));
  MUST(kvc_batch_seq_shift(cache, a, 4, KVC_UNBOUNDED, -3));
  uint32_t length = 0, first = 0;
  MUST(kvc_batch_seq_len(cache, a, &length));
  MUST(kvc_batch_first_pos(cache, a, &first));
  SHOWS(length == 4 && first == 0);
  if (append(cache, a, "!", 1) != 0) return 1;
  SHOWS(pool[1][6].token == 'x' && pool[1][6].rotation == 3); /* was at position 6 */

  /* The holes are filled from behind, two moves at most for now; every layer carries them out in this order. */
  kvc_move_t moves[2];
  uint32_t n_moves = 0;
  MUST(kvc_cells_defrag(cache, 0, moves, 2, &n_moves));
  for (uint32_t i = 0; i < n_moves; i++) {
    printf("rows %u.. to %u.., %u of them\n", (unsigned)moves[i].from, (unsigned)moves[i].to, (unsigned)moves[i].len);
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
      for (uint32_t row = 0; row < moves[i].len; row++) {
        pool[layer][moves[i].to + row] = pool[layer][moves[i].from + row];
      }
    }
  }
  if (append(cache, a, "?", 1) != 0) return 1;

  MUST(kvc_batch_seq_release(cache, a));
  MUST(kvc_batch_free_rows(cache, &rows));
  SHOWS(rows == CELLS);
  MUST(kvc_cache_release(cache));
  return 0;
}
