/* Start-up of a Hexagon as a user program of Linux, which qemu-hexagon runs: system calls in place of a C library. */
#include "../platform.h"

enum { SYS_WRITE = 64, SYS_EXIT_GROUP = 94, STANDARD_ERROR = 2 };

int main(int argc, char **argv);

static int32_t system_call(int32_t number, int32_t a, const void *b, uint32_t c)
{
    register int32_t r6 __asm__("r6") = number;
    register int32_t r0 __asm__("r0") = a;
    register const void *r1 __asm__("r1") = b;
    register uint32_t r2 __asm__("r2") = c;
    __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r6), "r"(r1), "r"(r2) : "memory");
    return r0;
}

void platform_write(const char *text)
{
    uint32_t size = 0;
    while (text[size] != '\0') {
        size++;
    }
    system_call(SYS_WRITE, STANDARD_ERROR, text, size);
}

void platform_exit(int status)
{
    system_call(SYS_EXIT_GROUP, status, 0, 0);
    for (;;) {
    }
}

void start_c(void) __attribute__((used));
void start_c(void)
{
    char *no_words[1] = {0};
    platform_exit(main(0, no_words));
}

__asm__(".globl _start\n"
        ".type _start,@function\n"
        "_start:\n"
        " r29 = ##stack_top\n"
        " r29 = and(r29, #-16)\n"
        " r30 = #0\n"
        " call start_c\n");
