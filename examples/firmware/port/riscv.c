/* Start-up of a RISC-V 32 in machine mode. The whole image is loaded to RAM: there is nothing to copy. */
#include "../platform.h"
#include "semihosting.h"

extern uint32_t bss_start[], bss_end[];

/* The three instructions must be uncompressed and on one page. */
int32_t semihosting_call(uint32_t operation, const void *argument)
{
    register uint32_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = argument;
    __asm__ volatile(".option push\n .option norvc\n .balign 16\n"
                     "slli x0, x0, 0x1f\n ebreak\n srai x0, x0, 7\n .option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return (int32_t)a0;
}

/* mstatus.MIE: bit 3 set while interrupts are on. */
uint32_t kvc_port_irq_save(void)
{
    uint32_t state;
    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(state)::"memory");
    return state & 8u;
}

void kvc_port_irq_restore(uint32_t state)
{
    __asm__ volatile("csrs mstatus, %0" ::"r"(state) : "memory");
}

void trap(void) __attribute__((used));
void trap(void)
{
    platform_write("TRAP\n");
    platform_exit(70);
}

void start_c(void) __attribute__((used));
void start_c(void)
{
    for (uint32_t *to = bss_start; to < bss_end; to++) {
        *to = 0;
    }
    run_main();
}

__asm__(".section .init, \"ax\"\n"
        ".globl _start\n"
        "_start:\n"
        " .option push\n .option norelax\n la gp, __global_pointer$\n .option pop\n"
        " la sp, stack_top\n la t0, 1f\n csrw mtvec, t0\n call start_c\n"
        " .balign 4\n"
        "1: la sp, stack_top\n call trap\n"
        " .text\n");
