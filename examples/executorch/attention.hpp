// Attention of one layer over the rows that a plan says.
#pragma once

#include <kvcore.h>

#include <cstddef>
#include <cstdint>
#include <vector>

// K and V of one layer, [row][head][element], as many rows as were needed so far.
struct Pool {
  std::vector<float> keys, values;
  std::uint32_t rows = 0;
};

// The sizes of one layer of a step.
struct Heads {
  std::size_t n_heads;
  std::size_t n_kv_heads;
  std::size_t head_dim;
};

// Writes the new tokens' K and V, [head][token][element], to the rows of the plan.
void write_rows(Pool& pool, const kvc_seq_plan_t& plan, const Heads& heads, const float* k, const float* v);

// Each query, [head][token][element], over the read rows that the mask lets it see: a byte for each read row, a line of
// `plan.read_len` for each token. `scores` has room for `plan.read_len` numbers.
void attend(const Pool& pool, const kvc_seq_plan_t& plan, const Heads& heads, const float* q,
            const std::uint8_t* mask, float* scores, float* out);
