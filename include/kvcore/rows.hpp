/// The private-row cache: many sequences, each with rows of its own. Its backend's face, and its owner.
#ifndef KVCORE_ROWS_HPP
#define KVCORE_ROWS_HPP

#include "batch.hpp"
#include "cache.hpp"
#include "plan.hpp"

namespace kvc {

/// Consecutive tokens of one sequence in a step, and their plan. Plain data with the fields of `kvc_span_t`.
///
/// ```cpp
/// kvc::SeqSpan part{{3, 2, kvc::layout_plan(kvc::Layer::flat(), 0, 0, 5, 2).value()}};
/// const kvc::SeqPlan plan = part.seq_plan();
/// assert(part.seq == 3 && part.n_tokens == 2 && plan.writes()[0].start == 5 && plan.read_len == 7);
/// ```
struct SeqSpan : kvc_span_t {
  /// The plan, over the rows of this sequence's own pool: a copy, to be kept while its runs are used.
  constexpr SeqPlan seq_plan() const noexcept { return SeqPlan{plan}; }
};
static_assert(sizeof(SeqSpan) == sizeof(kvc_span_t) && std::is_standard_layout_v<SeqSpan>, "arrays of them go to C");

/// The backend's face of a private-row cache: a declared step, cut into spans that are planned like the steps of a
/// one-sequence cache. Borrowed and maybe empty, like `BatchControl`.
///
/// ```cpp
/// static kvc::Buffer<8192> storage;
/// const kvc::Config config = kvc::Config::uniform(64, 2, kvc::Layer::flat()).with_max_seqs(2);
/// kvc::Cache cache = kvc::rows_in(storage, config).value();
/// kvc::BatchControl control = cache.batch_control();
/// kvc::RowsPlanner planner = cache.rows_planner();
/// const std::uint32_t a = control.seq_new().value(), b = control.seq_new().value();
///
/// const std::uint32_t seq_ids[] = {a, a, b}, positions[] = {0, 1, 0};
/// assert(control.declare_step(seq_ids).ok() && planner.n_spans(0, positions).value() == 2);
/// kvc::SeqSpan parts[3];
/// kvc::Result<kvc::span<kvc::SeqSpan>> step = planner.place_step(0, positions, parts);
/// assert(step.value().size() == 2 && parts[0].seq == a && parts[0].n_tokens == 2 && parts[1].seq == b);
/// assert(parts[1].seq_plan().write[0].start == 0);             // row 0 of b's own pool
/// assert(planner.place_step(1, positions, parts).ok());        // the same step, the other layer
///
/// control.seq_release(b).ignore();
/// const std::uint32_t copy = control.seq_clone(a, 1).value();
/// kvc::Run rows[3];
/// assert(planner.held(0, copy, rows).value().size() == 1 && rows[0].start == 0 && rows[0].len == 1);
/// ```
class RowsPlanner {
 public:
  constexpr RowsPlanner() noexcept = default;  ///< Empty.
  /// Does the cache offer it?
  constexpr explicit operator bool() const noexcept { return cache_ != nullptr; }

  /// Places the declared step and plans it for a layer: a span for each run of tokens of one sequence, in their order;
  /// answers the part of `out` that it wrote. The first call counts for all layers; another one with the same positions
  /// gets the plans of its own layer. There is no commit. `InvalidArgument` (also no tokens), `BadLayer`, `NoStep`
  /// (nothing declared, another number of tokens, other positions than those placed), `BadPosition` unless positions
  /// continue each sequence, `BufferTooSmall` for fewer elements than spans (as many as tokens are always enough).
  /// O(tokens).
  Result<span<SeqSpan>> place_step(std::uint32_t layer, span<const std::uint32_t> positions,
                                   span<SeqSpan> out) const noexcept {
    std::uint32_t count = 0;
    const Status status = place(layer, positions, out, count);
    if (!status.ok()) return status;
    return out.first(count);
  }
  /// How many spans `place_step` would answer for a step that is not placed yet; nothing is placed. As `place_step`.
  Result<std::uint32_t> n_spans(std::uint32_t layer, span<const std::uint32_t> positions) const noexcept {
    std::uint32_t count = 0;
    const Status status = place(layer, positions, {}, count);
    if (!status.ok() && status != Code::BufferTooSmall) return status;
    return count;
  }

  /// The rows of a sequence's own pool that hold what its next token can see, oldest first, at most 3 runs; answers the
  /// part of `out` that it wrote. After `seq_clone` this is what to copy to the clone, each row to the row of the same
  /// index. `BadLayer`, `BadSequence`, `BufferTooSmall`, `WrongKind` for an external cache. O(1).
  Result<span<Run>> held(std::uint32_t layer, std::uint32_t seq, span<Run> out) const noexcept {
    std::uint32_t count = 0;
    const Status status =
        Status::from_raw(kvc_rows_held(cache_, layer, seq, out.data(), detail::clamp(out.size()), &count));
    if (!status.ok()) return status;
    return out.first(count);
  }

 private:
  friend class AnyCache;
  constexpr explicit RowsPlanner(kvc_cache_t* cache) noexcept : cache_(cache) {}

  Status place(std::uint32_t layer, span<const std::uint32_t> positions, span<SeqSpan> out,
               std::uint32_t& count) const noexcept {
    return Status::from_raw(kvc_rows_place_step(cache_, layer, positions.data(), detail::clamp(positions.size()),
                                                out.data(), detail::clamp(out.size()), &count));
  }

  kvc_cache_t* cache_ = nullptr;
};

inline RowsPlanner AnyCache::rows_planner() const& noexcept { return RowsPlanner(of(Kind::Rows)); }

/// Bytes of storage that a private-row cache of this config wants. `InvalidConfig`: as `Config::check`, and for a
/// capacity of `kUnbounded` or `max_seqs` that is not 1 to 4096. Any thread. O(layers).
///
/// ```cpp
/// const kvc::Config config = kvc::Config::uniform(1024, 26, kvc::Layer::flat()).with_max_seqs(16);
/// assert(kvc::rows_size(config).ok() && kvc::rows_size(config.with_max_seqs(0)).status() == kvc::Code::InvalidConfig);
/// ```
inline Result<std::size_t> rows_size(const Config& config) noexcept {
  const kvc_config_t raw = config.raw();
  return detail::Access::ask<std::size_t>(kvc_rows_size, &raw);
}

/// Builds a private-row cache in storage that outlives its last reference. `capacity` counts the rows that all
/// sequences together may hold; `max_write`, `rollback` and `max_context` are each sequence's. `InvalidArgument` (also
/// misaligned storage), `InvalidConfig`, `BufferTooSmall`. Any thread. O(size).
///
/// ```cpp
/// static kvc::Buffer<8192> buffer;
/// assert(kvc::rows_in(buffer, kvc::Config::uniform(64, 4, kvc::Layer::ring(8)).with_max_seqs(4)).ok());
/// ```
inline Result<Cache> rows_in(Storage storage, const Config& config) noexcept {
  return detail::built(kvc_rows_init, storage, config);
}

/// A private-row cache in `Bytes` of storage, which `rows_size` tells: as an object, or with `build_in` in storage of
/// the caller's, to be shared.
///
/// ```cpp
/// const kvc::Config config = kvc::Config::uniform(64, 4, kvc::Layer::flat()).with_max_seqs(8);
/// kvc::RowsCache<8192> cache;                       // no cache yet
/// assert(!cache && cache.init(config).ok() && cache.batch_control() && cache.rows_planner());
/// assert(cache.init(config) == kvc::Code::AlreadyExists);
/// cache.reset();
/// static kvc::Buffer<8192> storage;
/// assert(kvc::RowsCache<8192>::build_in(storage, config).ok());
/// ```
template <std::size_t Bytes>
class RowsCache : public SingleOwner<Bytes> {
 public:
  constexpr RowsCache() noexcept = default;  ///< No cache yet.
  /// Builds the cache. As `rows_in`; `AlreadyExists` for an object that has one. O(`Bytes`).
  Status init(const Config& config) noexcept { return this->build(kvc_rows_init, config); }
  /// Builds a cache in storage that outlives its last reference, and that no cache uses. O(`Bytes`).
  static Result<Cache> build_in(Buffer<Bytes>& storage, const Config& config) noexcept {
    return rows_in(storage, config);
  }
};

}  // namespace kvc

#endif  // KVCORE_ROWS_HPP
