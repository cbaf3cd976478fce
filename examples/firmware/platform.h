/* All that the programs here ask of a machine. Start-up code calls main and ends with what it returns. */
#ifndef PLATFORM_H
#define PLATFORM_H

#include <stdint.h>

/* Shows text that ends with a NUL. */
void platform_write(const char *text);

/* Ends the program. */
void platform_exit(int status) __attribute__((noreturn));

/* The lock of an archive with the feature critical-section calls these two. */
uint32_t kvc_port_irq_save(void);
void kvc_port_irq_restore(uint32_t state);

#endif
