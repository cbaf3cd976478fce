#include "peer.hpp"

#include <algorithm>

namespace scan {

namespace {

constexpr uint64_t bit(uint32_t seq) { return uint64_t{1} << seq; }

// Calls `f` with each member of a set.
template <class F>
void each(uint64_t set, F f) {
  for (; set != 0; set &= set - 1) f(static_cast<uint32_t>(__builtin_ctzll(set)));
}

}  // namespace

void CellPool::adopt(uint32_t at, uint32_t position, uint64_t owners) {
  cells_[at] = {position, 0, owners};
  ++used_;
}

// Highest position + 1 of every sequence; 0 for none.
CellPool::Ends CellPool::ends() const {
  Ends ends{};
  for (const Cell& cell : cells_) {
    each(cell.owners, [&](uint32_t seq) { ends[seq] = std::max(ends[seq], cell.position + 1); });
  }
  return ends;
}

// The owners whose window has not passed the cell.
uint64_t CellPool::kept(const Cell& cell, const Ends& ends) const {
  uint64_t kept = 0;
  each(cell.owners, [&](uint32_t seq) {
    if (cell.position + window_ > ends[seq]) kept |= bit(seq);
  });
  return kept;
}

void CellPool::drop(Cell& cell, uint64_t owners) {
  cell.owners &= ~owners;
  if (cell.owners == 0) {
    cell.delta = 0;
    --used_;
  }
}

bool CellPool::declare(const uint32_t* seqs, uint32_t n) {
  if (!can_admit(n)) return false;
  if (window_ != 0) {
    const Ends behind = ends();
    for (Cell& cell : cells_) {
      if (cell.owners == 0) continue;
      const uint64_t gone = cell.owners & ~kept(cell, behind);
      if (gone != 0) drop(cell, gone);
    }
  }
  step_seqs_.assign(seqs, seqs + n);
  return true;
}

bool CellPool::place(const uint32_t* positions, uint32_t n, uint32_t* rows) {
  if (n != step_seqs_.size()) return false;
  Ends behind = ends();
  for (uint32_t token = 0; token < n; ++token) {
    uint32_t& end = behind[step_seqs_[token]];
    if (positions[token] < end) return false;
    end = positions[token] + 1;
  }
  step_positions_.assign(positions, positions + n);
  uint32_t token = 0;
  for (uint32_t at = 0; token < n; ++at) {
    if (cells_[at].owners != 0) continue;
    cells_[at] = {positions[token], 0, bit(step_seqs_[token])};
    rows[token++] = at;
  }
  used_ += n;
  return true;
}

void CellPool::mask(uint32_t* out, uint32_t row_words) const {
  const uint32_t end = used_end();
  for (size_t token = 0; token < step_seqs_.size(); ++token) {
    const uint32_t seq = step_seqs_[token];
    const uint32_t position = step_positions_[token];
    uint32_t* const row = out + token * row_words;
    std::fill(row, row + row_words, 0u);
    for (uint32_t at = 0; at < end; ++at) {
      const Cell& cell = cells_[at];
      const bool owned = (cell.owners & bit(seq)) != 0;
      const bool near = window_ == 0 || position - cell.position < window_;
      if (owned && cell.position <= position && near) row[at / 32] |= 1u << at % 32;
    }
  }
}

void CellPool::clone(uint32_t src, uint32_t to, uint32_t upto) {
  for (Cell& cell : cells_) {
    if ((cell.owners & bit(src)) != 0 && cell.position < upto) cell.owners |= bit(to);
  }
}

void CellPool::remove(uint32_t seq, uint32_t from, uint32_t to) {
  for (Cell& cell : cells_) {
    if ((cell.owners & bit(seq)) != 0 && cell.position >= from && cell.position < to) drop(cell, bit(seq));
  }
}

bool CellPool::shift(uint32_t seq, uint32_t from, uint32_t to, int32_t delta) {
  if (delta == 0) return true;
  const auto inside = [=](const Cell& cell) {
    return (cell.owners & bit(seq)) != 0 && cell.position >= from && cell.position < to;
  };
  for (const Cell& cell : cells_) {
    if (inside(cell) && cell.owners != bit(seq)) return false;
  }
  for (Cell& cell : cells_) {
    if (!inside(cell)) continue;
    cell.position += static_cast<uint32_t>(delta);
    cell.delta += delta;
  }
  return true;
}

uint32_t CellPool::defrag(Move* out, uint32_t cap) {
  uint32_t n = 0;
  uint32_t hole = 0;
  uint32_t top = size();
  const auto is_free = [this](uint32_t at) { return cells_[at].owners == 0; };
  while (n < cap) {
    while (hole < top && !is_free(hole)) ++hole;
    while (top > hole && is_free(top - 1)) --top;
    if (hole >= top) break;
    uint32_t len = 1;
    while (hole + len < top - 1 - len && is_free(hole + len) && !is_free(top - 1 - len)) ++len;
    out[n] = {top - len, hole, len};
    move(out[n++]);
  }
  return n;
}

void CellPool::move(const Move& move) {
  for (uint32_t at = 0; at < move.len; ++at) {
    cells_[move.to + at] = cells_[move.from + at];
    cells_[move.from + at] = Cell{};
  }
}

uint32_t CellPool::length(uint32_t seq) const {
  uint32_t length = 0;
  for (const Cell& cell : cells_) length += cell.owners >> seq & 1;
  return length;
}

bool CellPool::can_admit(uint32_t n) const {
  if (n <= free_rows()) return true;
  if (window_ == 0) return false;
  const Ends behind = ends();
  uint32_t room = free_rows();
  for (const Cell& cell : cells_) {
    if (cell.owners != 0 && kept(cell, behind) == 0) ++room;
  }
  return n <= room;
}

uint32_t CellPool::used_end() const {
  uint32_t end = size();
  while (end > 0 && cells_[end - 1].owners == 0) --end;
  return end;
}

}  // namespace scan
