/// The state of a cell cache, behind the faces of `CellCache`.
#ifndef KVCORE_COMPAT_CACHE_CELL_CORE_H
#define KVCORE_COMPAT_CACHE_CELL_CORE_H

#include <executorch/extension/llm/cache/detail/batch_core.h>
#include <executorch/extension/llm/cache/detail/cell_step.h>
#include <executorch/extension/llm/cache/detail/cell_usage.h>

#include <algorithm>
#include <vector>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// kvcore's cell cache, the steps that it placed, and which cells are in use. Every call is atomic.
class CellCore {
 public:
  explicit CellCore(const CacheConfig& config)
      : core_({kvc_cells_size, kvc_cells_init, KVC_MAX_SEQS, KVC_KEEP_CELLS, false}, config),
        steps_(core_.windows().layers().size()) {}

  BatchCore& core() { return core_; }
  const BatchCalls& calls() const { return core_.calls(); }

  void clear() {
    core_.alone([&] {
      if (!calls().clear()) return;
      usage_.clear();
      end_step();
    });
  }

  bool declare_step(const std::vector<std::int32_t>& seq_ids) {
    return core_.alone([&] {
      if (!calls().declare_step(seq_ids)) return false;
      seq_ids_ = seq_ids;
      end_step();
      return true;
    });
  }

  std::optional<std::int32_t> seq_new() {
    return core_.alone([&] {
      const std::optional<std::int32_t> made = calls().seq_new();
      if (made) end_step();
      return made;
    });
  }

  std::optional<std::int32_t> seq_clone(std::int32_t src, std::optional<int> upto) {
    return core_.alone([&] {
      const std::optional<std::int32_t> made = calls().seq_clone(src, upto);
      if (made) {
        usage_.clone(src, *made, upto ? static_cast<std::uint32_t>(*upto) : KVC_UNBOUNDED);
        end_step();
      }
      return made;
    });
  }

  bool seq_rm(std::int32_t seq) {
    return core_.alone([&] {
      if (!calls().seq_release(seq)) return false;
      usage_.drop(seq, 0);
      end_step();
      return true;
    });
  }

  /// Of a live sequence always possible: there is no window that drops cells, and what is not there needs no dropping.
  bool rewind(std::int32_t seq, int new_len) {
    return core_.alone([&] {
      const int length = std::clamp(new_len, 0, calls().next_pos(seq));
      if (!calls().rewind(seq, static_cast<std::uint32_t>(length))) return false;
      usage_.drop(seq, static_cast<std::uint32_t>(length));
      end_step();
      return true;
    });
  }

  int used_end() const {
    return core_.alone([&] { return usage_.end(); });
  }

  const CellStep* place_step(int layer, const std::int32_t* positions, int length) {
    return core_.alone([&]() -> const CellStep* {
      const std::optional<std::uint32_t> window = core_.windows().of(layer);
      const std::optional<std::vector<std::uint32_t>> wanted = BatchCalls::to_positions(positions, length);
      if (!window || !wanted) return nullptr;
      std::optional<CellStep>& step = steps_[*window];
      if (step && placed_ == *wanted) return &*step;
      std::optional<CellStep> made = place_cells(core_.cache(), *window, *wanted);
      if (!made) return nullptr;
      if (placed_.empty()) {
        usage_.place(made->cells, *wanted, seq_ids_);
        placed_ = *wanted;
      }
      step = std::move(made);
      return &*step;
    });
  }

 private:
  void end_step() {
    placed_.clear();
    for (std::optional<CellStep>& step : steps_) step.reset();
  }

  BatchCore core_;
  CellUsage usage_;
  std::vector<std::int32_t> seq_ids_;         // as declared
  std::vector<std::uint32_t> placed_;         // positions of the placed step; empty before
  std::vector<std::optional<CellStep>> steps_;  // one for each window, once it was asked for
};

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_CELL_CORE_H
