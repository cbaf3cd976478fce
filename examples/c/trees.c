/* Speculative decoding with a token tree: two drafts for the next token and one behind each, one forward, one path kept.
 * Shows kvc_tree_positions, kvc_tree_intervals, kvc_tree_moves. */
#include <string.h>

#include "must.h"

enum { NODES = 5, ROWS = 16, ROW_BYTES = 4 };
KVC_STORAGE(storage, KVC_SEQUENCE_BYTES_FOR(1));

/* The K/V pool of the only layer: a row is the text of its token. */
static char pool[ROWS][ROW_BYTES];

int main(void) {
  const kvc_layer_t layer = {KVC_LAYER_RING, 8, 0, 1, 64, 0};
  kvc_config_t config = kvc_config_default();
  config.capacity = KVC_UNBOUNDED;
  config.n_layers = config.n_layer_entries = 1;
  config.layers = &layer;
  config.max_write = NODES; /* the largest tree */
  kvc_cache_t *cache = NULL;
  MUST(kvc_sequence_init(storage, sizeof storage, &config, &cache));

  /* Ten tokens of a prompt, in two steps. The ring has 8 + 5 - 1 = 12 rows. */
  kvc_seq_plan_t plan = {0};
  for (uint32_t position = 0; position < 10; position += NODES) {
    MUST(kvc_seq_plan(cache, 0, position, NODES, &plan));
    MUST(kvc_seq_commit(cache, &plan, NODES));
  }

  /* "the" goes on with "cat" or with "dog"; behind "cat" comes "sat", behind "dog" comes "ran". */
  const char *const texts[NODES] = {"the", "cat", "dog", "sat", "ran"};
  const int32_t parents[NODES] = {-1, 0, 0, 1, 2};
  MUST(kvc_seq_plan(cache, 0, 10, NODES, &plan));

  /* Positions are for the rotary embedding: siblings have the same one. */
  uint32_t positions[NODES];
  MUST(kvc_tree_positions(parents, NODES, plan.position, positions));
  SHOWS(positions[1] == 11 && positions[2] == 11 && positions[4] == 12);

  /* Each node is written to a row of its own; the step comes round the ring. */
  uint32_t rows[NODES], n = 0;
  for (uint32_t run = 0; run < plan.n_write; run++) {
    for (uint32_t i = 0; i < plan.write[run].len; i++) rows[n++] = plan.write[run].start + i;
  }
  for (n = 0; n < NODES; n++) memcpy(pool[rows[n]], texts[n], ROW_BYTES);
  SHOWS(rows[1] == 11 && rows[2] == 0);

  /* Attention takes a mask (kvc_plan_mask_bytes with the parents), or intervals for the part of the step itself. */
  uint16_t pre[NODES], end[NODES];
  MUST(kvc_tree_intervals(parents, NODES, pre, end));
  for (int i = 0; i < NODES; i++) {
    printf("\"%s\" sees", texts[i]);
    for (int j = 0; j < NODES; j++) {
      if (pre[j] <= pre[i] && pre[i] < end[j]) printf(" \"%s\"", texts[j]);
    }
    printf("\n");
  }

  /* The model agrees with "the dog ran": that path becomes the first rows of the step, and three tokens are kept. */
  kvc_move_t moves[NODES];
  uint32_t n_moves = 0, accepted = 0;
  MUST(kvc_tree_moves(rows, parents, NODES, 4, moves, NODES, &n_moves, &accepted));
  for (uint32_t i = 0; i < n_moves; i++) {
    printf("move %u row(s) from row %u to row %u\n", (unsigned)moves[i].len, (unsigned)moves[i].from,
           (unsigned)moves[i].to);
    memmove(pool[moves[i].to], pool[moves[i].from], (size_t)moves[i].len * ROW_BYTES);
  }
  MUST(kvc_seq_commit(cache, &plan, accepted));
  SHOWS(accepted == 3);
  SHOWS(strcmp(pool[rows[0]], "the") == 0 && strcmp(pool[rows[1]], "dog") == 0 && strcmp(pool[rows[2]], "ran") == 0);

  uint32_t length = 0;
  MUST(kvc_length(cache, &length));
  SHOWS(length == 13);
  MUST(kvc_cache_release(cache));
  return 0;
}
