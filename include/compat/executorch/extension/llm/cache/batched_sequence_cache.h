/// ExecuTorch's cache of many sequences with private histories, source compatible, on kvcore.
///
/// Each sequence has rows of its own in every layer, planned like those of a `SequenceCache`; `capacity` is shared by
/// all. A rewind or a clone is refused when a window has dropped what the next token would see.
///
/// A step is declared, then placed for each layer; its tokens count once it was placed. Every verb (a declaration too)
/// ends the step before. Every call is atomic, so that a host and a backend may use a cache from two threads.
#ifndef EXECUTORCH_EXTENSION_LLM_CACHE_BATCHED_SEQUENCE_CACHE_H
#define EXECUTORCH_EXTENSION_LLM_CACHE_BATCHED_SEQUENCE_CACHE_H

#include <executorch/extension/llm/cache/cache.h>
#include <executorch/extension/llm/cache/detail/rows_core.h>
#include <executorch/extension/llm/cache/detail/seq_span.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {

/// Many sequences, each with a history of its own. It moves, and does not copy. With a config that is not `valid`, or
/// of more than `KVC_MAX_GROUPS` different windows, it refuses every step.
class BatchedSequenceCache : public Cache, public BatchControl, public SeqSpanStepper {
 public:
  BatchedSequenceCache(const CacheConfig& config) : core_(std::make_unique<detail::RowsCore>(config)) {}
  /// What is left refuses every step.
  BatchedSequenceCache(BatchedSequenceCache&& other) : BatchedSequenceCache(CacheConfig()) { core_.swap(other.core_); }
  BatchedSequenceCache& operator=(BatchedSequenceCache&& other) {
    BatchedSequenceCache taken(std::move(other));
    core_.swap(taken.core_);
    return *this;
  }
  BatchedSequenceCache(const BatchedSequenceCache&) = delete;
  BatchedSequenceCache& operator=(const BatchedSequenceCache&) = delete;

  int capacity() const override { return core_->calls().capacity(); }
  void clear() override { core_->clear(); }

  bool declare_step(const std::vector<int32_t>& seq_ids) override { return core_->declare_step(seq_ids); }
  bool can_admit(int32_t seq, int n = 1) const override { return core_->calls().can_admit(seq, n); }
  /// No bound that matters: kvcore has 4096.
  std::optional<int> max_seqs() const override { return std::nullopt; }
  std::optional<int32_t> seq_new() override { return core_->seq_new(); }
  /// The bookkeeping of the prefix; `clone_bytes` copies what it describes.
  std::optional<int32_t> seq_clone(int32_t src, std::optional<int> upto) final {
    const std::optional<int32_t> made = core_->seq_clone(src, upto);
    if (made) clone_bytes(src, *made);
    return made;
  }
  bool seq_rm(int32_t seq) override { return core_->seq_rm(seq); }
  bool rewind(int32_t seq, int new_len) override { return core_->rewind(seq, new_len); }
  int seq_len(int32_t seq) const override { return core_->calls().seq_len(seq); }
  int next_pos(int32_t seq) const override { return core_->calls().next_pos(seq); }

  /// Asked for again with the same positions, the spans are the same; layers with the same window share them.
  const std::vector<SeqSpan>* place_step(int layer, const int32_t* positions, int length) override {
    return core_->place_step(layer, positions, length);
  }

 protected:
  /// A backend that keeps rows copies those of `src` to its rows for `dst`, a new sequence. Runs without any lock.
  virtual void clone_bytes(int32_t src, int32_t dst) {
    static_cast<void>(src);
    static_cast<void>(dst);
  }

  /// A derived class that adds a face asks this for all others.
  void* face(FaceId id) override {
    if (same_face(id, detail::BatchCore::kFaceName)) return &core_->core();
    return expose<BatchControl, SeqSpanStepper>(this, id);
  }

 private:
  std::unique_ptr<detail::RowsCore> core_;
};

}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // EXECUTORCH_EXTENSION_LLM_CACHE_BATCHED_SEQUENCE_CACHE_H
