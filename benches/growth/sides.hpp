// The two sides, under the same names, so that an operation is written once for both.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kvcore.h"
#include "peer.hpp"

namespace bench {

// Most tokens of a step.
constexpr uint32_t kMaxWrite = 128;

// A pool and the sequences in it.
struct Shape {
  uint32_t cells;
  uint32_t seqs;
  uint32_t max_seqs;
  uint32_t window;  // 0: all history
  uint32_t room;    // free cells that are left; with holes at least so many
  bool holes;       // they are spread evenly over the pool, in place of behind all others
};

// What both sides have to remember for their caller: where each sequence goes on, and the rows of the last step.
struct Caller {
  explicit Caller(const Shape& shape) : next(shape.max_seqs), positions(kMaxWrite), rows(kMaxWrite) {}

  void plan(const std::vector<uint32_t>& seqs) {
    for (size_t token = 0; token < seqs.size(); ++token) positions[token] = next[seqs[token]]++;
  }
  void take_back(const std::vector<uint32_t>& seqs) {
    for (const uint32_t seq : seqs) --next[seq];
  }

  std::vector<uint32_t> next;
  std::vector<uint32_t> positions;
  std::vector<uint32_t> rows;
  uint32_t read_len = 0;
};

// A cell cache of kvcore.
class OurCells : public Caller {
 public:
  explicit OurCells(const Shape& shape);
  OurCells(const OurCells&) = delete;
  OurCells& operator=(const OurCells&) = delete;
  ~OurCells() { kvc_cache_release(cache_); }

  // Fills the pool as `shape` says; all sequences are in the last step.
  void fill();
  // Position and owners of every cell, as rows and masks told them. The last step was one of all sequences.
  std::vector<scan::Cell> found() const;

  uint32_t add();
  // Declares and places one token for each of `seqs`; false when it is refused.
  bool step(const std::vector<uint32_t>& seqs) {
    const auto n = static_cast<uint32_t>(seqs.size());
    plan(seqs);
    kvc_cell_step_t placed;
    if (kvc_batch_declare_step(cache_, seqs.data(), n) != KVC_OK ||
        kvc_cells_place_step(cache_, 0, positions.data(), n, rows.data(), &placed) != KVC_OK) {
      take_back(seqs);
      return false;
    }
    read_len = placed.read_len;
    return true;
  }
  bool mask(uint32_t* out, uint32_t row_words, uint32_t n) const {
    return kvc_cells_mask_bits(cache_, 0, out, size_t{row_words} * n, row_words) == KVC_OK;
  }
  kvc_status_t clone(uint32_t src, uint32_t* seq) {
    return kvc_batch_seq_clone(cache_, src, KVC_UNBOUNDED, seq);
  }
  kvc_status_t release(uint32_t seq) { return kvc_batch_seq_release(cache_, seq); }
  kvc_status_t rewind(uint32_t seq, uint32_t len) { return kvc_batch_rewind(cache_, seq, len); }
  kvc_status_t remove(uint32_t seq, uint32_t from, uint32_t to) {
    return kvc_batch_seq_remove(cache_, seq, from, to);
  }
  kvc_status_t shift(uint32_t seq, uint32_t from, uint32_t to, int32_t delta) {
    return kvc_batch_seq_shift(cache_, seq, from, to, delta);
  }
  uint32_t defrag(std::vector<scan::Move>& moves);
  uint32_t length(uint32_t seq) const;
  uint32_t end(uint32_t seq) const;
  uint32_t free_rows() const;
  bool can_admit(uint32_t seq, uint32_t n) const;

  // The state to which `restore` goes back.
  void save();
  void restore();

 private:
  uint32_t first_tokens() const;
  std::vector<uint32_t> prompts() const;
  std::vector<uint32_t> tokens() const;
  void place_all(const std::vector<uint32_t>& tokens);
  void note(const std::vector<uint32_t>& seqs);

  Shape shape_;
  std::vector<uint64_t> storage_;
  std::vector<uint64_t> saved_;
  std::vector<uint32_t> saved_next_;
  std::vector<uint32_t> position_of_;
  kvc_cache_t* cache_ = nullptr;
};

// The peer's pool.
class TheirCells : public Caller {
 public:
  // Empty.
  explicit TheirCells(const Shape& shape);
  // With what the other side holds.
  TheirCells(const Shape& shape, const OurCells& ours);

  uint32_t add();
  bool step(const std::vector<uint32_t>& seqs) {
    const auto n = static_cast<uint32_t>(seqs.size());
    plan(seqs);
    if (!pool_.declare(seqs.data(), n) || !pool_.place(positions.data(), n, rows.data())) {
      take_back(seqs);
      return false;
    }
    read_len = pool_.used_end();
    return true;
  }
  bool mask(uint32_t* out, uint32_t row_words, uint32_t) const {
    pool_.mask(out, row_words);
    return true;
  }
  kvc_status_t clone(uint32_t src, uint32_t* seq) {
    *seq = add();
    pool_.clone(src, *seq, KVC_UNBOUNDED);
    return KVC_OK;
  }
  kvc_status_t release(uint32_t seq) {
    pool_.remove(seq, 0, KVC_UNBOUNDED);
    live_ &= ~(uint64_t{1} << seq);
    return KVC_OK;
  }
  kvc_status_t rewind(uint32_t seq, uint32_t len) {
    pool_.remove(seq, len, KVC_UNBOUNDED);
    return KVC_OK;
  }
  kvc_status_t remove(uint32_t seq, uint32_t from, uint32_t to) {
    pool_.remove(seq, from, to);
    return KVC_OK;
  }
  kvc_status_t shift(uint32_t seq, uint32_t from, uint32_t to, int32_t delta) {
    return pool_.shift(seq, from, to, delta) ? KVC_OK : KVC_ERR_SHARED;
  }
  uint32_t defrag(std::vector<scan::Move>& moves) {
    return pool_.defrag(moves.data(), static_cast<uint32_t>(moves.size()));
  }
  uint32_t length(uint32_t seq) const { return pool_.length(seq); }
  uint32_t end(uint32_t seq) const { return pool_.end(seq); }
  uint32_t free_rows() const { return pool_.free_rows(); }
  bool can_admit(uint32_t, uint32_t n) const { return pool_.can_admit(n); }

  void save();
  void restore();

 private:
  scan::CellPool pool_;
  scan::CellPool saved_;
  std::vector<uint32_t> saved_next_;
  uint64_t live_ = 0;
  uint64_t saved_live_ = 0;
};

// Both sides in the same state.
struct Pair {
  // Filled, and saved.
  explicit Pair(const Shape& shape);

  Shape shape;
  std::vector<uint32_t> all;  // the sequences
  std::shared_ptr<OurCells> ours;
  std::shared_ptr<TheirCells> theirs;
};

}  // namespace bench
