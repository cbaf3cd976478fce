// What the tests of the compatibility headers share.
#pragma once

#include <executorch/extension/llm/cache/sequence_cache.h>

#include <kvcore.h>

#include <cstdint>
#include <ostream>  // doctest prints with it
#include <vector>

#define DOCTEST_CONFIG_NO_EXCEPTIONS_BUT_WITH_ALL_ASSERTS
#define DOCTEST_CONFIG_SUPER_FAST_ASSERTS
#include <doctest/doctest.h>

namespace cache = executorch::extension::llm::cache;

// A layer that keeps all history (window 0), or a window.
inline cache::LayerConfig layer(int window, int heads = 1, int head_dim = 4) {
  using Kind = cache::LayerPolicy::Kind;
  return {{window > 0 ? Kind::Ring : Kind::Flat, window}, heads, head_dim};
}

// One layer for each window.
inline cache::CacheConfig config(int capacity, const std::vector<int>& windows, std::optional<int> max_write = {}) {
  cache::CacheConfig made;
  made.capacity = capacity;
  made.n_layers = static_cast<int>(windows.size());
  for (int window : windows) made.layers.push_back(layer(window));
  made.max_write = max_write;
  return made;
}

// Plans a step of n tokens for every layer, then commits it.
inline bool step(cache::SequenceCache& target, int n_layers, int n) {
  const int position = target.length();
  std::optional<cache::SeqStepPlan> plan;
  for (int index = 0; index < n_layers; ++index) {
    plan = target.plan(index, position, n);
    if (!plan) return false;
  }
  target.commit(*plan);
  return true;
}

// As many steps of one token.
inline bool decode(cache::SequenceCache& target, int n_layers, int tokens) {
  for (int i = 0; i < tokens; ++i) {
    if (!step(target, n_layers, 1)) return false;
  }
  return true;
}

// Rows in the order of the runs.
inline std::vector<int> rows(const cache::Run (&runs)[2], int n) {
  std::vector<int> all;
  for (int i = 0; i < n; ++i) {
    for (int row = runs[i].start; row < runs[i].start + runs[i].len; ++row) all.push_back(row);
  }
  return all;
}
inline std::vector<int> written(const cache::SeqStepPlan& plan) { return rows(plan.write, plan.n_write); }
inline std::vector<int> read(const cache::SeqStepPlan& plan) { return rows(plan.read, plan.n_read); }

inline bool same_plan(const cache::SeqStepPlan& a, const cache::SeqStepPlan& b) {
  return a.n_write == b.n_write && a.n_read == b.n_read && a.read_base_pos == b.read_base_pos &&
         written(a) == written(b) && read(a) == read(b);
}

// Numbers that are the same in every run.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}

  // 0 to `below` - 1.
  int operator()(int below) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<int>(state_ % static_cast<std::uint64_t>(below));
  }

 private:
  std::uint64_t state_;
};
