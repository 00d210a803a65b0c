#pragma once

/* Functions that a board provides to main.c, and functions that a board may call. A firmware
 * image has one board.
 *
 * Interrupt priorities, from high to low; a handler is interrupted only by those above it:
 *   HardFault, NMI   switch the output off and reset, see fault_handler
 *   dead man         SysTick, once a millisecond
 *   serial line      USART1, fills and empties the byte rings
 *   tick             the board's own interrupt, calls firmware_tick
 * The main program only sleeps. */

#include <stdbool.h>
#include <stdint.h>

#include "firmware_iface/firmware/core/unit.h"

/* Cortex-M priorities; STM32F4 implements the upper four bits. */
enum { PRIORITY_DEAD_MAN = 0x00, PRIORITY_SERIAL = 0x40, PRIORITY_TICK = 0x80 };

/* Reasons why the firmware stopped itself, and errors found at start-up. Sent as the detail of
 * FAULT_INTERNAL. The number of the exception is added to STOP_EXCEPTION (3: HardFault). */
enum {
  STOP_NONE = 0,
  STOP_DEAD_MAN = 1,  /* no tick ended in time */
  STOP_WATCHDOG = 2,  /* the independent watchdog reset the unit */
  STOP_TICK_LATE = 3, /* a tick took longer than the tick period */
  STOP_NO_CRYSTAL =
      4,             /* the clock runs on the chip's RC oscillator: error 1 %, too large to drive */
  STOP_NO_CLOCK = 5, /* the clock could not be set up */
  STOP_EXCEPTION = 0x100 /* a fault, or an interrupt without a handler */
};

/* Longest time between the ends of two ticks, from the first one on [ms]. */
extern const uint32_t board_dead_man_ms;

/* Sets up clock, pins, power stage (off) and counters, and describes the unit. Called once, with
 * interrupts disabled. Returns STOP_NONE, or a permanent error: STOP_NO_CRYSTAL. */
int32_t board_init(unit_description* description);

/* Returns a number that differs from boot to boot. */
uint32_t board_random_number(void);

/* Returns STOP_WATCHDOG if the watchdog reset the chip and the board can detect it, else STOP_NONE.
 */
int32_t board_reset_cause(void);

/* Starts the tick and the independent watchdog. */
void board_start(void);

/* Called once in each tick: */

/* Reads the encoders; adds the index pulses and home switches seen since the last call. */
void board_latch(unit_latch* latch);
/* Sets the output of the power stage. */
void board_put_out(const unit_output* output);
/* Returns whether the power stage reports a fault. */
bool board_driver_has_fault(void);
/* Called at the end of a tick; returns whether the next one is already due. */
bool board_tick_is_late(void);
/* Restarts the independent watchdog. */
void board_refresh_watchdog(void);

/* Switches the power stage off. Only writes registers, because every handler that ends in a reset
 * calls it, in any state of the firmware. */
void board_output_off(void);

/* --- The chip, startup.c --- */

/* Starts calling dead_man_interrupt once a millisecond, at the highest priority. */
void start_dead_man(void);

_Noreturn void reset_chip(void);

/* Enables interrupts; from then on all code runs in them. */
_Noreturn void run_interrupts(void);

/* --- main.c, for boards and the vector table --- */

/* The board loop, called once a tick. */
void firmware_tick(void);

/* Switches the output off, stores the cause for the next start and resets the chip. */
_Noreturn void firmware_stop(int32_t cause);

/* Handlers in the vector table. */
void dead_man_interrupt(void);
void serial_interrupt(void);
