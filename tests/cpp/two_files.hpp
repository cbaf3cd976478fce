// Included by two files of one program: nothing in the header may be defined twice.
#pragma once

#include <kvcore.hpp>

std::uint32_t length_after_one(const kvc::Cache& cache);
