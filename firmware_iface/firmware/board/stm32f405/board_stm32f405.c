/* An STM32F405 with quadrature encoders and one motor driver. Pins: README.md. */

#include "firmware_iface/firmware/board/board.h"
#include "firmware_iface/firmware/board/stm32f405/registers.h"
#include "firmware_iface/firmware/board/stm32f405/settings.h"

enum {
  WAIT_MAX = 100000,  /* limit of every wait: 60 ms on the RC oscillator; a crystal needs 2 ms */
  PIN_DIRECTION = 14, /* of GPIOB */
  PIN_ENABLE = 13,
  PIN_DRIVER_FAULT = 12,
  PWM_PERIOD = 8192, /* 20.5 kHz; 13 bits and the sign */
  PWM_BITS = 14,
  /* TIM1_BDTR, RM0090 section 17.4.18: a low level at the break input switches off; while off, the
   * PWM pin is held low */
  PWM_OFF = 1 << 12 | 1 << 11 | 1 << 10,
  PWM_ON = PWM_OFF | 1 << 15
};

const uint32_t board_dead_man_ms = 5;

static bool wait_for(register_word* status, uint32_t bits, uint32_t value) {
  for (uint32_t k = 0; k < WAIT_MAX; ++k) {
    if ((*status & bits) == value) return true;
  }
  return false;
}

/* 168 MHz from the crystal, or from the RC oscillator if it does not start. RM0090 section 7.2. */
static int32_t start_clock(void) {
  FLASH_ACR = 0x705U; /* caches, prefetch, five wait states: 168 MHz at 2.7 V to 3.6 V */
  RCC_CR |= 1U << 16; /* HSEON */
  const bool has_crystal = wait_for(&RCC_CR, 1U << 17, 1U << 17);
  const uint32_t input_MHz = has_crystal ? CRYSTAL_MHZ : 16U;
  /* 1 MHz x 336, / 2 for the core, / 7 for the random number generator */
  RCC_PLLCFGR = 2U << 28 | 7U << 24 | (has_crystal ? 1U << 22 : 0U) | 336U << 6 | input_MHz;
  RCC_CR |= 1U << 24; /* PLLON */
  if (!wait_for(&RCC_CR, 1U << 25, 1U << 25)) return STOP_NO_CLOCK;
  RCC_CFGR = 5U << 10 | 4U << 13 | 2U; /* APB1 42 MHz, APB2 84 MHz, the core from the PLL */
  if (!wait_for(&RCC_CFGR, 3U << 2, 2U << 2)) return STOP_NO_CLOCK;
  if (!has_crystal) return STOP_NO_CRYSTAL;
  RCC_CR |= 1U << 19; /* CSSON: NMI when the crystal stops */
  return STOP_NONE;
}

/* Resets below 2.7 V. The option byte is written once in a board's life. RM0090 section 3.6. */
static void set_brown_out_level(void) {
  enum { LOCK = 1 << 0, START = 1 << 1, LEVEL = 3 << 2 };
  if ((FLASH_OPTCR & LEVEL) == 0) return;
  FLASH_OPTKEYR = 0x08192A3BU;
  FLASH_OPTKEYR = 0x4C5D6E7FU;
  FLASH_OPTCR &= ~(uint32_t)(LEVEL | LOCK);
  FLASH_OPTCR |= START;
  (void)wait_for(&FLASH_SR, 1U << 16, 0);
  FLASH_OPTCR |= LOCK;
}

enum { MODE_OUTPUT = 1, MODE_ALTERNATE = 2, PULL_UP = 1, PULL_DOWN = 2 };

static void set_pin(uint32_t port, uint32_t pin, uint32_t mode, uint32_t alternate, uint32_t pull) {
  register_word* const functions = pin < 8 ? &GPIO_AFRL(port) : &GPIO_AFRH(port);
  const uint32_t shift = 4U * (pin % 8U);
  *functions = (*functions & ~(15U << shift)) | alternate << shift;
  GPIO_PUPDR(port) = (GPIO_PUPDR(port) & ~(3U << (2U * pin))) | pull << (2U * pin);
  GPIO_OSPEEDR(port) |= 1U << (2U * pin); /* 25 MHz */
  GPIO_MODER(port) = (GPIO_MODER(port) & ~(3U << (2U * pin))) | mode << (2U * pin);
}

/* A timer that counts both edges of both channels; eight equal samples at 84 MHz make an edge.
 * RM0090 section 18.3.12. */
static void start_counter(uint32_t timer, uint32_t last) {
  TIM_SMCR(timer) = 3;
  TIM_CCMR1(timer) = 0x3131U;
  TIM_ARR(timer) = last;
  TIM_CR1(timer) = 1;
}

static void start_counters(void) {
  set_pin(GPIOA, 15, MODE_ALTERNATE, 1, PULL_UP);
  set_pin(GPIOB, 3, MODE_ALTERNATE, 1, PULL_UP);
  start_counter(TIM2, 0xFFFFFFFFU);
  set_pin(GPIOA, 0, MODE_ALTERNATE, 2, PULL_UP);
  set_pin(GPIOA, 1, MODE_ALTERNATE, 2, PULL_UP);
  start_counter(TIM5, 0xFFFFFFFFU);
  set_pin(GPIOC, 6, MODE_ALTERNATE, 2, PULL_UP);
  set_pin(GPIOC, 7, MODE_ALTERNATE, 2, PULL_UP);
  start_counter(TIM3, 0xFFFFU);
  set_pin(GPIOB, 6, MODE_ALTERNATE, 2, PULL_UP);
  set_pin(GPIOB, 7, MODE_ALTERNATE, 2, PULL_UP);
  start_counter(TIM4, 0xFFFFU);
}

/* Edges of PC0 to PC3 are latched in EXTI_PR. Their interrupts stay disabled in the NVIC. */
static void start_marks(void) {
  SYSCFG_EXTICR1 = 0x2222U; /* port C */
  set_pin(GPIOC, 0, 0, 0, PULL_DOWN);
  set_pin(GPIOC, 1, 0, 0, PULL_DOWN);
  set_pin(GPIOC, 2, 0, 0, PULL_UP);
  set_pin(GPIOC, 3, 0, 0, PULL_UP);
  EXTI_RTSR = ENCODERS_WITH_INDEX & 3;
  EXTI_FTSR = (ENCODERS_WITH_HOME & 3) << 2;
  EXTI_IMR = EXTI_RTSR | EXTI_FTSR;
}

static void start_pwm(void) {
  set_pin(GPIOB, PIN_DRIVER_FAULT, MODE_ALTERNATE, 1, PULL_UP);
  TIM_ARR(TIM1) = PWM_PERIOD - 1;
  TIM_CCMR1(TIM1) = 6U << 4; /* PWM mode 1 */
  TIM_CCER(TIM1) = 1;
  TIM_BDTR(TIM1) = PWM_OFF;
  TIM_CR1(TIM1) = 1;
  set_pin(GPIOA, 8, MODE_ALTERNATE, 1, 0);
  set_pin(GPIOB, PIN_DIRECTION, MODE_OUTPUT, 0, 0);
  set_pin(GPIOB, PIN_ENABLE, MODE_OUTPUT, 0, 0);
}

static void describe(unit_description* description) {
  static const uint32_t kCountsPerTurn[] = {COUNTS_PER_TURN_0, COUNTS_PER_TURN_1, COUNTS_PER_TURN_2,
                                            COUNTS_PER_TURN_3};
  description->unit_id = (uint64_t)UNIQUE_ID(0) << 32 ^ (uint64_t)UNIQUE_ID(1) << 16 ^ UNIQUE_ID(2);
  description->tick_rate_Hz = 1000;
  description->ttl_max_ms = TTL_MS_MAX;
  description->capabilities = UNIT_CAN_COMPACT | UNIT_CAN_HOST_PACED;
  if ((ENCODERS_WITH_INDEX | ENCODERS_WITH_HOME) != 0) description->capabilities |= UNIT_CAN_MARKS;
  description->command_bits = PWM_BITS;
  description->encoder_count = ENCODER_COUNT;
  for (uint32_t k = 0; k < ENCODER_COUNT; ++k) {
    part_description* const encoder = &description->encoder[k];
    encoder->kind = ENCODER_COUNTER;
    if ((ENCODERS_WITH_INDEX >> k & 1) != 0) encoder->flags |= ENCODER_HAS_INDEX;
    if ((ENCODERS_WITH_HOME >> k & 1) != 0) encoder->flags |= ENCODER_HAS_HOME;
    encoder->scale = kCountsPerTurn[k];
    encoder->modulus = k < 2 ? 0 : 65536;
  }
  description->motor_count = 1;
  description->motor[0].kind = MOTOR_DUTY;
  description->motor[0].scale = 1000;
}

int32_t board_init(unit_description* description) {
  RCC_AHB1ENR |= 7U;                        /* GPIOA, GPIOB, GPIOC */
  RCC_APB1ENR |= 1U << 28 | 1U << 5 | 0xFU; /* PWR, TIM7, TIM2 to TIM5 */
  RCC_APB2ENR |= 1U << 14 | 1U << 4 | 1U;   /* SYSCFG, USART1, TIM1 */
  RCC_AHB2ENR |= 1U << 6;                   /* RNG */
  board_output_off();
  set_brown_out_level();
  const int32_t wrong = start_clock();
  if (wrong == STOP_NO_CLOCK) firmware_stop(STOP_NO_CLOCK);
  start_pwm();
  start_counters();
  start_marks();
  set_pin(GPIOA, 9, MODE_ALTERNATE, 7, 0);
  set_pin(GPIOA, 10, MODE_ALTERNATE, 7, PULL_UP);
  describe(description);
  return wrong;
}

uint32_t board_random_number(void) {
  RNG_CR = 1U << 2;
  (void)wait_for(&RNG_SR, 1, 1);
  return RNG_DR;
}

int32_t board_reset_cause(void) {
  const bool by_watchdog = (RCC_CSR & 1U << 29) != 0; /* IWDGRSTF */
  RCC_CSR |= 1U << 24;                                /* clear the reset flags */
  return by_watchdog ? STOP_WATCHDOG : STOP_NONE;
}

void board_start(void) {
  TIM_PSC(TIM7) = 83; /* 84 MHz / 84 */
  TIM_ARR(TIM7) = 999;
  TIM_EGR(TIM7) = 1;
  TIM_SR(TIM7) = 0;
  TIM_DIER(TIM7) = 1;
  enable_interrupt(INTERRUPT_TIM7, PRIORITY_TICK);
  TIM_CR1(TIM7) = 1;
  IWDG_KR = 0xCCCCU; /* on, with its oscillator of 32 kHz (17 to 47 kHz), divided by 4 */
  IWDG_KR = 0x5555U;
  IWDG_RLR = 160U; /* 20 ms (14 to 38 ms) from the first refresh on */
}

void tim7_interrupt(void) {
  TIM_SR(TIM7) = 0;
  firmware_tick();
}

void board_latch(unit_latch* latch) {
  latch->encoder_counts[0] = (int32_t)TIM_CNT(TIM2);
  latch->encoder_counts[1] = (int32_t)TIM_CNT(TIM5);
  latch->encoder_counts[2] = (int32_t)TIM_CNT(TIM3);
  latch->encoder_counts[3] = (int32_t)TIM_CNT(TIM4);
  latch->encoders_valid = (1U << ENCODER_COUNT) - 1U;
  const uint32_t edges = EXTI_PR;
  EXTI_PR = edges;
  const uint32_t closed = ~GPIO_IDR(GPIOC) & (ENCODERS_WITH_HOME & 3) << 2;
  latch->index_passed |= (uint16_t)(edges & ENCODERS_WITH_INDEX & 3U);
  latch->home_closed |= (uint16_t)((edges | closed) >> 2 & ENCODERS_WITH_HOME & 3U);
}

void board_output_off(void) {
  GPIO_BSRR(GPIOB) = 1U << (PIN_ENABLE + 16);
  TIM_BDTR(TIM1) = PWM_OFF;
  TIM_CCR1(TIM1) = 0;
}

void board_put_out(const unit_output* output) {
  if (!output->is_enabled) {
    board_output_off();
    return;
  }
  const int32_t command = output->command_q15[0];
  const bool is_negative = command < 0;
  TIM_CCR1(TIM1) = (uint32_t)(is_negative ? -command : command) >> (16 - PWM_BITS);
  GPIO_BSRR(GPIOB) = is_negative ? 1U << (PIN_DIRECTION + 16) : 1U << PIN_DIRECTION;
  TIM_BDTR(TIM1) = PWM_ON;
  GPIO_BSRR(GPIOB) = 1U << PIN_ENABLE;
}

/* The break input has switched the PWM off in hardware; its flag remains until the pin is high
 * again. */
bool board_driver_has_fault(void) {
  const bool has_fault = (TIM_SR(TIM1) & 1U << 7) != 0;
  TIM_SR(TIM1) = ~(1U << 7);
  return has_fault || (GPIO_IDR(GPIOB) & 1U << PIN_DRIVER_FAULT) == 0;
}

bool board_tick_is_late(void) { return (TIM_SR(TIM7) & 1U) != 0; }

void board_refresh_watchdog(void) { IWDG_KR = 0xAAAAU; }
