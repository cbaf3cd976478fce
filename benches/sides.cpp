#include "sides.hpp"

#include <algorithm>

#include "ops.hpp"

namespace bench {

namespace {

std::vector<uint64_t> words(size_t bytes) { return std::vector<uint64_t>((bytes + 7) / 8); }

}  // namespace

Ours::Ours(const Model& model) {
  std::vector<kvc_layer_t> layers(model.size());
  for (size_t at = 0; at < model.size(); ++at) {
    layers[at].kind = model[at] == 0 ? KVC_LAYER_FLAT : KVC_LAYER_RING;
    layers[at].window = model[at];
  }
  kvc_config_t config = kvc_config_default();
  config.capacity = kCapacity;
  config.max_write = kMaxWrite;
  config.layers = layers.data();
  config.n_layers = config.n_layer_entries = static_cast<uint32_t>(layers.size());
  size_t size = 0;
  expect(kvc_sequence_size(&config, &size) == KVC_OK);
  storage_ = words(size);
  expect(kvc_sequence_init(storage_.data(), size, &config, &cache_) == KVC_OK);
}

void Ours::step(uint32_t n) {
  uint32_t length = 0;
  kvc_seq_plan_t plan;
  expect(kvc_length(cache_, &length) == KVC_OK);
  expect(kvc_seq_plan(cache_, 0, length, n, &plan) == KVC_OK);
  expect(kvc_seq_commit(cache_, &plan, n) == KVC_OK);
}

void Ours::fill(uint32_t length) {
  uint32_t held = 0;
  expect(kvc_length(cache_, &held) == KVC_OK);
  while (held < length) {
    const uint32_t n = std::min(length - held, kMaxWrite);
    step(n);
    held += n;
  }
}

std::shared_ptr<peer::SequenceCache> make_theirs(const Model& model) {
  peer::Config config;
  config.capacity = static_cast<int>(kCapacity);
  config.max_write = static_cast<int>(kMaxWrite);
  for (const uint32_t window : model) {
    config.layers.push_back({static_cast<int>(window)});
  }
  return std::make_shared<peer::SequenceCache>(config);
}

Registries::Registries() : storage_(words(kvc_registry_size())) {
  expect(kvc_registry_init(storage_.data(), kvc_registry_size(), &ours) == KVC_OK);
  for (uint32_t at = 0; at < kKeys; ++at) {
    keys.push_back("cache-" + std::to_string(at));
    our_caches.push_back(std::make_unique<Ours>(Model{0}));
    their_caches.push_back(make_theirs(Model{0}));
    expect(kvc_registry_install(ours, keys[at].c_str(), our_caches[at]->get()) == KVC_OK);
    expect(theirs.install(keys[at], their_caches[at]));
  }
}

}  // namespace bench
