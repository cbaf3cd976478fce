#include "ops.hpp"

#include <memory>
#include <string>
#include <utility>

#include "kvcore.h"
#include "peer.hpp"
#include "sides.hpp"

namespace bench {

namespace {

// Both sides of one model, filled so far that every ring has come round several times.
struct Pair {
  explicit Pair(const Model& model, uint32_t length = 0)
      : ours(model), theirs(make_theirs(model)), planner(theirs.get()) {
    ours.fill(length);
    our_length = length;
    their_length = static_cast<int>(length);
  }

  Ours ours;
  std::shared_ptr<peer::SequenceCache> theirs;
  peer::Planner* planner;
  uint32_t our_length = 0;
  int their_length = 0;
};

using PairPtr = std::shared_ptr<Pair>;

constexpr uint32_t kDecodeAt = 5000;
// In a ring of kWindow + kMaxWrite - 1 = 639 rows: the step starts 39 rows before the end.
constexpr uint32_t kWrapAt = 4 * (kWindow + kMaxWrite - 1) - 39;
constexpr uint32_t kPrefill = 100;

// The same step over and over, as a backend does that asks for every layer.
Op replanned(const char* id, const char* title, const Model& model, uint32_t position, uint32_t n) {
  const PairPtr pair = std::make_shared<Pair>(model, position);
  Op op{};
  op.id = id;
  op.title = title;
  op.least_ratio = 1;
  op.most_ns = 15;
  op.ours.run = [pair, position, n](uint32_t count) {
    kvc_cache_t* const cache = pair->ours.get();
    kvc_seq_plan_t plan;
    while (count-- > 0) {
      expect(kvc_seq_plan(cache, 0, position, n, &plan) == KVC_OK);
      keep(plan);
    }
  };
  op.theirs.run = [pair, position, n](uint32_t count) {
    const peer::Planner* const planner = pair->planner;
    while (count-- > 0) {
      const std::optional<peer::Plan> plan = planner->plan(0, static_cast<int>(position), static_cast<int>(n));
      expect(plan.has_value());
      keep(plan);
    }
  };
  return op;
}

// Steps of one and of two tokens in turn at the same position: each plan begins a step, and none is committed.
Op first(const char* id, const char* title, const Model& model) {
  const PairPtr pair = std::make_shared<Pair>(model, kDecodeAt);
  Op op{};
  op.id = id;
  op.title = title;
  op.least_ratio = 1;
  op.most_ns = 15;
  op.ours.run = [pair](uint32_t count) {
    kvc_cache_t* const cache = pair->ours.get();
    kvc_seq_plan_t plan;
    while (count-- > 0) {
      expect(kvc_seq_plan(cache, 0, kDecodeAt, 1 + count % 2, &plan) == KVC_OK);
      keep(plan);
    }
  };
  op.theirs.run = [pair](uint32_t count) {
    const peer::Planner* const planner = pair->planner;
    while (count-- > 0) {
      const int n = static_cast<int>(1 + count % 2);
      const std::optional<peer::Plan> plan = planner->plan(0, static_cast<int>(kDecodeAt), n);
      expect(plan.has_value());
      keep(plan);
    }
  };
  return op;
}

// One layer, token by token: each plan begins a step.
Op decode(const char* id, const char* title, const Model& model) {
  const PairPtr pair = std::make_shared<Pair>(model, kDecodeAt);
  Op op{};
  op.id = id;
  op.title = title;
  op.ours.run = [pair](uint32_t count) {
    kvc_cache_t* const cache = pair->ours.get();
    kvc_seq_plan_t plan;
    while (count-- > 0) {
      expect(kvc_seq_plan(cache, 0, pair->our_length++, 1, &plan) == KVC_OK);
      keep(plan);
      expect(kvc_seq_commit(cache, &plan, 1) == KVC_OK);
    }
  };
  op.theirs.run = [pair](uint32_t count) {
    peer::Planner* const planner = pair->planner;
    while (count-- > 0) {
      const std::optional<peer::Plan> plan = planner->plan(0, pair->their_length++, 1);
      expect(plan.has_value());
      keep(plan);
      planner->commit(*plan);
    }
  };
  return op;
}

// The peer's way to plan a step of the whole model: every layer; then `last(plan)` with the plan of the last one.
template <class Last>
void plan_layers(const peer::Planner* planner, int position, int n, Last last) {
  constexpr int kLast = static_cast<int>(kLayers) - 1;
  for (int layer = 0; layer < kLast; ++layer) {
    const std::optional<peer::Plan> plan = planner->plan(layer, position, n);
    expect(plan.has_value());
    keep(plan);
  }
  const std::optional<peer::Plan> plan = planner->plan(kLast, position, n);
  expect(plan.has_value());
  keep(plan);
  last(*plan);
}

// A decode step of a backend that plans layer by layer, on both sides.
Op layers_decode() {
  const PairPtr pair = std::make_shared<Pair>(mixed_model(), kDecodeAt);
  Op op{};
  op.id = "layers_commit";
  op.title = "plan of each of 34 layers, and commit";
  op.least_ratio = 1;
  op.ours.run = [pair](uint32_t count) {
    kvc_cache_t* const cache = pair->ours.get();
    kvc_seq_plan_t plan;
    for (; count > 0; --count, ++pair->our_length) {
      for (uint32_t layer = 0; layer < kLayers; ++layer) {
        expect(kvc_seq_plan(cache, layer, pair->our_length, 1, &plan) == KVC_OK);
        keep(plan);
      }
      expect(kvc_seq_commit(cache, &plan, 1) == KVC_OK);
    }
  };
  op.theirs.run = [pair](uint32_t count) {
    peer::Planner* const planner = pair->planner;
    const auto commit = [planner](const peer::Plan& plan) { planner->commit(plan); };
    while (count-- > 0) plan_layers(planner, pair->their_length++, 1, commit);
  };
  return op;
}

Op step_replanned() {
  const PairPtr pair = std::make_shared<Pair>(mixed_model(), kDecodeAt);
  Op op{};
  op.id = "plan_step_again";
  op.title = "plan_step, 34 layers in 3 groups, replanned";
  op.least_ratio = 10;
  op.most_ns = 50;
  op.ours.run = [pair](uint32_t count) {
    kvc_cache_t* const cache = pair->ours.get();
    kvc_seq_plan_t plans[KVC_MAX_GROUPS];
    uint32_t n_groups = 0;
    while (count-- > 0) {
      expect(kvc_seq_plan_step(cache, kDecodeAt, 1, plans, KVC_MAX_GROUPS, &n_groups) == KVC_OK);
      keep(plans);
    }
  };
  op.theirs.run = [pair](uint32_t count) {
    while (count-- > 0) plan_layers(pair->planner, static_cast<int>(kDecodeAt), 1, [](const peer::Plan&) {});
  };
  return op;
}

Op step_decode() {
  const PairPtr pair = std::make_shared<Pair>(mixed_model(), kDecodeAt);
  Op op{};
  op.id = "plan_step_commit";
  op.title = "plan_step, first of a step, and commit";
  op.least_ratio = 10;
  op.ours.run = [pair](uint32_t count) {
    kvc_cache_t* const cache = pair->ours.get();
    kvc_seq_plan_t plans[KVC_MAX_GROUPS];
    uint32_t n_groups = 0;
    while (count-- > 0) {
      expect(kvc_seq_plan_step(cache, pair->our_length++, 1, plans, KVC_MAX_GROUPS, &n_groups) == KVC_OK);
      keep(plans);
      expect(kvc_seq_commit(cache, plans, 1) == KVC_OK);
    }
  };
  op.theirs.run = [pair](uint32_t count) {
    peer::Planner* const planner = pair->planner;
    const auto commit = [planner](const peer::Plan& plan) { planner->commit(plan); };
    while (count-- > 0) plan_layers(planner, pair->their_length++, 1, commit);
  };
  return op;
}

Op commit_again() {
  const PairPtr pair = std::make_shared<Pair>(Model{kWindow}, kDecodeAt);
  Op op{};
  op.id = "commit_again";
  op.title = "commit, repeated";
  op.most_ns = 10;
  op.ours.run = [pair](uint32_t count) {
    kvc_cache_t* const cache = pair->ours.get();
    kvc_seq_plan_t plan;
    expect(kvc_seq_plan(cache, 0, pair->our_length, 1, &plan) == KVC_OK);
    while (count-- > 0) expect(kvc_seq_commit(cache, &plan, 1) == KVC_OK);
  };
  op.theirs.run = [pair](uint32_t count) {
    peer::Planner* const planner = pair->planner;
    const std::optional<peer::Plan> plan = planner->plan(0, pair->their_length, 1);
    expect(plan.has_value());
    while (count-- > 0) planner->commit(*plan);
  };
  return op;
}

// A commit that ends a step: one in each of many caches, whose steps are planned outside the measurement.
Op commit_new() {
  constexpr uint32_t kCaches = 64;
  struct Step {
    Pair pair{Model{kWindow}, kDecodeAt};
    kvc_seq_plan_t our_plan{};
    peer::Plan their_plan{};
  };
  const auto steps = std::make_shared<std::vector<Step>>(kCaches);
  Op op{};
  op.id = "commit_new";
  op.title = "commit, of a new step";
  op.most_ns = 10;
  op.most_count = kCaches;
  op.ours.prepare = [steps](uint32_t count) {
    for (Step* step = steps->data(); count-- > 0; ++step) {
      Pair& pair = step->pair;
      expect(kvc_seq_plan(pair.ours.get(), 0, pair.our_length++, 1, &step->our_plan) == KVC_OK);
    }
  };
  op.ours.run = [steps](uint32_t count) {
    for (Step* step = steps->data(); count-- > 0; ++step) {
      expect(kvc_seq_commit(step->pair.ours.get(), &step->our_plan, 1) == KVC_OK);
    }
  };
  op.theirs.prepare = [steps](uint32_t count) {
    for (Step* step = steps->data(); count-- > 0; ++step) {
      Pair& pair = step->pair;
      step->their_plan = pair.planner->plan(0, pair.their_length++, 1).value();
    }
  };
  op.theirs.run = [steps](uint32_t count) {
    for (Step* step = steps->data(); count-- > 0; ++step) step->pair.planner->commit(step->their_plan);
  };
  return op;
}

Op length() {
  const PairPtr pair = std::make_shared<Pair>(Model{kWindow}, kDecodeAt);
  Op op{};
  op.id = "length";
  op.title = "length";
  op.ours.run = [pair](uint32_t count) {
    const kvc_cache_t* const cache = pair->ours.get();
    uint32_t length = 0;
    while (count-- > 0) {
      expect(kvc_length(cache, &length) == KVC_OK);
      keep(length);
    }
  };
  op.theirs.run = [pair](uint32_t count) {
    const peer::Cache* const cache = pair->theirs.get();
    while (count-- > 0) {
      const int length = cache->length();
      keep(length);
    }
  };
  return op;
}

Batch our_get(const std::shared_ptr<Registries>& registries) {
  return [registries](uint32_t count) {
    kvc_registry_t* const registry = registries->ours;
    kvc_cache_t* cache = nullptr;
    while (count-- > 0) {
      const char* const key = registries->keys[Registries::nth(count)].c_str();
      expect(kvc_registry_get(registry, key, &cache) == KVC_OK);
      keep(cache);
      expect(kvc_cache_release(cache) == KVC_OK);
    }
  };
}

}  // namespace

std::vector<Op> planning_ops() {
  std::vector<Op> ops;
  ops.push_back(replanned("plan_flat", "plan, flat, 1 token, replanned", Model{0}, kDecodeAt, 1));
  ops.push_back(replanned("plan_ring", "plan, ring, 1 token, replanned", Model{kWindow}, kDecodeAt, 1));
  ops.push_back(replanned("plan_wrap", "plan, ring, 100 tokens in 2 write runs", Model{kWindow}, kWrapAt, kPrefill));
  ops.push_back(first("first_flat", "plan, flat, first of a step", Model{0}));
  ops.push_back(first("first_ring", "plan, ring, first of a step", Model{kWindow}));
  ops.push_back(decode("decode_flat", "plan, flat, first of a step, and commit", Model{0}));
  ops.push_back(decode("decode_ring", "plan, ring, first of a step, and commit", Model{kWindow}));
  ops.push_back(layers_decode());
  ops.push_back(step_replanned());
  ops.push_back(step_decode());
  ops.push_back(commit_again());
  ops.push_back(commit_new());
  ops.push_back(length());
  return ops;
}

std::vector<Op> registry_ops(bool threads) {
  const auto registries = std::make_shared<Registries>();
  Op by_string{};
  by_string.id = threads ? "get_string_threads" : "get_string";
  by_string.title =
      threads ? "get + release, peer has a std::string, threads" : "get + release, peer has a std::string";
  by_string.least_ratio = 1;
  by_string.most_ns = 35;
  by_string.ours.run = our_get(registries);
  by_string.theirs.run = [registries](uint32_t count) {
    const peer::Registry& registry = registries->theirs;
    while (count-- > 0) {
      const std::shared_ptr<peer::Cache> cache = registry.get(registries->keys[Registries::nth(count)]);
      expect(cache != nullptr);
      keep(cache);
    }
  };
  Op by_chars = by_string;
  by_chars.id = threads ? "get_chars_threads" : "get_chars";
  by_chars.title = threads ? "get + release, peer has a char*, threads" : "get + release, peer has a char*";
  by_chars.theirs.run = [registries](uint32_t count) {
    const peer::Registry& registry = registries->theirs;
    while (count-- > 0) {
      const char* const key = registries->keys[Registries::nth(count)].c_str();
      const std::shared_ptr<peer::Cache> cache = registry.get(key);
      expect(cache != nullptr);
      keep(cache);
    }
  };
  return {by_string, by_chars};
}

}  // namespace bench
