/* Start-up of every Cortex-M. */
#include <stddef.h>

#include "../platform.h"
#include "semihosting.h"

extern uint32_t data_start[], data_end[], data_load[], bss_start[], bss_end[], stack_top[];

int32_t semihosting_call(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return (int32_t)r0;
}

/* PRIMASK: bit 0 set while interrupts are off. */
uint32_t kvc_port_irq_save(void)
{
    uint32_t state;
    __asm__ volatile("mrs %0, primask\n cpsid i" : "=r"(state)::"memory");
    return state;
}

void kvc_port_irq_restore(uint32_t state)
{
    __asm__ volatile("msr primask, %0" ::"r"(state) : "memory");
}

void reset(void);
void reset(void)
{
    uint32_t *to = data_start;
    const uint32_t *from = data_load;
    while (to < data_end) {
        *to++ = *from++;
    }
    for (to = bss_start; to < bss_end; to++) {
        *to = 0;
    }
#if defined(__ARM_FP)
    /* CPACR: the caller's compiler may use the FPU's registers; the library never does. */
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20;
    __asm__ volatile("dsb\n isb" ::: "memory");
#endif
    run_main();
}

static void fault(void)
{
    platform_write("FAULT\n");
    platform_exit(70);
}

/* A program that wants the timer's interrupt defines this. */
void tick(void) __attribute__((weak, alias("unexpected")));

void unexpected(void);
void unexpected(void)
{
    fault();
}

typedef union {
    void (*handler)(void);
    uint32_t *stack;
} vector_t;

__attribute__((section(".vectors"), used)) static const vector_t vectors[16] = {
    {.stack = stack_top}, {reset}, {fault}, {fault}, {fault}, {fault}, {fault}, {fault},
    {NULL},  {NULL},  {NULL},  {fault}, {fault}, {NULL},  {fault}, {tick},
};
