#include "attention.hpp"

#include <algorithm>
#include <cmath>

namespace {

// Calls use(index, row) for the rows of some runs, in order.
template <class Use>
void for_each_row(const kvc_run_t* runs, std::uint32_t n, Use use) {
  std::size_t index = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t row = runs[i].start; row < runs[i].start + runs[i].len; ++row) {
      use(index++, static_cast<std::size_t>(row));
    }
  }
}

// One query: scores, softmax, weighted values.
void attend_one(const Pool& pool, const kvc_seq_plan_t& plan, const Heads& heads, std::size_t kv_head, const float* q,
                const std::uint8_t* mask, float* scores, float* out) {
  const std::size_t stride = heads.n_kv_heads * heads.head_dim, offset = kv_head * heads.head_dim;
  const float scale = 1.0f / std::sqrt(static_cast<float>(heads.head_dim));
  float largest = -INFINITY;
  for_each_row(plan.read, plan.n_read, [&](std::size_t column, std::size_t row) {
    if (mask[column] == 0) return;
    const float* const key = &pool.keys[row * stride + offset];
    float sum = 0;
    for (std::size_t i = 0; i < heads.head_dim; ++i) sum += q[i] * key[i];
    scores[column] = sum * scale;
    largest = std::max(largest, scores[column]);
  });
  float total = 0;
  std::fill_n(out, heads.head_dim, 0.0f);
  for_each_row(plan.read, plan.n_read, [&](std::size_t column, std::size_t row) {
    if (mask[column] == 0) return;
    const float weight = std::exp(scores[column] - largest);
    const float* const value = &pool.values[row * stride + offset];
    for (std::size_t i = 0; i < heads.head_dim; ++i) out[i] += weight * value[i];
    total += weight;
  });
  for (std::size_t i = 0; i < heads.head_dim; ++i) out[i] /= total;
}

}  // namespace

void write_rows(Pool& pool, const kvc_seq_plan_t& plan, const Heads& heads, const float* k, const float* v) {
  const std::size_t n = plan.n_tokens;
  for_each_row(plan.write, plan.n_write, [&](std::size_t token, std::size_t row) {
    for (std::size_t head = 0; head < heads.n_kv_heads; ++head) {
      const std::size_t from = (head * n + token) * heads.head_dim;
      const std::size_t to = (row * heads.n_kv_heads + head) * heads.head_dim;
      std::copy_n(k + from, heads.head_dim, &pool.keys[to]);
      std::copy_n(v + from, heads.head_dim, &pool.values[to]);
    }
  });
}

void attend(const Pool& pool, const kvc_seq_plan_t& plan, const Heads& heads, const float* q,
            const std::uint8_t* mask, float* scores, float* out) {
  const std::size_t shared_by = heads.n_heads / heads.n_kv_heads;
  for (std::size_t head = 0; head < heads.n_heads; ++head) {
    for (std::size_t token = 0; token < plan.n_tokens; ++token) {
      const std::size_t at = (head * plan.n_tokens + token) * heads.head_dim;
      attend_one(pool, plan, heads, head / shared_by, q + at, mask + token * plan.read_len, scores, out + at);
    }
  }
}
