#include "attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

// One query: scores, softmax, weighted values.
void attend_one(const Pool& pool, const std::vector<std::uint32_t>& read, const Heads& heads, std::size_t kv_head,
                const float* q, const std::uint8_t* mask, float* scores, float* out) {
  const std::size_t stride = heads.n_kv_heads * heads.head_dim, offset = kv_head * heads.head_dim;
  const float scale = 1.0f / std::sqrt(static_cast<float>(heads.head_dim));
  float largest = -INFINITY;
  for (std::size_t column = 0; column < read.size(); ++column) {
    if (mask[column] == 0) continue;
    const float* const key = &pool.keys[read[column] * stride + offset];
    float sum = 0;
    for (std::size_t i = 0; i < heads.head_dim; ++i) sum += q[i] * key[i];
    scores[column] = sum * scale;
    largest = std::max(largest, scores[column]);
  }
  float total = 0;
  std::fill_n(out, heads.head_dim, 0.0f);
  for (std::size_t column = 0; column < read.size(); ++column) {
    if (mask[column] == 0) continue;
    const float weight = std::exp(scores[column] - largest);
    const float* const value = &pool.values[read[column] * stride + offset];
    for (std::size_t i = 0; i < heads.head_dim; ++i) out[i] += weight * value[i];
    total += weight;
  }
  for (std::size_t i = 0; i < heads.head_dim; ++i) out[i] /= total;
}

}  // namespace

void Pool::grow(std::uint32_t needed, const Heads& heads) {
  if (needed <= rows) return;
  rows = kvc_grow_rows(rows, needed, UINT32_MAX);
  const std::size_t elements = rows * heads.n_kv_heads * heads.head_dim;
  keys.resize(elements, std::numeric_limits<float>::quiet_NaN());
  values.resize(elements, std::numeric_limits<float>::quiet_NaN());
}

std::vector<std::uint32_t> rows_of(const kvc_run_t* runs, std::uint32_t n_runs) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < n_runs; ++i) {
    for (std::uint32_t row = runs[i].start; row < runs[i].start + runs[i].len; ++row) rows.push_back(row);
  }
  return rows;
}

void write_rows(Pool& pool, const std::vector<std::uint32_t>& rows, const Heads& heads, Tokens tokens, const float* k,
                const float* v) {
  for (std::size_t token = 0; token < tokens.count; ++token) {
    for (std::size_t head = 0; head < heads.n_kv_heads; ++head) {
      const std::size_t from = (head * tokens.all + tokens.first + token) * heads.head_dim;
      const std::size_t to = (rows[token] * heads.n_kv_heads + head) * heads.head_dim;
      std::copy_n(k + from, heads.head_dim, &pool.keys[to]);
      std::copy_n(v + from, heads.head_dim, &pool.values[to]);
    }
  }
}

void attend(const Pool& pool, const std::vector<std::uint32_t>& read, const Heads& heads, Tokens tokens, const float* q,
            const std::uint8_t* mask, float* scores, float* out) {
  const std::size_t shared_by = heads.n_heads / heads.n_kv_heads;
  for (std::size_t head = 0; head < heads.n_heads; ++head) {
    for (std::size_t token = 0; token < tokens.count; ++token) {
      const std::size_t at = (head * tokens.all + tokens.first + token) * heads.head_dim;
      attend_one(pool, read, heads, head / shared_by, q + at, mask + token * read.size(), scores, out + at);
    }
  }
}
