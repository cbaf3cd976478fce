// One step of many sequences, over cells or private rows. The host declared whose tokens these are.
#pragma once

#include "pools.hpp"
#include "step.hpp"

executorch::runtime::Error run_cells(executorch::runtime::BackendExecutionContext& context, kvc_cache_t* cache,
                                     Pools& pools, std::size_t n_layers, const Step& step);
executorch::runtime::Error run_rows(executorch::runtime::BackendExecutionContext& context, kvc_cache_t* cache,
                                    Pools& pools, std::size_t n_layers, const Step& step);
