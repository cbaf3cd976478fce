// Random use against a shadow pool: a plan never makes a backend read a row that does not hold the position that the plan
// says it holds, and every query sees exactly what it may see.
#include "test.hpp"

#include <cstdint>
#include <vector>

namespace {

using namespace test;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint32_t below(std::uint32_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33) % bound;
  }

 private:
  std::uint64_t state_;
};

/// What stands in a row: a token of the sequence as it was when it was written.
struct Row {
  std::uint32_t position = kvc::kUnbounded;
  std::uint32_t token = 0;
};

/// One model, its tokens, and the rows of each group's pool.
class Shadow {
 public:
  explicit Shadow(std::uint64_t seed) : random_(seed) {
    const std::uint32_t n_layers = 1 + random_.below(4);
    for (std::uint32_t i = 0; i < n_layers; ++i) {
      layers_.push_back(random_.below(3) == 0 ? Layer::flat() : Layer::ring(1 + random_.below(7), random_.below(4)));
    }
    const Config config =
        Config::of(8 + random_.below(40), layers_).with_max_write(random_.below(5)).with_rollback(random_.below(4));
    REQUIRE(cache_.init(config).ok());
    control_ = cache_.sequence_control();
    planner_ = cache_.sequence_planner();
    for (std::uint32_t i = 0; i < n_layers; ++i) {
      const kvc::LayerInfo info = cache_.layer(i).value();
      if (info.group == groups_.size()) groups_.push_back({info.layer, std::vector<Row>(info.rows)});
    }
    limit_ = cache_.config().value().max_write;
  }

  void run(int operations) {
    for (int i = 0; i < operations; ++i) {
      switch (random_.below(8)) {
        case 0: rewind(); break;
        case 1: clear_sometimes(); break;
        default: step(); break;
      }
      REQUIRE(control_.length().value() == tokens_.size());
    }
  }

  std::uint64_t rows_read() const { return rows_read_; }

 private:
  struct Group {
    kvc_layer_t layer;
    std::vector<Row> rows;
  };

  std::uint32_t length() const { return static_cast<std::uint32_t>(tokens_.size()); }

  void rewind() {
    const std::uint32_t target = random_.below(length() + 2);
    const std::uint32_t floor = control_.rewind_floor().value();
    const kvc::Status status = control_.rewind(target);
    if (target > length()) {
      REQUIRE(status == Code::CannotGrow);
      return;
    }
    if (target >= floor) REQUIRE(status.ok());
    if (status.ok()) {
      tokens_.resize(target);
    } else {
      REQUIRE(status == Code::Evicted);
    }
  }

  void clear_sometimes() {
    if (random_.below(10) != 0) return;
    REQUIRE(control_.clear().ok());
    tokens_.clear();
  }

  void step() {
    const std::uint32_t n = 1 + random_.below(limit_ < 6 ? limit_ : 6);
    kvc::SeqPlan plans[kvc::kMaxGroups];
    const auto planned = planner_.plan_step(length(), n, plans);
    if (!control_.can_extend(n).value()) {
      REQUIRE(!planned.ok());
      return;
    }
    REQUIRE(planned.ok());
    REQUIRE(planned.value().size() == groups_.size());
    const std::uint32_t base = length();
    for (std::uint32_t i = 0; i < n; ++i) tokens_.push_back(++newest_token_);
    for (const kvc::SeqPlan& plan : planned.value()) forward(plan);
    const std::uint32_t accepted = random_.below(3) == 0 ? random_.below(n + 1) : n;
    const std::uint32_t which = random_.below(static_cast<std::uint32_t>(groups_.size()));
    REQUIRE(planner_.commit(plans[which], accepted).ok());
    tokens_.resize(base + accepted);
  }

  /// What a backend does with one group: writes the new rows, then reads.
  void forward(const kvc::SeqPlan& plan) {
    Group& group = groups_.at(plan.group);
    for (const kvc::Run& run : plan.writes()) {
      for (std::uint32_t i = 0; i < run.len; ++i) {
        group.rows.at(run.start + i) = {run.pos + i, tokens_.at(run.pos + i)};
      }
    }
    std::vector<std::uint32_t> positions(plan.read_len);
    REQUIRE(plan.positions(positions).ok());
    std::size_t column = 0;
    for (const kvc::Run& run : plan.reads()) {
      for (std::uint32_t i = 0; i < run.len; ++i, ++column) {
        const Row row = group.rows.at(run.start + i);
        REQUIRE(row.position == run.pos + i);
        REQUIRE(row.token == tokens_.at(row.position));
        REQUIRE(positions.at(column) == row.position);
      }
    }
    REQUIRE(column == plan.read_len);
    rows_read_ += column;
    check_masks(group.layer, plan, positions);
  }

  void check_masks(const kvc_layer_t& layer, const kvc::SeqPlan& plan, const std::vector<std::uint32_t>& positions) {
    const std::size_t words = (plan.read_len + 31) / 32;
    std::vector<std::uint8_t> bytes(plan.n_tokens * positions.size());
    std::vector<std::uint32_t> bits(plan.n_tokens * words);
    REQUIRE(plan.mask_bytes(bytes, positions.size()).ok());
    REQUIRE(plan.mask_bits(bits, words).ok());
    for (std::uint32_t query = 0; query < plan.n_tokens; ++query) {
      const std::uint32_t at = plan.position + query;
      std::uint32_t seen = 0;
      for (std::size_t j = 0; j < positions.size(); ++j) {
        const std::uint32_t key = positions[j];
        const bool in_window = layer.window == 0 || key < layer.sinks || key + layer.window > at;
        const bool sees = key <= at && in_window;
        REQUIRE((bytes[query * positions.size() + j] == 1) == sees);
        REQUIRE((bits[query * words + j / 32] >> j % 32 & 1u) == (sees ? 1u : 0u));
        seen += sees ? 1 : 0;
      }
      REQUIRE(seen == visible(layer, at));
    }
  }

  /// How many positions a query may see: all of them must have been in the plan.
  static std::uint32_t visible(const kvc_layer_t& layer, std::uint32_t at) {
    if (layer.window == 0) return at + 1;
    const std::uint32_t first = at + 1 > layer.window ? at + 1 - layer.window : 0;
    const std::uint32_t sinks = layer.sinks < first ? layer.sinks : first;
    return at + 1 - first + sinks;
  }

  Random random_;
  std::vector<Layer> layers_;
  kvc::SequenceCache<4> cache_;
  kvc::SequenceControl control_;
  kvc::SequencePlanner planner_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> tokens_;
  std::uint32_t newest_token_ = 0;
  std::uint32_t limit_ = 0;
  std::uint64_t rows_read_ = 0;
};

TEST_CASE("no plan reads a row that holds something else") {
  std::uint64_t rows_read = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    Shadow shadow(seed);
    shadow.run(120);
    rows_read += shadow.rows_read();
  }
  CHECK(rows_read > 100000);
}

}  // namespace
