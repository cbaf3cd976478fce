/* Caches of many sequences, and what most tests of them do: begin sequences, append tokens, ask. */

#ifndef KVC_TESTS_BATCHES_H
#define KVC_TESTS_BATCHES_H

#include "kvcore.h"
#include "models.h"

/* Room for the caches of many sequences that tests build. */
enum { BATCH_BYTES = 1 << 15 };

/* A cache in `storage`, which has BATCH_BYTES, zeroed at first. What an earlier test left there is ended; if the new
 * cache is refused, the program ends. */
kvc_cache_t *build_cells(void *storage, const kvc_config_t *config);
kvc_cache_t *build_rows(void *storage, const kvc_config_t *config);

/* Cells of one flat layer, steps of any size. */
kvc_cache_t *build_flat_cells(void *storage, uint32_t capacity, uint32_t max_seqs);

/* Each ends the program if it is refused. */
uint32_t new_seq(kvc_cache_t *cache);
uint32_t clone_of(kvc_cache_t *cache, uint32_t seq, uint32_t upto);

uint32_t len_of_seq(const kvc_cache_t *cache, uint32_t seq);
uint32_t next_of_seq(const kvc_cache_t *cache, uint32_t seq);
uint32_t first_of_seq(const kvc_cache_t *cache, uint32_t seq);
uint32_t free_rows_of(const kvc_cache_t *cache);
bool admits(const kvc_cache_t *cache, uint32_t seq, uint32_t n);

/* Declares `n` tokens of one sequence. */
kvc_status_t declare_for(kvc_cache_t *cache, uint32_t seq, uint32_t n);

/* Tokens of one step, all sequences together, that the calls below take. */
enum { STEP_TOKENS = 64 };

/* Declares `n` tokens of a sequence and places them from its next position on, through layer 0; `cells` is NULL or
 * takes the cells. Ends the program if that is refused. */
kvc_cell_step_t append_cells(kvc_cache_t *cache, uint32_t seq, uint32_t n, uint32_t *cells);

/* The same with rows of its own; answers the only span. */
kvc_span_t append_rows(kvc_cache_t *cache, uint32_t seq, uint32_t n);

/* Whether query `i` of the placed step, which has `n_tokens`, sees each of the first `n` cells, as text: "101". Checks
 * that it sees no other of 64. Good until the next call. */
const char *seen_by(kvc_cache_t *cache, uint32_t layer, uint32_t n_tokens, uint32_t i, uint32_t n);

#endif
