/// Memory of the caller's: views, buffers, storage.
#ifndef KVCORE_MEMORY_HPP
#define KVCORE_MEMORY_HPP

#include "base.hpp"

namespace kvc {

/// Consecutive elements that somebody else owns: made of an array, or of anything with `data` and `size`
/// (`std::array`, `std::vector`, `std::span`). One type in every version of the language; `std::span` is made of it.
///
/// ```cpp
/// std::uint32_t rows[4] = {1, 2, 3, 4};
/// kvc::span<std::uint32_t> all = rows;
/// kvc::span<const std::uint32_t> two = all.first(2);
/// std::uint32_t sum = 0;
/// for (std::uint32_t row : two) sum += row;
/// assert(sum == 3 && two.size() == 2 && two.data() == rows && two[1] == 2 && !two.empty());
/// assert(two.end() - two.begin() == 2);
/// ```
template <class T>
class span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  constexpr span() noexcept = default;  ///< Of nothing.
  /// `size` elements from `data` on.
  constexpr span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  /// An array; implicit.
  template <std::size_t N>
  constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {}
  /// A container or view; implicit. A temporary container only gives read access, until the end of the full expression.
  template <class C, class P = decltype(std::declval<C&>().data()),
            class = decltype(static_cast<std::size_t>(std::declval<C&>().size())),
            class = std::enable_if_t<std::is_pointer_v<P> &&
                                     std::is_convertible_v<std::remove_pointer_t<P> (*)[], T (*)[]> &&
                                     !std::is_array_v<std::remove_reference_t<C>> &&
                                     (std::is_lvalue_reference_v<C> || std::is_const_v<T> ||
                                      std::is_same_v<decltype(std::declval<const C&>().data()), P>)>>
  constexpr span(C&& container) noexcept : data_(container.data()), size_(container.size()) {}

  constexpr T* data() const noexcept { return data_; }            ///< The first element.
  constexpr std::size_t size() const noexcept { return size_; }   ///< How many there are.
  constexpr bool empty() const noexcept { return size_ == 0; }    ///< None?
  constexpr T* begin() const noexcept { return data_; }           ///< For a loop.
  constexpr T* end() const noexcept { return data_ + size_; }     ///< For a loop.
  /// `index` below `size`; not checked.
  constexpr T& operator[](std::size_t index) const noexcept { return data_[index]; }
  /// The first `count` elements, all if there are fewer.
  constexpr span first(std::size_t count) const noexcept { return span(data_, count < size_ ? count : size_); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// `Bytes` bytes of aligned storage, all zero at first. It stays where it is: whatever is built in it keeps its
/// address, and must end before the buffer does.
///
/// ```cpp
/// static kvc::Buffer<1024> buffer;
/// kvc::Storage storage = buffer;
/// assert(storage.size() == 1024 && storage.data() == buffer.bytes);
/// ```
template <std::size_t Bytes>
struct Buffer {
  constexpr Buffer() noexcept = default;  ///< A constant: static storage needs no code to begin.
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  alignas(kAlign) unsigned char bytes[Bytes] = {};  ///< For the library alone.
};

/// Storage of a one-sequence cache of up to `Layers` layers.
template <std::uint32_t Layers>
using SequenceStorage = Buffer<detail::sequence_bytes(Layers)>;

/// Storage of a cache that a C++ class implements; see `ExternalSequence`.
using ExternalStorage = Buffer<KVC_EXTERNAL_BYTES>;

/// Where something is to be built: an address, aligned to `kAlign`, and a number of bytes. Owns nothing.
class Storage {
 public:
  /// `size` bytes from `data` on.
  constexpr Storage(void* data, std::size_t size) noexcept : data_(data), size_(size) {}
  /// All of a buffer; implicit.
  template <std::size_t Bytes>
  constexpr Storage(Buffer<Bytes>& buffer) noexcept : Storage(buffer.bytes, Bytes) {}

  constexpr void* data() const noexcept { return data_; }        ///< The first byte.
  constexpr std::size_t size() const noexcept { return size_; }  ///< Bytes.

 private:
  void* data_;
  std::size_t size_;
};

}  // namespace kvc

#endif  // KVCORE_MEMORY_HPP
