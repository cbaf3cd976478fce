/* A batch whose sequences have rows of their own: a chunk of one beside a token of another, a clone, a rewind.
 * Shows kvc_rows_size, kvc_rows_init, kvc_rows_place_step, kvc_rows_held, and of what other kinds answer too
 * kvc_batch_seq_new, kvc_batch_can_admit, kvc_batch_declare_step, kvc_batch_seq_clone, kvc_batch_rewind,
 * kvc_batch_next_pos, kvc_batch_free_rows, kvc_batch_seq_release. */
#include "must.h"

enum { LAYERS = 2, ROWS = 24, SEQS = 3, STEP = 4 };
KVC_STORAGE(storage, 4096);

/* What a backend would have: for each sequence a pool of rows of each layer, here of one letter each. */
static char pool[SEQS][LAYERS][ROWS];

/* The backend's part of a step, in every layer: write each span's rows, then let its queries read. */
static int forward(kvc_cache_t *cache, const char *tokens, const uint32_t *positions, uint32_t n) {
  for (uint32_t layer = 0; layer < LAYERS; layer++) {
    kvc_span_t spans[STEP * SEQS];
    uint32_t n_spans = 0, token = 0;
    MUST(kvc_rows_place_step(cache, layer, positions, n, spans, STEP * SEQS, &n_spans));
    for (uint32_t i = 0; i < n_spans; i++) {
      const kvc_seq_plan_t *plan = &spans[i].plan;
      char *rows = pool[spans[i].seq][layer];
      for (uint32_t run = 0; run < plan->n_write; run++) {
        for (uint32_t row = 0; row < plan->write[run].len; row++) rows[plan->write[run].start + row] = tokens[token++];
      }
      printf("layer %u: %u tokens of sequence %u read ", (unsigned)layer, (unsigned)spans[i].n_tokens,
             (unsigned)spans[i].seq);
      for (uint32_t run = 0; run < plan->n_read; run++) {
        printf("%.*s", (int)plan->read[run].len, rows + plan->read[run].start);
      }
      printf("\n");
    }
  }
  return 0;
}

/* A clone has a history of its own: the rows that its next token sees are copied, each to the row of the same index. */
static int copy_rows(kvc_cache_t *cache, uint32_t src, uint32_t clone) {
  for (uint32_t layer = 0; layer < LAYERS; layer++) {
    kvc_run_t runs[3];
    uint32_t n_runs = 0;
    MUST(kvc_rows_held(cache, layer, clone, runs, 3, &n_runs));
    for (uint32_t run = 0; run < n_runs; run++) {
      for (uint32_t row = runs[run].start; row < runs[run].start + runs[run].len; row++) {
        pool[clone][layer][row] = pool[src][layer][row];
      }
    }
  }
  return 0;
}

int main(void) {
  const kvc_layer_t layers[LAYERS] = {{KVC_LAYER_RING, 4, 0, 1, 64, 0}, {KVC_LAYER_FLAT, 0, 0, 1, 64, 0}};
  kvc_config_t config = kvc_config_default();
  config.capacity = ROWS; /* shared: all sequences together */
  config.n_layers = config.n_layer_entries = LAYERS;
  config.layers = layers;
  config.max_seqs = SEQS;
  config.max_write = STEP; /* of a sequence in a step */
  size_t size = 0;
  kvc_cache_t *cache = NULL;
  MUST(kvc_rows_size(&config, &size));
  SHOWS(size <= sizeof storage);
  MUST(kvc_rows_init(storage, sizeof storage, &config, &cache));

  /* Two sequences in one step: tokens of one follow each other, and each run of them is a span. */
  uint32_t a = 0, b = 0, clone = 0, next = 0, rows = 0;
  bool fits = false;
  MUST(kvc_batch_seq_new(cache, &a));
  MUST(kvc_batch_seq_new(cache, &b));
  MUST(kvc_batch_can_admit(cache, a, ROWS, &fits));
  SHOWS(fits);
  const uint32_t ids[5] = {a, a, a, a, b}, first[5] = {0, 1, 2, 3, 0}, second[5] = {4, 5, 6, 7, 1};
  MUST(kvc_batch_declare_step(cache, ids, 5));
  if (forward(cache, "tellx", first, 5) != 0) return 1;
  MUST(kvc_batch_declare_step(cache, ids, 5));
  if (forward(cache, "meaty", second, 5) != 0) return 1;
  MUST(kvc_batch_free_rows(cache, &rows));
  SHOWS(rows == ROWS - 8 - 2);

  /* The last token was rejected; the window still has what its place in the sequence sees. */
  MUST(kvc_batch_rewind(cache, a, 7));
  MUST(kvc_batch_next_pos(cache, a, &next));
  SHOWS(next == 7 && kvc_batch_rewind(cache, a, 2) == KVC_ERR_EVICTED);

  /* Go on twice from here. */
  MUST(kvc_batch_seq_clone(cache, a, KVC_UNBOUNDED, &clone));
  if (copy_rows(cache, a, clone) != 0) return 1;
  const uint32_t both[2] = {a, clone}, at[2] = {7, 7};
  MUST(kvc_batch_declare_step(cache, both, 2));
  if (forward(cache, "12", at, 2) != 0) return 1;
  SHOWS(pool[a][1][7] == '1' && pool[clone][1][7] == '2' && pool[clone][1][6] == pool[a][1][6]);

  MUST(kvc_batch_seq_release(cache, clone));
  MUST(kvc_batch_free_rows(cache, &rows));
  SHOWS(rows == ROWS - 8 - 2);
  MUST(kvc_cache_release(cache));
  return 0;
}
