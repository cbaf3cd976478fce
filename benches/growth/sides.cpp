#include "sides.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "../measure.hpp"

namespace bench {

namespace {

constexpr uint32_t kLayers = 26;

std::vector<uint32_t> sequences(uint32_t n) {
  std::vector<uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

}  // namespace

OurCells::OurCells(const Shape& shape) : Caller(shape), shape_(shape), position_of_(shape.cells) {
  kvc_layer_t layer{};
  layer.kind = shape.window == 0 ? KVC_LAYER_FLAT : KVC_LAYER_RING;
  layer.window = shape.window;
  kvc_config_t config = kvc_config_default();
  config.capacity = shape.cells;
  config.max_write = kMaxWrite;
  config.max_seqs = shape.max_seqs;
  config.layers = &layer;
  config.n_layers = kLayers;
  config.n_layer_entries = 1;
  size_t size = 0;
  expect(kvc_cells_size(&config, &size) == KVC_OK);
  storage_.resize((size + 7) / 8);
  expect(kvc_cells_init(storage_.data(), size, &config, &cache_) == KVC_OK);
}

// Tokens that are placed before the last steps.
uint32_t OurCells::first_tokens() const {
  return shape_.cells - shape_.seqs - (shape_.holes ? 0 : shape_.room);
}

// Prompts of different lengths, half the pool at most; that of sequence 0 is the shortest.
std::vector<uint32_t> OurCells::prompts() const {
  const uint32_t mean = std::min(shape_.cells / 2, first_tokens()) / shape_.seqs;
  std::vector<uint32_t> prompts(shape_.seqs);
  for (uint32_t seq = 0; seq < shape_.seqs; ++seq) prompts[seq] = mean / 2 + mean * seq / shape_.seqs;
  return prompts;
}

// The sequence of each token, in the order in which they come: the prompts, cut into steps that take turns, then one
// token of each sequence after the other. With holes, a sequence that is released later has a token wherever one is to
// be.
std::vector<uint32_t> OurCells::tokens() const {
  std::vector<uint32_t> left = prompts();
  std::vector<uint32_t> order;
  for (bool more = true; more;) {
    more = false;
    for (uint32_t seq = 0; seq < shape_.seqs; ++seq) {
      const uint32_t n = std::min(left[seq], kMaxWrite);
      order.insert(order.end(), n, seq);
      left[seq] -= n;
      more = more || left[seq] > 0;
    }
  }
  const uint32_t total = first_tokens();
  for (uint32_t seq = 0; order.size() < total; seq = (seq + 1) % shape_.seqs) order.push_back(seq);
  const uint32_t every = shape_.holes ? total / shape_.room : total + 1;
  std::vector<uint32_t> tokens;
  for (size_t at = 0; tokens.size() < total; ++at) {
    if (tokens.size() % every == every - 1) tokens.push_back(shape_.seqs);
    if (tokens.size() < total) tokens.push_back(order[at]);
  }
  return tokens;
}

void OurCells::fill() {
  const std::vector<uint32_t> all = sequences(shape_.seqs);
  for (uint32_t seq = 0; seq < shape_.seqs + (shape_.holes ? 1 : 0); ++seq) expect(add() == seq);
  place_all(tokens());
  if (shape_.holes) expect(release(shape_.seqs) == KVC_OK);
  // With a window, until the sequence with the shortest prompt fills it too.
  const uint32_t steps = shape_.window == 0 ? 1 : shape_.window - prompts().front() + 1;
  for (uint32_t at = 0; at < steps; ++at) {
    expect(step(all));
    note(all);
  }
}

void OurCells::place_all(const std::vector<uint32_t>& tokens) {
  for (size_t at = 0; at < tokens.size(); at += kMaxWrite) {
    const size_t n = std::min<size_t>(kMaxWrite, tokens.size() - at);
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(at);
    const std::vector<uint32_t> some(first, first + static_cast<std::ptrdiff_t>(n));
    expect(step(some));
    note(some);
  }
}

void OurCells::note(const std::vector<uint32_t>& seqs) {
  for (size_t token = 0; token < seqs.size(); ++token) position_of_[rows[token]] = positions[token];
}

std::vector<scan::Cell> OurCells::found() const {
  const uint32_t words = (shape_.cells + 31) / 32;
  std::vector<uint32_t> bits(size_t{words} * shape_.seqs);
  expect(mask(bits.data(), words, shape_.seqs));
  std::vector<scan::Cell> cells(shape_.cells);
  for (uint32_t at = 0; at < shape_.cells; ++at) {
    cells[at].position = position_of_[at];
    for (uint32_t seq = 0; seq < shape_.seqs; ++seq) {
      cells[at].owners |= uint64_t{bits[size_t{seq} * words + at / 32] >> at % 32 & 1} << seq;
    }
  }
  return cells;
}

uint32_t OurCells::add() {
  uint32_t seq = 0;
  expect(kvc_batch_seq_new(cache_, &seq) == KVC_OK);
  next[seq] = 0;
  return seq;
}

uint32_t OurCells::defrag(std::vector<scan::Move>& moves) {
  static_assert(sizeof(scan::Move) == sizeof(kvc_move_t), "the same three numbers");
  uint32_t n = 0;
  auto* const out = reinterpret_cast<kvc_move_t*>(moves.data());
  expect(kvc_cells_defrag(cache_, 0, out, static_cast<uint32_t>(moves.size()), &n) == KVC_OK);
  return n;
}

uint32_t OurCells::length(uint32_t seq) const {
  uint32_t length = 0;
  expect(kvc_batch_seq_len(cache_, seq, &length) == KVC_OK);
  return length;
}

uint32_t OurCells::end(uint32_t seq) const {
  uint32_t end = 0;
  expect(kvc_batch_next_pos(cache_, seq, &end) == KVC_OK);
  return end;
}

uint32_t OurCells::free_rows() const {
  uint32_t room = 0;
  expect(kvc_batch_free_rows(cache_, &room) == KVC_OK);
  return room;
}

bool OurCells::can_admit(uint32_t seq, uint32_t n) const {
  bool can = false;
  expect(kvc_batch_can_admit(cache_, seq, n, &can) == KVC_OK);
  return can;
}

// All state lies in the storage, which stays where it is.
void OurCells::save() {
  saved_ = storage_;
  saved_next_ = next;
}

void OurCells::restore() {
  std::memcpy(storage_.data(), saved_.data(), saved_.size() * sizeof(uint64_t));
  next = saved_next_;
}

TheirCells::TheirCells(const Shape& shape)
    : Caller(shape), pool_(shape.cells, shape.window), saved_(shape.cells, shape.window) {}

TheirCells::TheirCells(const Shape& shape, const OurCells& ours) : TheirCells(shape) {
  const std::vector<scan::Cell> cells = ours.found();
  for (uint32_t at = 0; at < shape.cells; ++at) {
    if (cells[at].owners != 0) pool_.adopt(at, cells[at].position, cells[at].owners);
    live_ |= cells[at].owners;
  }
  next = ours.next;
}

uint32_t TheirCells::add() {
  const auto seq = static_cast<uint32_t>(__builtin_ctzll(~live_));
  live_ |= uint64_t{1} << seq;
  next[seq] = 0;
  return seq;
}

void TheirCells::save() {
  saved_ = pool_;
  saved_next_ = next;
  saved_live_ = live_;
}

void TheirCells::restore() {
  pool_ = saved_;
  next = saved_next_;
  live_ = saved_live_;
}

Pair::Pair(const Shape& the_shape)
    : shape(the_shape), all(sequences(the_shape.seqs)), ours(std::make_shared<OurCells>(the_shape)) {
  ours->fill();
  theirs = std::make_shared<TheirCells>(shape, *ours);
  ours->save();
  theirs->save();
}

}  // namespace bench
