#include "two_files.hpp"

int main() {
  kvc::SequenceStorage<2> storage;
  const kvc::Cache cache = kvc::FlatCache<2>::build_in(storage, 8).value();
  return length_after_one(cache) == 1 ? 0 : 1;
}
