/* Memory that ends where nothing may be touched: one byte too far, read or written, ends the program. */

#ifndef KVC_TESTS_EDGE_H
#define KVC_TESTS_EDGE_H

#include <stddef.h>

/* `size` bytes, all `fill`, right before a page without access. Never given back. Aligned as `size` is. */
void *at_edge(size_t size, int fill);

#endif
