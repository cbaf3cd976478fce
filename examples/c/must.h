/* For the examples: a call that has to succeed. */
#ifndef KVC_EXAMPLES_MUST_H
#define KVC_EXAMPLES_MUST_H

#include <stdio.h>

#include "kvcore.h"

#define MUST(call)                                                                                     \
  do {                                                                                                 \
    const kvc_status_t must_status_ = (call);                                                          \
    if (must_status_ != KVC_OK) {                                                                      \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, kvc_status_name(must_status_));    \
      return 1;                                                                                        \
    }                                                                                                  \
  } while (0)

/* What the example says is so. */
#define SHOWS(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);   \
      return 1;                                                                 \
    }                                                                           \
  } while (0)

#endif
