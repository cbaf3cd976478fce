// KvcoreReferenceBackend: attention for ExecuTorch, over a cache that it finds by its key.
#pragma once

#include <kvcore.h>

#include <executorch/runtime/core/error.h>

inline constexpr char kBackendId[] = "KvcoreReferenceBackend";
// The kind under which its cache builder stands in kvcore's registry.
inline constexpr char kSequenceKind[] = "sequence";
// The load-time option that carries the key of the cache: the name that ExecuTorch's registry uses too.
inline constexpr char kCacheKey[] = "llm_cache_registry_key";

// Registers the backend with the runtime and its cache builder with kvcore. Once, before a program is loaded. (Not in
// a static initialiser: a linker drops that from an archive.)
executorch::runtime::Error register_kvcore_backend();
