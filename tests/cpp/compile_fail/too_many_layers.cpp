// A model has 1 to 255 layers.
#include <kvcore.hpp>

#ifdef CONTROL
kvc::FlatCache<255> cache;
#else
kvc::FlatCache<256> cache;  // must not compile
#endif
