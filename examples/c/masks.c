/* What a plan tells beside its runs, and the arithmetic without a cache.
 * Shows kvc_layout_plan, kvc_plan_positions, kvc_plan_mask_bytes, kvc_plan_mask_bits, kvc_grow_rows, kvc_pool_bytes. */
#include "must.h"

int main(void) {
  /* A window of 4 with 1 sink, steps of 2 tokens: 1 + 4 + 2 - 1 = 6 rows. The step at 7 comes round the ring. */
  const kvc_layer_t layer = {KVC_LAYER_RING, 4, 1, 8, 128, 0};
  kvc_seq_plan_t plan;
  MUST(kvc_layout_plan(&layer, 2, 0, 7, 2, &plan));

  /* Which position each read row holds: the sink, then the window. */
  uint32_t positions[6];
  MUST(kvc_plan_positions(&plan, positions, 6));
  SHOWS(plan.read_len == 6 && positions[0] == 0 && positions[1] == 4 && positions[5] == 8);

  /* The mask over the read rows, a byte each: position 7 sees 0 and 4..7, position 8 sees 0 and 5..8. */
  uint8_t bytes[2][6];
  MUST(kvc_plan_mask_bytes(&plan, NULL, KVC_COLUMNS_READ, bytes[0], sizeof bytes, sizeof bytes[0]));
  for (int query = 0; query < 2; query++) {
    printf("position %d sees", 7 + query);
    for (int column = 0; column < 6; column++) {
      if (bytes[query][column] != 0) printf(" %u", (unsigned)positions[column]);
    }
    printf("\n");
  }
  SHOWS(bytes[0][1] == 1 && bytes[0][5] == 0 && bytes[1][1] == 0 && bytes[1][5] == 1);

  /* The same over the rows of the pool, a bit each, for a backend whose shapes never change. */
  uint32_t bits[2];
  MUST(kvc_plan_mask_bits(&plan, NULL, KVC_COLUMNS_POOL, bits, 2, 1));
  SHOWS((bits[0] >> plan.write[0].start & 1u) == 1u); /* a query sees itself */

  /* Two drafts for the same place, a token tree of two roots: neither sees the other. */
  const int32_t parents[2] = {-1, -1};
  MUST(kvc_plan_mask_bytes(&plan, parents, KVC_COLUMNS_READ, bytes[0], sizeof bytes, sizeof bytes[0]));
  SHOWS(bytes[1][4] == 0 && bytes[1][5] == 1);

  /* How large the pool has to be by now, and what that costs with 16-bit elements. */
  const uint32_t rows = kvc_grow_rows(4, plan.rows_needed, 1024);
  uint64_t size = 0;
  MUST(kvc_pool_bytes(rows, layer.n_kv_heads, layer.head_dim, 16, &size));
  printf("%u rows needed, %u allocated, %lu bytes for K and as many for V\n", (unsigned)plan.rows_needed,
         (unsigned)rows, (unsigned long)size);
  SHOWS(plan.rows_needed == 6 && rows == 8 && size == 8u * 8u * 128u * 2u);
  return 0;
}
