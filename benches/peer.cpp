#include "peer.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace peer {

Plan FlatLayout::plan(int position, int n) const {
  Plan plan;
  plan.write[0] = {position, n};
  plan.n_write = 1;
  plan.read[0] = {0, position + n};
  plan.n_read = 1;
  return plan;
}

Plan RingLayout::plan(int position, int n) const {
  Plan plan;
  plan.n_write = split(position, n, plan.write);
  plan.read_from = std::max(0, position - window_ + 1);
  plan.n_read = split(plan.read_from, position + n - plan.read_from, plan.read);
  return plan;
}

// Consecutive positions as runs of rows.
int RingLayout::split(int first, int count, Run (&runs)[2]) const {
  const int start = first % rows_;
  const int head = std::min(count, rows_ - start);
  runs[0] = {start, head};
  if (head == count) {
    return 1;
  }
  runs[1] = {0, count - head};
  return 2;
}

SequenceCache::SequenceCache(const Config& config) : capacity_(config.capacity) {
  layers_.reserve(config.layers.size());
  for (const Layer& layer : config.layers) {
    if (layer.window == 0) {
      layers_.push_back({std::make_unique<FlatLayout>(), config.capacity});
    } else {
      const int rows = std::min(layer.window + config.max_write - 1, config.capacity);
      layers_.push_back({std::make_unique<RingLayout>(layer.window, rows), config.max_write});
    }
  }
}

int SequenceCache::length() const { return length_; }

std::optional<Plan> SequenceCache::plan(int layer, int position, int n) const {
  if (layer < 0 || static_cast<std::size_t>(layer) >= layers_.size() || position < 0 || n <= 0) {
    return std::nullopt;
  }
  const Entry& entry = layers_[static_cast<std::size_t>(layer)];
  if (n > entry.max_step || n > capacity_ || position > capacity_ - n) {
    return std::nullopt;
  }
  return entry.layout->plan(position, n);
}

void SequenceCache::commit(const Plan& plan) {
  int end = plan.read_from;
  for (int run = 0; run < plan.n_read; ++run) {
    end += plan.read[run].len;
  }
  length_ = std::max(length_, end);
}

bool Registry::install(const std::string& key, std::shared_ptr<Cache> cache) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return caches_.emplace(key, std::move(cache)).second;
}

std::shared_ptr<Cache> Registry::get(const std::string& key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = caches_.find(key);
  return found == caches_.end() ? nullptr : found->second;
}

}  // namespace peer
