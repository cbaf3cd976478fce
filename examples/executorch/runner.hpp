// The application's side: a program, a cache built for it, and a session under whose key the backend finds the cache.
#pragma once

#include "model.hpp"

#include <executorch/extension/llm/cache/cache.h>
#include <executorch/extension/module/module.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <kvcore.h>

#include <memory>
#include <string>
#include <vector>

using executorch::extension::Module;
using executorch::runtime::Error;
using executorch::runtime::Result;

// What the constant methods of a program publish.
Result<Shape> read_shape(Module& module);

// kvcore's config for a program of this shape.
struct RunnerConfig {
  std::vector<kvc_layer_t> layers;
  kvc_config_t config;

  RunnerConfig(const Shape& shape, std::uint32_t capacity);
};

// The same for ExecuTorch's interface.
executorch::extension::llm::cache::CacheConfig compat_config(const Shape& shape, std::uint32_t capacity);

// A cache of one of the backend's kinds, in storage of its own, which goes with the last reference to the cache.
kvc_status_t build_cache(const kvc_config_t& config, kvc_cache_t** out, const char* kind);

// How many caches that `build_cache` built are still alive.
int live_caches();

// The `forward` of a program, loaded for the cache under a key.
class Forward {
 public:
  explicit Forward(const std::string& path) : module_(path) {}

  Module& module() { return module_; }
  // Loads `forward`; without a key when it is null.
  Error load(const char* key);
  // Output of one step.
  Result<std::vector<float>> run(const Shape& shape, StepInputs& inputs);

 private:
  Module module_;
};

// Where the cache of a conversation comes from.
enum class Source {
  Builder,  // kvcore's, from the builder registry
  Compat,   // ExecuTorch's C++ interface, on kvcore
};

// One conversation. Every answer of the model is compared with full attention over the same tokens.
class Conversation {
 public:
  // Null when something failed; `error` says what.
  static std::unique_ptr<Conversation> open(const std::string& path, std::uint32_t capacity, Source source,
                                            Error& error);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Appends these tokens in one step.
  Error step(const std::vector<int>& tokens);
  // Appends these tokens, in steps of at most a chunk.
  Error prefill(const std::vector<int>& tokens);
  // Takes the last tokens back.
  kvc_status_t take_back(std::size_t n);
  // Rewinds to a length; the tokens stay if that is refused.
  kvc_status_t rewind(std::size_t length);
  // The entry in the registry goes, and the application's own reference: only the method still holds the cache.
  void close_session();

  const Shape& shape() const { return shape_; }
  std::size_t length() const { return tokens_.size(); }
  std::size_t steps() const { return steps_; }
  std::size_t rewinds() const { return rewinds_; }
  // Largest difference of an output element from full attention, so far.
  double worst() const { return worst_; }

 private:
  struct CompatCache;

  explicit Conversation(const std::string& path);
  Error start(std::uint32_t capacity, Source source);
  kvc_status_t open_session(std::uint32_t capacity);
  Error open_compat(std::uint32_t capacity);

  Forward forward_;
  Shape shape_;
  kvc_cache_t* cache_ = nullptr;
  kvc_session_t session_ = {};
  std::unique_ptr<CompatCache> compat_;
  std::vector<int> tokens_;
  std::size_t steps_ = 0;
  std::size_t rewinds_ = 0;
  double worst_ = 0;
};
