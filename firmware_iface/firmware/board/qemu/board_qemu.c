/* The STM32F405 that QEMU emulates (netduinoplus2), for tests. QEMU has no encoder mode, PWM or
 * watchdog: instead of those registers, counts and output use USART2. All other object code in the
 * image is that of the real part.
 *
 * The simulated rig sends a message for each tick. Only its first byte has the top bit set.
 *   1 byte   REQUEST_* in bits 0 to 2, index pulses in bits 3 and 4, home switches in bits 5 and 6
 *   1 byte   a number, which the answer repeats
 *   for each encoder 1 to 6 digits: the change of its count since the last tick, modulo 2^32, as
 *            2 * change, or -2 * change - 1 if negative; six bits a byte, low ones first, with
 *            bit 6 set in all but the last
 * The end of the message triggers the tick. The answer is sent whenever the output is set:
 *   1 byte   whether the output is enabled; only this byte has the top bit set
 *   1 byte   the number
 *   3 bytes  command_q15, seven bits a byte, low ones first
 * Every byte of a message costs QEMU two thread switches, so changes are sent instead of counts. */

#include "firmware_iface/firmware/board/board.h"
#include "firmware_iface/firmware/board/stm32f405/registers.h"

enum {
  ENCODER_COUNT = 2,
  DIGITS_MAX = 6,
  FIRST_BYTE = 0x80,
  MORE_DIGITS = 0x40,
  REQUEST_HANG = 1,      /* the tick does not end */
  REQUEST_UNDEFINED = 2, /* an undefined instruction */
  REQUEST_BAD_ADDRESS = 3,
  REQUEST_INTERRUPT = 4,    /* one without a handler */
  REQUEST_DRIVER_FAULT = 5, /* the power stage reports a fault */
  REQUEST_RESET = 6,        /* from outside the firmware, e.g. by the independent watchdog */
  REQUEST_MASK = 7
};

/* Long, because the simulated rig may have to wait for the processor. */
const uint32_t board_dead_man_ms = 1000;

static uint8_t head;                   /* first byte of the newest message */
static uint8_t number;                 /* of the newest message */
static uint32_t counts[ENCODER_COUNT]; /* like a timer: 0 after a reset */

/* Received part of a message; 0: nothing, 1: its head, 2: its number or digits. */
static uint32_t part;
static uint32_t encoder;
static uint32_t digits;
static uint32_t change;

int32_t board_init(unit_description* description) {
  description->unit_id = 0x5249474341514D55U;
  description->tick_rate_Hz = 500;
  description->ttl_max_ms = 250;
  description->capabilities = UNIT_CAN_COMPACT | UNIT_CAN_HOST_PACED | UNIT_CAN_MARKS;
  description->command_bits = 14;
  description->encoder_count = ENCODER_COUNT;
  for (uint32_t k = 0; k < ENCODER_COUNT; ++k) {
    description->encoder[k].kind = ENCODER_COUNTER;
    description->encoder[k].flags = ENCODER_HAS_INDEX | ENCODER_HAS_HOME;
    description->encoder[k].scale = 4096;
  }
  description->motor_count = 1;
  description->motor[0].kind = MOTOR_VOLT;
  description->motor[0].scale = 10000;
  return STOP_NONE;
}

uint32_t board_random_number(void) { return SYSTICK_VAL; }

int32_t board_reset_cause(void) { return STOP_NONE; }

void board_start(void) {
  USART_CR1(USART2) = USART_CR1_UE | USART_CR1_TE | USART_CR1_RE | USART_CR1_RXNEIE;
  enable_interrupt(INTERRUPT_USART2, PRIORITY_TICK);
}

static void misbehave(void) {
  switch (head & REQUEST_MASK) {
    case REQUEST_HANG: /* asleep, so that it does not keep the emulator's own threads from running
                        */
      for (;;) __asm__ volatile("wfi");
    case REQUEST_UNDEFINED:
      __asm__ volatile("udf #0");
      break;
    case REQUEST_BAD_ADDRESS:
      REGISTER(0x60000000U) = 0;
      break;
    case REQUEST_INTERRUPT:
      enable_interrupt(INTERRUPT_TIM7, PRIORITY_SERIAL);
      NVIC_ISPR(INTERRUPT_TIM7) = 1U << (INTERRUPT_TIM7 % 32U);
      break;
    case REQUEST_RESET:
      reset_chip();
    default:
      break;
  }
}

/* Adds a byte; returns true if it ends a message. */
static bool receive(uint8_t byte) {
  if (byte >= FIRST_BYTE) {
    head = byte;
    part = 1;
  } else if (part == 1) {
    number = byte;
    part = 2;
    encoder = digits = change = 0;
  } else if (part == 2) {
    change |= (uint32_t)(byte & (MORE_DIGITS - 1)) << (6 * digits);
    ++digits;
    if ((byte & MORE_DIGITS) != 0 && digits < DIGITS_MAX) return false;
    counts[encoder] += (change & 1U) != 0 ? ~(change >> 1) : change >> 1;
    ++encoder;
    digits = change = 0;
    if (encoder < ENCODER_COUNT) return false;
    part = 0;
    return true;
  }
  return false;
}

void usart2_interrupt(void) {
  if ((USART_SR(USART2) & USART_SR_RXNE) == 0) return;
  if (!receive((uint8_t)USART_DR(USART2))) return;
  misbehave();
  firmware_tick();
}

void board_latch(unit_latch* latch) {
  for (uint32_t k = 0; k < ENCODER_COUNT; ++k) latch->encoder_counts[k] = (int32_t)counts[k];
  latch->encoders_valid = (1U << ENCODER_COUNT) - 1U;
  latch->index_passed |= head >> 3 & 3U;
  latch->home_closed |= head >> 5 & 3U;
}

/* QEMU accepts every byte at once. */
static void put_out(bool is_enabled, int16_t command_q15) {
  const uint32_t command = (uint16_t)command_q15;
  USART_DR(USART2) = FIRST_BYTE | (is_enabled ? 1U : 0U);
  USART_DR(USART2) = number;
  for (uint32_t shift = 0; shift < 21; shift += 7) USART_DR(USART2) = command >> shift & 0x7FU;
}

void board_output_off(void) { put_out(false, 0); }

void board_put_out(const unit_output* output) {
  put_out(output->is_enabled, output->command_q15[0]);
}

bool board_driver_has_fault(void) { return (head & REQUEST_MASK) == REQUEST_DRIVER_FAULT; }

bool board_tick_is_late(void) { return false; }

void board_refresh_watchdog(void) {}
