/* The part of <inttypes.h> that the programs here use. */
#ifndef FIRMWARE_INTTYPES_H
#define FIRMWARE_INTTYPES_H

#include <stdint.h>

#define PRIu64 "llu"

#endif
