#include "runner.hpp"

#include "backend.hpp"

#include <executorch/extension/llm/cache/cache_registry.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/backend/backend_options_map.h>
#include <executorch/runtime/backend/options.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace {

namespace cache = executorch::extension::llm::cache;
using executorch::aten::SizesType;
using executorch::extension::from_blob;
using executorch::extension::TensorPtr;
using executorch::runtime::BackendOptions;
using executorch::runtime::EValue;
using executorch::runtime::LoadBackendOptionsMap;

std::atomic<int> built_and_alive{0};

void free_storage(void*, void* storage) {
  std::free(storage);
  --built_and_alive;
}

// The numbers that a constant method publishes.
Result<std::vector<int>> constants(Module& module, const char* method) {
  Result<std::vector<EValue>> outputs = module.execute(method);
  if (!outputs.ok()) return outputs.error();
  std::vector<int> numbers;
  for (const EValue& output : *outputs) {
    if (!output.isInt() || output.toInt() < 0 || output.toInt() > INT32_MAX) return Error::InvalidProgram;
    numbers.push_back(static_cast<int>(output.toInt()));
  }
  return numbers;
}

TensorPtr as_tensor(std::vector<float>& data, int layers, int heads, std::size_t tokens, int head_dim) {
  return from_blob(data.data(), {layers, heads, static_cast<SizesType>(tokens), head_dim});
}

}  // namespace

Result<Shape> read_shape(Module& module) {
  Shape shape;
  const std::pair<const char*, int*> fields[] = {{"get_n_layers", &shape.n_layers},
                                                 {"get_n_heads", &shape.n_heads},
                                                 {"get_n_kv_heads", &shape.n_kv_heads},
                                                 {"get_head_dim", &shape.head_dim},
                                                 {"get_chunk", &shape.chunk}};
  for (const auto& [method, field] : fields) {
    const Result<std::vector<int>> numbers = constants(module, method);
    if (!numbers.ok()) return numbers.error();
    if (numbers->size() != 1) return Error::InvalidProgram;
    *field = numbers->front();
  }
  const Result<std::vector<int>> windows = constants(module, "get_windows");
  if (!windows.ok()) return windows.error();
  if (windows->size() != static_cast<std::size_t>(shape.n_layers)) return Error::InvalidProgram;
  shape.windows = *windows;
  return shape;
}

RunnerConfig::RunnerConfig(const Shape& shape, std::uint32_t capacity) : config(kvc_config_default()) {
  for (int window : shape.windows) {
    kvc_layer_t layer = {};
    layer.kind = window > 0 ? KVC_LAYER_RING : KVC_LAYER_FLAT;
    layer.window = static_cast<std::uint32_t>(window);
    layer.n_kv_heads = static_cast<std::uint32_t>(shape.n_kv_heads);
    layer.head_dim = static_cast<std::uint32_t>(shape.head_dim);
    layers.push_back(layer);
  }
  config.capacity = capacity;
  config.n_layers = config.n_layer_entries = static_cast<std::uint32_t>(layers.size());
  config.layers = layers.data();
  config.max_write = static_cast<std::uint32_t>(shape.chunk);
}

cache::CacheConfig compat_config(const Shape& shape, std::uint32_t capacity) {
  using Kind = cache::LayerPolicy::Kind;
  cache::CacheConfig config;
  config.capacity = static_cast<int>(capacity);
  config.n_layers = shape.n_layers;
  for (int window : shape.windows) {
    config.layers.push_back({{window > 0 ? Kind::Ring : Kind::Flat, window}, shape.n_kv_heads, shape.head_dim});
  }
  config.max_write = shape.chunk;
  return config;
}

kvc_status_t build_cache(const kvc_config_t& config, kvc_cache_t** out, const char* kind) {
  kvc_registry_t* const registry = kvc_registry_global();
  std::size_t size = 0;
  kvc_status_t status = kvc_builder_size(registry, kBackendId, kind, &config, &size);
  if (status != KVC_OK) return status;
  void* const storage = std::malloc(size);
  if (storage == nullptr) return KVC_ERR_OUT_OF_CAPACITY;
  kvc_cache_t* cache = nullptr;
  status = kvc_builder_build(registry, kBackendId, kind, &config, storage, size, &cache);
  if (status == KVC_OK) status = kvc_cache_on_release(cache, free_storage, nullptr);
  if (status != KVC_OK) {
    if (cache != nullptr) kvc_cache_release(cache);
    std::free(storage);
    return status;
  }
  ++built_and_alive;
  *out = cache;
  return KVC_OK;
}

int live_caches() { return built_and_alive; }

Error Forward::load(const char* key) {
  BackendOptions<1> options;
  LoadBackendOptionsMap map;
  if (key != nullptr) {
    const Error set = options.set_option(kCacheKey, key);
    if (set != Error::Ok) return set;
    const Error mapped = map.set_options(kBackendId, options.view());
    if (mapped != Error::Ok) return mapped;
  }
  const Error loaded = module_.load(map);
  return loaded == Error::Ok ? module_.load_method("forward") : loaded;
}

Result<std::vector<float>> Forward::run(const Shape& shape, StepInputs& inputs) {
  const std::size_t n = inputs.positions.size();
  const TensorPtr q = as_tensor(inputs.q, shape.n_layers, shape.n_heads, n, shape.head_dim);
  const TensorPtr k = as_tensor(inputs.k, shape.n_layers, shape.n_kv_heads, n, shape.head_dim);
  const TensorPtr v = as_tensor(inputs.v, shape.n_layers, shape.n_kv_heads, n, shape.head_dim);
  const TensorPtr positions = from_blob(inputs.positions.data(), {static_cast<SizesType>(n)},
                                        executorch::aten::ScalarType::Long);
  Result<std::vector<EValue>> outputs = module_.forward({q, k, v, positions});
  if (!outputs.ok()) return outputs.error();
  if (outputs->size() != 1 || !outputs->front().isTensor()) return Error::InvalidProgram;
  // The output is in memory that the next call uses again.
  const auto& out = outputs->front().toTensor();
  const float* const data = out.const_data_ptr<float>();
  return std::vector<float>(data, data + out.numel());
}

struct Conversation::CompatCache {
  explicit CompatCache(std::shared_ptr<cache::Cache> built) : guard(std::move(built)) {}
  cache::InstallGuard guard;
};

Conversation::Conversation(const std::string& path) : forward_(path) {}

Conversation::~Conversation() { close_session(); }

std::unique_ptr<Conversation> Conversation::open(const std::string& path, std::uint32_t capacity, Source source,
                                                 Error& error) {
  std::unique_ptr<Conversation> made(new Conversation(path));
  error = made->start(capacity, source);
  return error == Error::Ok ? std::move(made) : nullptr;
}

Error Conversation::start(std::uint32_t capacity, Source source) {
  const Result<Shape> shape = read_shape(forward_.module());
  if (!shape.ok()) return shape.error();
  shape_ = *shape;
  if (source == Source::Compat) return open_compat(capacity);
  return open_session(capacity) == KVC_OK ? forward_.load(session_.key) : Error::Internal;
}

kvc_status_t Conversation::open_session(std::uint32_t capacity) {
  const RunnerConfig config(shape_, capacity);
  const kvc_status_t built = build_cache(config.config, &cache_, kSequenceKind);
  return built == KVC_OK ? kvc_session_open(&session_, kvc_registry_global(), nullptr, cache_) : built;
}

// The same through ExecuTorch's interface: factory, guard, option. The control goes through C all the same.
Error Conversation::open_compat(std::uint32_t capacity) {
  const Result<std::shared_ptr<cache::Cache>> built =
      cache::CacheFactory::global().build(kBackendId, cache::kind::kSingle, compat_config(shape_, capacity));
  if (!built.ok()) return built.error();
  compat_ = std::make_unique<CompatCache>(*built);
  BackendOptions<1> options;
  const Error set = compat_->guard.set_option(options);
  const char* key = nullptr;
  if (set != Error::Ok) return set;
  if (options.get_option(cache::kCacheKeyOption, key) != Error::Ok) return Error::Internal;
  if (kvc_registry_get(kvc_registry_global(), key, &cache_) != KVC_OK) return Error::NotFound;
  return forward_.load(key);
}

Error Conversation::step(const std::vector<int>& tokens) {
  const std::size_t first = tokens_.size();
  std::vector<int> all = tokens_;
  all.insert(all.end(), tokens.begin(), tokens.end());
  StepInputs inputs = make_step(shape_, all, first);
  const Result<std::vector<float>> got = forward_.run(shape_, inputs);
  if (!got.ok()) return got.error();
  tokens_ = std::move(all);
  ++steps_;
  const std::vector<double> wanted = full_attention(shape_, tokens_, first);
  if (got->size() != wanted.size()) return Error::Internal;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double difference = std::fabs(static_cast<double>((*got)[i]) - wanted[i]);
    // What is no number stays the worst.
    if (!(difference <= worst_) && !std::isnan(worst_)) worst_ = difference;
  }
  return Error::Ok;
}

Error Conversation::prefill(const std::vector<int>& tokens) {
  const auto chunk = static_cast<std::size_t>(shape_.chunk);
  for (std::size_t at = 0; at < tokens.size(); at += chunk) {
    const auto from = tokens.begin() + static_cast<std::ptrdiff_t>(at);
    const auto n = static_cast<std::ptrdiff_t>(std::min(chunk, tokens.size() - at));
    const Error error = step(std::vector<int>(from, from + n));
    if (error != Error::Ok) return error;
  }
  return Error::Ok;
}

kvc_status_t Conversation::take_back(std::size_t n) { return rewind(tokens_.size() - n); }

kvc_status_t Conversation::rewind(std::size_t length) {
  const kvc_status_t status = kvc_rewind(cache_, static_cast<std::uint32_t>(length));
  if (status != KVC_OK) return status;
  tokens_.resize(length);
  ++rewinds_;
  return KVC_OK;
}

void Conversation::close_session() {
  kvc_session_close(&session_);
  compat_.reset();
  if (cache_ != nullptr) kvc_cache_release(cache_);
  cache_ = nullptr;
}
