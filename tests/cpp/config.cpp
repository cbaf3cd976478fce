#include "test.hpp"

#include <array>
#include <type_traits>
#include <vector>

namespace {

using namespace test;

constexpr Layer kMixed[] = {Layer::ring(512), Layer::ring(512), Layer::flat()};
constexpr Config kConfig = Config::of(4096, kMixed).with_max_write(128).with_rollback(8);
static_assert(kConfig.capacity == 4096 && kConfig.layers.size() == 3 && kConfig.initial_capacity == 512);
static_assert(kConfig.max_write == 128 && kConfig.rollback == 8 && kConfig.n_layers == 0);
static_assert(std::is_trivially_copyable_v<Layer> && std::is_trivially_copyable_v<Config>);

TEST_CASE("layers are what C has") {
  constexpr Layer layer = Layer::ring(7, 2).with_heads(8, 64).sharing(0);
  CHECK(layer.kind == KVC_LAYER_RING);
  CHECK(layer.window == 7);
  CHECK(layer.sinks == 2);
  CHECK(layer.n_kv_heads == 8);
  CHECK(layer.head_dim == 64);
  CHECK(layer.shares_with == 1);
  CHECK(Layer::flat().kind == KVC_LAYER_FLAT);
  CHECK(Layer().kind == KVC_LAYER_FLAT);
}

TEST_CASE("a config of layers") {
  CHECK(kConfig.check().ok());
  const kvc_config_t raw = kConfig.raw();
  CHECK(raw.struct_size == sizeof(kvc_config_t));
  CHECK(raw.n_layers == 3);
  CHECK(raw.n_layer_entries == 3);
  CHECK(raw.layers == static_cast<const kvc_layer_t*>(kMixed));
  CHECK(raw.layers[2].kind == KVC_LAYER_FLAT);
}

TEST_CASE("a config of equal layers owns its layer, also when it is copied") {
  Config copy;
  {
    const Config config = Config::uniform(64, 26, Layer::ring(8));
    copy = config;
  }
  const kvc_config_t raw = copy.raw();
  CHECK(raw.layers == &copy.layer);
  CHECK(raw.n_layer_entries == 1);
  CHECK(raw.n_layers == 26);
  CHECK(copy.check().ok());
}

TEST_CASE("one borrowed entry for all layers") {
  const Layer one[] = {Layer::flat()};
  Config config = Config::of(64, one);
  config.n_layers = 30;
  CHECK(config.check().ok());
  CHECK(config.raw().n_layers == 30);
  CHECK(config.raw().n_layer_entries == 1);
}

TEST_CASE("layers in containers") {
  std::vector<Layer> vector(4, Layer::flat());
  const std::array<Layer, 2> array = {Layer::flat(), Layer::flat().sharing(0)};
  CHECK(Config::of(64, vector).check().ok());
  CHECK(Config::of(64, vector).layers.size() == 4);
  CHECK(Config::of(64, array).check().ok());
  CHECK(Config::of(64, kvc::span<const Layer>(vector).first(3)).layers.size() == 3);
}

TEST_CASE("every field reaches C and comes back") {
  int anything = 0;
  Config config = kConfig.with_max_context(2000).with_initial_capacity(16).with_kv_dtype(-3).with_user(&anything);
  config.max_seqs = 4;
  config.block_size = 16;
  config.max_blocks_per_seq = 128;
  config.watermark = 2;
  config.flags = KVC_SPLIT_POOLS;
  const kvc_config_t raw = config.raw();
  CHECK(raw.max_context == 2000);
  CHECK(raw.initial_capacity == 16);
  CHECK(raw.kv_dtype == -3);
  CHECK(raw.user == &anything);
  CHECK(raw.max_seqs == 4);
  CHECK(raw.block_size == 16);
  CHECK(raw.max_blocks_per_seq == 128);
  CHECK(raw.watermark == 2);
  CHECK(raw.flags == KVC_SPLIT_POOLS);

  const Config back = Config::from_raw(raw);
  const kvc_config_t again = back.raw();
  CHECK(again.layers == raw.layers);
  CHECK(again.n_layers == raw.n_layers);
  CHECK(again.n_layer_entries == raw.n_layer_entries);
  CHECK(again.capacity == raw.capacity);
  CHECK(again.max_write == raw.max_write);
  CHECK(again.rollback == raw.rollback);
  CHECK(again.max_context == raw.max_context);
  CHECK(again.initial_capacity == raw.initial_capacity);
  CHECK(again.kv_dtype == raw.kv_dtype);
  CHECK(again.max_seqs == raw.max_seqs);
  CHECK(again.block_size == raw.block_size);
  CHECK(again.max_blocks_per_seq == raw.max_blocks_per_seq);
  CHECK(again.watermark == raw.watermark);
  CHECK(again.flags == raw.flags);
  CHECK(again.user == raw.user);
}

TEST_CASE("contradictions are refused") {
  CHECK(Config().check() == Code::InvalidConfig);
  CHECK(Config::uniform(0, 1, Layer::flat()).check() == Code::InvalidConfig);
  CHECK(Config::uniform(kvc::kUnbounded, 1, Layer::flat()).check() == Code::InvalidConfig);
  CHECK(Config::uniform(64, 1, Layer::ring(0)).check() == Code::InvalidConfig);
  CHECK(Config::uniform(64, 256, Layer::flat()).check() == Code::InvalidConfig);
  Config two_of_three = kConfig;
  two_of_three.n_layers = 4;
  CHECK(two_of_three.check() == Code::InvalidConfig);
}

#if __cplusplus >= 202002L
TEST_CASE("designated initialisers") {
  constexpr Config config{.capacity = 64, .n_layers = 4, .layer = Layer::ring(8), .rollback = 2};
  CHECK(config.check().ok());
  CHECK(config.initial_capacity == 512);
}
#endif

}  // namespace
