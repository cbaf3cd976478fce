// The bytes of a cache of many sequences. They belong to the cache, as a face that the backend attaches to it: every
// method that is loaded for the cache uses them, and the host finds them when a verb has work for them.
#pragma once

#include "attention.hpp"

#include <executorch/runtime/core/error.h>

#include <map>

class Pools {
 public:
  static constexpr const char* kFaceName = "kvcore.demo.Pools";

  // Those of a cache, attached by now. They live as long as the cache.
  static executorch::runtime::Error of(kvc_cache_t* cache, std::size_t n_layers, const Heads& heads, Pools*& out);

  // Rows that all sequences share.
  Pool& shared(std::size_t layer) { return own(kShared, layer); }
  // A sequence's own rows.
  Pool& own(std::uint32_t seq, std::size_t layer);
  const Heads& heads() const { return heads_; }

  // What the verbs of the host leave to do.
  // A clone with rows of its own takes those that its next token can see.
  kvc_status_t clone(const kvc_cache_t* cache, std::uint32_t src, std::uint32_t dst);
  // Cells that changed their position: their keys are turned, on every layer.
  kvc_status_t carry_out_shifts(kvc_cache_t* cache);
  // Cells move to where others were, until the pools are compact.
  kvc_status_t compact(kvc_cache_t* cache);

 private:
  static constexpr std::uint32_t kShared = UINT32_MAX;

  Pools(std::size_t n_layers, const Heads& heads) : n_layers_(n_layers), heads_(heads) {}

  void copy(const Pool& from, std::uint32_t from_row, Pool& to, std::uint32_t to_row, std::uint32_t n);

  std::size_t n_layers_;
  Heads heads_;
  std::map<std::uint32_t, std::vector<Pool>> pools_;  // of each sequence, a pool for each layer
};
