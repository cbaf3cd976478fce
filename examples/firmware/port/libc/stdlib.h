/* The part of <stdlib.h> that the programs here use; see ../libc.c. */
#ifndef FIRMWARE_STDLIB_H
#define FIRMWARE_STDLIB_H

#include <stddef.h>

/* Decimal digits only. */
unsigned long long strtoull(const char *text, char **end, int base);

#endif
