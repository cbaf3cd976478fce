/* What Zephyr declares. */
unsigned int irq_lock(void);
void irq_unlock(unsigned int key);
