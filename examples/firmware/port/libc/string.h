/* The part of <string.h> that the programs here use; see ../libc.c. */
#ifndef FIRMWARE_STRING_H
#define FIRMWARE_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *a, const void *b, size_t size);
int strcmp(const char *a, const char *b);
size_t strlen(const char *text);

#endif
