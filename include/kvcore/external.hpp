/// Caches that a C++ class implements, for registries, applications and backends that know nothing else about them.
#ifndef KVCORE_EXTERNAL_HPP
#define KVCORE_EXTERNAL_HPP

#include "external_batch.hpp"
#include "external_sequence.hpp"

namespace kvc {

/// Makes a cache of an object, whose class derives from `ExternalSequence`, `ExternalCells` or `ExternalRows`. Storage
/// and object outlive the last reference. Any thread. O(1).
template <class T>
Result<Cache> external_in(ExternalStorage& storage, T& object) noexcept {
  constexpr bool is_sequence = std::is_base_of_v<ExternalSequence, T>;
  constexpr bool is_cells = std::is_base_of_v<ExternalCells, T>;
  constexpr bool is_rows = std::is_base_of_v<ExternalRows, T>;
  static_assert(is_sequence + is_cells + is_rows == 1,
                "derive the class from one of ExternalSequence, ExternalCells and ExternalRows");
  const kvc_external_t* table = nullptr;
  if constexpr (is_sequence) table = &detail::SequenceCalls<T>::table;
  if constexpr (is_cells) table = &detail::CellCalls<T>::table;
  if constexpr (is_rows) table = &detail::RowsCalls<T>::table;
  return detail::made([&](kvc_cache_t** cache) {
    return kvc_external_init(storage.bytes, sizeof(storage.bytes), table, &object, cache);
  });
}

}  // namespace kvc

#endif  // KVCORE_EXTERNAL_HPP
