// cache_registry.h: keys, guards, and the way to C and back. Needs ExecuTorch's runtime.
#include "support.h"

#include <executorch/extension/llm/cache/cache_registry.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

namespace {

using cache::CacheRegistry;
using cache::InstallGuard;
using executorch::runtime::BackendOptions;
using executorch::runtime::Error;

static_assert(!std::is_copy_constructible_v<InstallGuard> && !std::is_copy_assignable_v<InstallGuard>);

std::shared_ptr<cache::SequenceCache> flat_cache(int capacity = 16) {
  return std::make_shared<cache::SequenceCache>(config(capacity, {0}));
}

// The key as a backend gets it.
std::string key_of(const InstallGuard& guard) {
  BackendOptions<2> options;
  const char* key = nullptr;
  REQUIRE(guard.set_option(options) == Error::Ok);
  REQUIRE(options.get_option(cache::kCacheKeyOption, key) == Error::Ok);
  return key;
}

std::uint32_t entries() {
  std::uint32_t count = 0;
  REQUIRE(kvc_registry_count(kvc_registry_global(), &count) == KVC_OK);
  return count;
}

// A cache of kvcore, installed by C.
class FromC {
 public:
  explicit FromC(const char* key) : key_(key) {
    const kvc_layer_t layer = {};
    kvc_config_t made = kvc_config_default();
    made.capacity = 24;
    made.n_layers = made.n_layer_entries = 1;
    made.layers = &layer;
    REQUIRE(kvc_sequence_init(storage_, sizeof storage_, &made, &cache_) == KVC_OK);
    REQUIRE(kvc_registry_install(kvc_registry_global(), key, cache_) == KVC_OK);
  }
  FromC(const FromC&) = delete;
  FromC& operator=(const FromC&) = delete;
  ~FromC() {
    kvc_registry_erase(kvc_registry_global(), key_);
    kvc_cache_release(cache_);
  }
  kvc_cache_t* get() const { return cache_; }

 private:
  const char* key_;
  std::uint64_t storage_[KVC_SEQUENCE_BYTES_FOR(1) / 8];
  kvc_cache_t* cache_ = nullptr;
};

}  // namespace

TEST_CASE("a guard installs a cache for as long as it lives") {
  const auto own = flat_cache();
  std::string key;
  {
    const InstallGuard guard(own);
    key = key_of(guard);
    CHECK_FALSE(key.empty());
    CHECK(CacheRegistry::global().get(key) == own);
    CHECK(own.use_count() >= 2);
  }
  CHECK(CacheRegistry::global().get(key) == nullptr);
  CHECK(own.use_count() == 1);
}

TEST_CASE("each guard has a key of its own, for the same cache too") {
  const auto own = flat_cache(), other = flat_cache();
  const InstallGuard one(own), two(own), three(other);
  CHECK(key_of(one) != key_of(two));
  CHECK(key_of(two) != key_of(three));
  CHECK(CacheRegistry::global().get(key_of(one)) == own);
  CHECK(CacheRegistry::global().get(key_of(two)) == own);
  CHECK(CacheRegistry::global().get(key_of(three)) == other);
}

TEST_CASE("keys that nobody has find nothing") {
  const InstallGuard guard(flat_cache());
  const std::string key = key_of(guard);
  CHECK(CacheRegistry::global().get("nobody") == nullptr);
  CHECK(CacheRegistry::global().get("") == nullptr);
  CHECK(CacheRegistry::global().get(std::string(1000, 'k')) == nullptr);
  CHECK(CacheRegistry::global().get(key + std::string(1, '\0')) == nullptr);
  CHECK(CacheRegistry::global().get(key) != nullptr);
  CHECK(&CacheRegistry::global() == &CacheRegistry::global());
}

TEST_CASE("a cache that a backend found outlives its guard") {
  std::shared_ptr<cache::Cache> found;
  std::weak_ptr<cache::SequenceCache> watch;
  {
    auto own = flat_cache();
    watch = own;
    const InstallGuard guard(std::move(own));
    found = CacheRegistry::global().get(key_of(guard));
  }
  REQUIRE(found != nullptr);
  CHECK(found->as<cache::SequenceControl>()->can_extend(16));
  found.reset();
  CHECK(watch.expired());
}

TEST_CASE("set_option sets the option that ExecuTorch's backends read") {
  CHECK(std::string(cache::kCacheKeyOption) == "llm_cache_registry_key");
  const InstallGuard guard(flat_cache()), other(flat_cache());
  BackendOptions<1> options;
  CHECK(guard.set_option(options) == Error::Ok);
  CHECK(other.set_option(options) == Error::Ok);  // again
  const char* key = nullptr;
  CHECK(options.get_option("llm_cache_registry_key", key) == Error::Ok);
  CHECK(key == key_of(other));
  BackendOptions<1> full;
  CHECK(full.set_option("threads", 4) == Error::Ok);
  CHECK(guard.set_option(full) == Error::InvalidArgument);
}

TEST_CASE("a null cache is fatal") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    const InstallGuard guard(nullptr);
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char buffer[256];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) said.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(said.find("Cannot install a null cache") != std::string::npos);
}

TEST_CASE("a full registry installs nothing, and says so") {
  const std::uint32_t before = entries();
  std::vector<std::unique_ptr<InstallGuard>> guards;
  const auto own = flat_cache();
  BackendOptions<1> options;
  Error error = Error::Ok;
  while (error == Error::Ok && guards.size() < 10000) {
    guards.push_back(std::make_unique<InstallGuard>(own));
    error = guards.back()->set_option(options);
  }
  CHECK(error == Error::OutOfResources);
  CHECK(entries() == before + guards.size() - 1);
  guards.clear();
  CHECK(entries() == before);
  CHECK(own.use_count() == 1);
  const InstallGuard again(own);
  CHECK(CacheRegistry::global().get(key_of(again)) == own);
}

TEST_CASE("C finds a C++ cache by its key, and keeps it") {
  auto own = std::make_shared<cache::SequenceCache>(config(64, {0, 4}, 4));
  const std::weak_ptr<cache::SequenceCache> watch = own;
  kvc_cache_t* found = nullptr;
  {
    const InstallGuard guard(own);
    REQUIRE(kvc_registry_get(kvc_registry_global(), key_of(guard).c_str(), &found) == KVC_OK);
  }
  std::uint32_t number = 0;
  CHECK(kvc_cache_kind(found, &number) == KVC_OK);
  CHECK(number == KVC_KIND_SEQUENCE);
  CHECK(kvc_capacity(found, &number) == KVC_OK);
  CHECK(number == 64);
  kvc_seq_plan_t plan;
  CHECK(kvc_seq_plan(found, 1, 0, 4, &plan) == KVC_OK);
  CHECK(kvc_seq_commit(found, &plan, 3) == KVC_OK);
  CHECK(own->length() == 3);
  CHECK(kvc_rewind(found, 1) == KVC_OK);
  CHECK(own->length() == 1);
  kvc_config_t resolved = kvc_config_default();
  CHECK(kvc_cache_config(found, &resolved) == KVC_ERR_WRONG_KIND);
  own.reset();
  CHECK_FALSE(watch.expired());
  kvc_cache_release(found);
  CHECK(watch.expired());
}

TEST_CASE("C puts a C++ cache under a key of its own, and C++ finds the very same") {
  const auto own = flat_cache();
  const InstallGuard guard(own);
  kvc_cache_t* found = nullptr;
  REQUIRE(kvc_registry_get(kvc_registry_global(), key_of(guard).c_str(), &found) == KVC_OK);
  REQUIRE(kvc_registry_install(kvc_registry_global(), "by C", found) == KVC_OK);
  kvc_cache_release(found);
  CHECK(CacheRegistry::global().get("by C") == own);
  CHECK(kvc_registry_erase(kvc_registry_global(), "by C") == KVC_OK);
  CHECK(CacheRegistry::global().get("by C") == nullptr);
}

TEST_CASE("C++ finds a cache that C installed") {
  std::shared_ptr<cache::Cache> found;
  std::unique_ptr<FromC> from_c = std::make_unique<FromC>("native");
  found = CacheRegistry::global().get("native");
  REQUIRE(found != nullptr);
  auto* const control = found->as<cache::SequenceControl>();
  auto* const planner = found->as<cache::SequencePlanner>();
  REQUIRE(control != nullptr);
  REQUIRE(planner != nullptr);
  CHECK(control->capacity() == 24);
  const std::optional<cache::SeqStepPlan> plan = planner->plan(0, 0, 5);
  REQUIRE(plan.has_value());
  planner->commit(*plan);
  std::uint32_t length = 0;
  CHECK(kvc_length(from_c->get(), &length) == KVC_OK);
  CHECK(length == 5);
  CHECK(control->can_extend(19));
  CHECK_FALSE(control->can_extend(20));
  CHECK(control->rewind(2));
  CHECK(kvc_registry_erase(kvc_registry_global(), "native") == KVC_OK);
  CHECK(CacheRegistry::global().get("native") == nullptr);
  CHECK(control->can_extend(22));  // the adapter has a reference of its own
  found.reset();
}

TEST_CASE("C works with C++ caches of many sequences by their keys") {
  const auto cells = std::make_shared<cache::CellCache>(config(16, {0}));
  const auto rows = std::make_shared<cache::BatchedSequenceCache>(config(16, {0}));
  const InstallGuard cell_guard(cells), row_guard(rows);
  kvc_cache_t* found[2] = {};
  REQUIRE(kvc_registry_get(kvc_registry_global(), key_of(cell_guard).c_str(), &found[0]) == KVC_OK);
  REQUIRE(kvc_registry_get(kvc_registry_global(), key_of(row_guard).c_str(), &found[1]) == KVC_OK);
  CHECK(CacheRegistry::global().get(key_of(cell_guard)) == cells);
  CHECK(CacheRegistry::global().get(key_of(row_guard)) == rows);
  const std::uint32_t kinds[2] = {KVC_KIND_CELLS, KVC_KIND_ROWS};
  for (int i = 0; i < 2; ++i) {
    std::uint32_t number = 9, seq = 9;
    CHECK(kvc_cache_kind(found[i], &number) == KVC_OK);
    CHECK(number == kinds[i]);
    CHECK(kvc_batch_seq_new(found[i], &seq) == KVC_OK);
    CHECK(kvc_batch_declare_step(found[i], &seq, 1) == KVC_OK);
  }
  const std::uint32_t position = 0;
  std::uint32_t cell = 9, n = 9;
  kvc_cell_step_t step;
  kvc_span_t span;
  CHECK(kvc_cells_place_step(found[0], 0, &position, 1, &cell, &step) == KVC_OK);
  CHECK(kvc_rows_place_step(found[1], 0, &position, 1, &span, 1, &n) == KVC_OK);
  CHECK(cells->seq_len(0) == 1);
  CHECK(rows->seq_len(0) == 1);
  for (kvc_cache_t* cache : found) kvc_cache_release(cache);
}

TEST_CASE("C++ finds caches of many sequences that C installed") {
  kvc_layer_t layer = {};
  kvc_config_t made = kvc_config_default();
  made.capacity = 24;
  made.n_layers = made.n_layer_entries = 1;
  made.layers = &layer;
  made.max_seqs = 2;
  std::size_t cell_bytes = 0, row_bytes = 0;
  REQUIRE(kvc_cells_size(&made, &cell_bytes) == KVC_OK);
  REQUIRE(kvc_rows_size(&made, &row_bytes) == KVC_OK);
  std::vector<std::uint64_t> cell_storage(cell_bytes / 8 + 1), row_storage(row_bytes / 8 + 1);
  kvc_cache_t *cells = nullptr, *rows = nullptr;
  REQUIRE(kvc_cells_init(cell_storage.data(), cell_bytes, &made, &cells) == KVC_OK);
  REQUIRE(kvc_rows_init(row_storage.data(), row_bytes, &made, &rows) == KVC_OK);
  REQUIRE(kvc_registry_install(kvc_registry_global(), "cells", cells) == KVC_OK);
  REQUIRE(kvc_registry_install(kvc_registry_global(), "rows", rows) == KVC_OK);
  const auto found_cells = CacheRegistry::global().get("cells"), found_rows = CacheRegistry::global().get("rows");
  REQUIRE(found_cells != nullptr);
  REQUIRE(found_rows != nullptr);
  CHECK(found_cells->as<cache::CellStepper>() != nullptr);
  CHECK(found_rows->as<cache::SeqSpanStepper>() != nullptr);
  CHECK(found_cells->as<cache::BatchControl>()->seq_new() == 0);
  CHECK(found_rows->as<cache::BatchControl>()->max_seqs() == 2);
  CHECK(found_rows->as<cache::SequenceControl>() == nullptr);
  CHECK(kvc_registry_erase(kvc_registry_global(), "cells") == KVC_OK);
  CHECK(kvc_registry_erase(kvc_registry_global(), "rows") == KVC_OK);
  CHECK(kvc_cache_release(cells) == KVC_OK);
  CHECK(kvc_cache_release(rows) == KVC_OK);
  CHECK(found_cells->as<cache::BatchControl>()->can_admit(0, 24));  // the adapters have references of their own
}
