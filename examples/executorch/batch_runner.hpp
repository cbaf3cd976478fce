// The application's side of many sequences: which go into a step, and what becomes of them between steps.
#pragma once

#include "runner.hpp"

#include <map>
#include <utility>

// Which cache serves a batch.
struct BatchKind {
  const char* name;     // in the report
  const char* builder;  // kind in the registry: kvcore's own, or ExecuTorch's
  std::uint32_t flags = 0;
  Source source = Source::Builder;
  bool has_rows = false;  // private rows, which a clone copies

  // What kvcore's cells can do, and no other kind.
  bool shifts() const { return source == Source::Builder && !has_rows; }
};

// Some sequences over one program. Every answer of the model is compared with full attention over the same tokens.
class Batch {
 public:
  // Tokens of a sequence in a step.
  using Part = std::pair<std::uint32_t, std::vector<int>>;

  // Null when something failed; `error` says what.
  static std::unique_ptr<Batch> open(const std::string& path, std::uint32_t capacity, const BatchKind& kind,
                                     Error& error);
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // One step, in this order; a sequence may appear twice. A step that fails takes nothing.
  Error step(const std::vector<Part>& parts);
  // Announces a step, and runs it for tokens at these positions whatever was announced.
  kvc_status_t declare(const std::vector<std::uint32_t>& seq_ids);
  Error run_at(const std::vector<std::int64_t>& positions);

  kvc_status_t add(std::uint32_t& seq);
  // A branch with the first `upto` tokens.
  kvc_status_t fork(std::uint32_t src, std::size_t upto, std::uint32_t& seq);
  kvc_status_t release(std::uint32_t seq);
  kvc_status_t keep(std::uint32_t seq);
  kvc_status_t rewind(std::uint32_t seq, std::size_t length);
  // Forgets `n` tokens from `from` on; those behind move up.
  kvc_status_t cut(std::uint32_t seq, std::size_t from, std::size_t n);
  // Moves a whole sequence, of which the tokens here know nothing: for what must be refused.
  kvc_status_t move_all(std::uint32_t seq, std::int32_t delta);
  Error compact();

  const Shape& shape() const { return shape_; }
  const BatchKind& kind() const { return kind_; }
  std::size_t length(std::uint32_t seq) const { return tokens_.at(seq).size(); }
  std::size_t steps() const { return steps_; }
  std::size_t verbs() const { return verbs_; }
  // Most sequences and tokens at a time.
  std::size_t most_sequences() const { return most_sequences_; }
  std::size_t most_tokens() const { return most_tokens_; }
  // Largest difference of an output element from full attention, so far.
  double worst() const { return worst_; }

 private:
  struct CompatCache;

  Batch(const std::string& path, const BatchKind& kind);
  Error start(std::uint32_t capacity);
  Error open_session(std::uint32_t capacity);
  Error open_compat(std::uint32_t capacity);
  // One more verb, if it was done.
  kvc_status_t count(kvc_status_t status);
  void compare(const std::vector<float>& got, std::size_t n, std::size_t first, const std::vector<int>& tokens,
               std::size_t from);
  void cancel(const std::vector<Part>& parts);

  Forward forward_;
  BatchKind kind_;
  Shape shape_;
  kvc_cache_t* cache_ = nullptr;
  kvc_session_t session_ = {};
  std::unique_ptr<CompatCache> compat_;
  std::map<std::uint32_t, std::vector<int>> tokens_;
  std::size_t steps_ = 0;
  std::size_t verbs_ = 0;
  std::size_t most_sequences_ = 0;
  std::size_t most_tokens_ = 0;
  double worst_ = 0;
};

// Registers ExecuTorch's two kinds of caches of many sequences, on kvcore.
Error register_batched_builders();

// Batches over each kind of cache; false when one of them went wrong.
bool run_batches(const char* path);
