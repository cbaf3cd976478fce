/// A C++ cache as C sees it: an external cache of kvcore.
#ifndef KVCORE_COMPAT_CACHE_C_VIEW_H
#define KVCORE_COMPAT_CACHE_C_VIEW_H

#include <executorch/extension/llm/cache/detail/c_batch_view.h>
#include <executorch/extension/llm/cache/detail/c_plan.h>
#include <executorch/extension/llm/cache/sequence_cache.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// Keeps a C++ cache for as long as C holds references, and answers C's calls through its faces.
///
/// The calls follow kvcore's rules where the cache lets them. A `SequenceCache`, derived or not, answers all of the
/// one-sequence calls. For a cache that implements the faces on its own, `kvc_length`, `kvc_rewind_floor` and
/// `kvc_seq_plan_step` answer `KVC_ERR_UNSUPPORTED`, since those faces do not tell; a step may begin at any position
/// that the cache accepts; a step that it refuses is `KVC_ERR_UNSUPPORTED` and a rewind `KVC_ERR_EVICTED`, whatever
/// the reason. A face that is not offered is `KVC_ERR_WRONG_KIND`. Many sequences: see `CBatchView`.
class CView {
 public:
  /// The face under which kvcore keeps the view.
  static constexpr const char* kFaceName = "kvcore.compat.Cache";

  /// A cache for C, with one reference for the caller; null when there is no memory for it.
  static kvc_cache_t* create(std::shared_ptr<Cache> cache) {
    auto* view = new (std::nothrow) CView(std::move(cache));
    if (view == nullptr) return nullptr;
    kvc_cache_t* handle = nullptr;
    if (kvc_external_init(view->storage_, sizeof view->storage_, &view->table_, view, &handle) != KVC_OK) {
      delete view;
      return nullptr;
    }
    // Nobody else knows the cache yet, so that neither call can fail.
    kvc_cache_on_release(handle, release, view);
    kvc_cache_set_face(handle, kFaceName, view, nullptr);
    return handle;
  }

  const std::shared_ptr<Cache>& cache() const { return cache_; }
  CBatchView& batch() { return batch_; }

 private:
  explicit CView(std::shared_ptr<Cache> cache)
      : cache_(std::move(cache)),
        control_(cache_->as<SequenceControl>()),
        planner_(cache_->as<SequencePlanner>()),
        core_(cache_->as<SequenceCore>()),
        batch_(*cache_),
        table_() {
    any_control_ = control_ != nullptr ? static_cast<CacheControl*>(control_) : batch_.control();
    table_.struct_size = sizeof table_;
    table_.kind = batch_.control() == nullptr ? KVC_KIND_SEQUENCE : batch_.kind();
    batch_.fill<CView>(table_);
    if (any_control_ != nullptr) {
      table_.capacity = capacity;
      table_.clear = clear;
    }
    if (control_ != nullptr) {
      table_.can_extend = can_extend;
      table_.length = length;
      table_.rewind = rewind;
      table_.rewind_floor = rewind_floor;
    }
    if (planner_ != nullptr) {
      table_.seq_plan = seq_plan;
      table_.seq_plan_step = seq_plan_step;
      table_.seq_commit = seq_commit;
    }
  }

  static CView& at(void* object) { return *static_cast<CView*>(object); }

  static void release(void* context, void*) noexcept { delete &at(context); }

  static std::int32_t capacity(void* object, std::uint32_t* out) noexcept {
    *out = static_cast<std::uint32_t>(std::max(0, at(object).any_control_->capacity()));
    return KVC_OK;
  }

  static std::int32_t clear(void* object) noexcept {
    at(object).any_control_->clear();
    at(object).close_step();
    return KVC_OK;
  }

  static std::int32_t can_extend(void* object, std::uint32_t n, bool* out) noexcept {
    *out = n <= INT_MAX && at(object).control_->can_extend(static_cast<int>(n));
    return KVC_OK;
  }

  static std::int32_t length(void* object, std::uint32_t* out) noexcept {
    const SequenceCore* const core = at(object).core_;
    if (core == nullptr) return KVC_ERR_UNSUPPORTED;
    *out = static_cast<std::uint32_t>(core->length());
    return KVC_OK;
  }

  static std::int32_t rewind(void* object, std::uint32_t new_len) noexcept {
    CView& view = at(object);
    const std::uint32_t most = view.core_ != nullptr ? static_cast<std::uint32_t>(view.core_->length()) : INT_MAX;
    if (new_len > most) return KVC_ERR_CANNOT_GROW;
    if (!view.control_->rewind(static_cast<int>(new_len))) return KVC_ERR_EVICTED;
    view.close_step();
    return KVC_OK;
  }

  static std::int32_t rewind_floor(void* object, std::uint32_t* out) noexcept {
    const SequenceCore* const core = at(object).core_;
    if (core == nullptr) return KVC_ERR_UNSUPPORTED;
    *out = static_cast<std::uint32_t>(core->rewind_floor());
    return KVC_OK;
  }

  static std::int32_t seq_plan(void* object, std::uint32_t layer, std::uint32_t position, std::uint32_t n,
                               kvc_seq_plan_t* out) noexcept {
    const CView& view = at(object);
    if (layer > INT_MAX) return KVC_ERR_BAD_LAYER;
    if (view.core_ != nullptr && static_cast<int>(layer) >= view.core_->n_layers()) return KVC_ERR_BAD_LAYER;
    const CStep before = view.step().get();
    CStep step = before;
    kvc_seq_plan_t plan;
    kvc_status_t status = view.begin(step, static_cast<int>(layer), position, n);
    if (status == KVC_OK) status = view.plan_layer(static_cast<int>(layer), step, plan);
    if (status == KVC_OK) status = view.publish(before, step);
    if (status != KVC_OK) return status;
    plan.epoch = step.epoch;
    *out = plan;
    return KVC_OK;
  }

  static std::int32_t seq_plan_step(void* object, std::uint32_t position, std::uint32_t n, kvc_seq_plan_t* plans,
                                    std::uint32_t cap, std::uint32_t* n_groups) noexcept {
    const CView& view = at(object);
    if (view.core_ == nullptr) return KVC_ERR_UNSUPPORTED;
    const auto groups = static_cast<std::uint32_t>(view.core_->n_groups());
    if (cap < groups) {
      *n_groups = groups;
      return KVC_ERR_BUFFER_TOO_SMALL;
    }
    const CStep before = view.step().get();
    CStep step = before;
    kvc_status_t status = view.begin(step, 0, position, n);
    std::vector<kvc_seq_plan_t> made(groups);
    for (std::uint32_t group = 0; group < groups && status == KVC_OK; ++group) {
      status = view.plan_layer(view.core_->first_layer(static_cast<int>(group)), step, made[group]);
    }
    if (status == KVC_OK) status = view.publish(before, step);
    if (status != KVC_OK) return status;
    for (kvc_seq_plan_t& plan : made) plan.epoch = step.epoch;
    std::copy(made.begin(), made.end(), plans);
    *n_groups = groups;
    return KVC_OK;
  }

  static std::int32_t seq_commit(void* object, const kvc_seq_plan_t* plan, std::uint32_t accepted) noexcept {
    const CView& view = at(object);
    if (plan->n_tokens == 0 || accepted > plan->n_tokens) return KVC_ERR_INVALID_ARGUMENT;
    const bool moved = view.core_ != nullptr && static_cast<std::uint32_t>(view.core_->length()) != plan->position;
    const std::uint32_t rewinds = view.rewinds();
    CStep step;
    // Taken before the planner is asked, so that of two different commits one is refused.
    const kvc_status_t status = view.step().with([&](CStep& newest) {
      const bool first = newest.accepted == CStep::kPending;
      if (plan->epoch != newest.epoch || plan->position != newest.position || plan->n_tokens != newest.n_tokens ||
          rewinds != newest.rewinds || (first ? moved : newest.accepted != accepted)) {
        return KVC_ERR_STALE_PLAN;
      }
      newest.accepted = accepted;
      step = newest;
      return KVC_OK;
    });
    if (status != KVC_OK || accepted == 0) return status;
    const std::optional<SeqStepPlan> kept =
        view.planner_->plan(step.layer, static_cast<int>(step.position), static_cast<int>(accepted));
    if (!kept) {
      // It planned as many or more tokens there before: a planner that breaks its word.
      view.step().with([&step](CStep& newest) {
        if (newest.epoch == step.epoch) newest.accepted = CStep::kPending;
      });
      return KVC_ERR_CORRUPT;
    }
    view.planner_->commit(*kept);
    return KVC_OK;
  }

  /// Makes `step` the step of `n` tokens at `position`, if it may be planned.
  kvc_status_t begin(CStep& step, int layer, std::uint32_t position, std::uint32_t n) const {
    if (n == 0) return KVC_ERR_INVALID_ARGUMENT;
    const std::uint32_t now = rewinds();
    if (step.is_same(position, n, now)) return KVC_OK;
    if (core_ != nullptr) {
      const auto length = static_cast<std::uint32_t>(core_->length());
      const auto bound = static_cast<std::uint32_t>(core_->bound());
      if (position != length) return KVC_ERR_BAD_POSITION;
      if (n > static_cast<std::uint32_t>(core_->step_limit())) return KVC_ERR_STEP_TOO_LARGE;
      if (n > bound) return KVC_ERR_NEVER_FITS;
      if (n > bound - length) return KVC_ERR_OUT_OF_CAPACITY;
    } else if (position > INT_MAX || n > INT_MAX - position) {
      return KVC_ERR_NEVER_FITS;
    }
    step = step.next(position, n, now, layer);
    return KVC_OK;
  }

  /// One layer's plan of a step, without its epoch.
  kvc_status_t plan_layer(int layer, const CStep& step, kvc_seq_plan_t& out) const {
    const auto position = static_cast<int>(step.position);
    const auto n = static_cast<int>(step.n_tokens);
    const std::optional<SeqStepPlan> plan = planner_->plan(layer, position, n);
    if (!plan) return KVC_ERR_UNSUPPORTED;
    const int group = core_ != nullptr ? core_->group_of(layer) : layer;
    const int window = core_ != nullptr ? core_->window(layer) : window_of(layer, position + n);
    return to_c_plan(*plan, position, n, window, group, out) ? KVC_OK : KVC_ERR_CORRUPT;
  }

  /// The window of a foreign planner, or 0 when the query before `end` sees all history: that one alone reads just
  /// what it sees.
  int window_of(int layer, int end) const {
    const std::optional<SeqStepPlan> last = planner_->plan(layer, end - 1, 1);
    const std::int64_t read = last ? rows_of(last->read, last->n_read) : -1;
    return read > 0 && read < end ? static_cast<int>(read) : 0;
  }

  /// Makes `step` the newest one. Another thread may have begun the same one meanwhile; then it is that.
  kvc_status_t publish(const CStep& before, CStep& step) const {
    return this->step().with([&before, &step](CStep& newest) {
      if (newest.epoch != before.epoch && !newest.is_same(step.position, step.n_tokens, step.rewinds)) {
        return KVC_ERR_BUSY;
      }
      if (newest.epoch == before.epoch) newest = step;
      step = newest;
      return KVC_OK;
    });
  }

  /// After a rewind through C. The steps of a `SequenceCache` end by its own count, however it was rewound.
  void close_step() const {
    if (core_ == nullptr) own_step_.with([](CStep& step) { step = step.next(0, 0, 0, 0); });
  }

  std::uint32_t rewinds() const { return core_ != nullptr ? core_->rewinds() : 0; }

  /// With the cache where it can be, so that it has one newest step under all of its keys.
  const Guarded<CStep>& step() const { return core_ != nullptr ? core_->c_step() : own_step_; }

  std::shared_ptr<Cache> cache_;
  SequenceControl* control_;
  SequencePlanner* planner_;
  SequenceCore* core_;
  CBatchView batch_;
  CacheControl* any_control_ = nullptr;
  Guarded<CStep> own_step_;
  kvc_external_t table_;
  alignas(KVC_ALIGN) unsigned char storage_[KVC_EXTERNAL_BYTES];
};

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_C_VIEW_H
