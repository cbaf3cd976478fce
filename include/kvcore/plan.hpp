/// Plans of one sequence, and the arithmetic of layouts and pools.
#ifndef KVCORE_PLAN_HPP
#define KVCORE_PLAN_HPP

#include "config.hpp"

namespace kvc {

using Run = kvc_run_t;              ///< Consecutive rows: `start`, `len`, and `pos`, the position of the first.
using LayerInfo = kvc_layer_info_t; ///< A layer, its `group`, the `rows` of its pool, its own `max_write`.
using Move = kvc_move_t;            ///< Copy `len` rows from `from` on to `to` on.

/// Which mask attention needs.
enum class Mask : std::uint32_t {
  None = KVC_MASK_NONE,          ///< One query, and it sees every read row.
  Causal = KVC_MASK_CAUSAL,      ///< Lower-right aligned: the last query sees every read row.
  Window = KVC_MASK_WINDOW,      ///< A band of `window` positions for each query, plus the sinks.
  Explicit = KVC_MASK_EXPLICIT,  ///< Only the bytes or bits describe it.
};

/// What a column of a mask stands for.
enum class Columns : std::uint32_t {
  Read = KVC_COLUMNS_READ,  ///< Column j: the j-th read row; `read_len` columns.
  Pool = KVC_COLUMNS_POOL,  ///< Column j: pool row j; up to the highest read row.
};

/// One step of one layer group: which rows it writes and reads, under which mask. Plain data with the fields of
/// `kvc_seq_plan_t`; a copy commits as well as the original.
///
/// ```cpp
/// // A window of 2, a step of 2 tokens at position 3: each query has a lower bound of its own.
/// kvc::SeqPlan plan = kvc::layout_plan(kvc::Layer::ring(2), 0, 0, 3, 2).value();
/// assert(plan.writes().size() == 1 && plan.reads().size() >= 1 && plan.mask_kind() == kvc::Mask::Window);
/// std::uint32_t positions[3];
/// assert(plan.read_len == 3 && plan.positions(positions).ok() && positions[0] == 2 && positions[2] == 4);
/// std::uint8_t mask[2 * 3];
/// assert(plan.mask_bytes(mask, 3).ok());            // queries 3 and 4; columns 2, 3, 4
/// assert(mask[0] == 1 && mask[1] == 1 && mask[2] == 0 && mask[3] == 0 && mask[4] == 1 && mask[5] == 1);
/// std::uint32_t bits[2];
/// assert(plan.mask_bits(bits, 1).ok() && bits[0] == 3 && bits[1] == 6);
/// // As a token tree with two roots, neither sees the other.
/// const std::int32_t parents[] = {-1, -1};
/// assert(plan.mask_bits(bits, 1, kvc::Columns::Read, parents).ok() && bits[1] == 5);
/// ```
struct SeqPlan : kvc_seq_plan_t {
  /// Where the rows of the new tokens go, in order: 1 or 2 runs.
  constexpr span<const Run> writes() const& noexcept { return span<const Run>(write).first(n_write); }
  /// What attention reads, oldest first, this step's own rows included: 1 to 3 runs.
  constexpr span<const Run> reads() const& noexcept { return span<const Run>(read).first(n_read); }
  void writes() const&& = delete;  ///< They would be runs of a temporary.
  void reads() const&& = delete;   ///< Likewise.
  /// Which mask attention needs; only `Mask::None` can do without the bytes or bits.
  constexpr Mask mask_kind() const noexcept { return static_cast<Mask>(mask); }

  /// Writes the position of each read row: `read_len` of them. `InvalidArgument` for a plan that contradicts itself,
  /// `BufferTooSmall`. Any thread. O(`read_len`).
  Status positions(span<std::uint32_t> out) const noexcept {
    return Status::from_raw(kvc_plan_positions(this, out.data(), out.size()));
  }

  /// Writes the mask, one byte a column (1: attend), `n_tokens` rows of `row_stride` bytes; columns beyond the mask
  /// are 0. With `parents`, one a token and at most 256, the step is a token tree: `parents[i] < i`, or -1 for a child
  /// of the committed prefix. `InvalidArgument`, `BufferTooSmall` for a stride below the columns or too few bytes. Any
  /// thread. O(`n_tokens` * `row_stride`).
  Status mask_bytes(span<std::uint8_t> out, std::size_t row_stride, Columns columns = Columns::Read,
                    span<const std::int32_t> parents = {}) const noexcept {
    if (!parents.empty() && parents.size() != n_tokens) return Code::InvalidArgument;
    return Status::from_raw(kvc_plan_mask_bytes(this, parents.data(), static_cast<std::uint32_t>(columns), out.data(),
                                                out.size(), row_stride));
  }

  /// As `mask_bytes`, one bit a column: column `j` is bit `j % 32` of word `j / 32` of its row of `row_words` words.
  Status mask_bits(span<std::uint32_t> out, std::size_t row_words, Columns columns = Columns::Read,
                   span<const std::int32_t> parents = {}) const noexcept {
    if (!parents.empty() && parents.size() != n_tokens) return Code::InvalidArgument;
    return Status::from_raw(kvc_plan_mask_bits(this, parents.data(), static_cast<std::uint32_t>(columns), out.data(),
                                               out.size(), row_words));
  }
};
static_assert(sizeof(SeqPlan) == sizeof(kvc_seq_plan_t) && std::is_standard_layout_v<SeqPlan>, "arrays go to C");

/// Plans by arithmetic alone, any position, no cache. `InvalidArgument` (also 0 tokens), `InvalidConfig` for a layer
/// that contradicts itself, `StepTooLarge`. Any thread. O(1).
///
/// ```cpp
/// kvc::SeqPlan plan = kvc::layout_plan(kvc::Layer::flat(), 0, 0, 7, 1).value();
/// assert(plan.write[0].start == 7 && plan.read_len == 8);
/// assert(kvc::layout_plan(kvc::Layer::ring(4), 2, 0, 0, 3).status() == kvc::Code::StepTooLarge);
/// ```
inline Result<SeqPlan> layout_plan(const Layer& layer, std::uint32_t max_write, std::uint32_t rollback,
                                   std::uint32_t position, std::uint32_t n) noexcept {
  const kvc_layer_t* raw = &layer;
  return detail::Access::ask<SeqPlan>(kvc_layout_plan, raw, max_write, rollback, position, n);
}

/// The next size of a growing pool, in rows: `current` doubled until it holds `needed`, at most `max`; 0 if `needed`
/// is over `max`. Any thread. O(log(needed / current)).
///
/// ```cpp
/// assert(kvc::grow_rows(512, 513, 4096) == 1024 && kvc::grow_rows(512, 4097, 4096) == 0);
/// ```
inline std::uint32_t grow_rows(std::uint32_t current, std::uint32_t needed, std::uint32_t max) noexcept {
  return kvc_grow_rows(current, needed, max);
}

/// Bytes of K or of V alone: rows * heads * dim elements of `bits` bits. `InvalidArgument` (also a zero factor, or
/// more bytes than 64 bits count). Any thread. O(1).
///
/// ```cpp
/// assert(kvc::pool_bytes(1024, 8, 128, 16).value() == 1024 * 8 * 128 * 2);
/// ```
inline Result<std::uint64_t> pool_bytes(std::uint32_t rows, std::uint32_t n_kv_heads, std::uint32_t head_dim,
                                        std::uint32_t bits) noexcept {
  return detail::Access::ask<std::uint64_t>(kvc_pool_bytes, rows, n_kv_heads, head_dim, bits);
}

}  // namespace kvc

#endif  // KVCORE_PLAN_HPP
