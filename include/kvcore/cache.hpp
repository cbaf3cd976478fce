/// Caches of every kind: kinds, faces, references.
#ifndef KVCORE_CACHE_HPP
#define KVCORE_CACHE_HPP

#include "config.hpp"
#include "plan.hpp"

namespace kvc {

/// Which family of calls a cache answers.
enum class Kind : std::uint32_t {
  Sequence = KVC_KIND_SEQUENCE,  ///< Plans one sequence.
  Cells = KVC_KIND_CELLS,        ///< A pool of cells shared by many sequences.
  Rows = KVC_KIND_ROWS,          ///< Many sequences with private rows.
  Paged = KVC_KIND_PAGED,        ///< Blocks, tables, prefix reuse.
};

class SequenceControl;
class SequencePlanner;
class BatchControl;
class CellPlanner;
class RowsPlanner;

/// What every cache answers, whoever owns it.
///
/// An *open face* is an object that a backend attaches to a cache under `T::kFaceName`, a constant of 1 to 63 bytes,
/// and finds again from the cache that it looked up by key.
///
/// ```cpp file
/// struct Pool {                                     // the backend's tensors
///   static constexpr const char* kFaceName = "mine.pool";
///   int rows = 0;
/// };
/// void free_pool(Pool& pool) { pool.rows = 0; }
/// ```
/// ```cpp
/// Pool pool, other;                                 // outlive the cache
/// static kvc::SequenceStorage<1> storage;
/// kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 64).value();
/// assert(cache.kind().value() == kvc::Kind::Sequence && cache.capacity().value() == 64 && cache.clear().ok());
/// assert(cache.config().value().initial_capacity == 64 && cache.layer(0).value().rows == 64);
/// assert(cache.sequence_control() && cache.sequence_planner());
/// assert(!cache.batch_control() && !cache.cell_planner() && !cache.rows_planner());    // it is of one sequence
/// assert(cache.set_face<Pool>(pool).ok() && cache.face<Pool>().value() == &pool);
/// assert(cache.set_face<Pool>(other) == kvc::Code::AlreadyExists);
/// assert(cache.drop_face<Pool>().ok() && cache.face<Pool>().value_or(nullptr) == nullptr);
/// assert((cache.set_face<Pool, free_pool>(pool).ok()));    // free_pool(pool) when the cache ends
/// ```
class AnyCache {
 public:
  AnyCache(const AnyCache&) = delete;
  AnyCache& operator=(const AnyCache&) = delete;

  /// Whether there is a cache.
  constexpr explicit operator bool() const noexcept { return cache_ != nullptr; }

  /// Its family; what an external cache claims. O(1), never `Busy`.
  Result<Kind> kind() const noexcept {
    const auto kind = detail::Access::ask<std::uint32_t>(kvc_cache_kind, cache_);
    if (!kind.ok()) return kind.status();
    return static_cast<Kind>(kind.value());
  }
  /// Positions, cells or rows that it can hold; `kUnbounded` where only windows bound it. O(1).
  Result<std::uint32_t> capacity() const noexcept { return detail::Access::ask<std::uint32_t>(kvc_capacity, cache_); }
  /// Empties it. Plans made before are stale. O(groups).
  Status clear() const noexcept { return Status::from_raw(kvc_clear(cache_)); }
  /// The resolved config: `max_write` is what a step may really have, fields of other kinds are 0, and there are no
  /// layers in it: ask `layer`. `WrongKind` for an external cache. O(1).
  Result<Config> config() const noexcept {
    const auto raw = detail::Access::ask<kvc_config_t>(kvc_cache_config, cache_);
    if (!raw.ok()) return raw.status();
    return Config::from_raw(raw.value());
  }
  /// One of its layers. `BadLayer`; `WrongKind` for an external cache. O(1).
  Result<LayerInfo> layer(std::uint32_t layer) const noexcept {
    return detail::Access::ask<LayerInfo>(kvc_cache_layer, cache_, layer);
  }

  /// The application's face of a cache of one sequence; empty for one of many. An external cache offers what its kind
  /// claims; a call that it lacks answers `WrongKind`. Not from a temporary, which would take the cache along. O(1).
  SequenceControl sequence_control() const& noexcept;  // in sequence.hpp
  /// The backend's face of a cache of one sequence; likewise.
  SequencePlanner sequence_planner() const& noexcept;  // in sequence.hpp
  /// The application's face of a cache of many sequences, whatever its kind; likewise.
  BatchControl batch_control() const& noexcept;  // in batch.hpp
  /// The backend's face of a cell cache; likewise.
  CellPlanner cell_planner() const& noexcept;  // in cells.hpp
  /// The backend's face of a private-row cache; likewise.
  RowsPlanner rows_planner() const& noexcept;  // in rows.hpp
  void sequence_control() const&& = delete;  ///< Keep the cache first.
  void sequence_planner() const&& = delete;  ///< Likewise.
  void batch_control() const&& = delete;     ///< Likewise.
  void cell_planner() const&& = delete;      ///< Likewise.
  void rows_planner() const&& = delete;      ///< Likewise.

  /// The object attached as `T`, borrowed while you hold a reference and nobody drops it. `NotFound`. O(faces).
  template <class T>
  Result<T*> face() const& noexcept {
    const auto object = detail::Access::ask<void*>(kvc_cache_face, cache_, name<T>());
    if (!object.ok()) return object.status();
    return static_cast<T*>(object.value());
  }
  /// Keep the cache first.
  template <class T>
  void face() const&& = delete;

  /// Attaches an object that outlives the cache, or its `drop_face`. Name the class that declares `kFaceName`, which
  /// may be a base of the object's. `AlreadyExists`, `TableFull` beyond `KVC_MAX_FACES`. O(faces).
  template <class T>
  Status set_face(typename detail::Exactly<T>::type& object) const noexcept {
    return Status::from_raw(kvc_cache_set_face(cache_, name<T>(), &object, nullptr));
  }
  /// As above; `Drop(object)` runs when the face is dropped or the cache ends, in the thread that does it.
  template <class T, void (*Drop)(T&)>
  Status set_face(typename detail::Exactly<T>::type& object) const noexcept {
    const auto drop = [](void* face) noexcept { Drop(*static_cast<T*>(face)); };
    return Status::from_raw(kvc_cache_set_face(cache_, name<T>(), &object, drop));
  }
  /// Takes a face off. Only whoever set it does that, when nobody uses it. `NotFound`. O(faces).
  template <class T>
  Status drop_face() const noexcept {
    return Status::from_raw(kvc_cache_drop_face(cache_, name<T>()));
  }

 protected:
  constexpr AnyCache() noexcept = default;
  constexpr explicit AnyCache(kvc_cache_t* cache) noexcept : cache_(cache) {}
  ~AnyCache() = default;

  /// Lets go of the reference. What runs when the cache ends may use, or even destroy, this object.
  void drop_reference() noexcept {
    kvc_cache_t* cache = std::exchange(cache_, nullptr);
    if (cache != nullptr) Status::from_raw(kvc_cache_release(cache)).ignore();
  }

  kvc_cache_t* cache_ = nullptr;

 private:
  kvc_cache_t* of(Kind family) const noexcept {
    const Result<Kind> found = kind();
    return found.ok() && found.value() == family ? cache_ : nullptr;
  }
  kvc_cache_t* of_many() const noexcept {
    const Result<Kind> found = kind();
    return found.ok() && found.value() != Kind::Sequence ? cache_ : nullptr;
  }

  template <class T>
  static constexpr const char* name() noexcept {
    static_assert(detail::is_name(T::kFaceName), "kFaceName is 1 to KVC_MAX_NAME bytes long");
    static_assert(std::is_class_v<T> && !std::is_const_v<T>);
    return T::kFaceName;
  }
};

/// A reference to a cache. A copy is one more reference, the destructor lets go of it, and the last one ends the cache:
/// its faces are dropped, then the release callback runs. The storage outlives the last reference.
///
/// A copy is empty if the reference count is full (2^32 - 1); `retain` tells. A moved-from cache is empty.
///
/// ```cpp
/// static kvc::SequenceStorage<1> storage;
/// kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 64).value();
/// kvc::Cache copy = cache;
/// assert(copy == cache && copy.retain().ok() && kvc::Cache::share(copy.get()).ok());
/// bool ended = false;
/// assert(cache.on_release([](void* flag, void*) { *static_cast<bool*>(flag) = true; }, &ended).ok());
/// cache.reset();
/// assert(!cache && cache != copy && !ended);
/// copy = kvc::Cache::adopt(copy.detach());
/// copy.reset();
/// assert(ended);
/// ```
class [[nodiscard]] Cache : public AnyCache {
 public:
  constexpr Cache() noexcept = default;  ///< Empty.
  /// One more reference, or empty.
  Cache(const Cache& other) noexcept : AnyCache(retained(other.cache_)) {}
  /// The same reference; the other is empty afterwards.
  Cache(Cache&& other) noexcept : AnyCache(other.detach()) {}
  /// Lets go of what was there.
  Cache& operator=(const Cache& other) noexcept { return *this = Cache(other); }
  /// Likewise.
  Cache& operator=(Cache&& other) noexcept {
    kvc_cache_t* taken = other.detach();
    drop_reference();
    cache_ = taken;
    return *this;
  }
  ~Cache() { drop_reference(); }

  /// Takes over a reference that came from C.
  static Cache adopt(kvc_cache_t* cache) noexcept { return Cache(cache); }
  /// One more reference to a cache that came from C, whose owner holds one. `InvalidArgument`, `Stale`, `Corrupt`,
  /// `OutOfCapacity`. O(1), never `Busy`.
  static Result<Cache> share(kvc_cache_t* cache) noexcept {
    const Status status = Status::from_raw(kvc_cache_retain(cache));
    if (!status.ok()) return status;
    return Cache(cache);
  }

  /// A copy that tells why there is none.
  Result<Cache> retain() const noexcept { return share(cache_); }
  /// The cache as C has it; still this object's reference.
  kvc_cache_t* get() const noexcept { return cache_; }
  /// Gives the reference away: whoever gets it releases it.
  kvc_cache_t* detach() noexcept { return std::exchange(cache_, nullptr); }
  /// Lets go of the reference.
  void reset() noexcept { drop_reference(); }

  /// Calls `release(context, storage)`, from any thread, when the cache ended: the storage is its owner's again. Once:
  /// then `AlreadyExists`. O(1).
  Status on_release(kvc_release_fn release, void* context) const noexcept {
    return Status::from_raw(kvc_cache_on_release(cache_, release, context));
  }

  friend bool operator==(const Cache& a, const Cache& b) noexcept { return a.cache_ == b.cache_; }
  friend bool operator!=(const Cache& a, const Cache& b) noexcept { return a.cache_ != b.cache_; }

 private:
  explicit Cache(kvc_cache_t* cache) noexcept : AnyCache(cache) {}
  static kvc_cache_t* retained(kvc_cache_t* cache) noexcept {
    return cache != nullptr && Status::from_raw(kvc_cache_retain(cache)).ok() ? cache : nullptr;
  }
};

namespace detail {

/// Takes over the cache that `call` makes.
template <class Call>
Result<Cache> made(Call call) noexcept {
  kvc_cache_t* cache = nullptr;
  const Status status = Status::from_raw(call(&cache));
  if (!status.ok()) return status;
  return Cache::adopt(cache);
}

/// How C builds a kind of cache.
using Init = kvc_status_t (*)(void* storage, std::size_t size, const kvc_config_t* config, kvc_cache_t** out);

/// Builds a cache in storage that the caller supplies.
inline Result<Cache> built(Init init, Storage storage, const Config& config) noexcept {
  const kvc_config_t raw = config.raw();
  return made([&](kvc_cache_t** cache) { return init(storage.data(), storage.size(), &raw, cache); });
}

}  // namespace detail

/// A cache whose storage, `Bytes` of it, is in the object: it has a single owner, neither copies nor moves, and cannot
/// be installed in a registry, where references could outlive it.
template <std::size_t Bytes>
class SingleOwner : public AnyCache {
 public:
  /// Ends the cache; its faces are dropped. The object may be initialised again.
  void reset() noexcept { drop_reference(); }

 protected:
  constexpr SingleOwner() noexcept = default;
  ~SingleOwner() { drop_reference(); }

  Status build(detail::Init init, const Config& config) noexcept {
    if (cache_ != nullptr) return Code::AlreadyExists;
    const kvc_config_t raw = config.raw();
    return Status::from_raw(init(storage_.bytes, sizeof(storage_.bytes), &raw, &cache_));
  }

 private:
  Buffer<Bytes> storage_;
};

}  // namespace kvc

#endif  // KVCORE_CACHE_HPP
