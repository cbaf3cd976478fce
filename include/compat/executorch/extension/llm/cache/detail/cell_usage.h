/// Which cells are in use.
#ifndef KVCORE_COMPAT_CACHE_CELL_USAGE_H
#define KVCORE_COMPAT_CACHE_CELL_USAGE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// Position and owners of each cell, as far as a cell was ever used: kvcore tells the end of the used cells with a step
/// only, and `CellCache::used_end` may be asked at any time.
class CellUsage {
 public:
  void place(const std::vector<std::int32_t>& cells, const std::vector<std::uint32_t>& positions,
             const std::vector<std::int32_t>& seq_ids) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto cell = static_cast<std::size_t>(cells[i]);
      if (cell >= cells_.size()) cells_.resize(cell + 1);
      cells_[cell] = {positions[i], bit(seq_ids[i])};
    }
  }
  /// `clone` owns what `src` has below `end`.
  void clone(std::int32_t src, std::int32_t clone, std::uint32_t end) {
    for (Cell& cell : cells_) {
      if ((cell.owners & bit(src)) != 0 && cell.position < end) cell.owners |= bit(clone);
    }
  }
  /// The sequence gives up what it has from `begin` on.
  void drop(std::int32_t seq, std::uint32_t begin) {
    for (Cell& cell : cells_) {
      if (cell.position >= begin) cell.owners &= ~bit(seq);
    }
    while (!cells_.empty() && cells_.back().owners == 0) cells_.pop_back();
  }
  void clear() { cells_.clear(); }

  /// Highest cell in use + 1.
  int end() const { return static_cast<int>(cells_.size()); }

 private:
  struct Cell {
    std::uint32_t position = 0;
    std::uint64_t owners = 0;  // bit s: sequence s; 0: free
  };

  static std::uint64_t bit(std::int32_t seq) { return std::uint64_t{1} << seq; }

  std::vector<Cell> cells_;  // the last one is in use
};

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_CELL_USAGE_H
