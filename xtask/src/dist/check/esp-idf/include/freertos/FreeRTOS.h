/* What FreeRTOS has on Espressif's RISC-V chips. */
int vPortSetInterruptMask(void);
void vPortClearInterruptMask(int mask);
#define portSET_INTERRUPT_MASK_FROM_ISR() vPortSetInterruptMask()
#define portCLEAR_INTERRUPT_MASK_FROM_ISR(mask) vPortClearInterruptMask(mask)
