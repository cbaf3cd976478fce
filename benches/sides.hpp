// The two sides, built alike.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kvcore.h"
#include "peer.hpp"

namespace bench {

constexpr uint32_t kCapacity = 1u << 30;
constexpr uint32_t kMaxWrite = 128;
constexpr uint32_t kWindow = 512;
constexpr uint32_t kLongWindow = 1024;
constexpr uint32_t kLayers = 34;

// Windows of a model's layers; 0 is a layer with all history.
using Model = std::vector<uint32_t>;

// Five sliding layers to one full layer; the sliding ones of the upper half have the longer window.
inline Model mixed_model() {
  Model model(kLayers, kWindow);
  for (uint32_t layer = 0; layer < kLayers; ++layer) {
    if (layer >= kLayers / 2) model[layer] = kLongWindow;
    if (layer % 6 == 5) model[layer] = 0;
  }
  return model;
}

// A kvcore cache in storage of its own.
class Ours {
 public:
  explicit Ours(const Model& model);
  Ours(const Ours&) = delete;
  Ours& operator=(const Ours&) = delete;
  ~Ours() { kvc_cache_release(cache_); }

  kvc_cache_t* get() const { return cache_; }
  // Plans the step for layer 0 and keeps it whole.
  void step(uint32_t n);
  // Steps until `length` positions are held.
  void fill(uint32_t length);

 private:
  std::vector<uint64_t> storage_;
  kvc_cache_t* cache_ = nullptr;
};

// The peer's cache. Its planner needs no filling: it plans any position.
std::shared_ptr<peer::SequenceCache> make_theirs(const Model& model);

// kKeys caches under short keys, in both registries.
class Registries {
 public:
  static constexpr uint32_t kKeys = 16;

  Registries();
  Registries(const Registries&) = delete;
  Registries& operator=(const Registries&) = delete;
  ~Registries() { kvc_registry_deinit(ours); }

  // Visits all keys, out of the order in which they were installed.
  static uint32_t nth(uint32_t at) { return at * 7 % kKeys; }

  kvc_registry_t* ours = nullptr;
  peer::Registry theirs;
  std::vector<std::string> keys;
  std::vector<std::unique_ptr<Ours>> our_caches;
  std::vector<std::shared_ptr<peer::SequenceCache>> their_caches;

 private:
  std::vector<uint64_t> storage_;
};

}  // namespace bench
