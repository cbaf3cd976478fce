/// The cell cache: a pool of cells shared by many sequences. Its backend's face, and its owner.
#ifndef KVCORE_CELLS_HPP
#define KVCORE_CELLS_HPP

#include "batch.hpp"
#include "cache.hpp"
#include "plan.hpp"

namespace kvc {

using Shift = kvc_shift_t;  ///< Rotate the keys of `len` rows from `row` on by `delta` positions.

/// What attention reads after a placement, and under which mask. Plain data with the fields of `kvc_cell_step_t`.
///
/// ```cpp
/// kvc::CellStep step{{KVC_MASK_CAUSAL, 3, 8, 5}};
/// assert(step.mask_kind() == kvc::Mask::Causal && step.n_tokens == 3 && step.read_len == 8);
/// assert(!step.is_scattered() && step.write_start == 5);      // the new rows are 5, 6 and 7
/// ```
struct CellStep : kvc_cell_step_t {
  /// Which mask attention over rows 0 to `read_len` needs. Only with `Mask::None` and `Mask::Causal` can it do without
  /// the bytes or bits.
  constexpr Mask mask_kind() const noexcept { return static_cast<Mask>(mask); }
  /// Are the new rows not consecutive? Else they are `n_tokens` from `write_start` on.
  constexpr bool is_scattered() const noexcept { return write_start == kUnbounded; }
};
static_assert(sizeof(CellStep) == sizeof(kvc_cell_step_t) && std::is_standard_layout_v<CellStep>, "it comes from C");

/// The backend's face of a cell cache: which rows a declared step writes, what its queries see, which keys to rotate
/// and which rows to move. Borrowed and maybe empty, like `BatchControl`.
///
/// ```cpp
/// static kvc::Buffer<4096> storage;
/// const kvc::Config config = kvc::Config::uniform(8, 2, kvc::Layer::flat()).with_max_seqs(2);
/// kvc::Cache cache = kvc::cells_in(storage, config).value();
/// kvc::BatchControl control = cache.batch_control();
/// kvc::CellPlanner planner = cache.cell_planner();
/// const std::uint32_t a = control.seq_new().value(), b = control.seq_new().value();
///
/// const std::uint32_t seq_ids[] = {a, b, a}, positions[] = {0, 0, 1};
/// std::uint32_t rows[3];
/// assert(control.declare_step(seq_ids).ok());
/// kvc::CellStep step = planner.place_step(0, positions, rows).value();
/// assert(rows[0] == 0 && rows[1] == 1 && rows[2] == 2 && step.read_len == 3 && !step.is_scattered());
/// assert(step.mask_kind() == kvc::Mask::Explicit);
/// assert(planner.place_step(1, positions, rows).ok());         // the same, for the other layer
/// std::uint8_t mask[3 * 3];
/// assert(planner.mask_bytes(0, mask, 3).ok());
/// assert(mask[0] == 1 && mask[3] == 0 && mask[4] == 1 && mask[6] == 1 && mask[7] == 0 && mask[8] == 1);
/// std::uint32_t bits[3];
/// assert(planner.mask_bits(0, bits, 1).ok() && bits[0] == 1 && bits[1] == 2 && bits[2] == 5);
///
/// assert(control.seq_remove(a, 0, 1).ok() && control.seq_shift(a, 1, 2, -1).ok());
/// kvc::Shift shifts[4];
/// assert(planner.n_shifts(0).value() == 1 && planner.shifts(0, shifts).value().size() == 1);
/// assert(shifts[0].row == 2 && shifts[0].len == 1 && shifts[0].delta == -1);
/// assert(planner.shifts_done().ok() && planner.n_shifts(0).value() == 0);      // on every layer
/// kvc::Move moves[4];
/// assert(planner.defrag(0, moves).value().size() == 1 && moves[0].from == 2 && moves[0].to == 0);
/// assert(planner.defrag(0, moves).value().empty());            // compact
/// ```
class CellPlanner {
 public:
  constexpr CellPlanner() noexcept = default;  ///< Empty.
  /// Does the cache offer it?
  constexpr explicit operator bool() const noexcept { return cache_ != nullptr; }

  /// Places the declared step: token i, at `positions[i]` of its sequence, goes to row `rows[i]` of the layer's pool.
  /// The first call places for all layers, and the tokens count from then on; another call with the same positions gets
  /// the same. Positions rise in each sequence. `InvalidArgument` (also no tokens), `BadLayer`, `NoStep` (nothing
  /// declared, another number of tokens, other positions than those placed), `BadPosition`, `OutOfCapacity` from
  /// `max_context` on, `BufferTooSmall` for fewer rows than positions. O(tokens + rows).
  Result<CellStep> place_step(std::uint32_t layer, span<const std::uint32_t> positions,
                              span<std::uint32_t> rows) const noexcept {
    if (rows.size() < positions.size()) return Code::BufferTooSmall;
    CellStep step{};
    const Status status = Status::from_raw(kvc_cells_place_step(cache_, layer, positions.data(),
                                                                detail::clamp(positions.size()), rows.data(), &step));
    if (!status.ok()) return status;
    return step;
  }

  /// Writes the mask of the placed step, one byte a column (1: attend), a line of `row_stride` bytes for each token;
  /// column j is row j of the pool, columns from `read_len` on are 0. `BadLayer`, `NoStep`, `BufferTooSmall` for a
  /// stride below `read_len` or too few bytes. O(tokens * `row_stride`).
  Status mask_bytes(std::uint32_t layer, span<std::uint8_t> out, std::size_t row_stride) const noexcept {
    return Status::from_raw(kvc_cells_mask_bytes(cache_, layer, out.data(), out.size(), row_stride));
  }
  /// As `mask_bytes`, one bit a column: column `j` is bit `j % 32` of word `j / 32` of its line of `row_words` words.
  Status mask_bits(std::uint32_t layer, span<std::uint32_t> out, std::size_t row_words) const noexcept {
    return Status::from_raw(kvc_cells_mask_bits(cache_, layer, out.data(), out.size(), row_words));
  }

  /// How many shifts `shifts` lists. O(rows).
  Result<std::uint32_t> n_shifts(std::uint32_t layer) const noexcept {
    std::uint32_t count = 0;
    const Status status = Status::from_raw(kvc_cells_shifts(cache_, layer, nullptr, 0, &count));
    if (!status.ok() && status != Code::BufferTooSmall) return status;
    return count;
  }
  /// Lists the pending shifts of a layer's pool, and answers the part of `out` that it wrote: carry them out on every
  /// layer with rows of its own before anything reads them, then call `shifts_done`. A step that is declared over pending
  /// shifts freezes them: from the first list with any on, `seq_shift` and `defrag` answer `Unsupported` until then. A
  /// forward that failed in between lists and rotates the other layers later, or requires `clear`. Where verbs may come
  /// from another thread meanwhile: list, place the step, then rotate, and with `NoStep` rotate nothing. `BadLayer`,
  /// `BufferTooSmall`. O(rows).
  Result<span<Shift>> shifts(std::uint32_t layer, span<Shift> out) const noexcept {
    return listed(kvc_cells_shifts, layer, out);
  }
  /// The pending shifts were carried out on every layer: forgets them, but for those of a pool that changed since it was
  /// listed. O(rows).
  Status shifts_done() const noexcept { return Status::from_raw(kvc_cells_shifts_done(cache_)); }

  /// Moves tokens from the highest rows of a layer's pool to the lowest free ones, in at most as many moves as `out`
  /// holds, and answers those: carry them out in this order, for every layer of the pool, before the next step. None:
  /// the pool is compact. `BadLayer`, `Unsupported` while a step's shifts are being carried out. A verb.
  /// O(rows moved * sequences).
  Result<span<Move>> defrag(std::uint32_t layer, span<Move> out) const noexcept {
    return listed(kvc_cells_defrag, layer, out);
  }

 private:
  friend class AnyCache;
  constexpr explicit CellPlanner(kvc_cache_t* cache) noexcept : cache_(cache) {}

  template <class T>
  Result<span<T>> listed(kvc_status_t (*call)(kvc_cache_t*, std::uint32_t, T*, std::uint32_t, std::uint32_t*),
                         std::uint32_t layer, span<T> out) const noexcept {
    std::uint32_t count = 0;
    const Status status =
        Status::from_raw(call(cache_, layer, out.data(), detail::clamp(out.size()), &count));
    if (!status.ok()) return status;
    return out.first(count);
  }

  kvc_cache_t* cache_ = nullptr;
};

inline CellPlanner AnyCache::cell_planner() const& noexcept { return CellPlanner(of(Kind::Cells)); }

/// Bytes of storage that a cell cache of this config wants. `InvalidConfig`: as `Config::check`, and for a capacity of
/// `kUnbounded` or `max_seqs` that is not 1 to `kMaxSeqs`. Any thread. O(layers).
///
/// ```cpp
/// const kvc::Config config = kvc::Config::uniform(1024, 26, kvc::Layer::flat()).with_max_seqs(16);
/// assert(kvc::cells_size(config).value() > 1024 * 4 && kvc::cells_size(config.with_max_seqs(65)).status().raw() == 2);
/// ```
inline Result<std::size_t> cells_size(const Config& config) noexcept {
  const kvc_config_t raw = config.raw();
  return detail::Access::ask<std::size_t>(kvc_cells_size, &raw);
}

/// Builds a cell cache in storage that outlives its last reference. `capacity` counts the cells of a pool: one pool for
/// all layers, or with `kSplitPools` one for each layer group. Cells behind every window of their owners come back by
/// themselves, unless `kKeepCells` is set. `InvalidArgument` (also misaligned storage), `InvalidConfig`,
/// `BufferTooSmall`. Any thread. O(size).
///
/// ```cpp
/// static kvc::Buffer<4096> buffer;
/// assert(kvc::cells_in(buffer, kvc::Config::uniform(64, 4, kvc::Layer::ring(8)).with_max_seqs(4)).ok());
/// ```
inline Result<Cache> cells_in(Storage storage, const Config& config) noexcept {
  return detail::built(kvc_cells_init, storage, config);
}

/// A cell cache in `Bytes` of storage, which `cells_size` tells: as an object, or with `build_in` in storage of the
/// caller's, to be shared.
///
/// ```cpp
/// const kvc::Config config = kvc::Config::uniform(64, 4, kvc::Layer::flat()).with_max_seqs(8);
/// kvc::CellCache<4096> cache;                       // no cache yet
/// assert(!cache && cache.init(config).ok() && cache.batch_control() && cache.cell_planner());
/// assert(cache.init(config) == kvc::Code::AlreadyExists);
/// cache.reset();
/// static kvc::Buffer<4096> storage;
/// assert(kvc::CellCache<4096>::build_in(storage, config).ok());
/// ```
template <std::size_t Bytes>
class CellCache : public SingleOwner<Bytes> {
 public:
  constexpr CellCache() noexcept = default;  ///< No cache yet.
  /// Builds the cache. As `cells_in`; `AlreadyExists` for an object that has one. O(`Bytes`).
  Status init(const Config& config) noexcept { return this->build(kvc_cells_init, config); }
  /// Builds a cache in storage that outlives its last reference, and that no cache uses. O(`Bytes`).
  static Result<Cache> build_in(Buffer<Bytes>& storage, const Config& config) noexcept {
    return cells_in(storage, config);
  }
};

}  // namespace kvc

#endif  // KVCORE_CELLS_HPP
