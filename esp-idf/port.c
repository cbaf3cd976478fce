/* What kvcore asks of a firmware whose lock is a critical section. These chips have one core. */
#include <stdint.h>

#include "freertos/FreeRTOS.h"

uint32_t kvc_port_irq_save(void)
{
    return (uint32_t)portSET_INTERRUPT_MASK_FROM_ISR();
}

void kvc_port_irq_restore(uint32_t state)
{
    portCLEAR_INTERRUPT_MASK_FROM_ISR(state);
}
