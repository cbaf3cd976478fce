/// The one-sequence cache: its two faces, and its owners.
#ifndef KVCORE_SEQUENCE_HPP
#define KVCORE_SEQUENCE_HPP

#include "cache.hpp"
#include "plan.hpp"

namespace kvc {

/// The application's face: admission, length, rewind. Borrowed: it holds no reference and is good for as long as the
/// cache that handed it out. Empty when the cache does not offer it.
///
/// ```cpp
/// kvc::FlatCache<1> cache;
/// assert(cache.init(8).ok());
/// kvc::SequenceControl control = cache.sequence_control();
/// assert(control && control.capacity().value() == 8 && control.can_extend(8).value());
/// assert(control.length().value() == 0 && control.rewind_floor().value() == 0);
/// assert(control.rewind(1) == kvc::Code::CannotGrow && control.clear().ok());
/// assert(!kvc::SequenceControl());
/// ```
class SequenceControl {
 public:
  constexpr SequenceControl() noexcept = default;  ///< Empty.
  /// Does the cache offer it?
  constexpr explicit operator bool() const noexcept { return cache_ != nullptr; }

  /// Whether `n` more tokens, in steps of at most the step limit, fit. O(1). `InvalidArgument` for 0.
  Result<bool> can_extend(std::uint32_t n = 1) const noexcept {
    return detail::Access::ask<bool>(kvc_can_extend, cache_, n);
  }
  /// Tokens held: the position of the next one. O(1).
  Result<std::uint32_t> length() const noexcept { return detail::Access::ask<std::uint32_t>(kvc_length, cache_); }
  /// Takes the length back, if all that the next token would see is still in its rows: else `Evicted`. Plans made
  /// before are stale. `CannotGrow` beyond the length. O(groups).
  Status rewind(std::uint32_t new_len) const noexcept { return Status::from_raw(kvc_rewind(cache_, new_len)); }
  /// The smallest length from which on every rewind is allowed now. O(groups).
  Result<std::uint32_t> rewind_floor() const noexcept {
    return detail::Access::ask<std::uint32_t>(kvc_rewind_floor, cache_);
  }
  /// Positions that the cache can hold; `kUnbounded` where only windows bound it. O(1).
  Result<std::uint32_t> capacity() const noexcept { return detail::Access::ask<std::uint32_t>(kvc_capacity, cache_); }
  /// Empties the cache. Plans made before are stale. O(groups).
  Status clear() const noexcept { return Status::from_raw(kvc_clear(cache_)); }

 private:
  friend class AnyCache;
  constexpr explicit SequenceControl(kvc_cache_t* cache) noexcept : cache_(cache) {}
  kvc_cache_t* cache_ = nullptr;
};

/// The backend's face: where a step writes, what it reads. Borrowed and maybe empty, like `SequenceControl`.
///
/// ```cpp
/// static constexpr kvc::Layer layers[] = {kvc::Layer::ring(4), kvc::Layer::flat()};
/// kvc::SequenceCache<2> cache;
/// assert(cache.init(kvc::Config::of(64, layers)).ok());
/// kvc::SequencePlanner planner = cache.sequence_planner();
/// kvc::SeqPlan plans[kvc::kMaxGroups];
/// kvc::Result<kvc::span<kvc::SeqPlan>> step = planner.plan_step(0, 3, plans);
/// assert(step.value().size() == 2 && step.value()[1].read_len == 3);
/// assert(planner.plan(1, 0, 3).value().rows_needed == 3);     // the same step, one layer
/// assert(planner.commit(step.value()[0], 2).ok());            // the last token was rejected
/// assert(cache.sequence_control().length().value() == 2);
/// ```
class SequencePlanner {
 public:
  constexpr SequencePlanner() noexcept = default;  ///< Empty.
  /// Does the cache offer it?
  constexpr explicit operator bool() const noexcept { return cache_ != nullptr; }

  /// Plans a step of `n` tokens at `position`, which is the length, for one layer. Each layer may be planned, in any
  /// order and as often as needed, until the step is partly committed or another begins; its rows count as overwritten
  /// from now on. `InvalidArgument` (also 0 tokens), `BadLayer`, `BadPosition`, `StepTooLarge`, `NeverFits`,
  /// `OutOfCapacity`. O(1).
  Result<SeqPlan> plan(std::uint32_t layer, std::uint32_t position, std::uint32_t n) const noexcept {
    return detail::Access::ask<SeqPlan>(kvc_seq_plan, cache_, layer, position, n);
  }
  /// Plans a step for all layer groups at once; answers the part of `out` that it wrote, group g at [g]. As `plan`;
  /// `BufferTooSmall` for fewer elements than groups, `kMaxGroups` are always enough. O(groups).
  Result<span<SeqPlan>> plan_step(std::uint32_t position, std::uint32_t n, span<SeqPlan> out) const noexcept {
    std::uint32_t groups = 0;
    const Status status = Status::from_raw(
        kvc_seq_plan_step(cache_, position, n, out.data(), detail::clamp(out.size()), &groups));
    if (!status.ok()) return status;
    return out.first(groups);
  }
  /// Keeps the first `accepted` tokens of the newest step. Once per step or once per layer, the result is the same;
  /// fewer than all close the step, 0 closes one that failed. `StalePlan` for an older plan, or another `accepted`
  /// than before; `InvalidArgument` for more tokens than the step has. O(1).
  Status commit(const SeqPlan& plan, std::uint32_t accepted) const noexcept {
    return Status::from_raw(kvc_seq_commit(cache_, &plan, accepted));
  }
  /// Keeps all tokens of the step.
  Status commit(const SeqPlan& plan) const noexcept { return commit(plan, plan.n_tokens); }

 private:
  friend class AnyCache;
  constexpr explicit SequencePlanner(kvc_cache_t* cache) noexcept : cache_(cache) {}
  kvc_cache_t* cache_ = nullptr;
};

inline SequenceControl AnyCache::sequence_control() const& noexcept { return SequenceControl(of(Kind::Sequence)); }
inline SequencePlanner AnyCache::sequence_planner() const& noexcept { return SequencePlanner(of(Kind::Sequence)); }

/// Bytes of storage that a one-sequence cache of this config wants. `InvalidConfig`. Any thread. O(layers).
///
/// ```cpp
/// const kvc::Config config = kvc::Config::uniform(64, 4, kvc::Layer::flat());
/// assert(kvc::sequence_size(config).value() == sizeof(kvc::SequenceStorage<4>));
/// ```
inline Result<std::size_t> sequence_size(const Config& config) noexcept {
  const kvc_config_t raw = config.raw();
  return detail::Access::ask<std::size_t>(kvc_sequence_size, &raw);
}

/// Builds a one-sequence cache in storage whose size is only known at run time. `InvalidArgument` (also misaligned
/// storage), `InvalidConfig`, `BufferTooSmall`. Any thread. O(layers).
///
/// ```cpp
/// static kvc::Buffer<2048> buffer;
/// assert(kvc::sequence_in(buffer, kvc::Config::uniform(64, 4, kvc::Layer::flat())).ok());
/// ```
inline Result<Cache> sequence_in(Storage storage, const Config& config) noexcept {
  return detail::built(kvc_sequence_init, storage, config);
}

namespace detail {

/// What owners of a one-sequence cache have in common.
template <std::uint32_t Layers>
class SequenceOwner : public SingleOwner<sizeof(SequenceStorage<Layers>)> {
  static_assert(Layers >= 1 && Layers <= kMaxLayers, "a model has 1 to KVC_MAX_LAYERS layers");

 protected:
  constexpr SequenceOwner() noexcept = default;
  ~SequenceOwner() = default;

  Status build(const Config& config) noexcept {
    return SingleOwner<sizeof(SequenceStorage<Layers>)>::build(kvc_sequence_init, config);
  }
};

}  // namespace detail

/// A one-sequence cache of up to `Layers` layers: as an object, or with `build_in` in storage of the caller's, to be
/// shared.
///
/// ```cpp
/// const kvc::Config config = kvc::Config::uniform(64, 4, kvc::Layer::ring(8, 1)).with_rollback(2);
/// kvc::SequenceCache<4> cache;                      // no cache yet
/// assert(!cache && cache.init(config).ok() && cache);
/// assert(cache.init(config) == kvc::Code::AlreadyExists);
/// cache.reset();
/// static kvc::SequenceStorage<4> storage;
/// assert(kvc::SequenceCache<4>::build_in(storage, config).ok());
/// ```
template <std::uint32_t Layers>
class SequenceCache : public detail::SequenceOwner<Layers> {
 public:
  constexpr SequenceCache() noexcept = default;  ///< No cache yet.
  /// Builds the cache. `InvalidConfig`, `AlreadyExists` for an object that has one, `BufferTooSmall` for more layers
  /// than there is room for. O(layers).
  Status init(const Config& config) noexcept { return this->build(config); }
  /// Builds a cache in storage that outlives its last reference, and that no cache uses. O(layers).
  static Result<Cache> build_in(SequenceStorage<Layers>& storage, const Config& config) noexcept {
    return sequence_in(storage, config);
  }
};

/// The one-sequence cache that keeps all history in every layer.
///
/// ```cpp
/// kvc::FlatCache<26> cache;
/// assert(cache.init(4096).ok());
/// assert(cache.sequence_planner().plan(25, 0, 1).value().mask_kind() == kvc::Mask::None);
/// ```
template <std::uint32_t Layers>
class FlatCache : public detail::SequenceOwner<Layers> {
 public:
  constexpr FlatCache() noexcept = default;  ///< No cache yet.
  /// `capacity` positions. Otherwise as `SequenceCache::init`.
  Status init(std::uint32_t capacity, std::uint32_t n_layers = Layers) noexcept {
    return this->build(Config::uniform(capacity, n_layers, Layer::flat()));
  }
  /// As `SequenceCache::build_in`.
  static Result<Cache> build_in(SequenceStorage<Layers>& storage, std::uint32_t capacity,
                                std::uint32_t n_layers = Layers) noexcept {
    return sequence_in(storage, Config::uniform(capacity, n_layers, Layer::flat()));
  }
};

/// The one-sequence cache with a window in every layer and no other end. Sinks and rollback: `SequenceCache`.
///
/// ```cpp
/// kvc::RingCache<26> cache;
/// assert(cache.init(512, 128).ok());                // a window of 512, steps of at most 128 tokens
/// assert(cache.layer(0).value().rows == 512 + 128 - 1 && cache.capacity().value() == kvc::kUnbounded);
/// ```
template <std::uint32_t Layers>
class RingCache : public detail::SequenceOwner<Layers> {
 public:
  constexpr RingCache() noexcept = default;  ///< No cache yet.
  /// Steps of at most `max_write` tokens, 0: of the window. Otherwise as `SequenceCache::init`.
  Status init(std::uint32_t window, std::uint32_t max_write = 0, std::uint32_t n_layers = Layers) noexcept {
    return this->build(config_of(window, max_write, n_layers));
  }
  /// As `SequenceCache::build_in`.
  static Result<Cache> build_in(SequenceStorage<Layers>& storage, std::uint32_t window, std::uint32_t max_write = 0,
                                std::uint32_t n_layers = Layers) noexcept {
    return sequence_in(storage, config_of(window, max_write, n_layers));
  }

 private:
  static constexpr Config config_of(std::uint32_t window, std::uint32_t max_write, std::uint32_t n_layers) noexcept {
    return Config::uniform(kUnbounded, n_layers, Layer::ring(window)).with_max_write(max_write);
  }
};

}  // namespace kvc

#endif  // KVCORE_SEQUENCE_HPP
