/* Start-up of the check: runs main without a C library, and makes its result the exit status of QEMU. */
#include <stdint.h>

int main(void);

/* What an archive with the feature critical-section asks of its firmware. Nothing interrupts here; what can be
 * checked is that each save is undone by its restore. */
static uint32_t closed;

uint32_t kvc_port_irq_save(void)
{
    uint32_t before = closed;
    closed = 1;
    return before;
}

void kvc_port_irq_restore(uint32_t state)
{
    closed = state;
}

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'

/* SYS_EXIT_EXTENDED of Arm's semihosting: the reason ADP_Stopped_ApplicationExit, and the status. */
static void leave(uint32_t status)
{
    const uint32_t block[2] = {0x20026, status};
    register uint32_t operation __asm__("r0") = 0x20;
    register const uint32_t *argument __asm__("r1") = block;
    __asm__ volatile("bkpt 0xAB" : "+r"(operation) : "r"(argument) : "memory");
}

#define START reset

/* From the linker script. */
extern uint32_t stack_top[];
void reset(void);

static void fault(void)
{
    leave(70);
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    void (*handlers[15])(void);
} vectors = {stack_top, {reset, fault, fault, fault, fault, fault}};

#define PREPARE() enable_fpu()

static void enable_fpu(void)
{
#ifdef __ARM_FP
    volatile uint32_t *cpacr = (volatile uint32_t *)0xE000ED88u;
    *cpacr |= 0xFu << 20;
    __asm__ volatile("dsb\n isb");
#endif
}

#else

/* The system call exit of Linux, which QEMU's user mode answers. */
#if defined(__arm__)
#define EXIT_NUMBER 1
#define NUMBER "r7"
#define ARGUMENT "r0"
#define CALL "svc #0"
#elif defined(__aarch64__)
#define EXIT_NUMBER 93
#define NUMBER "x8"
#define ARGUMENT "x0"
#define CALL "svc #0"
#elif defined(__riscv)
#define EXIT_NUMBER 93
#define NUMBER "a7"
#define ARGUMENT "a0"
#define CALL "ecall"
#elif defined(__hexagon__)
#define EXIT_NUMBER 93
#define NUMBER "r6"
#define ARGUMENT "r0"
#define CALL "trap0(#1)"
#endif

static void leave(uint32_t status)
{
    register uintptr_t number __asm__(NUMBER) = EXIT_NUMBER;
    register uintptr_t argument __asm__(ARGUMENT) = status;
    __asm__ volatile(CALL : : "r"(number), "r"(argument) : "memory");
}

#define START _start
#define PREPARE() ((void)0)

#endif

void START(void);

__attribute__((used)) void START(void)
{
    PREPARE();
    uint32_t status = (uint32_t)main();
    leave(status == 0 && closed != 0 ? 71u : status);
    for (;;) {
    }
}
