/* How much stack a call takes: paint what is free, call, look how far down the paint is gone. */
#include "measure.h"

extern uint32_t stack_limit[];

enum { PAINT = 0x5AA5C33C };

uint32_t failures;

void must(kvc_status_t status, const char *call)
{
    if (status != KVC_OK) {
        failures++;
        print_figure(call, (uint64_t)status);
    }
}

uintptr_t at_call;

/* All of the stack below this leaf function's own frame. Answers where that ends. */
__attribute__((noinline)) static uint32_t *paint(void)
{
    uint32_t *end = (uint32_t *)stack_pointer();
    for (volatile uint32_t *word = stack_limit; word < end; word++) {
        *word = PAINT;
    }
    return end;
}

__attribute__((noinline)) static uint32_t *lowest_touched(uint32_t *end)
{
    uint32_t *word = stack_limit;
    while (word < end && *word == PAINT) {
        word++;
    }
    return word;
}

__attribute__((noinline)) void measure_stack(const char *name, void (*call)(void))
{
    uint32_t *end = paint();
    call();
    uint32_t *low = lowest_touched(end);
    if (low == stack_limit) {
        failures++;
        print("the stack is too small\n");
    }
    print("stack ");
    print_figure(name, at_call - (uintptr_t)low);
}
