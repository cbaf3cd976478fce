/// kvcore for C++17 and later: types over `kvcore.h`, which has the full list of statuses of every call.
///
/// This includes all of it. Each file in `kvcore/` has one part, and may be included alone:
///
/// - `base.hpp`, `memory.hpp`, `config.hpp`: statuses and results, storage, configs;
/// - `cache.hpp`: what all caches have in common, references, faces;
/// - `plan.hpp`, `sequence.hpp`, `tree.hpp`: one sequence: plans, its cache, token trees;
/// - `batch.hpp`, `cells.hpp`, `rows.hpp`: many sequences: what an application does with them, the two kinds of caches;
/// - `external.hpp`: caches that a C++ class implements (`external_sequence.hpp`, `external_batch.hpp`);
/// - `registry.hpp`, `session.hpp`: caches under keys, builders, sessions, events.
///
/// Header-only, without exceptions, RTTI, heap or hosted headers; every function is `noexcept`. A call that can
/// fail answers a `Status` or a `Result<T>`, and then everything is as it was.
///
/// Positions, rows, tokens and layers are counted from 0 in `std::uint32_t`, sizes are bytes in `std::size_t`.
/// Threads: the caches and registries *behind* these types may be called from any thread, and no call ever hangs:
/// `Code::Busy` means that a lock stayed held and nothing changed. One *object* of these types is for one thread
/// at a time, like a pointer; give each thread a copy.
///
/// Handles are const like a pointer is: a `const Cache` can be planned and cleared. An empty handle may be called;
/// it answers `Code::InvalidArgument`.
///
/// ```cpp
/// static kvc::SequenceStorage<26> storage;              // room for 26 layers
/// kvc::Config config = kvc::Config::uniform(4096, 26, kvc::Layer::flat());
/// kvc::Cache cache = kvc::SequenceCache<26>::build_in(storage, config).value();
/// kvc::SequenceControl control = cache.sequence_control();    // for the application
/// kvc::SequencePlanner planner = cache.sequence_planner();    // for the backend
/// assert(control.can_extend(5).value());
/// kvc::SeqPlan plan = planner.plan(0, 0, 5).value();    // layer 0, position 0, 5 tokens
/// assert(plan.writes()[0].start == 0 && plan.writes()[0].len == 5);
/// assert(planner.commit(plan).ok() && control.length().value() == 5);
/// ```
#ifndef KVCORE_HPP
#define KVCORE_HPP

#include "kvcore/base.hpp"
#include "kvcore/batch.hpp"
#include "kvcore/cache.hpp"
#include "kvcore/cells.hpp"
#include "kvcore/config.hpp"
#include "kvcore/external.hpp"
#include "kvcore/memory.hpp"
#include "kvcore/plan.hpp"
#include "kvcore/registry.hpp"
#include "kvcore/rows.hpp"
#include "kvcore/sequence.hpp"
#include "kvcore/session.hpp"
#include "kvcore/tree.hpp"

#endif  // KVCORE_HPP
