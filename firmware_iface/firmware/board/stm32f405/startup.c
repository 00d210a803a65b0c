/* Vector table, start of the program, and fault handlers. The same object code in every image.
 * PM0214 section 2.3 (exceptions), RM0090 section 12.2 (interrupts). */

#include "firmware_iface/firmware/board/board.h"
#include "firmware_iface/firmware/board/stm32f405/registers.h"

enum { INTERRUPT_COUNT = 82 };

/* From link.ld. */
extern uint32_t stack_top, data_begin, data_end, data_load, bss_begin, bss_end;

int main(void);
void reset_handler(void);
void fault_handler(void);

/* A board defines the handlers that it uses; all others call fault_handler. */
void tim7_interrupt(void) __attribute__((weak, alias("fault_handler")));
void usart2_interrupt(void) __attribute__((weak, alias("fault_handler")));

static void stop_by_exception(void) __attribute__((used));

static void stop_by_exception(void) {
  firmware_stop(STOP_EXCEPTION + (int32_t)(SCB_ICSR & 0x1FFU)); /* VECTACTIVE */
}

/* The stack may be invalid here, so it is reset; no other code may run any more. */
__attribute__((naked)) void fault_handler(void) {
  __asm__ volatile(
      "cpsid i\n"
      "ldr r0, =stack_top\n"
      "mov sp, r0\n"
      "b stop_by_exception\n");
}

void reset_chip(void) {
  SCB_AIRCR = 0x05FA0004U; /* SYSRESETREQ */
  for (;;) {
  } /* until the reset; the independent watchdog is a backup */
}

void start_dead_man(void) {
  SCB_SYSTICK_PRIORITY = PRIORITY_DEAD_MAN;
  SYSTICK_LOAD = CORE_CLOCK_HZ / 1000U - 1U;
  SYSTICK_VAL = 0;
  SYSTICK_CTRL = 0x7; /* the core's clock, interrupt, on */
}

void run_interrupts(void) {
  __asm__ volatile("cpsie i");
  for (;;) __asm__ volatile("wfi");
}

typedef void (*handler)(void);

__attribute__((section(".vectors"), used)) static const handler kVectors[16 + INTERRUPT_COUNT] = {
    (handler)&stack_top,
    [1] = reset_handler,
    [2 ... 14] = fault_handler, /* NMI (also: the crystal stopped), all faults, SVCall, PendSV */
    [15] = dead_man_interrupt,  /* SysTick */
    [16 ... 16 + INTERRUPT_USART1 - 1] = fault_handler,
    [16 + INTERRUPT_USART1] = serial_interrupt,
    [16 + INTERRUPT_USART2] = usart2_interrupt,
    [16 + INTERRUPT_USART2 + 1 ... 16 + INTERRUPT_TIM7 - 1] = fault_handler,
    [16 + INTERRUPT_TIM7] = tim7_interrupt,
    [16 + INTERRUPT_TIM7 + 1 ... 16 + INTERRUPT_COUNT - 1] = fault_handler,
};

void reset_handler(void) {
  __asm__ volatile("cpsid i");
  const uint32_t* load = &data_load;
  for (uint32_t* word = &data_begin; word < &data_end; ++word) *word = *load++;
  for (uint32_t* word = &bss_begin; word < &bss_end; ++word) *word = 0;
  main();
  firmware_stop(STOP_EXCEPTION); /* main does not return */
}
