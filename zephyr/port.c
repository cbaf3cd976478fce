/* What kvcore asks of a firmware whose lock is a critical section. */
#include <stdint.h>

#include <zephyr/irq.h>

uint32_t kvc_port_irq_save(void)
{
	return irq_lock();
}

void kvc_port_irq_restore(uint32_t state)
{
	irq_unlock(state);
}
