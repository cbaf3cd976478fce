// Many sequences in one step, over each kind of cache.
#include "backend.hpp"
#include "batch_runner.hpp"
#include "checks.hpp"
#include "speech.hpp"

#include <executorch/extension/llm/cache/cache_registry.h>

#include <cstdio>

namespace {

namespace kind = executorch::extension::llm::cache::kind;

// The branches of the script share cells, and do not share rows of their own.
constexpr std::uint32_t kCells = 192;
constexpr std::uint32_t kRows = 320;

const BatchKind kKinds[] = {
    {"cells", kCellsKind},
    {"cells split", kCellsKind, KVC_SPLIT_POOLS},
    {"rows", kRowsKind, 0, Source::Builder, true},
    {"C++ cells", kind::kBatchedCell, 0, Source::Compat},
    {"C++ rows", kind::kBatchedSequence, 0, Source::Compat, true},
};

// Calls that all have to succeed; the first that does not ends the batch.
class Script {
 public:
  explicit Script(Batch& batch) : batch_(batch) {}

  bool good() const { return good_; }

  void step(const std::vector<Batch::Part>& parts) {
    if (good_) expect(batch_.step(parts) == Error::Ok, "a step");
  }
  std::uint32_t add() {
    std::uint32_t seq = 0;
    if (good_) expect(batch_.add(seq) == KVC_OK, "a new sequence");
    return seq;
  }
  // A branch that gives up the last tokens.
  std::uint32_t fork(std::uint32_t src, std::size_t without) {
    std::uint32_t seq = 0;
    if (good_) expect(batch_.fork(src, batch_.length(src) - without, seq) == KVC_OK, "a branch");
    return seq;
  }
  void take_back(std::uint32_t seq, std::size_t n) {
    if (good_) expect(batch_.rewind(seq, batch_.length(seq) - n) == KVC_OK, "a rewind");
  }
  void release(std::uint32_t seq) {
    if (good_) expect(batch_.release(seq) == KVC_OK, "a release");
  }
  void expect(bool good, const char* what) {
    if (good_ && !good) std::printf("  %s fails: %s\n", batch_.kind().name, what);
    good_ = good_ && good;
  }

 private:
  Batch& batch_;
  bool good_ = true;
};

// What only kvcore's own cells do: a context shift, one sequence kept, cells moved together.
void shift_and_compact(Batch& batch, Script& script, std::uint32_t a, std::uint32_t branch) {
  script.expect(batch.move_all(branch, 1) == KVC_ERR_SHARED, "a shift of shared cells is refused");
  script.expect(batch.keep(a) == KVC_OK, "one sequence is kept");
  script.expect(batch.cut(a, 3, 5) == KVC_OK, "a context shift");
  script.step({{a, speech(1, 50, 3)}});
  script.expect(batch.cut(a, 3, 2) == KVC_OK, "a second one");
  script.expect(batch.compact() == Error::Ok, "the cells move together");
  for (int round = 0; round < 16; ++round) script.step({{a, speech(1, 51 + round, 1 + round % 3)}});
}

// Prefills, decoding together, branches, drafts of which some are rejected, sequences that come and go.
void talk_it_through(Batch& batch, Script& script) {
  const std::uint32_t a = script.add(), b = script.add();
  script.step({{a, speech(1, 1, 8)}});
  script.step({{a, speech(1, 2, 5)}, {b, speech(2, 1, 3)}});
  for (int round = 0; round < 6; ++round) script.step({{b, speech(2, 2 + round, 1)}, {a, speech(1, 3 + round, 1)}});
  const std::uint32_t branch = script.fork(a, 0), other = script.fork(a, 2);
  for (int round = 0; round < 6; ++round) {
    script.step({{a, speech(1, 10 + round, 1)},
                 {branch, speech(3, round, 2)},
                 {b, speech(2, 10 + round, 1)},
                 {other, speech(4, round, 1)}});
    if (round % 2 == 0) script.take_back(branch, 1);
  }
  script.step({{a, speech(1, 20, 1)}, {b, speech(2, 20, 1)}, {a, speech(1, 21, 2)}});  // one twice
  script.release(b);
  const std::uint32_t fresh = script.add();
  for (int round = 0; round < 20; ++round) {
    script.step({{branch, speech(3, 30 + round, 3)}, {fresh, speech(5, round, 2)}, {a, speech(1, 30 + round, 1)}});
    script.take_back(branch, static_cast<std::size_t>(round % 4));  // drafts
  }
  script.release(other);
  const std::uint32_t last = script.fork(branch, 1);
  for (int round = 0; round < 4; ++round) {
    script.step({{last, speech(6, round, 2)}, {branch, speech(3, 60 + round, 2)}});
  }
  if (script.good() && batch.kind().shifts()) shift_and_compact(batch, script, a, branch);
}

void print_row(const Batch& batch) {
  std::string windows;
  for (int window : batch.shape().windows) {
    windows += (windows.empty() ? "" : " ") + (window > 0 ? std::to_string(window) : std::string("all"));
  }
  std::printf("%-12s %-14s %9zu %6zu %6zu %6zu   %.1e\n", batch.kind().name, windows.c_str(), batch.most_sequences(),
              batch.most_tokens(), batch.steps(), batch.verbs(), batch.worst());
}

bool run(const char* path, const BatchKind& kind) {
  Error error = Error::Ok;
  const auto batch = Batch::open(path, kind.has_rows ? kRows : kCells, kind, error);
  if (batch == nullptr) {
    std::printf("%s: %s\n", kind.name, executorch::runtime::to_string(error));
    return false;
  }
  Script script(*batch);
  talk_it_through(*batch, script);
  print_row(*batch);
  return script.good() && batch->worst() <= kTolerance;
}

void try_bad_batch(const char* path, const BatchKind& kind, Checks& checks) {
  Error error = Error::Ok;
  const auto opened = Batch::open(path, 32, kind, error);
  std::uint32_t a = 0;
  if (!checks.expect(opened != nullptr && opened->add(a) == KVC_OK, kind.name)) return;
  Batch& batch = *opened;
  checks.expect_error(batch.run_at({0, 1}), Error::InvalidState, "nothing declared: InvalidState");
  checks.expect(batch.declare({a, a, a}) == KVC_OK, "three tokens are declared");
  checks.expect_error(batch.run_at({0, 1}), Error::InvalidState, "and two of them run: InvalidState");
  checks.expect_error(batch.run_at({1, 1, 2}), Error::InvalidArgument, "positions that stand still: InvalidArgument");
  checks.expect(batch.declare({a, 5}) == KVC_ERR_BAD_SEQUENCE, "an unknown sequence is not declared");
  checks.expect(batch.declare(std::vector<std::uint32_t>(33, a)) != KVC_OK, "nor is more than there is room for");
  checks.expect(batch.step({{a, speech(1, 1, 3)}}) == Error::Ok && batch.step({{a, speech(1, 2, 5)}}) == Error::Ok &&
                    batch.worst() <= kTolerance,
                "the next good steps are right");
}

}  // namespace

bool run_batches(const char* path) {
  std::printf("%-12s %-14s %9s %6s %6s %6s   %s\n", "batch", "windows", "sequences", "tokens", "steps", "verbs",
              "largest difference");
  bool good = true;
  for (const BatchKind& kind : kKinds) good = run(path, kind) && good;
  return good;
}

void try_bad_batches(const char* path, Checks& checks) {
  for (const BatchKind& kind : kKinds) {
    if (kind.flags == 0) try_bad_batch(path, kind, checks);
  }
}
