// Random conversations over a CellCache, each answer compared with a model that keeps every token by itself.
#include "batch_support.h"

#include <algorithm>
#include <map>

namespace {

// What a sequence is made of: its positions, and who wrote each. Tokens are numbered as they are placed.
class Model {
 public:
  void create(int32_t seq) { held_[seq] = {}; }
  void clone(int32_t src, int32_t made, int upto) {
    const std::map<int, int> from = held_.at(src);
    std::map<int, int>& to = held_[made];
    for (const auto& [position, token] : from) {
      if (position < upto) to[position] = token;
    }
  }
  void drop(int32_t seq, int from) {
    std::map<int, int>& tokens = held_.at(seq);
    tokens.erase(tokens.lower_bound(from), tokens.end());
  }
  void release(int32_t seq) { held_.erase(seq); }
  void clear() { held_.clear(); }
  int place(int32_t seq, int position) {
    held_.at(seq)[position] = ++last_token_;
    return last_token_;
  }

  bool has(int32_t seq) const { return held_.count(seq) > 0; }
  int length(int32_t seq) const { return static_cast<int>(held_.at(seq).size()); }
  int next(int32_t seq) const { return held_.at(seq).empty() ? 0 : held_.at(seq).rbegin()->first + 1; }
  // Tokens that some sequence holds, each once.
  int used() const {
    std::map<int, int> tokens;
    for (const auto& [seq, own] : held_) {
      for (const auto& [position, token] : own) tokens[token] = position;
    }
    return static_cast<int>(tokens.size());
  }
  // The tokens that a query sees.
  std::vector<int> seen(int32_t seq, int position, int window) const {
    std::vector<int> tokens;
    for (const auto& [at, token] : held_.at(seq)) {
      if (at <= position && (window == 0 || position - at < window)) tokens.push_back(token);
    }
    std::sort(tokens.begin(), tokens.end());
    return tokens;
  }

 private:
  std::map<int32_t, std::map<int, int>> held_;
  int last_token_ = 0;
};

class Trial {
 public:
  Trial(std::uint64_t seed, std::vector<int> windows)
      : random_(seed), windows_(std::move(windows)), tried_(config(kCells, windows_)), pool_(kCells, 0) {}

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      act();
      for (int32_t seq = 0; seq < kSeqs; ++seq) {
        if (!model_.has(seq)) continue;
        REQUIRE(tried_.seq_len(seq) == model_.length(seq));
        REQUIRE(tried_.next_pos(seq) == model_.next(seq));
      }
      REQUIRE(tried_.free_cells() == kCells - model_.used());
      REQUIRE(tried_.used_end() >= model_.used());
    }
    CHECK(steps_ > rounds / 4);
  }

 private:
  static constexpr int kCells = 48;
  static constexpr int32_t kSeqs = 6;

  void act() {
    const int32_t seq = random_(kSeqs);
    if (!model_.has(seq)) {
      create();
      return;
    }
    switch (random_(12)) {
      case 0: clone(seq); break;
      case 1:
        CHECK(tried_.seq_rm(seq));
        model_.release(seq);
        break;
      case 2:
      case 3: {
        const int length = random_(model_.next(seq) + 3);
        CHECK(tried_.rewind(seq, length));
        model_.drop(seq, length);
        break;
      }
      case 4:
        if (random_(20) == 0) {
          tried_.clear();
          model_.clear();
        }
        break;
      default: step();
    }
  }

  void create() {
    const std::optional<int32_t> made = tried_.seq_new();
    REQUIRE(made.has_value());
    if (*made >= kSeqs) {
      CHECK(tried_.seq_rm(*made));
      return;
    }
    CHECK_FALSE(model_.has(*made));
    model_.create(*made);
  }

  void clone(int32_t seq) {
    const int upto = random_(model_.next(seq) + 2);
    const std::optional<int32_t> made = tried_.seq_clone(seq, upto);
    REQUIRE(made.has_value());
    if (*made >= kSeqs) {
      CHECK(tried_.seq_rm(*made));
    } else {
      model_.clone(seq, *made, upto);
    }
  }

  // Some tokens of some sequences, in any order, now and then with a gap.
  void step() {
    std::vector<int32_t> ids, positions;
    std::map<int32_t, int> next;
    for (int i = 1 + random_(6); i > 0; --i) {
      const int32_t seq = random_(kSeqs);
      if (!model_.has(seq)) continue;
      int& position = next.try_emplace(seq, model_.next(seq)).first->second;
      position += random_(8) == 0 ? random_(3) : 0;
      ids.push_back(seq);
      positions.push_back(position++);
    }
    const bool fits = !ids.empty() && static_cast<int>(ids.size()) <= kCells - model_.used();
    REQUIRE(tried_.declare_step(ids) == fits);
    if (!fits) return;
    ++steps_;
    std::vector<int> tokens;
    for (std::size_t i = 0; i < ids.size(); ++i) tokens.push_back(model_.place(ids[i], positions[i]));
    for (std::size_t index = 0; index < windows_.size(); ++index) {
      const cache::CellStep* const placed = place(tried_, static_cast<int>(index), positions);
      REQUIRE(placed != nullptr);
      check(*placed, ids, positions, tokens, windows_[index]);
    }
  }

  // Written is what the model says, and each query sees just the tokens that it should.
  void check(const cache::CellStep& placed, const std::vector<int32_t>& ids, const std::vector<int32_t>& positions,
             const std::vector<int>& tokens, int window) {
    REQUIRE(placed.length == static_cast<int>(ids.size()));
    REQUIRE(placed.cells.size() == ids.size());
    REQUIRE(placed.read_len <= kCells);
    REQUIRE(placed.read_len == tried_.used_end());
    for (std::size_t i = 0; i < ids.size(); ++i) pool_[static_cast<std::size_t>(placed.cells[i])] = tokens[i];
    const auto columns = static_cast<std::size_t>(placed.read_len);
    REQUIRE(placed.mask_bits.size() == ids.size() * columns);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      std::vector<int> seen;
      for (std::size_t j = 0; j < columns; ++j) {
        REQUIRE(placed.mask_bits[i * columns + j] <= 1);
        if (placed.mask_bits[i * columns + j] == 1) seen.push_back(pool_[j]);
      }
      std::sort(seen.begin(), seen.end());
      REQUIRE(seen == model_.seen(ids[i], positions[i], window));
    }
  }

  Random random_;
  std::vector<int> windows_;
  cache::CellCache tried_;
  Model model_;
  std::vector<int> pool_;  // the token that was written to each cell last
  int steps_ = 0;
};

}  // namespace

TEST_CASE("cells: every query sees just the tokens of its sequence, whatever happened before") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) Trial(seed, {0}).run(400);
  for (std::uint64_t seed = 20; seed <= 32; ++seed) Trial(seed, {3, 0, 9, 3}).run(400);
}
