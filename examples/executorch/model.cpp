#include "model.hpp"

#include <algorithm>
#include <cmath>

namespace {

enum Role : std::uint64_t { kQuery, kKey, kValue };

// A number in [-1, 1) that depends on all of its arguments.
float element(std::uint64_t role, std::uint64_t layer, std::uint64_t head, std::uint64_t token, std::uint64_t index) {
  std::uint64_t bits = (((role * 61 + layer) * 67 + head) * 1000003 + token) * 1009 + index + 1;
  for (int round = 0; round < 3; ++round) {
    bits ^= bits >> 31;
    bits *= 0x9E3779B97F4A7C15u;
  }
  return static_cast<float>(bits >> 40) / static_cast<float>(1 << 23) - 1.0f;
}

// One head of a token, with RoPE for queries and keys.
void make_head(float* out, int head_dim, Role role, int layer, int head, int token, std::size_t position) {
  for (int i = 0; i < head_dim; ++i) {
    out[i] = element(role, static_cast<std::uint64_t>(layer), static_cast<std::uint64_t>(head),
                     static_cast<std::uint64_t>(token), static_cast<std::uint64_t>(i));
  }
  if (role != kValue) rotate(out, head_dim, static_cast<double>(position));
}

// All heads of the tokens from `first` on, in one layer or all: [layer][head][token][element].
std::vector<float> make_heads(const Shape& shape, Role role, const std::vector<int>& tokens, std::size_t first) {
  const int heads = role == kQuery ? shape.n_heads : shape.n_kv_heads;
  const std::size_t n = tokens.size() - first;
  const auto head_dim = static_cast<std::size_t>(shape.head_dim);
  std::vector<float> all(static_cast<std::size_t>(shape.n_layers * heads) * n * head_dim);
  float* out = all.data();
  for (int layer = 0; layer < shape.n_layers; ++layer) {
    for (int head = 0; head < heads; ++head) {
      for (std::size_t at = first; at < tokens.size(); ++at, out += head_dim) {
        make_head(out, shape.head_dim, role, layer, head, tokens[at], at);
      }
    }
  }
  return all;
}

double dot(const float* a, const float* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// One query over keys `from` to `to`, both included.
void attend(const float* query, const float* keys, const float* values, std::size_t from, std::size_t to, int head_dim,
            double* out) {
  const auto stride = static_cast<std::size_t>(head_dim);
  std::vector<double> scores;
  for (std::size_t at = from; at <= to; ++at) {
    scores.push_back(dot(query, keys + at * stride, head_dim) / std::sqrt(static_cast<double>(head_dim)));
  }
  const double largest = *std::max_element(scores.begin(), scores.end());
  double total = 0;
  for (double& score : scores) total += score = std::exp(score - largest);
  std::fill_n(out, head_dim, 0.0);
  for (std::size_t at = from; at <= to; ++at) {
    for (std::size_t i = 0; i < stride; ++i) {
      out[i] += scores[at - from] / total * static_cast<double>(values[at * stride + i]);
    }
  }
}

}  // namespace

void rotate(float* head, int head_dim, double positions) {
  const int half = head_dim / 2;
  for (int i = 0; i < half; ++i) {
    const double angle = positions * std::pow(10000.0, -static_cast<double>(i) / half);
    const double sine = std::sin(angle), cosine = std::cos(angle);
    const double a = head[i], b = head[i + half];
    head[i] = static_cast<float>(a * cosine - b * sine);
    head[i + half] = static_cast<float>(a * sine + b * cosine);
  }
}

StepInputs make_step(const Shape& shape, const std::vector<int>& tokens, std::size_t first) {
  StepInputs step;
  step.q = make_heads(shape, kQuery, tokens, first);
  step.k = make_heads(shape, kKey, tokens, first);
  step.v = make_heads(shape, kValue, tokens, first);
  for (std::size_t at = first; at < tokens.size(); ++at) step.positions.push_back(static_cast<std::int64_t>(at));
  return step;
}

std::vector<double> full_attention(const Shape& shape, const std::vector<int>& tokens, std::size_t first) {
  const std::vector<float> queries = make_heads(shape, kQuery, tokens, first);
  const std::vector<float> keys = make_heads(shape, kKey, tokens, 0);
  const std::vector<float> values = make_heads(shape, kValue, tokens, 0);
  const auto head_dim = static_cast<std::size_t>(shape.head_dim);
  const std::size_t kv_stride = tokens.size() * head_dim;
  const int shared_by = shape.n_heads / shape.n_kv_heads;
  std::vector<double> all(queries.size());
  std::size_t at = 0;
  for (int layer = 0; layer < shape.n_layers; ++layer) {
    const auto window = static_cast<std::size_t>(shape.windows[static_cast<std::size_t>(layer)]);
    for (int head = 0; head < shape.n_heads; ++head) {
      const auto kv = static_cast<std::size_t>(layer * shape.n_kv_heads + head / shared_by) * kv_stride;
      for (std::size_t position = first; position < tokens.size(); ++position, at += head_dim) {
        const std::size_t from = window == 0 || position < window ? 0 : position - window + 1;
        attend(&queries[at], &keys[kv], &values[kv], from, position, shape.head_dim, &all[at]);
      }
    }
  }
  return all;
}
