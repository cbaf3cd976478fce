// What must be refused, and that the method goes on working.
#include "checks.hpp"

#include "backend.hpp"
#include "runner.hpp"

#include <cmath>
#include <string>
#include <utility>

namespace {

// A cache in the registry for as long as this lives.
class Installed {
 public:
  explicit Installed(kvc_cache_t* cache) : cache_(cache) {
    good_ = cache != nullptr && kvc_session_open(&session_, kvc_registry_global(), nullptr, cache) == KVC_OK;
  }
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
  ~Installed() {
    kvc_session_close(&session_);
    if (cache_ != nullptr) kvc_cache_release(cache_);
  }
  const char* key() const { return session_.key; }
  kvc_cache_t* cache() const { return cache_; }
  bool good() const { return good_; }

 private:
  kvc_cache_t* cache_;
  kvc_session_t session_ = {};
  bool good_ = false;
};

kvc_cache_t* build(const Shape& shape, std::uint32_t capacity) {
  const RunnerConfig config(shape, capacity);
  kvc_cache_t* cache = nullptr;
  return build_cache(config.config, &cache, kSequenceKind) == KVC_OK ? cache : nullptr;
}

// A cache of a family that the backend does not know.
kvc_cache_t* other_kind(void* storage, std::size_t size) {
  static kvc_external_t table = {};
  table.struct_size = sizeof table;
  table.kind = KVC_KIND_PAGED;
  kvc_cache_t* cache = nullptr;
  return kvc_external_init(storage, size, &table, &table, &cache) == KVC_OK ? cache : nullptr;
}

std::vector<int> tokens_up_to(std::size_t n) {
  std::vector<int> tokens;
  for (std::size_t i = 0; i < n; ++i) tokens.push_back(static_cast<int>(7 * i % 101));
  return tokens;
}

// The error of a step whose inputs are of `shape`, for the positions `first` to `end`.
Error try_step(Forward& forward, const Shape& shape, std::size_t first, std::size_t end) {
  StepInputs inputs = make_step(shape, tokens_up_to(end), first);
  const Result<std::vector<float>> got = forward.run(shape, inputs);
  return got.ok() ? Error::Ok : got.error();
}

// Whether a good step answers what full attention does.
bool works(Forward& forward, const Shape& shape, std::size_t first, std::size_t end) {
  const std::vector<int> tokens = tokens_up_to(end);
  StepInputs inputs = make_step(shape, tokens, first);
  const Result<std::vector<float>> got = forward.run(shape, inputs);
  if (!got.ok()) return false;
  const std::vector<double> wanted = full_attention(shape, tokens, first);
  if (got->size() != wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!(std::fabs(static_cast<double>((*got)[i]) - wanted[i]) <= kTolerance)) return false;
  }
  return true;
}

void try_bad_loads(Forward& forward, const Shape& shape, Checks& checks) {
  alignas(KVC_ALIGN) static unsigned char storage[KVC_EXTERNAL_BYTES];
  const Installed paged(other_kind(storage, sizeof storage));
  Shape other = shape;
  other.head_dim += 2;
  const Installed other_heads(build(other, 64));
  other = shape;
  other.windows.resize(1);
  const Installed fewer_layers(build(other, 64));
  if (!checks.expect(paged.good() && other_heads.good() && fewer_layers.good(), "caches that do not fit are built")) {
    return;
  }
  checks.expect_error(forward.load(nullptr), Error::NotFound, "load without a key: NotFound");
  checks.expect_error(forward.load("nobody"), Error::NotFound, "load with an unknown key: NotFound");
  checks.expect_error(forward.load(std::string(100, 'k').c_str()), Error::InvalidArgument,
                      "load with a key over the limit: InvalidArgument");
  checks.expect_error(forward.load(paged.key()), Error::InvalidType, "load with the key of another kind: InvalidType");
  checks.expect_error(forward.load(other_heads.key()), Error::InvalidArgument,
                      "load with a cache for other heads: InvalidArgument");
  checks.expect_error(forward.load(fewer_layers.key()), Error::InvalidArgument,
                      "load with a cache of fewer layers: InvalidArgument");
}

void try_bad_shapes(Forward& forward, const Shape& shape, Checks& checks) {
  Shape wrong = shape;
  std::swap(wrong.n_heads, wrong.head_dim);
  checks.expect_error(try_step(forward, wrong, 2, 4), Error::InvalidArgument,
                      "heads and head size swapped: InvalidArgument");
  wrong = shape;
  wrong.n_kv_heads = 1;
  checks.expect_error(try_step(forward, wrong, 2, 4), Error::InvalidArgument, "wrong KV heads: InvalidArgument");
  wrong = shape;
  wrong.n_layers -= 1;
  checks.expect_error(try_step(forward, wrong, 2, 4), Error::InvalidArgument, "a layer too few: InvalidArgument");
  checks.expect_error(try_step(forward, shape, 4, 4), Error::InvalidArgument, "no tokens: InvalidArgument");
  StepInputs inputs = make_step(shape, tokens_up_to(4), 2);
  inputs.positions[1] = 7;
  const Result<std::vector<float>> got = forward.run(shape, inputs);
  checks.expect_error(got.ok() ? Error::Ok : got.error(), Error::InvalidArgument,
                      "positions that do not follow each other: InvalidArgument");
  checks.expect(works(forward, shape, 2, 4), "the next good step is right");
}

}  // namespace

void try_bad_inputs(const char* path, Checks& checks) {
  Forward forward(path);
  const Result<Shape> published = read_shape(forward.module());
  if (!checks.expect(published.ok(), "the program publishes its shape")) return;
  const Shape& shape = *published;
  const auto chunk = static_cast<std::size_t>(shape.chunk);
  try_bad_loads(forward, shape, checks);

  Shape smaller = shape;
  smaller.chunk = shape.chunk - 2;
  const Installed cache(build(smaller, 16));
  if (!checks.expect(cache.good() && forward.load(cache.key()) == Error::Ok, "the same program loads with a good key")) {
    return;
  }
  checks.expect(works(forward, shape, 0, 2), "and answers right");
  try_bad_shapes(forward, shape, checks);
  checks.expect_error(try_step(forward, shape, 5, 6), Error::InvalidArgument, "a gap in the positions: InvalidArgument");
  checks.expect_error(try_step(forward, shape, 4, 4 + chunk), Error::InvalidArgument,
                      "more tokens than the cache takes in a step: InvalidArgument");
  checks.expect_error(try_step(forward, shape, 4, 5 + chunk), Error::NotSupported,
                      "more tokens than the program takes: NotSupported, by the runtime");
  checks.expect(works(forward, shape, 4, 10) && works(forward, shape, 10, 15), "the next good steps are right");
  checks.expect_error(try_step(forward, shape, 15, 17), Error::OutOfResources, "beyond the capacity: OutOfResources");
  checks.expect(works(forward, shape, 15, 16), "the last position is still right");
  checks.expect(kvc_clear(cache.cache()) == KVC_OK && works(forward, shape, 0, 5), "after clear it begins anew");
}
