/* The part of <stdio.h> that the programs here use; see ../../checks.c. */
#ifndef FIRMWARE_STDIO_H
#define FIRMWARE_STDIO_H

/* Knows %s and %llu. */
int printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
