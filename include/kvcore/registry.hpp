/// Caches under keys, and builders of caches.
#ifndef KVCORE_REGISTRY_HPP
#define KVCORE_REGISTRY_HPP

#include "cache.hpp"

namespace kvc {

/// A key, 1 to `KVC_MAX_NAME` bytes and a NUL.
struct Key {
  char text[KVC_KEY_BYTES] = {};                                  ///< With its NUL.
  constexpr const char* c_str() const noexcept { return text; }  ///< Lives in this object.
};

/// A key that no other call in this process ever gets: "cache-N". Any thread, never `Busy`. O(1).
///
/// ```cpp
/// assert(kvc::unique_key().value().c_str()[0] == 'c');
/// ```
inline Result<Key> unique_key() noexcept {
  Key key;
  const Status status = Status::from_raw(kvc_unique_key(key.text, sizeof(key.text)));
  if (!status.ok()) return status;
  return key;
}

/// How a backend builds a kind of cache: `size(config)` tells the bytes of storage, `build(config, storage)` builds a
/// cache there. Both may be lambdas, also with captures. A builder is a `constexpr` object with static lifetime, which
/// is how `Registry::register_builder` takes it: nothing that it holds can go away.
///
/// ```cpp file
/// // Sequence caches that leave room for four rejected drafts.
/// constexpr kvc::Builder drafting{
///     "mine", "drafting",
///     [](const kvc::Config& config) { return kvc::sequence_size(config); },
///     [](const kvc::Config& config, kvc::Storage at) { return kvc::sequence_in(at, config.with_rollback(4)); }};
/// ```
/// ```cpp
/// static kvc::Buffer<8192> registry_storage;
/// kvc::Registry registry = kvc::Registry::build_in(registry_storage).value();
/// assert(registry.register_builder<drafting>().ok() && registry.register_sequence().ok());
/// assert(registry.register_cells().ok() && registry.register_rows().ok());
/// assert(registry.kind_at("mine", 0).value()[0] == 'd');
///
/// static kvc::SequenceStorage<2> storage;
/// const kvc::Config config = kvc::Config::uniform(64, 2, kvc::Layer::ring(8));
/// assert(registry.builder_size("mine", "drafting", config).value() == sizeof(storage));
/// kvc::Cache cache = registry.build("mine", "drafting", config, storage).value();
/// assert(cache.config().value().rollback == 4 && registry.unregister_builder("mine", "drafting").ok());
/// ```
template <class Size, class Build>
struct Builder {
  static_assert(std::is_invocable_r_v<Result<std::size_t>, const Size&, const Config&>,
                "size is called as Result<std::size_t>(const Config&)");
  static_assert(std::is_invocable_r_v<Result<Cache>, const Build&, const Config&, Storage>,
                "build is called as Result<Cache>(const Config&, Storage)");

  const char* backend_id;  ///< 1 to `KVC_MAX_NAME` bytes.
  const char* kind;        ///< Likewise.
  Size size;
  Build build;
};
template <class Size, class Build>
Builder(const char*, const char*, Size, Build) -> Builder<Size, Build>;

/// Caches under keys, and the builders of a backend's kinds. A handle: copies are the same registry.
///
/// Every call: `InvalidArgument`, `NameTooLong` for a key or name, `Stale` for a closed registry, `Corrupt`, `Busy`;
/// any thread; O(entries) or O(builders).
///
/// ```cpp
/// static kvc::Buffer<8192> buffer;                  // at least `storage_size()`
/// kvc::Registry registry = kvc::Registry::build_in(buffer).value();
/// static kvc::SequenceStorage<1> storage;
/// kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 64).value();
/// assert(registry.install("chat", cache).ok() && registry.count().value() == 1);
/// assert(registry.install("chat", cache) == kvc::Code::AlreadyExists);
/// kvc::Cache found = registry.get("chat").value();      // one more reference
/// assert(found == cache && registry.key_at(0).value().c_str()[0] == 'c');
/// assert(registry.erase("chat").ok() && registry.get("chat").status() == kvc::Code::NotFound);
/// assert(found.capacity().value() == 64);               // goes on
/// assert(registry.deinit().ok() && registry.count().status() == kvc::Code::Stale);
/// assert(kvc::Registry::global() && kvc::Registry::from_raw(registry.get()) == registry);
/// assert(kvc::Registry::storage_size() <= sizeof(buffer));
/// ```
class Registry {
 public:
  constexpr Registry() noexcept = default;  ///< Empty.
  /// Is there a registry?
  constexpr explicit operator bool() const noexcept { return registry_ != nullptr; }

  /// The registry of the process. An application and a delegate that are two shared objects, each with kvcore inside,
  /// have two of them.
  static Registry global() noexcept { return Registry(kvc_registry_global()); }
  /// A registry that came from C.
  static constexpr Registry from_raw(kvc_registry_t* registry) noexcept { return Registry(registry); }
  /// Bytes of storage that a registry wants; depends on the limits of the library's build.
  static std::size_t storage_size() noexcept { return kvc_registry_size(); }
  /// Builds an empty registry in storage that outlives its `deinit` and every session. `BufferTooSmall`. O(1).
  static Result<Registry> build_in(Storage storage) noexcept {
    const auto raw = detail::Access::ask<kvc_registry_t*>(kvc_registry_init, storage.data(), storage.size());
    if (!raw.ok()) return raw.status();
    return Registry(raw.value());
  }
  /// Closes it and lets go of all it holds. Close sessions first. `Busy`: call again. `Unsupported` for the global one.
  Status deinit() const noexcept { return Status::from_raw(kvc_registry_deinit(registry_)); }
  /// The registry as C has it.
  constexpr kvc_registry_t* get() const noexcept { return registry_; }

  /// Puts a cache under a key, which is copied; the entry holds a reference of its own. `AlreadyExists`, `TableFull`.
  Status install(const char* key, const Cache& cache) const noexcept {
    return Status::from_raw(kvc_registry_install(registry_, key, cache.get()));
  }
  /// A cache with in-object storage has a single owner: build it with `build_in`, in storage of its own.
  template <std::size_t Bytes>
  Status install(const char* key, const SingleOwner<Bytes>& cache) const = delete;
  /// The cache under a key, with a reference for the caller. `NotFound`.
  Result<Cache> get(const char* key) const noexcept {
    return detail::made([&](kvc_cache_t** cache) { return kvc_registry_get(registry_, key, cache); });
  }
  /// Takes an entry out and lets go of its reference; whoever else holds one goes on. `NotFound`.
  Status erase(const char* key) const noexcept { return Status::from_raw(kvc_registry_erase(registry_, key)); }
  /// Caches installed. O(1).
  Result<std::uint32_t> count() const noexcept {
    return detail::Access::ask<std::uint32_t>(kvc_registry_count, registry_);
  }
  /// The key at an index below the count; the order changes when entries go. `NotFound`. O(index).
  Result<Key> key_at(std::uint32_t index) const noexcept {
    Key key;
    const Status status = Status::from_raw(kvc_registry_key_at(registry_, index, key.text, sizeof(key.text)));
    if (!status.ok()) return status;
    return key;
  }

  /// Registers a builder under its backend id and kind. `AlreadyExists`, `TableFull`.
  template <const auto& B>
  Status register_builder() const noexcept {
    static_assert(detail::is_name(B.backend_id) && detail::is_name(B.kind), "1 to KVC_MAX_NAME bytes");
    const auto size = [](void*, const kvc_config_t* config, std::size_t* out) noexcept -> kvc_status_t {
      const Result<std::size_t> bytes = B.size(Config::from_raw(*config));
      if (bytes.ok()) *out = bytes.value();
      return bytes.status().raw();
    };
    const auto build = [](void*, const kvc_config_t* config, void* at, std::size_t bytes,
                          kvc_cache_t** out) noexcept -> kvc_status_t {
      Result<Cache> cache = B.build(Config::from_raw(*config), Storage(at, bytes));
      if (cache.ok()) *out = cache.value().detach();
      return cache.status().raw();
    };
    return Status::from_raw(kvc_builder_register(registry_, B.backend_id, B.kind, size, build, nullptr));
  }
  /// Registers the built-in one-sequence kind: "kvcore", "sequence".
  Status register_sequence() const noexcept { return Status::from_raw(kvc_sequence_register(registry_)); }
  /// Registers the built-in cell cache: "kvcore", "cells".
  Status register_cells() const noexcept { return Status::from_raw(kvc_cells_register(registry_)); }
  /// Registers the built-in private-row cache: "kvcore", "rows".
  Status register_rows() const noexcept { return Status::from_raw(kvc_rows_register(registry_)); }
  /// Takes a builder out; a build that has begun goes on. `NotFound`.
  Status unregister_builder(const char* backend_id, const char* kind) const noexcept {
    return Status::from_raw(kvc_builder_unregister(registry_, backend_id, kind));
  }
  /// Bytes of storage that a cache of this kind and config wants. `NotFound`, `InvalidConfig`, and what the builder
  /// answers.
  Result<std::size_t> builder_size(const char* backend_id, const char* kind, const Config& config) const noexcept {
    const kvc_config_t raw = config.raw();
    return detail::Access::ask<std::size_t>(kvc_builder_size, registry_, backend_id, kind, &raw);
  }
  /// Builds a cache in storage that outlives its last reference. As `builder_size`; `Corrupt` for a builder that
  /// reports success without a cache. The builder runs without any lock.
  Result<Cache> build(const char* backend_id, const char* kind, const Config& config, Storage storage) const noexcept {
    const kvc_config_t raw = config.raw();
    return detail::made([&](kvc_cache_t** cache) {
      return kvc_builder_build(registry_, backend_id, kind, &raw, storage.data(), storage.size(), cache);
    });
  }
  /// The kind of a backend's `index`-th builder, as registered. `NotFound` behind the last one.
  Result<const char*> kind_at(const char* backend_id, std::uint32_t index) const noexcept {
    return detail::Access::ask<const char*>(kvc_builder_kind_at, registry_, backend_id, index);
  }

  friend constexpr bool operator==(Registry a, Registry b) noexcept { return a.registry_ == b.registry_; }
  friend constexpr bool operator!=(Registry a, Registry b) noexcept { return a.registry_ != b.registry_; }

 private:
  constexpr explicit Registry(kvc_registry_t* registry) noexcept : registry_(registry) {}
  kvc_registry_t* registry_ = nullptr;
};

}  // namespace kvc

#endif  // KVCORE_REGISTRY_HPP
