#include "print.h"

#include "platform.h"

void print(const char *text)
{
    platform_write(text);
}

void print_number(uint64_t number)
{
    char digits[21];
    char *first = &digits[sizeof digits - 1];
    *first = '\0';
    do {
        *--first = (char)('0' + number % 10u);
        number /= 10u;
    } while (number != 0);
    print(first);
}

void print_figure(const char *name, uint64_t number)
{
    print(name);
    print(" ");
    print_number(number);
    print("\n");
}
