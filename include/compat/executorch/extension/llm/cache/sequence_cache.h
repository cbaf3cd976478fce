/// ExecuTorch's cache of one sequence, source compatible, on kvcore.
///
/// It behaves as ExecuTorch's does, with one difference: it never accepts a rewind after which a stale row would be
/// read. ExecuTorch's own may accept a target whose rows a ring has overwritten. Here `rewind` is refused when a row
/// of a ring that the next token would see may hold something else: another step was planned over it since,
/// committed or not, or its position was skipped by a jump ahead. Rewinds of flat layers are never refused.
///
/// A step counts as carried out in every layer once it is committed, and as possibly carried out once any layer was
/// planned. Every call is atomic, so that a host and a backend may use a cache from two threads.
#ifndef EXECUTORCH_EXTENSION_LLM_CACHE_SEQUENCE_CACHE_H
#define EXECUTORCH_EXTENSION_LLM_CACHE_SEQUENCE_CACHE_H

#include <executorch/extension/llm/cache/cache.h>
#include <executorch/extension/llm/cache/detail/layout.h>
#include <executorch/extension/llm/cache/detail/sequence_core.h>
#include <executorch/extension/llm/cache/detail/step_plan.h>

#include <optional>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {

/// The backend's side of a cache of one sequence.
class SequencePlanner {
 public:
  static constexpr const char* kFaceName = "et.cache.SequencePlanner";

  virtual ~SequencePlanner() = default;

  /// The step of `T` tokens at `position` for one layer. Any position may be asked for; the answer is arithmetic
  /// and depends on the config alone. None beyond the capacity or `max_context`, for more than `max_write` tokens
  /// on a ring layer, for a bad layer, and for no tokens.
  virtual std::optional<SeqStepPlan> plan(int layer, int position, int T) const = 0;
  /// The step was carried out: the length is at least its end from now on.
  virtual void commit(const SeqStepPlan& plan) = 0;
};

/// How a layer lays positions out in rows.
class LayoutPolicy {
 public:
  virtual ~LayoutPolicy() = default;

  /// The step of `T` tokens at `position`. A plan without runs when the layout allows no such step.
  virtual SeqStepPlan plan(int position, int T) const = 0;
  /// First position that is still in its row when `length` positions were written, in order.
  virtual int retained_from(int length) const = 0;
};

/// Every position keeps a row of its own.
class FlatPolicy : public LayoutPolicy {
 public:
  SeqStepPlan plan(int position, int T) const override {
    return detail::Layout().plan(position, T).value_or(SeqStepPlan{});
  }
  int retained_from(int length) const override { return detail::Layout().retained_from(length); }
};

/// A ring of `window + max_write - 1` rows: a step never overwrites what its own queries see.
class RingPolicy : public LayoutPolicy {
 public:
  RingPolicy(int window, int max_write) : layout_(window, max_write) {}

  SeqStepPlan plan(int position, int T) const override {
    return layout_.plan(position, T).value_or(SeqStepPlan{});
  }
  int retained_from(int length) const override { return layout_.retained_from(length); }

 private:
  detail::Layout layout_;
};

/// One sequence, with a layout for each layer. A copy is a fork: copy the rows too. With a config that is not
/// `valid` it refuses every step.
class SequenceCache : public Cache, public SequenceControl, public SequencePlanner {
 public:
  SequenceCache(const CacheConfig& config) : core_(config) {}

  int capacity() const override { return core_.capacity(); }
  void clear() override { core_.rewind(0); }
  bool can_extend(int n = 1) const override { return core_.can_extend(n); }
  bool rewind(int new_len) override { return core_.rewind(new_len); }

  std::optional<SeqStepPlan> plan(int layer, int position, int T) const override {
    return core_.plan(layer, position, T);
  }
  void commit(const SeqStepPlan& plan) override { core_.commit(plan); }

  /// Tokens held: the position of the next one.
  int length() const { return core_.length(); }

 protected:
  /// A derived class that adds a face asks this for all others.
  void* face(FaceId id) override {
    if (same_face(id, detail::SequenceCore::kFaceName)) return &core_;
    return expose<SequenceControl, SequencePlanner>(this, id);
  }

 private:
  detail::SequenceCore core_;
};

}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // EXECUTORCH_EXTENSION_LLM_CACHE_SEQUENCE_CACHE_H
