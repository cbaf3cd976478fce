// What the test files share.
#pragma once

#include <doctest/doctest.h>
#include <kvcore.hpp>

namespace test {

using kvc::Code;
using kvc::Config;
using kvc::Layer;

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
  kvc::Buffer<8192> storage_;
  kvc::Registry registry_;
};

/// Counts how often a cache ended.
inline void count_end(void* counter, void*) { ++*static_cast<int*>(counter); }

}  // namespace test
