/* What every C library has, for an archive that leaves it to the image's. */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    unsigned char *bytes = to;
    const unsigned char *source = from;
    while (n-- > 0) {
        *bytes++ = *source++;
    }
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    unsigned char *bytes = to;
    const unsigned char *source = from;
    for (size_t done = 0; done < n; done++) {
        size_t i = bytes <= source ? done : n - done - 1;
        bytes[i] = source[i];
    }
    return to;
}

void *memset(void *to, int value, size_t n)
{
    unsigned char *bytes = to;
    while (n-- > 0) {
        *bytes++ = (unsigned char)value;
    }
    return to;
}

int memcmp(const void *left, const void *right, size_t n)
{
    const unsigned char *a = left;
    const unsigned char *b = right;
    for (; n > 0; n--, a++, b++) {
        if (*a != *b) {
            return *a - *b;
        }
    }
    return 0;
}

int bcmp(const void *left, const void *right, size_t n)
{
    return memcmp(left, right, n);
}
