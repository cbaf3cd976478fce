/* Semihosting: a debugger, or QEMU, does what the program asks for. Each core has an instruction of its own for it. */
#ifndef SEMIHOSTING_H
#define SEMIHOSTING_H

#include <stdint.h>

int32_t semihosting_call(uint32_t operation, const void *argument);

/* Calls main with the command line's words, and ends with what it returns. For start-up code. */
void run_main(void) __attribute__((noreturn));

#endif
