// A class that plays a cache says so, and has every call then.
#include <kvcore.hpp>

struct Own
#ifdef CONTROL
    : kvc::ExternalSequence
#endif
{
  kvc::Result<std::uint32_t> length() noexcept { return 3u; }
};

kvc::Result<kvc::Cache> make(kvc::ExternalStorage& storage, Own& own);
kvc::Result<kvc::Cache> make(kvc::ExternalStorage& storage, Own& own) {
  return kvc::external_in(storage, own);  // must not compile
}
