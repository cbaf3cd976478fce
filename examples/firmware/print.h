/* Text without a C library. */
#ifndef PRINT_H
#define PRINT_H

#include <stdint.h>

void print(const char *text);
void print_number(uint64_t number);

/* "name number" on a line of its own. */
void print_figure(const char *name, uint64_t number);

#endif
