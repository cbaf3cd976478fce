// What the test files share.
#pragma once

#include <doctest/doctest.h>
#include <kvcore.hpp>
#include <vector>

namespace test {

using kvc::Code;
using kvc::Config;
using kvc::Layer;

/// Storage for a registry of this build of the library, whatever its limits are.
class RegistryStorage {
 public:
  RegistryStorage() : words_((kvc::Registry::storage_size() + 7) / 8) {}
  operator kvc::Storage() { return {words_.data(), words_.size() * 8}; }

 private:
  std::vector<std::uint64_t> words_;
};

/// A registry of its own for one test.
class LocalRegistry {
 public:
  LocalRegistry() : registry_(kvc::Registry::build_in(storage_).value()) {}
  LocalRegistry(const LocalRegistry&) = delete;
  LocalRegistry& operator=(const LocalRegistry&) = delete;
  ~LocalRegistry() { registry_.deinit().ignore(); }
  const kvc::Registry* operator->() const { return &registry_; }
  operator kvc::Registry() const { return registry_; }

 private:
  RegistryStorage storage_;
  kvc::Registry registry_;
};

/// Counts how often a cache ended.
inline void count_end(void* counter, void*) { ++*static_cast<int*>(counter); }

}  // namespace test
