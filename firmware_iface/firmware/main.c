/* The board loop: connects the unit's core and the board. */

#include "firmware_iface/firmware/board/board.h"
#include "firmware_iface/firmware/serial.h"
#include "firmware_iface/wire/coding/crc.h"
#include "firmware_iface/wire/fault.h"

/* Limits the work of a tick. At 921 600 baud, 93 bytes arrive per millisecond; the rest waits. */
enum { BYTES_PER_TICK_MAX = 96 };

/* Survives a reset, but not a loss of power, which `check` detects. */
typedef struct {
  unit_memory memory;
  int32_t stop_cause;
  uint32_t check;
} kept_state;

/* Must change with the layout of kept_state. */
static const uint32_t kKeptSeed = 0x4B455031U;

__attribute__((section(".kept"))) static kept_state kept;

static unit the_unit;
static unit_latch latch; /* of the last tick */
static uint64_t now_us;
static uint32_t tick_us;

/* Milliseconds since the last tick ended. The dead man counts it and has priority over the tick,
 * whose store of 0 is atomic. Volatile, because both are interrupts. */
static volatile uint32_t ms_since_tick;
static volatile bool is_ticking;

static uint32_t kept_check(void) {
  return crc32c(kKeptSeed, (const uint8_t*)&kept, offsetof(kept_state, check));
}

static void keep(const unit_memory* memory, int32_t stop_cause) {
  kept.memory = *memory;
  kept.stop_cause = stop_cause;
  kept.check = kept_check();
}

void firmware_stop(int32_t cause) {
  board_output_off();
  keep(&the_unit.memory, cause);
  reset_chip();
}

void dead_man_interrupt(void) {
  if (!is_ticking) return; /* the output is off before the first tick */
  ms_since_tick = ms_since_tick + 1;
  if (ms_since_tick > board_dead_man_ms) firmware_stop(STOP_DEAD_MAN);
}

static void receive_bytes(void) {
  uint8_t byte;
  for (uint32_t k = 0; k < BYTES_PER_TICK_MAX && serial_take(&byte); ++k) {
    unit_receive(&the_unit, byte, now_us);
  }
}

static void transmit_bytes(void) {
  uint8_t bytes[64];
  for (uint32_t k = 0; k < UNIT_TRANSMIT_SIZE_BYTES / sizeof(bytes); ++k) {
    const uint32_t room = serial_room();
    const size_t size_bytes =
        unit_transmit(&the_unit, bytes, room < sizeof(bytes) ? room : sizeof(bytes));
    if (size_bytes == 0) break;
    for (size_t i = 0; i < size_bytes; ++i) serial_put(bytes[i]);
  }
  serial_send();
}

static void watch_driver(void) {
  if (board_driver_has_fault()) {
    the_unit.causes_present |= FAULT_AMPLIFIER;
    unit_trip(&the_unit, FAULT_AMPLIFIER, 0, now_us);
  } else {
    the_unit.causes_present &= (uint8_t)~FAULT_AMPLIFIER;
  }
}

void firmware_tick(void) {
  now_us += tick_us;
  board_latch(&latch); /* first, for a constant delay after the timer */
  receive_bytes();
  watch_driver();
  unit_tick(&the_unit, now_us);
  board_put_out(&the_unit.output);
  if (unit_sample_is_due(&the_unit)) {
    unit_send_sample(&the_unit, &latch, now_us);
    latch.index_passed = 0;
    latch.home_closed = 0;
  }
  if (board_tick_is_late()) {
    unit_trip(&the_unit, FAULT_INTERNAL, STOP_TICK_LATE, now_us);
    board_put_out(&the_unit.output);
  }
  transmit_bytes();
  keep(&the_unit.memory, STOP_NONE);
  board_refresh_watchdog();
  ms_since_tick = 0;
  is_ticking = true;
}

int main(void) {
  unit_description description = {0};
  const int32_t lasting = board_init(&description);
  const bool knows = kept.check == kept_check();
  const unit_memory unknown = {0, 0, UNIT_SAMPLES_UNKNOWN};
  const unit_memory memory = knows ? kept.memory : unknown;
  const int32_t reset_cause = board_reset_cause();
  const int32_t found = knows && kept.stop_cause != STOP_NONE ? kept.stop_cause : reset_cause;

  start_dead_man(); /* early: the emulated board uses this timer for its random number */
  tick_us = 1000000U / description.tick_rate_Hz;
  unit_init(&the_unit, &description, &memory, board_random_number(), tick_us);
  if (found != STOP_NONE) unit_trip(&the_unit, FAULT_INTERNAL, found, 0);
  if (lasting != STOP_NONE) {
    the_unit.causes_present |= FAULT_INTERNAL;
    unit_trip(&the_unit, FAULT_INTERNAL, lasting, 0);
  }
  keep(&the_unit.memory, STOP_NONE);

  serial_start();
  board_start();
  run_interrupts();
}
