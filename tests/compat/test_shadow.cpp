// Random operations on caches and on pools that store in every row what was written to it.
#include "support.h"

#include <algorithm>
#include <cstddef>

namespace {

constexpr int kNever = -1;

// What was written to a row: a position, and in which step.
struct Held {
  int position = kNever;
  int stamp = 0;
};

// The pools of a backend: one for each layer.
class Pools {
 public:
  explicit Pools(std::size_t n_layers) : pools_(n_layers) {}

  void write(int layer, const cache::SeqStepPlan& plan, int position, int stamp) {
    std::vector<Held>& pool = pools_[static_cast<std::size_t>(layer)];
    for (int row : written(plan)) {
      if (row >= static_cast<int>(pool.size())) pool.resize(static_cast<std::size_t>(row) + 1);
      pool[static_cast<std::size_t>(row)] = {position++, stamp};
    }
  }

  Held at(int layer, int row) const {
    const std::vector<Held>& pool = pools_[static_cast<std::size_t>(layer)];
    return row < static_cast<int>(pool.size()) ? pool[static_cast<std::size_t>(row)] : Held{};
  }

 private:
  std::vector<std::vector<Held>> pools_;
};

struct Model {
  std::vector<int> windows;
  int max_write;
  int capacity;
};

Model random_model(Random& random) {
  Model model = {{}, 1 + random(5), 400};
  const int n_layers = 1 + random(3);
  for (int i = 0; i < n_layers; ++i) model.windows.push_back(random(4) == 0 ? 0 : 1 + random(7));
  return model;
}

// A cache, its pools, and what its sequence really is.
struct Branch {
  cache::SequenceCache cache;
  Pools pools;
  std::vector<int> stamps;                 // of each position below the length
  std::optional<cache::SeqStepPlan> late;  // carried out, not yet committed
  std::vector<cache::SeqStepPlan> early;   // of each layer: planned, not yet carried out
  int early_position = 0;

  Branch(const Model& model)
      : cache(config(model.capacity, model.windows, model.max_write)), pools(model.windows.size()) {}
};

// Whether the rows that a query at the length sees hold its positions. `exact`: as the newest step wrote them.
// Without it, the rows of flat layers that a jump ahead left out are not looked at: they hold nothing, never something
// else.
bool reads_what_it_should(const Branch& branch, const Model& model, bool exact) {
  const int length = branch.cache.length();
  if (length == model.capacity) return true;
  const cache::SequenceCache probe = branch.cache;  // asking takes rows
  for (int layer = 0; layer < static_cast<int>(model.windows.size()); ++layer) {
    if (!exact && model.windows[static_cast<std::size_t>(layer)] == 0) continue;
    const std::optional<cache::SeqStepPlan> plan = probe.plan(layer, length, 1);
    if (!plan) return false;
    int position = plan->read_base_pos;
    for (int row : read(*plan)) {
      if (position == length) break;  // its own row, not yet written
      const Held held = branch.pools.at(layer, row);
      if (held.position != position) return false;
      if (exact && held.stamp != branch.stamps[static_cast<std::size_t>(position)]) return false;
      ++position;
    }
  }
  return true;
}

int random_target(Random& random, int length) {
  return random(3) == 0 ? random(length + 1) : std::max(0, length - random(9));
}

// kvcore's own cache of the same config, driven through C.
class Native {
 public:
  explicit Native(const Model& model) : storage_(KVC_SEQUENCE_BYTES_FOR(4) / 8) {
    std::vector<kvc_layer_t> layers;
    for (int window : model.windows) {
      kvc_layer_t one = {};
      one.kind = window > 0 ? KVC_LAYER_RING : KVC_LAYER_FLAT;
      one.window = static_cast<std::uint32_t>(window);
      layers.push_back(one);
    }
    kvc_config_t made = kvc_config_default();
    made.capacity = static_cast<std::uint32_t>(model.capacity);
    made.n_layers = made.n_layer_entries = static_cast<std::uint32_t>(layers.size());
    made.layers = layers.data();
    made.max_write = static_cast<std::uint32_t>(model.max_write);
    REQUIRE(kvc_sequence_init(storage_.data(), storage_.size() * 8, &made, &cache_) == KVC_OK);
  }
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;
  ~Native() { kvc_cache_release(cache_); }

  kvc_cache_t* get() const { return cache_; }

 private:
  std::vector<std::uint64_t> storage_;
  kvc_cache_t* cache_ = nullptr;
};

cache::SeqStepPlan native_plan(const Native& native, int layer, int position, int n, kvc_seq_plan_t& plan) {
  REQUIRE(kvc_seq_plan(native.get(), static_cast<std::uint32_t>(layer), static_cast<std::uint32_t>(position),
                       static_cast<std::uint32_t>(n), &plan) == KVC_OK);
  return *cache::detail::to_step_plan(plan);
}

}  // namespace

TEST_CASE("steps at the length: the same plans and rewinds as kvcore's own cache, and no stale row") {
  int rewound = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const Model model = random_model(random);
    const int n_layers = static_cast<int>(model.windows.size());
    Branch branch(model);
    const Native native(model);
    int stamp = 0;
    for (int operation = 0; operation < 200; ++operation) {
      const int length = branch.cache.length();
      if (random(4) == 0) {
        const int target = random_target(random, length);
        const bool allowed = kvc_rewind(native.get(), static_cast<std::uint32_t>(target)) == KVC_OK;
        REQUIRE(branch.cache.rewind(target) == allowed);
        ++(allowed ? rewound : refused);
        branch.stamps.resize(static_cast<std::size_t>(branch.cache.length()));
      } else {
        const int n = 1 + random(model.max_write);
        if (!branch.cache.can_extend(n)) {
          branch.cache.clear();
          kvc_clear(native.get());
          branch.stamps.clear();
          continue;
        }
        ++stamp;
        // Of some steps only a part is carried out or kept.
        const bool fails = random(6) == 0;
        const int kept = fails ? 0 : random(4) == 0 ? 1 + random(n) : n;
        std::optional<cache::SeqStepPlan> plan;
        kvc_seq_plan_t at_native;
        for (int layer = 0; layer < (fails ? 1 + random(n_layers) : n_layers); ++layer) {
          plan = branch.cache.plan(layer, length, n);
          REQUIRE(plan.has_value());
          REQUIRE(same_plan(*plan, native_plan(native, layer, length, n, at_native)));
          branch.pools.write(layer, *plan, length, stamp);
        }
        REQUIRE(kvc_seq_commit(native.get(), &at_native, static_cast<std::uint32_t>(kept)) == KVC_OK);
        if (kept > 0) branch.cache.commit(*branch.cache.plan(0, length, kept));
        branch.stamps.resize(static_cast<std::size_t>(length + kept), stamp);
      }
      std::uint32_t native_length = 0;
      kvc_length(native.get(), &native_length);
      REQUIRE(static_cast<std::uint32_t>(branch.cache.length()) == native_length);
      REQUIRE(reads_what_it_should(branch, model, true));
    }
  }
  CHECK(rewound > 1000);
  CHECK(refused > 1000);
}

namespace {

// Anything that ExecuTorch's interface allows, forks included, on one branch after another.
class Wild {
 public:
  explicit Wild(std::uint64_t seed) : random_(seed), model_(random_model(random_)), branches_(1, Branch(model_)) {}

  void operate() {
    Branch& branch = branches_[static_cast<std::size_t>(random_(static_cast<int>(branches_.size())))];
    switch (random_(12)) {
      case 10: return plan_early(branch);
      case 11: return carry_out_early(branch);
      case 0: return fork(branch);
      case 1: return query(branch);
      case 2: return carry_out(branch, random_(branch.cache.length() + 20), random_(2) == 0);
      case 3: return commit_late(branch);
      case 4:
      case 5:
      case 6: return rewind(branch);
      default: return carry_out(branch, branch.cache.length(), random_(5) != 0);
    }
  }

  int rewound = 0;
  int refused = 0;

 private:
  int n_layers() const { return static_cast<int>(model_.windows.size()); }

  void fork(const Branch& branch) {
    Branch copy = branch;
    if (branches_.size() < 3) {
      branches_.push_back(copy);
    } else {
      branches_[static_cast<std::size_t>(random_(3))] = copy;
    }
  }

  // Asks for a plan and does nothing with it.
  void query(Branch& branch) {
    branch.cache.plan(random_(n_layers()), random_(model_.capacity), 1 + random_(model_.max_write));
  }

  // Carries a step out, wherever it is, in all layers or (when it will not be committed) in some.
  void carry_out(Branch& branch, int position, bool commit) {
    const int n = 1 + random_(model_.max_write);
    std::optional<cache::SeqStepPlan> plan;
    const int layers = commit ? n_layers() : 1 + random_(n_layers());
    for (int layer = 0; layer < layers; ++layer) {
      plan = branch.cache.plan(layer, position, n);
      if (!plan) return branch.cache.clear();
      branch.pools.write(layer, *plan, position, 0);
    }
    if (commit) return branch.cache.commit(*plan);
    if (layers == n_layers()) branch.late = plan;
  }

  // Of a step that was carried out some time ago.
  void commit_late(Branch& branch) {
    if (branch.late) branch.cache.commit(*branch.late);
  }

  // Plans a step, wherever it is, that may be carried out when others have taken its rows.
  void plan_early(Branch& branch) {
    const int position = random_(branch.cache.length() + 20), n = 1 + random_(model_.max_write);
    std::vector<cache::SeqStepPlan> plans;
    for (int layer = 0; layer < n_layers(); ++layer) {
      const std::optional<cache::SeqStepPlan> plan = branch.cache.plan(layer, position, n);
      if (!plan) return;
      plans.push_back(*plan);
    }
    branch.early = plans;
    branch.early_position = position;
  }

  void carry_out_early(Branch& branch) {
    if (branch.early.empty()) return;
    for (int layer = 0; layer < n_layers(); ++layer) {
      branch.pools.write(layer, branch.early[static_cast<std::size_t>(layer)], branch.early_position, 0);
    }
    branch.cache.commit(branch.early.front());
    branch.early.clear();
  }

  void rewind(Branch& branch) {
    if (!branch.cache.rewind(random_target(random_, branch.cache.length()))) {
      ++refused;
      return;
    }
    ++rewound;
    REQUIRE(reads_what_it_should(branch, model_, false));
  }

  Random random_;
  Model model_;
  std::vector<Branch> branches_;
};

}  // namespace

TEST_CASE("plans anywhere, late commits and forks: no stale row after a rewind that was accepted") {
  int rewound = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Wild wild(seed);
    for (int operation = 0; operation < 300; ++operation) wild.operate();
    rewound += wild.rewound;
    refused += wild.refused;
  }
  CHECK(rewound > 1000);
  CHECK(refused > 1000);
}
