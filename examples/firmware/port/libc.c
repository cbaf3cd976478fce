/* What compilers and the library expect of a C library, where there is none. Compiled with
 * -fno-tree-loop-distribute-patterns, or GCC would turn these loops into calls of themselves.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *memcpy(void *to, const void *from, size_t size)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    while (size-- > 0) {
        *target++ = *source++;
    }
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    if ((uintptr_t)target <= (uintptr_t)source) {
        return memcpy(to, from, size);
    }
    while (size-- > 0) {
        target[size] = source[size];
    }
    return to;
}

void *memset(void *to, int value, size_t size)
{
    unsigned char *target = to;
    while (size-- > 0) {
        *target++ = (unsigned char)value;
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *left = a, *right = b;
    for (; size > 0; size--, left++, right++) {
        if (*left != *right) {
            return *left < *right ? -1 : 1;
        }
    }
    return 0;
}

int strcmp(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

size_t strlen(const char *text)
{
    size_t size = 0;
    while (text[size] != '\0') {
        size++;
    }
    return size;
}

unsigned long long strtoull(const char *text, char **end, int base)
{
    unsigned long long number = 0;
    while (*text >= '0' && *text <= '9') {
        number = number * (unsigned)base + (unsigned)(*text++ - '0');
    }
    if (end != NULL) {
        *end = (char *)(uintptr_t)text;
    }
    return number;
}
