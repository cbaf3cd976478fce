// Both sides must name the same row for every position that a step writes or reads, before anything is timed.

#include <cstdio>
#include <utility>
#include <vector>

#include "ops.hpp"
#include "sides.hpp"

namespace bench {

namespace {

// (position, row), in order.
using Rows = std::vector<std::pair<uint32_t, uint32_t>>;

Rows our_rows(const kvc_run_t* runs, uint32_t n_runs) {
  Rows rows;
  for (const kvc_run_t* run = runs; run != runs + n_runs; ++run) {
    for (uint32_t at = 0; at < run->len; ++at) rows.emplace_back(run->pos + at, run->start + at);
  }
  return rows;
}

Rows their_rows(const peer::Run* runs, int n_runs, uint32_t position) {
  Rows rows;
  for (const peer::Run* run = runs; run != runs + n_runs; ++run) {
    for (int at = 0; at < run->len; ++at) rows.emplace_back(position++, static_cast<uint32_t>(run->start + at));
  }
  return rows;
}

bool plans_agree(const kvc_seq_plan_t& ours, const peer::Plan& theirs) {
  const auto read_from = static_cast<uint32_t>(theirs.read_from);
  return our_rows(ours.write, ours.n_write) == their_rows(theirs.write, theirs.n_write, ours.position) &&
         our_rows(ours.read, ours.n_read) == their_rows(theirs.read, theirs.n_read, read_from);
}

bool step_agrees(kvc_cache_t* ours, peer::SequenceCache& theirs, uint32_t position, uint32_t n) {
  kvc_seq_plan_t plans[KVC_MAX_GROUPS];
  uint32_t n_groups = 0;
  if (kvc_seq_plan_step(ours, position, n, plans, KVC_MAX_GROUPS, &n_groups) != KVC_OK || n_groups != 3) return false;
  for (uint32_t layer = 0; layer < kLayers; ++layer) {
    kvc_seq_plan_t plan;
    const auto their_plan = theirs.plan(static_cast<int>(layer), static_cast<int>(position), static_cast<int>(n));
    if (kvc_seq_plan(ours, layer, position, n, &plan) != KVC_OK || !their_plan || plan.group >= n_groups) return false;
    if (!plans_agree(plan, *their_plan) || !plans_agree(plans[plan.group], *their_plan)) return false;
    theirs.commit(*their_plan);
  }
  uint32_t length = 0;
  return kvc_seq_commit(ours, plans, n) == KVC_OK && kvc_length(ours, &length) == KVC_OK && length == position + n &&
         theirs.length() == static_cast<int>(length);
}

// Prefills and single tokens in turn, until the longest ring has come round several times.
bool plans_agree_everywhere() {
  const Model model = mixed_model();
  const Ours ours(model);
  const auto theirs = make_theirs(model);
  uint32_t position = 0;
  for (uint32_t step = 0; position < 6 * kLongWindow; ++step) {
    const uint32_t n = step % 3 == 0 ? step * 37 % kMaxWrite + 1 : 1;
    if (!step_agrees(ours.get(), *theirs, position, n)) {
      std::fprintf(stderr, "the sides disagree on the step of %u tokens at %u\n", n, position);
      return false;
    }
    position += n;
  }
  return true;
}

bool registries_agree() {
  Registries registries;
  for (uint32_t at = 0; at < Registries::kKeys; ++at) {
    kvc_cache_t* cache = nullptr;
    const bool found = kvc_registry_get(registries.ours, registries.keys[at].c_str(), &cache) == KVC_OK &&
                       cache == registries.our_caches[at]->get() && kvc_cache_release(cache) == KVC_OK;
    if (!found || registries.theirs.get(registries.keys[at]) != registries.their_caches[at]) {
      std::fprintf(stderr, "the registries disagree on %s\n", registries.keys[at].c_str());
      return false;
    }
  }
  kvc_cache_t* cache = nullptr;
  return kvc_registry_get(registries.ours, "cache-16", &cache) == KVC_ERR_NOT_FOUND &&
         registries.theirs.get("cache-16") == nullptr;
}

}  // namespace

bool sides_agree() { return plans_agree_everywhere() && registries_agree(); }

}  // namespace bench
