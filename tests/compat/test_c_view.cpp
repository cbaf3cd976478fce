// What C sees of a C++ cache.
#include "support.h"

#include <executorch/extension/llm/cache/detail/c_view.h>

#include <climits>
#include <memory>
#include <thread>

namespace {

// A reference of C to a C++ cache.
class Handle {
 public:
  explicit Handle(std::shared_ptr<cache::Cache> of) : cache_(cache::detail::CView::create(std::move(of))) {
    REQUIRE(cache_ != nullptr);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { kvc_cache_release(cache_); }
  operator kvc_cache_t*() const { return cache_; }

 private:
  kvc_cache_t* cache_;
};

std::uint32_t length_of(const Handle& handle) {
  std::uint32_t length = 0;
  REQUIRE(kvc_length(handle, &length) == KVC_OK);
  return length;
}

kvc_seq_plan_t plan_of(const Handle& handle, std::uint32_t layer, std::uint32_t position, std::uint32_t n) {
  kvc_seq_plan_t plan;
  REQUIRE(kvc_seq_plan(handle, layer, position, n, &plan) == KVC_OK);
  return plan;
}

void step_in_c(const Handle& handle, std::uint32_t n) {
  const kvc_seq_plan_t plan = plan_of(handle, 0, length_of(handle), n);
  REQUIRE(kvc_seq_commit(handle, &plan, n) == KVC_OK);
}

// The faces implemented without SequenceCache: one flat or ring layer, as another library might do it.
class Foreign : public cache::Cache, public cache::SequenceControl, public cache::SequencePlanner {
 public:
  explicit Foreign(int window) : policy_(window, 4), flat_(window == 0) {}
  int capacity() const override { return 32; }
  void clear() override { length_ = 0; }
  bool can_extend(int n = 1) const override { return n <= 32 - length_; }
  bool rewind(int new_len) override {
    if (new_len > length_) return false;
    length_ = new_len;
    return true;
  }
  std::optional<cache::SeqStepPlan> plan(int layer, int position, int T) const override {
    if (layer != 0 || position + T > 32) return std::nullopt;
    const cache::SeqStepPlan made = flat_ ? cache::FlatPolicy().plan(position, T) : policy_.plan(position, T);
    if (made.n_write == 0) return std::nullopt;
    return made;
  }
  void commit(const cache::SeqStepPlan& plan) override {
    length_ = cache::detail::span_of(plan) ? static_cast<int>(cache::detail::span_of(plan)->end) : length_;
  }
  int length_ = 0;

 protected:
  void* face(cache::FaceId id) override {
    return cache::expose<cache::SequenceControl, cache::SequencePlanner>(this, id);
  }

 private:
  cache::RingPolicy policy_;
  bool flat_;
};

class Faceless : public cache::Cache {
 protected:
  void* face(cache::FaceId) override { return nullptr; }
};

class PlannerOnly : public Foreign {
 public:
  PlannerOnly() : Foreign(0) {}

 protected:
  void* face(cache::FaceId id) override { return cache::expose<cache::SequencePlanner>(this, id); }
};

// Refuses every plan once told to, as no planner should.
class Fickle : public cache::SequenceCache {
 public:
  explicit Fickle(const cache::CacheConfig& made) : SequenceCache(made) {}
  std::optional<cache::SeqStepPlan> plan(int layer, int position, int T) const override {
    if (layer == refused_layer) return std::nullopt;
    return SequenceCache::plan(layer, position, T);
  }
  int refused_layer = -1;
};

}  // namespace

TEST_CASE("the control face of a C++ cache through C") {
  const auto own = std::make_shared<cache::SequenceCache>(config(16, {0, 4}, 1));
  const Handle handle(own);
  std::uint32_t number = 0;
  bool can = false;
  CHECK(kvc_cache_kind(handle, &number) == KVC_OK);
  CHECK(number == KVC_KIND_SEQUENCE);
  CHECK(kvc_capacity(handle, &number) == KVC_OK);
  CHECK(number == 16);
  CHECK(kvc_can_extend(handle, 16, &can) == KVC_OK);
  CHECK(can);
  CHECK(kvc_can_extend(handle, 17, &can) == KVC_OK);
  CHECK_FALSE(can);
  CHECK(kvc_can_extend(handle, UINT32_MAX, &can) == KVC_OK);
  CHECK_FALSE(can);
  CHECK(kvc_can_extend(handle, 0, &can) == KVC_ERR_INVALID_ARGUMENT);
  REQUIRE(decode(*own, 2, 10));
  CHECK(length_of(handle) == 10);
  CHECK(kvc_rewind_floor(handle, &number) == KVC_OK);
  CHECK(number == 9);
  CHECK(kvc_rewind(handle, 11) == KVC_ERR_CANNOT_GROW);
  CHECK(kvc_rewind(handle, UINT32_MAX) == KVC_ERR_CANNOT_GROW);
  CHECK(kvc_rewind(handle, 8) == KVC_ERR_EVICTED);
  CHECK(kvc_rewind(handle, 9) == KVC_OK);
  CHECK(own->length() == 9);
  CHECK(kvc_clear(handle) == KVC_OK);
  CHECK(own->length() == 0);
  CHECK(kvc_rewind_floor(handle, &number) == KVC_OK);
  CHECK(number == 0);
}

TEST_CASE("the planner face of a C++ cache through C gives kvcore's plans") {
  const auto own = std::make_shared<cache::SequenceCache>(config(64, {4, 0, 4}, 4));
  const Handle handle(own);
  while (length_of(handle) < 12) step_in_c(handle, 4);
  std::vector<kvc_seq_plan_t> groups(2);
  std::uint32_t n_groups = 0;
  REQUIRE(kvc_seq_plan_step(handle, 12, 3, groups.data(), 2, &n_groups) == KVC_OK);
  CHECK(n_groups == 2);
  for (std::uint32_t index = 0; index < 3; ++index) {
    const kvc_seq_plan_t plan = plan_of(handle, index, 12, 3);
    CHECK(plan.group == (index == 1 ? 1 : 0));
    CHECK(plan.epoch == groups[plan.group].epoch);
    kvc_layer_t one = {};
    one.kind = index == 1 ? KVC_LAYER_FLAT : KVC_LAYER_RING;
    one.window = index == 1 ? 0 : 4;
    kvc_seq_plan_t wanted;
    REQUIRE(kvc_layout_plan(&one, 4, 0, 12, 3, &wanted) == KVC_OK);
    for (const kvc_seq_plan_t& made : {plan, groups[plan.group]}) {
      CHECK(made.n_write == wanted.n_write);
      CHECK(made.n_read == wanted.n_read);
      for (std::uint32_t i = 0; i < wanted.n_write; ++i) {
        CHECK(made.write[i].start == wanted.write[i].start);
        CHECK(made.write[i].len == wanted.write[i].len);
        CHECK(made.write[i].pos == wanted.write[i].pos);
      }
      for (std::uint32_t i = 0; i < wanted.n_read; ++i) {
        CHECK(made.read[i].start == wanted.read[i].start);
        CHECK(made.read[i].len == wanted.read[i].len);
        CHECK(made.read[i].pos == wanted.read[i].pos);
      }
      CHECK(made.position == 12);
      CHECK(made.n_tokens == 3);
      CHECK(made.read_len == wanted.read_len);
      CHECK(made.rows_needed == wanted.rows_needed);
      CHECK(made.mask == wanted.mask);
      CHECK(made.window == wanted.window);
      CHECK(made.sinks == 0);
    }
  }
  std::uint8_t mask[3 * 8];
  CHECK(kvc_plan_mask_bytes(groups.data(), nullptr, KVC_COLUMNS_READ, mask, sizeof mask, 8) == KVC_OK);
}

TEST_CASE("C's protocol over a C++ cache: refusals, in order") {
  const auto own = std::make_shared<cache::SequenceCache>(config(8, {0, 4}, 3));
  const Handle handle(own);
  kvc_seq_plan_t plan;
  CHECK(kvc_seq_plan(handle, 2, 9, 9, &plan) == KVC_ERR_BAD_LAYER);
  CHECK(kvc_seq_plan(handle, UINT32_MAX, 0, 1, &plan) == KVC_ERR_BAD_LAYER);
  CHECK(kvc_seq_plan(handle, 0, 1, 9, &plan) == KVC_ERR_BAD_POSITION);
  CHECK(kvc_seq_plan(handle, 0, UINT32_MAX, 1, &plan) == KVC_ERR_BAD_POSITION);
  CHECK(kvc_seq_plan(handle, 0, 0, 4, &plan) == KVC_ERR_STEP_TOO_LARGE);  // the flat layer too
  CHECK(kvc_seq_plan(handle, 0, 0, UINT32_MAX, &plan) == KVC_ERR_STEP_TOO_LARGE);
  CHECK(kvc_seq_plan(handle, 0, 0, 0, &plan) == KVC_ERR_INVALID_ARGUMENT);
  step_in_c(handle, 3);
  step_in_c(handle, 3);
  CHECK(kvc_seq_plan(handle, 0, 6, 3, &plan) == KVC_ERR_OUT_OF_CAPACITY);
  std::uint32_t n_groups = 0;
  CHECK(kvc_seq_plan_step(handle, 6, 1, nullptr, 0, &n_groups) == KVC_ERR_BUFFER_TOO_SMALL);
  CHECK(n_groups == 2);
  CHECK(length_of(handle) == 6);

  const Handle flat(std::make_shared<cache::SequenceCache>(config(8, {0})));
  CHECK(kvc_seq_plan(flat, 0, 0, 9, &plan) == KVC_ERR_NEVER_FITS);
}

TEST_CASE("C's protocol over a C++ cache: commits") {
  const auto own = std::make_shared<cache::SequenceCache>(config(64, {0, 4}, 4));
  const Handle handle(own);
  const kvc_seq_plan_t first = plan_of(handle, 0, 0, 4);
  CHECK(first.epoch != 0);
  CHECK(plan_of(handle, 1, 0, 4).epoch == first.epoch);
  CHECK(kvc_seq_commit(handle, &first, 5) == KVC_ERR_INVALID_ARGUMENT);
  CHECK(kvc_seq_commit(handle, &first, 1) == KVC_OK);  // three were rejected
  CHECK(kvc_seq_commit(handle, &first, 1) == KVC_OK);  // once more, for the next layer
  CHECK(kvc_seq_commit(handle, &first, 2) == KVC_ERR_STALE_PLAN);
  CHECK(length_of(handle) == 1);
  kvc_seq_plan_t refused;
  CHECK(kvc_seq_plan(handle, 0, 0, 4, &refused) == KVC_ERR_BAD_POSITION);

  const kvc_seq_plan_t second = plan_of(handle, 0, 1, 4);
  CHECK(second.epoch != first.epoch);
  CHECK(kvc_seq_commit(handle, &first, 1) == KVC_ERR_STALE_PLAN);
  CHECK(kvc_seq_commit(handle, &second, 4) == KVC_OK);
  CHECK(plan_of(handle, 1, 1, 4).epoch == second.epoch);  // a layer that shares its donor's rows
  CHECK(length_of(handle) == 5);

  const kvc_seq_plan_t failed = plan_of(handle, 0, 5, 2);
  CHECK(kvc_seq_commit(handle, &failed, 0) == KVC_OK);
  CHECK(length_of(handle) == 5);
  CHECK(plan_of(handle, 0, 5, 2).epoch != failed.epoch);
}

TEST_CASE("a rewind in C++ makes C's plans stale, and a commit in C++ moves its length") {
  const auto own = std::make_shared<cache::SequenceCache>(config(64, {0}));
  const Handle handle(own);
  kvc_seq_plan_t plan = plan_of(handle, 0, 0, 4);
  own->commit(*own->plan(0, 0, 2));
  CHECK(kvc_seq_commit(handle, &plan, 4) == KVC_ERR_STALE_PLAN);
  CHECK(length_of(handle) == 2);
  plan = plan_of(handle, 0, 2, 4);
  CHECK(own->rewind(2));
  CHECK(kvc_seq_commit(handle, &plan, 4) == KVC_ERR_STALE_PLAN);
  plan = plan_of(handle, 0, 2, 4);
  own->clear();
  CHECK(kvc_seq_commit(handle, &plan, 4) == KVC_ERR_STALE_PLAN);
  CHECK(own->length() == 0);
}

TEST_CASE("a cache has one newest step under all of its handles") {
  const auto own = std::make_shared<cache::SequenceCache>(config(64, {0}));
  const Handle one(own), other(own);
  const kvc_seq_plan_t plan = plan_of(one, 0, 0, 4);
  CHECK(plan_of(other, 0, 0, 4).epoch == plan.epoch);
  CHECK(kvc_seq_commit(other, &plan, 4) == KVC_OK);
  CHECK(length_of(one) == 4);
}

TEST_CASE("a step that a derived cache refuses in one layer is not begun") {
  const auto own = std::make_shared<Fickle>(config(64, {0, 4}, 4));
  const Handle handle(own);
  const kvc_seq_plan_t before = plan_of(handle, 0, 0, 2);
  own->refused_layer = 1;
  kvc_seq_plan_t plans[2] = {before, before};
  std::uint32_t n_groups = 0;
  CHECK(kvc_seq_plan_step(handle, 0, 3, plans, 2, &n_groups) == KVC_ERR_UNSUPPORTED);
  CHECK(plans[0].n_tokens == 2);
  own->refused_layer = 0;
  CHECK(kvc_seq_commit(handle, &before, 2) == KVC_ERR_CORRUPT);
  own->refused_layer = -1;
  CHECK(kvc_seq_commit(handle, &before, 2) == KVC_OK);  // as if nothing had happened
  CHECK(length_of(handle) == 2);
}

TEST_CASE("a cache that implements the faces on its own answers what they tell") {
  const auto own = std::make_shared<Foreign>(4);
  const Handle handle(own);
  std::uint32_t number = 7;
  bool can = false;
  CHECK(kvc_capacity(handle, &number) == KVC_OK);
  CHECK(number == 32);
  CHECK(kvc_can_extend(handle, 33, &can) == KVC_OK);
  CHECK_FALSE(can);
  CHECK(kvc_length(handle, &number) == KVC_ERR_UNSUPPORTED);
  CHECK(kvc_rewind_floor(handle, &number) == KVC_ERR_UNSUPPORTED);
  CHECK(number == 32);
  kvc_seq_plan_t plan;
  CHECK(kvc_seq_plan_step(handle, 0, 1, &plan, 1, &number) == KVC_ERR_UNSUPPORTED);
  CHECK(kvc_seq_plan(handle, 1, 0, 1, &plan) == KVC_ERR_UNSUPPORTED);
  CHECK(kvc_seq_plan(handle, 0, INT_MAX, INT_MAX, &plan) == KVC_ERR_NEVER_FITS);

  plan = plan_of(handle, 0, 0, 4);
  CHECK(plan.mask == KVC_MASK_CAUSAL);
  CHECK(kvc_seq_commit(handle, &plan, 3) == KVC_OK);
  CHECK(own->length_ == 3);
  CHECK(kvc_seq_commit(handle, &plan, 4) == KVC_ERR_STALE_PLAN);
  plan = plan_of(handle, 0, 3, 4);
  CHECK(plan.mask == KVC_MASK_WINDOW);
  CHECK(plan.window == 4);
  CHECK(kvc_rewind(handle, 4) == KVC_ERR_EVICTED);
  CHECK(kvc_rewind(handle, UINT32_MAX) == KVC_ERR_CANNOT_GROW);
  CHECK(kvc_rewind(handle, 2) == KVC_OK);
  CHECK(kvc_seq_commit(handle, &plan, 4) == KVC_ERR_STALE_PLAN);
  plan = plan_of(handle, 0, 2, 1);
  CHECK(plan.mask == KVC_MASK_NONE);
  CHECK(kvc_clear(handle) == KVC_OK);
  CHECK(kvc_seq_commit(handle, &plan, 1) == KVC_ERR_STALE_PLAN);
  CHECK(own->length_ == 0);

  const Handle flat(std::make_shared<Foreign>(0));
  plan = plan_of(flat, 0, 8, 4);
  CHECK(plan.mask == KVC_MASK_CAUSAL);
  CHECK(plan.read_len == 12);
}

TEST_CASE("a face that is not offered is the wrong kind") {
  const Handle faceless(std::make_shared<Faceless>());
  const Handle planner(std::make_shared<PlannerOnly>());
  std::uint32_t number = 0;
  bool can = false;
  kvc_seq_plan_t plan;
  for (const Handle* handle : {&faceless, &planner}) {
    CHECK(kvc_capacity(*handle, &number) == KVC_ERR_WRONG_KIND);
    CHECK(kvc_clear(*handle) == KVC_ERR_WRONG_KIND);
    CHECK(kvc_can_extend(*handle, 1, &can) == KVC_ERR_WRONG_KIND);
    CHECK(kvc_length(*handle, &number) == KVC_ERR_WRONG_KIND);
    CHECK(kvc_rewind(*handle, 0) == KVC_ERR_WRONG_KIND);
    CHECK(kvc_rewind_floor(*handle, &number) == KVC_ERR_WRONG_KIND);
  }
  CHECK(kvc_seq_plan(faceless, 0, 0, 1, &plan) == KVC_ERR_WRONG_KIND);
  CHECK(kvc_seq_plan_step(faceless, 0, 1, &plan, 1, &number) == KVC_ERR_WRONG_KIND);
  CHECK(kvc_seq_plan(planner, 0, 0, 1, &plan) == KVC_OK);
  CHECK(kvc_seq_commit(planner, &plan, 1) == KVC_OK);
}

TEST_CASE("a C++ cache lives as long as C holds a reference") {
  auto own = std::make_shared<cache::SequenceCache>(config(8, {0}));
  const std::weak_ptr<cache::SequenceCache> watch = own;
  {
    const Handle handle(std::move(own));
    own.reset();
    CHECK_FALSE(watch.expired());
    step_in_c(handle, 3);
  }
  CHECK(watch.expired());
}

TEST_CASE("a host in C++ and a backend in C share a cache between two threads") {
  const auto own = std::make_shared<cache::SequenceCache>(config(4096, {0, 4}, 2));
  const Handle handle(own);
  bool in_order = true;
  std::thread host([&own, &in_order] {
    int seen = 0;
    while (seen < 4000) {
      const int length = own->length();
      in_order = in_order && length >= seen && length % 2 == 0 && own->can_extend(96);
      in_order = in_order && own->plan(1, seen, 2).has_value();
      seen = length;
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 2000; ++i) step_in_c(handle, 2);
  host.join();
  CHECK(in_order);
  CHECK(own->length() == 4000);
}

TEST_CASE("rewinds in one thread, steps in another") {
  const auto own = std::make_shared<cache::SequenceCache>(config(4096, {0}));
  const Handle handle(own);
  std::thread host([&own] {
    for (int i = 0; i < 500; ++i) {
      const int length = own->length();
      if (length > 0) own->rewind(length - 1);
      std::this_thread::yield();
    }
  });
  int committed = 0;
  for (int i = 0; i < 1000; ++i) {
    kvc_seq_plan_t plan;
    if (kvc_seq_plan(handle, 0, length_of(handle), 1, &plan) != KVC_OK) continue;
    if (kvc_seq_commit(handle, &plan, 1) == KVC_OK) ++committed;
  }
  host.join();
  CHECK(committed > 0);
  CHECK(own->length() <= committed);
  step_in_c(handle, 4);
}
