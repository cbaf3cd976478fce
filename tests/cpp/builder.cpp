#include "test.hpp"

#include <cstring>

namespace {

using namespace test;

constexpr kvc::Builder kDrafting{
    "mine", "drafting", [](const Config& config) noexcept { return kvc::sequence_size(config); },
    [](const Config& config, kvc::Storage at) noexcept { return kvc::sequence_in(at, config.with_rollback(4)); }};

/// Captures by value live in the builder, for as long as it does.
constexpr auto rolling_back(std::uint32_t tokens) {
  return kvc::Builder{
      "mine", "rolling", [](const Config& config) noexcept { return kvc::sequence_size(config); },
      [tokens](const Config& config, kvc::Storage at) noexcept {
        return kvc::sequence_in(at, config.with_rollback(tokens));
      }};
}
constexpr auto kRolling = rolling_back(7);

constexpr kvc::Builder kRefusing{
    "other", "refusing", [](const Config&) noexcept -> kvc::Result<std::size_t> { return Code::Unsupported; },
    [](const Config&, kvc::Storage) noexcept -> kvc::Result<kvc::Cache> { return Code::OutOfCapacity; }};

constexpr kvc::Builder kForgetful{"other", "forgetful",
                                  [](const Config&) noexcept -> kvc::Result<std::size_t> { return std::size_t{8}; },
                                  [](const Config&, kvc::Storage) noexcept -> kvc::Result<kvc::Cache> {
                                    return kvc::Cache();
                                  }};

const Config kConfig = Config::uniform(64, 2, Layer::ring(8));

TEST_CASE("a builder of lambdas") {
  LocalRegistry registry;
  REQUIRE(registry->register_builder<kDrafting>().ok());
  CHECK(registry->register_builder<kDrafting>() == Code::AlreadyExists);
  kvc::SequenceStorage<2> storage;
  CHECK(registry->builder_size("mine", "drafting", kConfig).value() == sizeof(storage));
  const kvc::Cache cache = registry->build("mine", "drafting", kConfig, storage).value();
  CHECK(cache.config().value().rollback == 4);
  CHECK(cache.config().value().n_layers == 2);

  CHECK(registry->unregister_builder("mine", "drafting").ok());
  CHECK(registry->unregister_builder("mine", "drafting") == Code::NotFound);
  CHECK(registry->build("mine", "drafting", kConfig, storage).status() == Code::NotFound);
}

TEST_CASE("lambdas with captures, and a builder in a function") {
  static constexpr kvc::Builder local{
      "mine", "local", [](const Config& config) { return kvc::sequence_size(config); },
      [](const Config& config, kvc::Storage at) { return kvc::sequence_in(at, config.with_rollback(1)); }};
  LocalRegistry registry;
  REQUIRE(registry->register_builder<kRolling>().ok());
  REQUIRE(registry->register_builder<local>().ok());
  kvc::SequenceStorage<2> rolling_storage, local_storage;
  const kvc::Cache rolling = registry->build("mine", "rolling", kConfig, rolling_storage).value();
  const kvc::Cache other = registry->build("mine", "local", kConfig, local_storage).value();
  CHECK(rolling.config().value().rollback == 7);
  CHECK(other.config().value().rollback == 1);
}

TEST_CASE("the config reaches the builder whole") {
  static const int token = 0;
  static const Layer* seen_layers;
  static constexpr kvc::Builder looking{
      "mine", "looking", [](const Config& config) noexcept { return kvc::sequence_size(config); },
      [](const Config& config, kvc::Storage at) noexcept -> kvc::Result<kvc::Cache> {
        if (config.user != &token || config.layers.size() != 2 || config.layers[1].window != 9) {
          return Code::InvalidConfig;
        }
        seen_layers = config.layers.data();
        return kvc::sequence_in(at, config);
      }};
  LocalRegistry registry;
  REQUIRE(registry->register_builder<looking>().ok());
  const Layer layers[] = {Layer::flat(), Layer::ring(9)};
  kvc::SequenceStorage<2> storage;
  CHECK(registry->build("mine", "looking", Config::of(64, layers).with_user(&token), storage).ok());
  CHECK(seen_layers != nullptr);
  CHECK(registry->build("mine", "looking", Config::of(64, layers), storage).status() == Code::InvalidConfig);
}

TEST_CASE("what a builder answers is passed on") {
  LocalRegistry registry;
  REQUIRE(registry->register_builder<kRefusing>().ok());
  REQUIRE(registry->register_builder<kForgetful>().ok());
  kvc::SequenceStorage<2> storage;
  CHECK(registry->builder_size("other", "refusing", kConfig).status() == Code::Unsupported);
  CHECK(registry->build("other", "refusing", kConfig, storage).status() == Code::OutOfCapacity);
  // Success without a cache.
  CHECK(registry->build("other", "forgetful", kConfig, storage).status() == Code::Corrupt);
  CHECK(registry->builder_size("other", "forgetful", Config()).status() == Code::InvalidConfig);
}

TEST_CASE("the built-in kind, and the kinds that there are") {
  LocalRegistry registry;
  CHECK(registry->kind_at("kvcore", 0).status() == Code::NotFound);
  REQUIRE(registry->register_sequence().ok());
  CHECK(std::strcmp(registry->kind_at("kvcore", 0).value(), "sequence") == 0);
  CHECK(registry->kind_at("kvcore", 1).status() == Code::NotFound);
  kvc::SequenceStorage<2> storage;
  CHECK(registry->build("kvcore", "sequence", kConfig, storage).ok());
  kvc::Buffer<8> small;
  CHECK(registry->build("kvcore", "sequence", kConfig, small).status() == Code::BufferTooSmall);
}

TEST_CASE("a builder may use the registry: no lock is held") {
  static kvc::Registry inside;
  static constexpr kvc::Builder nesting{
      "mine", "nesting",
      [](const Config& config) noexcept { return inside.builder_size("kvcore", "sequence", config); },
      [](const Config& config, kvc::Storage at) noexcept {
        return inside.build("kvcore", "sequence", config, at);
      }};
  LocalRegistry registry;
  inside = registry;
  REQUIRE(registry->register_sequence().ok());
  REQUIRE(registry->register_builder<nesting>().ok());
  kvc::SequenceStorage<2> storage;
  CHECK(registry->builder_size("mine", "nesting", kConfig).value() == sizeof(storage));
  CHECK(registry->build("mine", "nesting", kConfig, storage).ok());
}

}  // namespace
