/* A cache of many sequences as someone else would implement it: notes its calls, and answers what it is told to. */

#ifndef KVC_TESTS_FOREIGN_H
#define KVC_TESTS_FOREIGN_H

#include "kvcore.h"

/* What it was called with, and what it answers. */
typedef struct {
    kvc_status_t answer;
    uint32_t value;
    uint8_t truth;
    const char *called;
    uint64_t arguments[4];
    const void *input;
    void *output;
} foreign_t;

/* Every entry of the batch face, the cells face and the rows face. Their object is a foreign_t. */
kvc_external_t foreign_table(uint32_t kind);

#endif
