// cache.h: faces by name, and configs.
#include "support.h"

#include <string>

namespace {

class Alpha {
 public:
  static constexpr const char* kFaceName = "test.Alpha";
  virtual ~Alpha() = default;
  virtual int alpha() const = 0;
};

class Beta {
 public:
  static constexpr const char* kFaceName = "test.Beta";
  virtual ~Beta() = default;
  virtual int beta() const = 0;
};

class Gamma {
 public:
  static constexpr const char* kFaceName = "test.Gamma";
};

class Nameless {
 public:
  static constexpr const char* kFaceName = nullptr;
};

class ET_EXPERIMENTAL Marked {};

class TwoFaces : public cache::Cache, public Alpha, public Beta {
 public:
  int alpha() const override { return 1; }
  int beta() const override { return 2; }

 protected:
  void* face(cache::FaceId id) override { return cache::expose<Alpha, Beta>(this, id); }
};

class NoFace : public cache::Cache {
 protected:
  void* face(cache::FaceId id) override { return cache::expose<>(this, id); }
};

// Another translation unit would have the name at another address.
class AlphaElsewhere {
 public:
  static const std::string name;
  static const char* const kFaceName;
};
const std::string AlphaElsewhere::name = "test.Alpha";
const char* const AlphaElsewhere::kFaceName = AlphaElsewhere::name.c_str();

}  // namespace

TEST_CASE("faces are the same by content, and null is none") {
  const std::string copy = "et.cache.SequenceControl";
  CHECK(cache::same_face(cache::SequenceControl::kFaceName, copy.c_str()));
  CHECK(cache::same_face(copy.c_str(), copy.c_str()));
  CHECK_FALSE(cache::same_face(copy.c_str(), "et.cache.SequenceContro"));
  CHECK_FALSE(cache::same_face(nullptr, copy.c_str()));
  CHECK_FALSE(cache::same_face(copy.c_str(), nullptr));
  CHECK_FALSE(cache::same_face(nullptr, nullptr));
}

TEST_CASE("a cache finds its faces and no others") {
  TwoFaces both;
  REQUIRE(both.as<Alpha>() != nullptr);
  REQUIRE(both.as<Beta>() != nullptr);
  CHECK(both.as<Alpha>() == static_cast<Alpha*>(&both));
  CHECK(both.as<Alpha>()->alpha() == 1);
  CHECK(both.as<Beta>()->beta() == 2);
  CHECK(both.as<Gamma>() == nullptr);
  CHECK(both.as<Nameless>() == nullptr);
  CHECK(static_cast<void*>(both.as<AlphaElsewhere>()) == static_cast<void*>(both.as<Alpha>()));
  CHECK(NoFace().as<Alpha>() == nullptr);
}

TEST_CASE("the names of the faces") {
  CHECK(std::string(cache::SequenceControl::kFaceName) == "et.cache.SequenceControl");
  CHECK(std::string(cache::BatchControl::kFaceName) == "et.cache.BatchControl");
  CHECK(std::string(cache::SequencePlanner::kFaceName) == "et.cache.SequencePlanner");
}

TEST_CASE("configs are aggregates with defaults") {
  const cache::CacheConfig made = {64, 2, {{{cache::LayerPolicy::Kind::Ring, 8}, 2, 16}}, 6, 128, 4, 32};
  CHECK(made.capacity == 64);
  CHECK(made.n_layers == 2);
  CHECK(made.layers[0].policy.kind == cache::LayerPolicy::Kind::Ring);
  CHECK(made.layers[0].policy.window == 8);
  CHECK(made.layers[0].n_kv_heads == 2);
  CHECK(made.layers[0].head_dim == 16);
  CHECK(made.kv_dtype == 6);
  CHECK(made.initial_capacity == 128);
  CHECK(made.max_write == 4);
  CHECK(made.max_context == 32);
  CHECK(valid(made));

  const cache::CacheConfig blank;
  CHECK(blank.initial_capacity == 512);
  CHECK_FALSE(blank.max_write.has_value());
  CHECK_FALSE(blank.max_context.has_value());
  CHECK(static_cast<int>(cache::LayerPolicy{}.kind) == 0);
  CHECK(static_cast<int>(cache::LayerPolicy::Kind::Ring) == 1);
}

TEST_CASE("configs that contradict themselves are not valid") {
  const auto is_valid = [](void (*change)(cache::CacheConfig&)) {
    cache::CacheConfig changed = config(64, {0, 8, 0});
    change(changed);
    return valid(changed);
  };
  CHECK(is_valid([](cache::CacheConfig&) {}));
  CHECK(is_valid([](cache::CacheConfig& c) { c.layers.resize(1); }));
  CHECK(is_valid([](cache::CacheConfig& c) { c.max_write = 1; }));
  CHECK(is_valid([](cache::CacheConfig& c) { c.max_context = 1000; }));
  CHECK_FALSE(is_valid([](cache::CacheConfig& c) { c.capacity = 0; }));
  CHECK_FALSE(is_valid([](cache::CacheConfig& c) { c.capacity = -1; }));
  CHECK_FALSE(is_valid([](cache::CacheConfig& c) { c.n_layers = 0; }));
  CHECK_FALSE(is_valid([](cache::CacheConfig& c) { c.n_layers = -3; }));
  CHECK_FALSE(is_valid([](cache::CacheConfig& c) { c.layers.clear(); }));
  CHECK_FALSE(is_valid([](cache::CacheConfig& c) { c.layers.resize(2); }));
  CHECK_FALSE(is_valid([](cache::CacheConfig& c) { c.layers[1].policy.window = 0; }));
  CHECK_FALSE(is_valid([](cache::CacheConfig& c) { c.layers[1].policy.window = -8; }));
  CHECK_FALSE(is_valid([](cache::CacheConfig& c) { c.layers[2].policy.window = 8; }));
  CHECK_FALSE(is_valid([](cache::CacheConfig& c) { c.layers[1].policy.kind = static_cast<cache::LayerPolicy::Kind>(2); }));
  CHECK_FALSE(is_valid([](cache::CacheConfig& c) { c.layers[0].head_dim = -1; }));
  CHECK_FALSE(is_valid([](cache::CacheConfig& c) { c.initial_capacity = -1; }));
  CHECK_FALSE(is_valid([](cache::CacheConfig& c) { c.max_write = 0; }));
  CHECK_FALSE(is_valid([](cache::CacheConfig& c) { c.max_context = 0; }));
}
