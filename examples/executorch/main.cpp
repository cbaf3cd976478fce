// Conversations over the real ExecuTorch runtime, each answer compared with full attention without a cache.
//
//   executorch_demo FLAT.pte RING.pte MIXED.pte
#include "backend.hpp"
#include "batch_runner.hpp"
#include "checks.hpp"
#include "runner.hpp"
#include "speech.hpp"

#include <executorch/extension/llm/cache/cache_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr std::uint32_t kCapacity = 256;

// Calls that all have to succeed; the first that does not ends the conversation.
class Talk {
 public:
  explicit Talk(Conversation& conversation) : conversation_(conversation) {}

  void prefill(const std::vector<int>& tokens) {
    if (good_) good_ = conversation_.prefill(tokens) == Error::Ok;
  }
  void decode(const std::vector<int>& tokens) {
    for (int token : tokens) {
      if (good_) good_ = conversation_.step({token}) == Error::Ok;
    }
  }
  // One step of drafts, of which the last ones are rejected.
  void draft(const std::vector<int>& tokens, std::size_t rejected) {
    if (good_) good_ = conversation_.step(tokens) == Error::Ok;
    if (rejected > 0) take_back(rejected);
  }
  void take_back(std::size_t n) {
    if (good_) good_ = conversation_.take_back(n) == KVC_OK;
  }
  // A rewind to the beginning: only flat layers can.
  void rewind_far() {
    const std::vector<int>& windows = conversation_.shape().windows;
    const bool has_ring = std::any_of(windows.begin(), windows.end(), [](int window) { return window > 0; });
    if (good_) good_ = conversation_.rewind(1) == (has_ring ? KVC_ERR_EVICTED : KVC_OK);
  }
  void close_session() { conversation_.close_session(); }
  bool good() const { return good_; }

 private:
  Conversation& conversation_;
  bool good_ = true;
};

// Two turns, the second taken back and said otherwise; drafts; a rewind too far; a session closed early.
void talk_it_through(Talk& talk, int speaker) {
  talk.prefill(speech(speaker, 1, 19));
  talk.decode(speech(speaker, 2, 6));
  talk.prefill(speech(speaker, 3, 4));
  talk.decode(speech(speaker, 4, 4));
  talk.take_back(8);
  talk.prefill(speech(speaker, 5, 5));
  talk.decode(speech(speaker, 6, 9));
  for (int round = 0; round < 12; ++round) talk.draft(speech(speaker, 10 + round, 4), static_cast<std::size_t>(round % 5));
  talk.rewind_far();
  talk.prefill(speech(speaker, 7, 11));
  talk.decode(speech(speaker, 8, 3));
  talk.close_session();
  talk.decode(speech(speaker, 9, 5));
}

void print_row(const char* name, const char* cache, const Conversation& conversation) {
  std::string windows;
  for (int window : conversation.shape().windows) {
    windows += (windows.empty() ? "" : " ") + (window > 0 ? std::to_string(window) : std::string("all"));
  }
  std::printf("%-7s %-8s %-14s %6zu %6zu %8zu   %.1e\n", name, cache, windows.c_str(), conversation.length(),
              conversation.steps(), conversation.rewinds(), conversation.worst());
}

bool is_close(const Conversation& conversation) { return conversation.worst() <= kTolerance; }

bool converse(const char* name, const char* path, Source source) {
  Error error = Error::Ok;
  const auto conversation = Conversation::open(path, kCapacity, source, error);
  if (conversation == nullptr) {
    std::printf("%s: %s\n", name, executorch::runtime::to_string(error));
    return false;
  }
  Talk talk(*conversation);
  talk_it_through(talk, 1);
  print_row(name, source == Source::Compat ? "C++" : "kvcore", *conversation);
  return talk.good() && is_close(*conversation);
}

// Two conversations over one program, a step here and a step there.
bool interleave(const char* path) {
  Error error = Error::Ok;
  const auto one = Conversation::open(path, kCapacity, Source::Builder, error);
  const auto other = Conversation::open(path, kCapacity, Source::Builder, error);
  if (one == nullptr || other == nullptr) return false;
  Talk first(*one), second(*other);
  first.prefill(speech(1, 1, 17));
  for (int round = 0; round < 10; ++round) {
    second.prefill(speech(2, round, 3));
    first.decode(speech(1, 20 + round, 2));
    second.draft(speech(2, 20 + round, 4), 3);
    if (round == 6) first.close_session();
    if (round < 6) first.draft(speech(1, 40 + round, 3), 1);
  }
  print_row("mixed", "two: a", *one);
  print_row("", "two: b", *other);
  return first.good() && second.good() && is_close(*one) && is_close(*other);
}

std::shared_ptr<executorch::extension::llm::cache::Cache> build_compat(
    const executorch::extension::llm::cache::CacheConfig& config) {
  return std::make_shared<executorch::extension::llm::cache::SequenceCache>(config);
}

bool set_up() {
  using executorch::extension::llm::cache::CacheFactory;
  namespace kind = executorch::extension::llm::cache::kind;
  executorch::runtime::runtime_init();
  return register_kvcore_backend() == Error::Ok &&
         CacheFactory::global().register_builder(kBackendId, kind::kSingle, build_compat) == Error::Ok &&
         register_batched_builders() == Error::Ok;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: executorch_demo FLAT.pte RING.pte MIXED.pte\n");
    return 2;
  }
  Checks checks;
  checks.expect(set_up(), "backend and builders are registered");
  std::printf("\n%-7s %-8s %-14s %6s %6s %8s   %s\n", "layers", "cache", "windows", "tokens", "steps", "rewinds",
              "largest difference");
  const bool flat = converse("flat", argv[1], Source::Builder);
  const bool ring = converse("ring", argv[2], Source::Builder);
  const bool mixed = converse("mixed", argv[3], Source::Builder);
  const bool compat = converse("mixed", argv[3], Source::Compat);
  const bool both = interleave(argv[3]);
  std::printf("\n");
  const bool batches = run_batches(argv[3]);
  std::printf("\n");
  checks.expect(flat, "flat layers: as full attention, to 1e-5");
  checks.expect(ring, "ring layers: as full attention, to 1e-5");
  checks.expect(mixed, "mixed layers: as full attention, to 1e-5");
  checks.expect(compat, "the same with a cache of the C++ interface");
  checks.expect(both, "two sessions interleaved, one closed early");
  checks.expect(batches, "many sequences in one step, in cells and in rows of their own: as full attention, to 1e-5");
  try_bad_inputs(argv[3], checks);
  try_bad_batches(argv[3], checks);
  checks.expect(live_caches() == 0, "every cache has ended");
  std::printf("\n%d passed, %d failed\n", checks.passed(), checks.failed());
  return checks.failed() == 0 ? 0 : 1;
}
