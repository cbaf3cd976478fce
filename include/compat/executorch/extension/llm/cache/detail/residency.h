/// Which positions of a ring are certainly still in their rows.
#ifndef KVCORE_COMPAT_CACHE_RESIDENCY_H
#define KVCORE_COMPAT_CACHE_RESIDENCY_H

#include <executorch/extension/llm/cache/detail/layout.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// A set of positions, as ranges in ascending order that do not touch. Mostly it is one range.
class PositionSet {
 public:
  void add(Span span) {
    auto at = ranges_.begin();
    while (at != ranges_.end() && at->end < span.begin) ++at;
    while (at != ranges_.end() && at->begin <= span.end) {
      span = {std::min(at->begin, span.begin), std::max(at->end, span.end)};
      at = ranges_.erase(at);
    }
    ranges_.insert(at, span);
  }

  void remove(Span span) {
    for (std::size_t i = 0; i < ranges_.size();) {
      const Span range = ranges_[i];
      if (range.end <= span.begin || span.end <= range.begin) {
        ++i;
        continue;
      }
      const auto at = ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(i));
      const auto after = span.end < range.end ? ranges_.insert(at, {span.end, range.end}) : at;
      if (range.begin < span.begin) ranges_.insert(after, {range.begin, span.begin});
    }
  }

  /// Removes what shares a row of a ring of `rows` rows with a position of `span` without being in it.
  void remove_displaced(Span span, std::int64_t rows) {
    for (std::size_t i = 0; i < ranges_.size();) {
      const Span range = ranges_[i];
      // The first turn of the ring at which a copy of the span ends behind the beginning of the range.
      std::int64_t turn = floor_divide(range.begin - span.end, rows) + 1;
      if (turn == 0) turn = 1;
      const Span copy = {span.begin + turn * rows, span.end + turn * rows};
      if (copy.begin < range.end) {
        remove(copy);
      } else {
        ++i;
      }
    }
  }

  bool contains(Span span) const {
    const auto around = [span](Span range) { return range.begin <= span.begin && span.end <= range.end; };
    return span.begin >= span.end || std::any_of(ranges_.begin(), ranges_.end(), around);
  }

  /// The smallest `begin` such that `[begin, end)` is in the set.
  std::int64_t run_up_to(std::int64_t end) const {
    for (const Span& range : ranges_) {
      if (range.begin < end && end <= range.end) return range.begin;
    }
    return end;
  }

  /// The part of the set that is in `span`.
  PositionSet within(Span span) const {
    PositionSet part;
    for (const Span& range : ranges_) {
      const Span common = {std::max(range.begin, span.begin), std::min(range.end, span.end)};
      if (common.begin < common.end) part.ranges_.push_back(common);
    }
    return part;
  }

  void add(const PositionSet& other) {
    for (const Span& range : other.ranges_) add(range);
  }

  void remove(const PositionSet& other) {
    for (const Span& range : other.ranges_) remove(range);
  }

  void remove_displaced(const PositionSet& other, std::int64_t rows) {
    for (const Span& range : other.ranges_) remove_displaced(range, rows);
  }

 private:
  static std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
  }

  std::vector<Span> ranges_;
};

/// The residency of one ring, for plans at any position, in any order, that may or may not be carried out.
///
/// A plan is all that a cache hears before rows change. So from a plan on, whatever else stood in its rows is lost,
/// and its own positions stand in them only when the plan was committed and no later one took the rows. Of a step that
/// is committed without a plan that still has its rows (made by a fork, remembered, or taken over since) nobody knows
/// when it was written: then neither it nor what stood there is certain.
class RingResidency {
 public:
  explicit RingResidency(const Layout& layout) : layout_(layout) {}

  const Layout& layout() const { return layout_; }

  /// A step may be carried out from now on. One that is too long for the ring is not: no layer of it gets a plan.
  void plan(Span step) {
    if (step.end - step.begin > layout_.step_limit()) return;
    planned_.remove_displaced(step, layout_.ring_rows());
    held_.remove_displaced(step, layout_.ring_rows());
    planned_.add(step);
  }

  /// It was carried out, at some time since its plan.
  void commit(Span step) {
    if (step.end - step.begin > layout_.step_limit()) return;
    const PositionSet certain = planned_.within(step);
    PositionSet uncertain;
    uncertain.add(step);
    uncertain.remove(certain);
    planned_.remove_displaced(uncertain, layout_.ring_rows());
    held_.remove_displaced(uncertain, layout_.ring_rows());
    held_.add(certain);
  }

  /// Whether everything that a query at `length` sees is in its row.
  bool allows(std::int64_t length) const {
    return held_.contains({std::max<std::int64_t>(0, length - layout_.window() + 1), length});
  }

  /// The positions from `length` on are given up. Their rows still belong to the plans made for them.
  void rewind(std::int64_t length) { held_ = held_.within({0, length}); }

  /// The smallest length such that every one from there to `length` is allowed; more than `length` if none is.
  std::int64_t floor(std::int64_t length) const {
    if (layout_.window() == 1) return 0;
    const std::int64_t begin = held_.run_up_to(length);
    return begin == 0 ? 0 : std::min(begin + layout_.window() - 1, length + 1);
  }

 private:
  Layout layout_;
  PositionSet planned_;  // for which their row was planned last
  PositionSet held_;     // those of them that are certainly there, all below the length
};

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_RESIDENCY_H
