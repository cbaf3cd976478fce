// The comparison for growth: a pool of cells as today's runtimes keep it, over the standard library.
//
// One array of cells, each a position and the set of its owners; whatever has to be known is found by going over the
// array. The number of used cells is the only thing that is kept beside it. Passes are joined where one can serve, none
// is made twice, and a step looks for all its free cells in one. No lock, no look for two cells of a sequence at the same
// position, no record of what a window dropped: it does less than kvcore.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace scan {

constexpr uint32_t kMaxSeqs = 64;

struct Cell {
  uint32_t position;
  int32_t delta;    // by how much the row has still to be rotated
  uint64_t owners;  // bit s: sequence s; 0: free
};

struct Move {
  uint32_t from;
  uint32_t to;
  uint32_t len;
};

class CellPool {
 public:
  // Window 0: all history.
  CellPool(uint32_t cells, uint32_t window) : window_(window), cells_(cells) {}

  // Sets a cell that is free, as another pool has it.
  void adopt(uint32_t at, uint32_t position, uint64_t owners);

  // The sequence of each token of the next step; lets go of what is behind the window. False when there is no room.
  bool declare(const uint32_t* seqs, uint32_t n);
  // The lowest free cell for each token. False when a position is not above all of its sequence.
  bool place(const uint32_t* positions, uint32_t n, uint32_t* rows);
  // A row of `row_words` words for each token of the step, a bit a cell.
  void mask(uint32_t* out, uint32_t row_words) const;

  void clone(uint32_t src, uint32_t to, uint32_t upto);
  void remove(uint32_t seq, uint32_t from, uint32_t to);
  // False when another sequence owns one of the cells too; nothing has moved then.
  bool shift(uint32_t seq, uint32_t from, uint32_t to, int32_t delta);
  // At most `cap` moves of the highest cells into the lowest holes.
  uint32_t defrag(Move* out, uint32_t cap);

  uint32_t length(uint32_t seq) const;
  // Highest position + 1; 0 for none.
  uint32_t end(uint32_t seq) const { return ends()[seq]; }
  uint32_t free_rows() const { return size() - used_; }
  bool can_admit(uint32_t n) const;
  // Highest used cell + 1.
  uint32_t used_end() const;

 private:
  using Ends = std::array<uint32_t, kMaxSeqs>;

  uint32_t size() const { return static_cast<uint32_t>(cells_.size()); }
  Ends ends() const;
  uint64_t kept(const Cell& cell, const Ends& ends) const;
  void drop(Cell& cell, uint64_t owners);
  void move(const Move& move);

  uint32_t window_;
  uint32_t used_ = 0;
  std::vector<Cell> cells_;
  std::vector<uint32_t> step_seqs_;
  std::vector<uint32_t> step_positions_;
};

}  // namespace scan
