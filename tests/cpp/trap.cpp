// A KVC_TRAP of one's own that returns: `value` is then a value-initialised object.
static int traps = 0;
#define KVC_TRAP() (++traps, void())
#include "test.hpp"

namespace {

using namespace test;

TEST_CASE("a value that is not there") {
  traps = 0;
  kvc::Result<std::uint32_t> none = Code::NotFound;
  CHECK(none.value() == 0);
  CHECK(traps == 1);
  CHECK(static_cast<const kvc::Result<std::uint32_t>&>(none).value() == 0);
  CHECK(traps == 2);
  CHECK_FALSE(kvc::Result<kvc::Cache>(Code::NotFound).value());
  CHECK(traps == 3);
  CHECK(none.value_or(3) == 3);
  CHECK(kvc::Result<int>(5).value() == 5);
  CHECK(traps == 3);
}

}  // namespace
