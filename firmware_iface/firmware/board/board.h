#pragma once

/* What main.c needs of a board, and what a board may call in it. One board is linked into an image.
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

/* Why the firmware stopped itself, or what it found when it started. Sent as the detail of
 * FAULT_INTERNAL; STOP_EXCEPTION has the number of the exception added (3: HardFault). */
enum {
  STOP_NONE = 0,
  STOP_DEAD_MAN = 1,     /* no tick ended in time */
  STOP_WATCHDOG = 2,     /* the independent watchdog reset the unit */
  STOP_TICK_LATE = 3,    /* a tick took longer than the time to the next one */
  STOP_NO_CRYSTAL = 4,   /* the clock runs on the chip's RC oscillator: 1 %, too coarse to drive */
  STOP_NO_CLOCK = 5,     /* the clock could not be set up */
  STOP_EXCEPTION = 0x100 /* a fault, or an interrupt that nobody handles */
};

/* A tick must end at least this often, counted from the first one [ms]. */
extern const uint32_t board_dead_man_ms;

/* Sets up clock, pins, power stage (off) and counters, and describes the unit. Runs once, with
 * interrupts disabled. Returns STOP_NONE, or what is wrong for good: STOP_NO_CRYSTAL. */
int32_t board_init(unit_description* description);

/* Differs from boot to boot. */
uint32_t board_random_number(void);

/* What reset the chip, where the board can say so: STOP_WATCHDOG, else STOP_NONE. */
int32_t board_reset_cause(void);

/* Starts the tick and the independent watchdog. */
void board_start(void);

/* Called by each tick, once each: */

/* Reads the encoders; adds the index pulses and home switches seen since the last call. */
void board_latch(unit_latch* latch);
/* Drives the power stage. */
void board_put_out(const unit_output* output);
/* Whether the power stage reports a fault. */
bool board_driver_has_fault(void);
/* At the end of a tick: whether the next one is due already. */
bool board_tick_is_late(void);
/* Restarts the independent watchdog's time. */
void board_refresh_watchdog(void);

/* Switches the power stage off. Writes registers and nothing else: called from every handler that
 * ends in a reset, in any state of the firmware. */
void board_output_off(void);

/* --- The chip, startup.c --- */

/* Calls dead_man_interrupt once a millisecond, at the highest priority. */
void start_dead_man(void);

_Noreturn void reset_chip(void);

/* Enables interrupts; everything from then on happens in them. */
_Noreturn void run_interrupts(void);

/* --- main.c, for boards and the vector table --- */

/* The board loop, once a tick. */
void firmware_tick(void);

/* Switches the output off, notes the cause for the next start and resets the chip. */
_Noreturn void firmware_stop(int32_t cause);

/* Handlers named in the vector table. */
void dead_man_interrupt(void);
void serial_interrupt(void);
