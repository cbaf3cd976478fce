// cache_registry.h as ExecuTorch's own tests use it: gtest, and nothing of this project.
#include <executorch/extension/llm/cache/batched_sequence_cache.h>
#include <executorch/extension/llm/cache/cache_registry.h>
#include <executorch/extension/llm/cache/cell_cache.h>
#include <executorch/extension/llm/cache/sequence_cache.h>

#include <gtest/gtest.h>

#include <memory>
#include <string>

using namespace executorch::extension::llm::cache;
using executorch::runtime::BackendOptions;
using executorch::runtime::Error;
using executorch::runtime::Result;

namespace {

CacheConfig make_config() { return CacheConfig{16, 1, {LayerConfig{LayerPolicy{}, 1, 8}}, 6}; }

std::shared_ptr<Cache> build(const CacheConfig& cfg) { return std::make_shared<SequenceCache>(cfg); }

}  // namespace

TEST(CacheRegistryTest, GuardInstallsAndErases) {
  auto cache = build(make_config());
  std::string key;
  {
    InstallGuard guard(cache);
    BackendOptions<4> opts;
    ASSERT_EQ(guard.set_option(opts), Error::Ok);
    const char* value = nullptr;
    ASSERT_EQ(opts.get_option(kCacheKeyOption, value), Error::Ok);
    key = value;
    EXPECT_EQ(CacheRegistry::global().get(key), cache);
  }
  EXPECT_EQ(CacheRegistry::global().get(key), nullptr);
}

TEST(CacheRegistryDeathTest, NullCacheIsFatal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH({ InstallGuard guard(nullptr); }, "Cannot install a null cache");
}

TEST(CacheFactoryTest, Errors) {
  CacheFactory factory;
  EXPECT_EQ(factory.register_builder("b", kind::kSingle, CacheBuilder()), Error::InvalidArgument);
  EXPECT_EQ(factory.register_builder("b", kind::kSingle, build), Error::Ok);
  EXPECT_EQ(factory.register_builder("b", kind::kSingle, build), Error::InvalidArgument);
  EXPECT_EQ(factory.build("b", kind::kBatchedCell, make_config()).error(), Error::NotFound);
  EXPECT_EQ(factory.build("b", kind::kSingle, CacheConfig{}).error(), Error::InvalidArgument);
  Result<std::shared_ptr<Cache>> built = factory.build("b", kind::kSingle, make_config());
  ASSERT_TRUE(built.ok());
  EXPECT_NE(built.get()->as<SequencePlanner>(), nullptr);
}

TEST(CacheFactoryTest, BatchedKinds) {
  CacheFactory factory;
  const auto cells = [](const CacheConfig& cfg) { return std::make_shared<CellCache>(cfg); };
  const auto rows = [](const CacheConfig& cfg) { return std::make_shared<BatchedSequenceCache>(cfg); };
  ASSERT_EQ(factory.register_builder("b", kind::kBatchedCell, cells), Error::Ok);
  ASSERT_EQ(factory.register_builder("b", kind::kBatchedSequence, rows), Error::Ok);
  Result<std::shared_ptr<Cache>> cell = factory.build("b", kind::kBatchedCell, make_config());
  Result<std::shared_ptr<Cache>> batched = factory.build("b", kind::kBatchedSequence, make_config());
  ASSERT_TRUE(cell.ok());
  ASSERT_TRUE(batched.ok());
  EXPECT_NE(cell.get()->as<CellStepper>(), nullptr);
  EXPECT_NE(batched.get()->as<SeqSpanStepper>(), nullptr);
  InstallGuard guard(*cell), other(*batched);
  BackendOptions<1> opts;
  ASSERT_EQ(other.set_option(opts), Error::Ok);
  const char* key = nullptr;
  ASSERT_EQ(opts.get_option(kCacheKeyOption, key), Error::Ok);
  EXPECT_EQ(CacheRegistry::global().get(key), *batched);
}
