/// The step of a cell cache, and its conversion from kvcore's.
#ifndef KVCORE_COMPAT_CACHE_CELL_STEP_H
#define KVCORE_COMPAT_CACHE_CELL_STEP_H

#include <executorch/extension/llm/cache/detail/batch_calls.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {

/// Where the tokens of a step go, and which cells their queries see.
struct CellStep {
  int length = 0;                          ///< Tokens.
  int read_len = 0;                        ///< Attention reads cells 0 to this one.
  std::vector<std::int32_t> cells{};       ///< The cell of each token.
  std::vector<std::uint8_t> mask_bits{};   ///< [length, read_len], 1: attend.
};

/// The backend's side of a cell cache.
class CellStepper {
 public:
  static constexpr const char* kFaceName = "et.cache.CellStepper";

  virtual ~CellStepper() = default;

  /// Places the declared step for one layer. The step is the cache's, and good until its next verb. Null when nothing
  /// is declared, for another number of tokens than declared, for a position that does not extend its sequence, and for
  /// a bad layer.
  virtual const CellStep* place_step(int layer, const std::int32_t* positions, int length) = 0;
};

namespace detail {

/// Places the declared step in a layer of a cache of kvcore.
inline std::optional<CellStep> place_cells(kvc_cache_t* cache, std::uint32_t layer,
                                           const std::vector<std::uint32_t>& positions) {
  const auto n = static_cast<std::uint32_t>(positions.size());
  std::vector<std::uint32_t> cells(n);
  kvc_cell_step_t placed;
  if (!try_call([&] { return kvc_cells_place_step(cache, layer, positions.data(), n, cells.data(), &placed); })) {
    return std::nullopt;
  }
  CellStep step;
  step.length = static_cast<int>(n);
  step.read_len = static_cast<int>(placed.read_len);
  step.cells.assign(cells.begin(), cells.end());
  step.mask_bits.resize(static_cast<std::size_t>(n) * placed.read_len);
  const bool masked = try_call([&] {
    return kvc_cells_mask_bytes(cache, layer, step.mask_bits.data(), step.mask_bits.size(), placed.read_len);
  });
  return masked ? std::optional<CellStep>(std::move(step)) : std::nullopt;
}

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_CELL_STEP_H
