/// ExecuTorch's cache of many sequences over shared cells, source compatible, on kvcore.
///
/// Up to 64 sequences share a pool of cells: a clone shares those of its source, a cell is free when its last owner
/// lets go, and a token takes the lowest free cell. A cell stays when every window has passed it, so that a live
/// sequence can always be rewound.
///
/// A step is declared, then placed for each layer; its tokens count once it was placed. Every verb (a declaration too)
/// ends the step before. Every call is atomic, so that a host and a backend may use a cache from two threads.
#ifndef EXECUTORCH_EXTENSION_LLM_CACHE_CELL_CACHE_H
#define EXECUTORCH_EXTENSION_LLM_CACHE_CELL_CACHE_H

#include <executorch/extension/llm/cache/cache.h>
#include <executorch/extension/llm/cache/detail/cell_core.h>
#include <executorch/extension/llm/cache/detail/cell_step.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {

/// Many sequences over one pool of `capacity` cells, which serves all layers. It moves, and does not copy. With a
/// config that is not `valid`, or of more than `KVC_MAX_GROUPS` different windows, it refuses every step.
class CellCache : public Cache, public BatchControl, public CellStepper {
 public:
  /// Most sequences at a time.
  static constexpr int kMaxSeqs = static_cast<int>(KVC_MAX_SEQS);

  CellCache(const CacheConfig& config) : core_(std::make_unique<detail::CellCore>(config)) {}
  /// What is left refuses every step.
  CellCache(CellCache&& other) : CellCache(CacheConfig()) { core_.swap(other.core_); }
  CellCache& operator=(CellCache&& other) {
    CellCache taken(std::move(other));
    core_.swap(taken.core_);
    return *this;
  }
  CellCache(const CellCache&) = delete;
  CellCache& operator=(const CellCache&) = delete;

  int capacity() const override { return core_->calls().capacity(); }
  void clear() override { core_->clear(); }

  bool declare_step(const std::vector<int32_t>& seq_ids) override { return core_->declare_step(seq_ids); }
  bool can_admit(int32_t seq, int n = 1) const override { return core_->calls().can_admit(seq, n); }
  std::optional<int> max_seqs() const override { return kMaxSeqs; }
  std::optional<int32_t> seq_new() override { return core_->seq_new(); }
  std::optional<int32_t> seq_clone(int32_t src, std::optional<int> upto) override {
    return core_->seq_clone(src, upto);
  }
  bool seq_rm(int32_t seq) override { return core_->seq_rm(seq); }
  bool rewind(int32_t seq, int new_len) override { return core_->rewind(seq, new_len); }
  int seq_len(int32_t seq) const override { return core_->calls().seq_len(seq); }
  int next_pos(int32_t seq) const override { return core_->calls().next_pos(seq); }

  /// Asked for again with the same positions, it is the same step; layers with the same window share one.
  const CellStep* place_step(int layer, const int32_t* positions, int length) override {
    return core_->place_step(layer, positions, length);
  }

  /// Cells that no sequence owns.
  int free_cells() const { return core_->calls().free_rows(); }
  /// Highest cell in use + 1.
  int used_end() const { return core_->used_end(); }

 protected:
  /// A derived class that adds a face asks this for all others.
  void* face(FaceId id) override {
    if (same_face(id, detail::BatchCore::kFaceName)) return &core_->core();
    return expose<BatchControl, CellStepper>(this, id);
  }

 private:
  std::unique_ptr<detail::CellCore> core_;
};

}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // EXECUTORCH_EXTENSION_LLM_CACHE_CELL_CACHE_H
