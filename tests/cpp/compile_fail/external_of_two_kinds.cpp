// A cache is of one kind.
#include <kvcore.hpp>

struct Own : kvc::ExternalCells
#ifndef CONTROL
    , kvc::ExternalRows
#endif
{
};

kvc::Result<kvc::Cache> make(kvc::ExternalStorage& storage, Own& own);
kvc::Result<kvc::Cache> make(kvc::ExternalStorage& storage, Own& own) {
  return kvc::external_in(storage, own);  // must not compile
}
