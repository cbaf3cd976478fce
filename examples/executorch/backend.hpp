// KvcoreReferenceBackend: attention for ExecuTorch, over a cache that it finds by its key.
#pragma once

#include <kvcore.h>

#include <executorch/runtime/core/error.h>

#include <cstdint>

inline constexpr char kBackendId[] = "KvcoreReferenceBackend";
// The kinds under which its cache builders stand in kvcore's registry.
inline constexpr char kSequenceKind[] = "sequence";
inline constexpr char kCellsKind[] = "cells";
inline constexpr char kRowsKind[] = "rows";
// The load-time option that carries the key of the cache: the name that ExecuTorch's registry uses too.
inline constexpr char kCacheKey[] = "llm_cache_registry_key";

// Registers the backend with the runtime and its cache builders with kvcore. Once, before a program is loaded. (Not in
// a static initialiser: a linker drops that from an archive.)
executorch::runtime::Error register_kvcore_backend();

// What some verbs of a host leave to the backend, which has the bytes. Both are fine for a cache without any.
// After a clone of a sequence with private rows: copies the rows.
executorch::runtime::Error copy_clone(kvc_cache_t* cache, std::uint32_t src, std::uint32_t dst);
// Between two steps: moves cells together. Ends a declared step.
executorch::runtime::Error compact_cells(kvc_cache_t* cache);
