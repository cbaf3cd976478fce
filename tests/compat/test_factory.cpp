// CacheFactory. Needs ExecuTorch's runtime.
#include "support.h"

#include <executorch/extension/llm/cache/cache_registry.h>

#include <memory>
#include <string>

namespace {

using cache::CacheFactory;
using executorch::runtime::Error;

std::shared_ptr<cache::Cache> build_sequence(const cache::CacheConfig& made) {
  return std::make_shared<cache::SequenceCache>(made);
}

}  // namespace

TEST_CASE("a factory builds what was registered") {
  CacheFactory factory;
  CHECK(factory.register_builder("Backend", cache::kind::kSingle, build_sequence) == Error::Ok);
  const auto built = factory.build("Backend", cache::kind::kSingle, config(32, {0}));
  REQUIRE(built.ok());
  CHECK((*built)->as<cache::SequenceControl>()->capacity() == 32);
}

TEST_CASE("the names of the kinds") {
  CHECK(std::string(cache::kind::kSingle) == "single");
  CHECK(std::string(cache::kind::kBatchedCell) == "batched-cell");
  CHECK(std::string(cache::kind::kBatchedSequence) == "batched-sequence");
}

TEST_CASE("an empty builder and a taken pair are refused") {
  CacheFactory factory;
  CHECK(factory.register_builder("Backend", "single", nullptr) == Error::InvalidArgument);
  CHECK(factory.build("Backend", "single", config(32, {0})).error() == Error::NotFound);
  CHECK(factory.register_builder("Backend", "single", build_sequence) == Error::Ok);
  const auto other = [](const cache::CacheConfig&) { return std::shared_ptr<cache::Cache>(); };
  CHECK(factory.register_builder("Backend", "single", other) == Error::InvalidArgument);
  CHECK(factory.build("Backend", "single", config(32, {0})).ok());  // the first one stays
  CHECK(factory.register_builder("Backend", "other", other) == Error::Ok);
  CHECK(factory.register_builder("Backend 2", "single", other) == Error::Ok);
}

TEST_CASE("builds that fail say why") {
  CacheFactory factory;
  int calls = 0;
  CHECK(factory.register_builder("Backend", "single", [&calls](const cache::CacheConfig&) {
          ++calls;
          return std::shared_ptr<cache::Cache>();
        }) == Error::Ok);
  CHECK(factory.build("Nobody", "single", config(32, {0})).error() == Error::NotFound);
  CHECK(factory.build("Backend", "double", config(32, {0})).error() == Error::NotFound);
  CHECK(factory.build("Backend", "single", cache::CacheConfig{}).error() == Error::InvalidArgument);
  CHECK(calls == 0);
  CHECK(factory.build("Backend", "single", config(32, {0})).error() == Error::Internal);
  CHECK(calls == 1);
}

TEST_CASE("a builder may use the factory") {
  CacheFactory factory;
  CHECK(factory.register_builder("Inner", "single", build_sequence) == Error::Ok);
  CHECK(factory.register_builder("Outer", "single", [&factory](const cache::CacheConfig& made) {
          const auto inner = factory.build("Inner", "single", made);
          return inner.ok() ? *inner : nullptr;
        }) == Error::Ok);
  CHECK(factory.build("Outer", "single", config(32, {0})).ok());
}

TEST_CASE("there is one global factory, apart from others") {
  CHECK(&CacheFactory::global() == &CacheFactory::global());
  CHECK(CacheFactory::global().register_builder("test_factory", "single", build_sequence) == Error::Ok);
  CHECK(CacheFactory::global().build("test_factory", "single", config(32, {0})).ok());
  CHECK(CacheFactory().build("test_factory", "single", config(32, {0})).error() == Error::NotFound);
}
