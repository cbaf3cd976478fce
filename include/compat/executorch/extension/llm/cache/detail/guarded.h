/// A value behind a lock.
#ifndef KVCORE_COMPAT_CACHE_GUARDED_H
#define KVCORE_COMPAT_CACHE_GUARDED_H

#include <mutex>
#include <utility>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// A value that is only reached under its lock. Copies copy the value. It is mutable: a pure call may have to note
/// something. No foreign code may run inside `with`.
template <class T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}
  Guarded(const Guarded& other) : value_(other.get()) {}
  Guarded& operator=(const Guarded& other) {
    if (this != &other) {
      T value = other.get();
      with([&value](T& own) { own = std::move(value); });
    }
    return *this;
  }
  ~Guarded() = default;

  template <class Use>
  auto with(Use use) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return use(value_);
  }

  T get() const {
    return with([](const T& value) { return value; });
  }

 private:
  mutable std::mutex mutex_;
  mutable T value_{};
};

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_GUARDED_H
