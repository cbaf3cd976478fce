// Attention of one layer over rows of a pool.
#pragma once

#include <kvcore.h>

#include <cstddef>
#include <cstdint>
#include <vector>

// The sizes of one layer of a step.
struct Heads {
  std::size_t n_heads;
  std::size_t n_kv_heads;
  std::size_t head_dim;
};

// K and V of one layer, [row][head][element], as many rows as were needed so far. What was never written is no number,
// so that reading it shows.
struct Pool {
  std::vector<float> keys, values;
  std::uint32_t rows = 0;

  // Room for `needed` rows.
  void grow(std::uint32_t needed, const Heads& heads);
};

// Some of the tokens of a step: `count` from `first` on, of `all`.
struct Tokens {
  std::size_t first;
  std::size_t count;
  std::size_t all;
};

// The rows of some runs, in order.
std::vector<std::uint32_t> rows_of(const kvc_run_t* runs, std::uint32_t n_runs);

// Writes the tokens' K and V, [head][token of the step][element], each to its row.
void write_rows(Pool& pool, const std::vector<std::uint32_t>& rows, const Heads& heads, Tokens tokens, const float* k,
                const float* v);

// Each of the tokens' queries, [head][token of the step][element], over the read rows that the mask lets it see: a byte
// for each read row, a line for each of the tokens. `scores` has room for a number for each read row.
void attend(const Pool& pool, const std::vector<std::uint32_t>& read, const Heads& heads, Tokens tokens, const float* q,
            const std::uint8_t* mask, float* scores, float* out);
