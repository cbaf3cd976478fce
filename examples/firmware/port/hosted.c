/* A program of an operating system: what a C library offers. There are no interrupts to turn off. */
#include <stdio.h>
#include <stdlib.h>

#include "../platform.h"

void platform_write(const char *text)
{
    fputs(text, stdout);
}

void platform_exit(int status)
{
    exit(status);
}
