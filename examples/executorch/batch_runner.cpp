#include "batch_runner.hpp"

#include "backend.hpp"
#include "errors.hpp"

#include <executorch/extension/llm/cache/batched_sequence_cache.h>
#include <executorch/extension/llm/cache/cache_registry.h>
#include <executorch/extension/llm/cache/cell_cache.h>

#include <algorithm>
#include <cmath>

namespace {

namespace cache = executorch::extension::llm::cache;
using executorch::runtime::BackendOptions;

constexpr std::uint32_t kMaxSequences = 6;

// ExecuTorch's cache with private rows, whose clones need their rows copied.
class CopyingCache final : public cache::BatchedSequenceCache {
 public:
  using BatchedSequenceCache::BatchedSequenceCache;

  // The cache as C has it, of which this holds no reference.
  void set_handle(kvc_cache_t* handle) { handle_ = handle; }

 protected:
  void clone_bytes(int32_t src, int32_t dst) override {
    copy_clone(handle_, static_cast<std::uint32_t>(src), static_cast<std::uint32_t>(dst));
  }

 private:
  kvc_cache_t* handle_ = nullptr;
};

// Copies the values of some tokens, [line][token][element], to where they are among all tokens of a step, or back.
template <class To, class From, class Copy>
void for_tokens(To* step, From* part, std::size_t lines, std::size_t all, std::size_t first, std::size_t n,
                std::size_t dim, Copy copy) {
  for (std::size_t line = 0; line < lines; ++line) {
    for (std::size_t i = 0; i < n * dim; ++i) copy(step[(line * all + first) * dim + i], part[line * n * dim + i]);
  }
}

}  // namespace

struct Batch::CompatCache {
  CompatCache(std::shared_ptr<cache::Cache> built) : own(built), guard(std::move(built)) {}
  std::shared_ptr<cache::Cache> own;
  cache::InstallGuard guard;
};

Batch::Batch(const std::string& path, const BatchKind& kind) : forward_(path), kind_(kind) {}

Batch::~Batch() {
  kvc_session_close(&session_);
  compat_.reset();
  if (cache_ != nullptr) kvc_cache_release(cache_);
}

std::unique_ptr<Batch> Batch::open(const std::string& path, std::uint32_t capacity, const BatchKind& kind,
                                   Error& error) {
  std::unique_ptr<Batch> made(new Batch(path, kind));
  error = made->start(capacity);
  return error == Error::Ok ? std::move(made) : nullptr;
}

Error Batch::start(std::uint32_t capacity) {
  const Result<Shape> shape = read_shape(forward_.module());
  if (!shape.ok()) return shape.error();
  shape_ = *shape;
  return kind_.source == Source::Compat ? open_compat(capacity) : open_session(capacity);
}

Error Batch::open_session(std::uint32_t capacity) {
  RunnerConfig config(shape_, capacity);
  config.config.max_seqs = kMaxSequences;
  config.config.flags = kind_.flags;
  // What was rejected can be taken back where a window frees cells or rows.
  config.config.rollback = 4;
  kvc_status_t status = build_cache(config.config, &cache_, kind_.builder);
  if (status == KVC_OK) status = kvc_session_open(&session_, kvc_registry_global(), nullptr, cache_);
  return status == KVC_OK ? forward_.load(session_.key) : to_error(status);
}

Error Batch::open_compat(std::uint32_t capacity) {
  const Result<std::shared_ptr<cache::Cache>> built =
      cache::CacheFactory::global().build(kBackendId, kind_.builder, compat_config(shape_, capacity));
  if (!built.ok()) return built.error();
  compat_ = std::make_unique<CompatCache>(*built);
  BackendOptions<1> options;
  const char* key = nullptr;
  if (compat_->guard.set_option(options) != Error::Ok) return Error::Internal;
  if (options.get_option(cache::kCacheKeyOption, key) != Error::Ok) return Error::Internal;
  if (kvc_registry_get(kvc_registry_global(), key, &cache_) != KVC_OK) return Error::NotFound;
  // The builder below made it.
  if (kind_.has_rows) static_cast<CopyingCache*>(compat_->own.get())->set_handle(cache_);
  return forward_.load(key);
}

Error Batch::step(const std::vector<Part>& parts) {
  std::size_t n = 0;
  std::vector<std::uint32_t> seq_ids;
  for (const Part& part : parts) {
    n += part.second.size();
    seq_ids.insert(seq_ids.end(), part.second.size(), part.first);
  }
  const auto layers = static_cast<std::size_t>(shape_.n_layers), dim = static_cast<std::size_t>(shape_.head_dim);
  const std::size_t q_lines = layers * static_cast<std::size_t>(shape_.n_heads);
  const std::size_t kv_lines = layers * static_cast<std::size_t>(shape_.n_kv_heads);
  StepInputs inputs = {std::vector<float>(q_lines * n * dim), std::vector<float>(kv_lines * n * dim),
                       std::vector<float>(kv_lines * n * dim), {}};
  std::map<std::uint32_t, std::vector<int>> after = tokens_;
  std::size_t first = 0;
  for (const Part& part : parts) {
    std::vector<int>& all = after[part.first];
    const std::size_t from = all.size(), count = part.second.size();
    all.insert(all.end(), part.second.begin(), part.second.end());
    const StepInputs own = make_step(shape_, all, from);
    const auto into = [](float& to, const float& value) { to = value; };
    for_tokens(inputs.q.data(), own.q.data(), q_lines, n, first, count, dim, into);
    for_tokens(inputs.k.data(), own.k.data(), kv_lines, n, first, count, dim, into);
    for_tokens(inputs.v.data(), own.v.data(), kv_lines, n, first, count, dim, into);
    inputs.positions.insert(inputs.positions.end(), own.positions.begin(), own.positions.end());
    first += count;
  }
  const Error declared = to_error(declare(seq_ids));
  if (declared != Error::Ok) return declared;
  const Result<std::vector<float>> got = forward_.run(shape_, inputs);
  if (!got.ok()) {
    cancel(parts);
    return got.error();
  }
  first = 0;
  for (const Part& part : parts) {
    std::vector<int>& all = tokens_[part.first];
    const std::size_t from = all.size();
    all.insert(all.end(), part.second.begin(), part.second.end());
    compare(*got, n, first, all, from);
    first += part.second.size();
  }
  ++steps_;
  std::size_t held = 0;
  for (const auto& [seq, tokens] : tokens_) held += tokens.size();
  most_tokens_ = std::max(most_tokens_, held);
  return Error::Ok;
}

// The answers for the tokens from `from` on, which were the ones from `first` on of a step of `n` tokens.
void Batch::compare(const std::vector<float>& got, std::size_t n, std::size_t first, const std::vector<int>& tokens,
                    std::size_t from) {
  const std::vector<double> wanted = full_attention(shape_, tokens, from);
  const auto lines = static_cast<std::size_t>(shape_.n_layers * shape_.n_heads);
  for_tokens(got.data(), wanted.data(), lines, n, first, tokens.size() - from,
             static_cast<std::size_t>(shape_.head_dim), [this](const float& answer, const double& right) {
               const double difference = std::fabs(static_cast<double>(answer) - right);
               // What is no number stays the worst.
               if (!(difference <= worst_) && !std::isnan(worst_)) worst_ = difference;
             });
}

// Tokens count from the first layer that placed them.
void Batch::cancel(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    kvc_batch_rewind(cache_, part.first, static_cast<std::uint32_t>(tokens_[part.first].size()));
  }
}

kvc_status_t Batch::declare(const std::vector<std::uint32_t>& seq_ids) {
  return kvc_batch_declare_step(cache_, seq_ids.data(), static_cast<std::uint32_t>(seq_ids.size()));
}

Error Batch::run_at(const std::vector<std::int64_t>& positions) {
  StepInputs inputs = make_step(shape_, std::vector<int>(positions.size(), 1), 0);
  inputs.positions = positions;
  const Result<std::vector<float>> got = forward_.run(shape_, inputs);
  return got.ok() ? Error::Ok : got.error();
}

kvc_status_t Batch::count(kvc_status_t status) {
  if (status == KVC_OK) ++verbs_;
  most_sequences_ = std::max(most_sequences_, tokens_.size());
  return status;
}

kvc_status_t Batch::add(std::uint32_t& seq) {
  const kvc_status_t status = kvc_batch_seq_new(cache_, &seq);
  if (status == KVC_OK) tokens_[seq] = {};
  return count(status);
}

kvc_status_t Batch::fork(std::uint32_t src, std::size_t upto, std::uint32_t& seq) {
  const kvc_status_t status = kvc_batch_seq_clone(cache_, src, static_cast<std::uint32_t>(upto), &seq);
  if (status != KVC_OK) return status;
  tokens_[seq] = std::vector<int>(tokens_[src].begin(), tokens_[src].begin() + static_cast<std::ptrdiff_t>(upto));
  // A cache of C++ tells its own class.
  const bool copies = kind_.has_rows && kind_.source == Source::Builder;
  return count(!copies || copy_clone(cache_, src, seq) == Error::Ok ? KVC_OK : KVC_ERR_CORRUPT);
}

kvc_status_t Batch::release(std::uint32_t seq) {
  const kvc_status_t status = kvc_batch_seq_release(cache_, seq);
  if (status == KVC_OK) tokens_.erase(seq);
  return count(status);
}

kvc_status_t Batch::keep(std::uint32_t seq) {
  const kvc_status_t status = kvc_batch_seq_keep(cache_, seq);
  if (status == KVC_OK) tokens_ = {{seq, tokens_[seq]}};
  return count(status);
}

kvc_status_t Batch::rewind(std::uint32_t seq, std::size_t length) {
  const kvc_status_t status = kvc_batch_rewind(cache_, seq, static_cast<std::uint32_t>(length));
  if (status == KVC_OK) tokens_[seq].resize(length);
  return count(status);
}

kvc_status_t Batch::cut(std::uint32_t seq, std::size_t from, std::size_t n) {
  std::vector<int>& tokens = tokens_[seq];
  const auto behind = static_cast<std::uint32_t>(from + n), end = static_cast<std::uint32_t>(tokens.size());
  kvc_status_t status = kvc_batch_seq_remove(cache_, seq, static_cast<std::uint32_t>(from), behind);
  if (status == KVC_OK) status = kvc_batch_seq_shift(cache_, seq, behind, end, -static_cast<std::int32_t>(n));
  if (status != KVC_OK) return status;
  const auto at = tokens.begin() + static_cast<std::ptrdiff_t>(from);
  tokens.erase(at, at + static_cast<std::ptrdiff_t>(n));
  return count(KVC_OK);
}

kvc_status_t Batch::move_all(std::uint32_t seq, std::int32_t delta) {
  return kvc_batch_seq_shift(cache_, seq, 0, KVC_UNBOUNDED, delta);
}

Error Batch::compact() {
  const Error error = compact_cells(cache_);
  if (error == Error::Ok) ++verbs_;
  return error;
}

Error register_batched_builders() {
  cache::CacheFactory& factory = cache::CacheFactory::global();
  const auto cells = [](const cache::CacheConfig& config) { return std::make_shared<cache::CellCache>(config); };
  const auto rows = [](const cache::CacheConfig& config) { return std::make_shared<CopyingCache>(config); };
  const Error error = factory.register_builder(kBackendId, cache::kind::kBatchedCell, cells);
  return error == Error::Ok ? factory.register_builder(kBackendId, cache::kind::kBatchedSequence, rows) : error;
}
