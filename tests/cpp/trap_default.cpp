// Must not reach its end: the default KVC_TRAP ends the program.
#include <cstdio>
#include <kvcore.hpp>

int main(int argc, char**) {
  kvc::Result<int> result = 5;
  if (argc > 0) result = kvc::Code::NotFound;
  std::puts("before");
  std::fflush(stdout);
  const int value = result.value();
  std::printf("after %d\n", value);
}
