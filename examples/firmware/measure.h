/* What the measuring programs share. */
#ifndef MEASURE_H
#define MEASURE_H

#include "kvcore.h"
#include "print.h"

#if defined(__riscv)
#define MOVE_STACK_POINTER "mv %0, sp"
#else
#define MOVE_STACK_POINTER "mov %0, sp"
#endif

/* Where the stack was when a call of the library was made. */
extern uintptr_t at_call;

static inline uintptr_t stack_pointer(void)
{
    uintptr_t pointer;
    __asm__ volatile(MOVE_STACK_POINTER : "=r"(pointer));
    return pointer;
}

/* Calls that failed. */
extern uint32_t failures;

/* Counts and names a call that failed. */
void must(kvc_status_t status, const char *call);

#define MUST(call) (at_call = stack_pointer(), must((call), #call))

/* Prints the bytes of stack that the library took in the calls that the function makes. */
void measure_stack(const char *name, void (*call)(void));

#endif
