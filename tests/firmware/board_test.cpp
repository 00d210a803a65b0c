#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "firmware_iface/firmware/board/board.h"
#include "firmware_iface/firmware/board/stm32f405/registers.h"

// The port for the STM32F405 on a simulated chip: clocks, pins, timers, watchdog and option bytes
// as in ST's reference manual RM0090.

namespace {

constexpr std::uint32_t kEnablePin = 13, kDirectionPin = 14, kFaultPin = 12;  // of port B

struct Stop {
  std::int32_t cause;
};

class Chip {
 public:
  Chip() {
    registers_[address_of(GPIO_MODER(GPIOA))] = 0xA8000000;  // the debugger's pins
    registers_[address_of(GPIO_PUPDR(GPIOA))] = 0x64000000;
    registers_[address_of(GPIO_MODER(GPIOB))] = 0x280;
    registers_[address_of(GPIO_PUPDR(GPIOB))] = 0x100;
    registers_[address_of(FLASH_OPTCR)] = 0x0FFFAAED;
    for (std::uint32_t port : {GPIOA, GPIOB, GPIOC}) inputs[port] = 0xFFFF;
    levels_[GPIOB] = 1U << kEnablePin;  // as another program may have left it
    for (std::uint32_t k = 0; k < 3; ++k) registers_[address_of(UNIQUE_ID(k))] = 0x1111U << k;
  }

  bool has_crystal = true, has_pll = true, uses_pll = true;
  std::map<std::uint32_t, std::uint32_t> inputs;  // levels of the pins, by port
  std::function<void()> after_reading_edges = [] {};
  std::optional<bool> was_off_at_start;  // the enable pin when it became an output
  int refreshes = 0, ticks = 0, idle_polls = 0;
  bool has_watchdog = false;
  std::uint32_t brown_out_level = 3;

  static std::uint32_t address_of(register_word& word) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&word));
  }
  std::uint32_t& raw(register_word& word) { return registers_[address_of(word)]; }

  std::uint32_t read(std::uint32_t at) {
    const std::uint32_t value = registers_[at];
    if (at == address_of(RCC_CR)) {
      const bool crystal = has_crystal && (value >> 16 & 1) != 0;
      return value | (crystal ? 1U << 17 : 0) | (has_pll && (value >> 24 & 1) != 0 ? 1U << 25 : 0);
    }
    if (at == address_of(RCC_CFGR)) return value | (uses_pll ? (value & 3U) << 2 : 0);
    if (at == address_of(RNG_SR)) return registers_[address_of(RNG_CR)] == 4 && ++draws_ > 3;
    if (at == address_of(RNG_DR)) return draws_ > 3 ? 0x12345678 : 0;
    if (at == address_of(FLASH_SR)) {
      if (busy_ == 0) return ++idle_polls, 0;
      return --busy_, 1U << 16;
    }
    for (const std::uint32_t port : {GPIOA, GPIOB, GPIOC}) {
      if (at == address_of(GPIO_IDR(port))) return inputs[port];
    }
    if (at == address_of(EXTI_PR)) {
      after_reading_edges();
      return value;
    }
    return value;
  }

  void write(std::uint32_t at, std::uint32_t value) {
    std::uint32_t& word = registers_[at];
    if (!has_clock(at)) return;
    for (const std::uint32_t port : {GPIOA, GPIOB, GPIOC}) {
      if (at == address_of(GPIO_BSRR(port))) {
        levels_[port] = (levels_[port] & ~(value >> 16)) | (value & 0xFFFF);
        return;
      }
    }
    for (const std::uint32_t timer : {TIM1, TIM7}) {
      if (at == address_of(TIM_SR(timer))) value &= word;  // bits are cleared by writing 0
    }
    if (at == address_of(EXTI_PR)) value = word & ~value;  // and here by writing 1
    if (at == address_of(RCC_CSR) && (value >> 24 & 1) != 0) value &= 0x00FFFFFF;
    if (at == address_of(IWDG_KR)) return write_watchdog_key(value);
    if (at == address_of(IWDG_RLR) && !is_watchdog_open_) return;
    if (at == address_of(FLASH_OPTKEYR)) return open_options(value);
    if (at == address_of(FLASH_OPTCR)) return write_options(value);
    if (at == address_of(RCC_CFGR) && (value & 3) == 2) {
      EXPECT_EQ(registers_[address_of(FLASH_ACR)] & 7, 5U) << "wait states at 168 MHz";
      EXPECT_NE(read(address_of(RCC_CR)) >> 25 & 1, 0U) << "the PLL must run";
    }
    const bool had_output = enable_is_output();
    word = value;
    if (enable_is_output() && !had_output) was_off_at_start = !is_high(GPIOB, kEnablePin);
  }

  bool is_high(std::uint32_t port, std::uint32_t pin) { return (levels_[port] >> pin & 1) != 0; }

  /// Mode, alternate function and pull of a pin.
  std::vector<std::uint32_t> pin(std::uint32_t port, std::uint32_t number) {
    const std::uint32_t functions = number < 8 ? raw(GPIO_AFRL(port)) : raw(GPIO_AFRH(port));
    return {raw(GPIO_MODER(port)) >> 2 * number & 3, functions >> 4 * (number % 8) & 15,
            raw(GPIO_PUPDR(port)) >> 2 * number & 3};
  }

  /// Frequency of the core in Hz.
  double core_Hz() {
    if ((raw(RCC_CFGR) & 3) != 2) return 16e6;
    const std::uint32_t pll = raw(RCC_PLLCFGR);
    const double input = (pll >> 22 & 1) != 0 ? 1e6 * double{CRYSTAL_MHZ} : 16e6;
    const double oscillator = input / (pll & 63) * (pll >> 6 & 511);
    EXPECT_EQ(input / (pll & 63), 1e6);
    EXPECT_EQ(oscillator / (pll >> 24 & 15), 48e6) << "random numbers";
    return oscillator / (2 * (pll >> 16 & 3) + 2);
  }
  /// Frequency of the timers of a bus, whose prescaler has these bits.
  double timer_Hz(std::uint32_t prescaler) {
    return prescaler < 4 ? core_Hz() : 2 * core_Hz() / (2 << (prescaler - 4));
  }

 private:
  bool enable_is_output() { return (registers_[address_of(GPIO_MODER(GPIOB))] >> 26 & 3) == 1; }

  // A peripheral without its clock ignores writes.
  bool has_clock(std::uint32_t at) {
    const std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> clocks = {
        {GPIOA, {address_of(RCC_AHB1ENR), 0}},  {GPIOB, {address_of(RCC_AHB1ENR), 1}},
        {GPIOC, {address_of(RCC_AHB1ENR), 2}},  {TIM2, {address_of(RCC_APB1ENR), 0}},
        {TIM3, {address_of(RCC_APB1ENR), 1}},   {TIM4, {address_of(RCC_APB1ENR), 2}},
        {TIM5, {address_of(RCC_APB1ENR), 3}},   {TIM7, {address_of(RCC_APB1ENR), 5}},
        {TIM1, {address_of(RCC_APB2ENR), 0}},   {0x40013800U, {address_of(RCC_APB2ENR), 14}},
        {USART1, {address_of(RCC_APB2ENR), 4}}, {0x50060800U, {address_of(RCC_AHB2ENR), 6}}};
    const auto found = clocks.find(at & ~0x3FFU);
    return found == clocks.end() ||
           (registers_[found->second.first] >> found->second.second & 1) != 0;
  }

  void write_watchdog_key(std::uint32_t key) {
    has_watchdog = has_watchdog || key == 0xCCCC;
    is_watchdog_open_ = key == 0x5555;
    refreshes += key == 0xAAAA;
  }

  void open_options(std::uint32_t key) {
    if (key == 0x4C5D6E7FU && option_key_ == 0x08192A3BU) {
      registers_[address_of(FLASH_OPTCR)] &= ~1U;
    }
    option_key_ = key;
  }

  void write_options(std::uint32_t value) {
    std::uint32_t& word = registers_[address_of(FLASH_OPTCR)];
    if ((word & 1) != 0) return;
    EXPECT_EQ(busy_, 0) << "written while the flash is busy";
    if ((value & 2) != 0) {
      brown_out_level = value >> 2 & 3;
      EXPECT_EQ(value & ~15U, 0x0FFFAAE0U) << "other options";
      busy_ = 5;
    }
    word = value & ~2U;
  }

  std::map<std::uint32_t, std::uint32_t> registers_, levels_;
  std::uint32_t option_key_ = 0;
  int busy_ = 0, draws_ = 0;
  bool is_watchdog_open_ = false;
};

std::unique_ptr<Chip> chip;

}  // namespace

register_word::operator std::uint32_t() const {
  return chip->read(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(this)));
}
void register_word::operator=(std::uint32_t value) {
  chip->write(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(this)), value);
}
void firmware_tick() { ++chip->ticks; }
void firmware_stop(std::int32_t cause) { throw Stop{cause}; }
void tim7_interrupt();

namespace {

class Board : public ::testing::Test {
 protected:
  void SetUp() override { chip = std::make_unique<Chip>(); }

  void put_out(bool is_enabled, int command) {
    unit_output output{};
    output.is_enabled = is_enabled;
    output.command_q15[0] = static_cast<std::int16_t>(command);
    board_put_out(&output);
  }

  // The share of the supply that the power stage gives to the motor, by its pins.
  static double drive() {
    if (!chip->is_high(GPIOB, kEnablePin) || (chip->raw(TIM_BDTR(TIM1)) >> 15 & 1) == 0) return 0.0;
    const double duty = chip->raw(TIM_CCR1(TIM1)) / (chip->raw(TIM_ARR(TIM1)) + 1.0);
    return chip->is_high(GPIOB, kDirectionPin) ? duty : -duty;
  }

  unit_description description_{};
};

// README.md lists the pins.
TEST_F(Board, ConnectsItsPins) {
  EXPECT_EQ(board_init(&description_), STOP_NONE);
  EXPECT_EQ(chip->was_off_at_start, true);
  constexpr std::uint32_t kInput = 0, kOutput = 1, kAlternate = 2, kUp = 1, kDown = 2;
  const std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> expected = {
      {{GPIOA, 0}, {kAlternate, 2, kUp}},  {{GPIOA, 1}, {kAlternate, 2, kUp}},
      {{GPIOA, 8}, {kAlternate, 1, 0}},    {{GPIOA, 9}, {kAlternate, 7, 0}},
      {{GPIOA, 10}, {kAlternate, 7, kUp}}, {{GPIOA, 15}, {kAlternate, 1, kUp}},
      {{GPIOA, 13}, {kAlternate, 0, kUp}}, {{GPIOA, 14}, {kAlternate, 0, kDown}},
      {{GPIOB, 3}, {kAlternate, 1, kUp}},  {{GPIOB, 4}, {kAlternate, 0, kUp}},
      {{GPIOB, 6}, {kAlternate, 2, kUp}},  {{GPIOB, 7}, {kAlternate, 2, kUp}},
      {{GPIOB, 12}, {kAlternate, 1, kUp}}, {{GPIOB, 13}, {kOutput, 0, 0}},
      {{GPIOB, 14}, {kOutput, 0, 0}},      {{GPIOC, 0}, {kInput, 0, kDown}},
      {{GPIOC, 1}, {kInput, 0, kDown}},    {{GPIOC, 2}, {kInput, 0, kUp}},
      {{GPIOC, 3}, {kInput, 0, kUp}},      {{GPIOC, 6}, {kAlternate, 2, kUp}},
      {{GPIOC, 7}, {kAlternate, 2, kUp}}};
  for (const std::uint32_t port : {GPIOA, GPIOB, GPIOC}) {
    for (std::uint32_t k = 0; k < 16; ++k) {
      const auto found = expected.find({port, k});
      const std::vector<std::uint32_t> unused = {kInput, 0, 0};
      EXPECT_EQ(chip->pin(port, k), found == expected.end() ? unused : found->second)
          << std::hex << port << " pin " << std::dec << k;
    }
  }
}

TEST_F(Board, RunsAt168MHzWithAndWithoutACrystal) {
  for (const bool has_crystal : {true, false}) {
    SetUp();
    chip->has_crystal = has_crystal;
    EXPECT_EQ(board_init(&description_), has_crystal ? STOP_NONE : STOP_NO_CRYSTAL);
    EXPECT_EQ(chip->core_Hz(), double{CORE_CLOCK_HZ});
    const std::uint32_t buses = chip->raw(RCC_CFGR);
    EXPECT_EQ(chip->timer_Hz(buses >> 13 & 7), 168e6);
    EXPECT_EQ(chip->timer_Hz(buses >> 10 & 7), 84e6) << "at most twice 42 MHz";
    EXPECT_EQ(chip->raw(RCC_CR) >> 19 & 1, has_crystal ? 1U : 0U) << "watches the crystal";
    EXPECT_EQ(chip->raw(FLASH_ACR) & 0x700, 0x700U) << "caches and prefetch";
  }
  for (const bool has_pll : {false, true}) {
    SetUp();
    chip->has_pll = has_pll;
    chip->uses_pll = false;
    try {
      board_init(&description_);
      FAIL() << "without a clock";
    } catch (const Stop& stop) {
      EXPECT_EQ(stop.cause, STOP_NO_CLOCK);
      EXPECT_EQ(drive(), 0.0);
      EXPECT_FALSE(chip->is_high(GPIOB, kEnablePin));
    }
  }
}

TEST_F(Board, DescribesItself) {
  description_.encoder[1].kind = description_.encoder[3].kind = 99;
  board_init(&description_);
  EXPECT_EQ(description_.unit_id, 0x1111ULL << 32 ^ 0x2222ULL << 16 ^ 0x4444ULL);
  EXPECT_EQ(description_.tick_rate_Hz, 1000);
  EXPECT_EQ(description_.ttl_max_ms, TTL_MS_MAX);
  EXPECT_EQ(description_.capabilities, UNIT_CAN_COMPACT | UNIT_CAN_HOST_PACED | UNIT_CAN_MARKS);
  EXPECT_EQ(description_.command_bits, 14);
  ASSERT_EQ(description_.encoder_count, 4);
  const int flags[] = {ENCODER_HAS_INDEX, ENCODER_HAS_INDEX | ENCODER_HAS_HOME, 0, 0};
  for (std::uint32_t k = 0; k < 4; ++k) {
    const part_description& encoder = description_.encoder[k];
    EXPECT_EQ(encoder.kind, ENCODER_COUNTER);
    EXPECT_EQ(encoder.flags, flags[k]);
    EXPECT_EQ(encoder.scale, 1000 * (k + 1));
    EXPECT_EQ(encoder.modulus, k < 2 ? 0U : 65536U);
  }
  EXPECT_EQ(description_.motor_count, 1);
  EXPECT_EQ(description_.motor[0].kind, MOTOR_DUTY);
  EXPECT_EQ(description_.motor[0].scale, 1000U);
  EXPECT_EQ(description_.inertial_count, 0);
}

// Each timer counts both edges of both channels, over its whole width.
TEST_F(Board, CountsEncoders) {
  board_init(&description_);
  const std::uint32_t timers[] = {TIM2, TIM5, TIM3, TIM4};
  for (std::uint32_t k = 0; k < 4; ++k) {
    EXPECT_EQ(chip->raw(TIM_SMCR(timers[k])), 3U);
    EXPECT_EQ(chip->raw(TIM_CCMR1(timers[k])) & 0x303, 0x101U) << "both inputs";
    EXPECT_EQ(chip->raw(TIM_CCMR1(timers[k])) & 0xF0F0, 0x3030U) << "eight equal samples";
    EXPECT_EQ(chip->raw(TIM_ARR(timers[k])), k < 2 ? 0xFFFFFFFFU : 0xFFFFU);
    EXPECT_EQ(chip->raw(TIM_CR1(timers[k])), 1U);
    chip->raw(TIM_CNT(timers[k])) = 0xFF00 + k;
  }
  chip->raw(TIM_CNT(TIM2)) = 0xFFFFFFFE;
  unit_latch latch{};
  board_latch(&latch);
  EXPECT_EQ(latch.encoder_counts[0], -2);
  for (int k = 1; k < 4; ++k) EXPECT_EQ(latch.encoder_counts[k], 0xFF00 + k);
  EXPECT_EQ(latch.encoders_valid, 15);
}

// Edges are kept until a tick reads them, also one that comes in between, and reported once. A
// switch that stays closed is reported in each tick.
TEST_F(Board, LatchesIndexPulsesAndHomeSwitches) {
  board_init(&description_);
  EXPECT_EQ(chip->raw(SYSCFG_EXTICR1), 0x2222U);
  EXPECT_EQ(chip->raw(EXTI_RTSR), 3U) << "a pulse rises";
  EXPECT_EQ(chip->raw(EXTI_FTSR), 8U) << "a contact falls";
  EXPECT_EQ(chip->raw(EXTI_IMR), 11U);
  const auto latched = [] {
    unit_latch latch{};
    board_latch(&latch);
    return std::pair<int, int>(latch.index_passed, latch.home_closed);
  };
  for (std::uint32_t edges = 0; edges < 16; ++edges) {
    chip->raw(EXTI_PR) = edges;
    EXPECT_EQ(latched(), (std::pair<int, int>(edges & 3, edges >> 2 & 2))) << edges;
    EXPECT_EQ(latched(), (std::pair<int, int>(0, 0))) << "reported once";
  }
  chip->after_reading_edges = [] {
    chip->raw(EXTI_PR) |= 2;
    chip->after_reading_edges = [] {};
  };
  const auto first = latched(), second = latched();
  EXPECT_EQ(first.first + second.first, 2) << "an edge between reading and clearing";
  for (std::uint32_t open = 0; open < 16; ++open) {
    chip->inputs[GPIOC] = 0xFFF0 | open;
    for (int tick = 0; tick < 2; ++tick) {
      EXPECT_EQ(latched(), (std::pair<int, int>(0, ~open >> 2 & 2))) << open;
    }
  }
  unit_latch latch{};
  latch.index_passed = 1;
  latch.home_closed = 2;
  chip->inputs[GPIOC] = 0xFFFF;
  board_latch(&latch);
  EXPECT_EQ(latch.index_passed, 1) << "kept for the next sample";
  EXPECT_EQ(latch.home_closed, 2);
}

TEST_F(Board, DrivesWithTheCommandsSignAndSize) {
  board_init(&description_);
  EXPECT_EQ(drive(), 0.0);
  EXPECT_EQ(chip->raw(TIM_CCMR1(TIM1)), 0x60U) << "high below the compare value";
  EXPECT_EQ(chip->raw(TIM_CCER(TIM1)), 1U);
  EXPECT_EQ(chip->raw(TIM_CR1(TIM1)), 1U);
  EXPECT_NEAR(168e6 / (chip->raw(TIM_ARR(TIM1)) + 1.0), 20.5e3, 50.0);
  const std::set<int> around = {-32764, -16384, -8, -4, 4, 8, 16384, 32764};
  for (const int command : around) {
    put_out(true, command);
    EXPECT_EQ(drive(), command / 32768.0);
    EXPECT_EQ(chip->raw(TIM_BDTR(TIM1)), 0x9C00U) << "a low break input switches off";
    put_out(false, command);
    EXPECT_EQ(drive(), 0.0);
    EXPECT_FALSE(chip->is_high(GPIOB, kEnablePin));
    EXPECT_EQ(chip->raw(TIM_BDTR(TIM1)), 0x1C00U) << "the PWM pin is held low";
    EXPECT_EQ(chip->raw(TIM_CCR1(TIM1)), 0U);
    put_out(true, 0);
    EXPECT_EQ(drive(), 0.0);
    put_out(true, -command);
    EXPECT_EQ(drive(), -command / 32768.0);
    board_output_off();
    EXPECT_EQ(drive(), 0.0);
    EXPECT_FALSE(chip->is_high(GPIOB, kEnablePin));
  }
}

TEST_F(Board, ReportsADriverFault) {
  board_init(&description_);
  EXPECT_FALSE(board_driver_has_fault());
  chip->inputs[GPIOB] &= ~(1U << kFaultPin);
  EXPECT_TRUE(board_driver_has_fault());
  EXPECT_TRUE(board_driver_has_fault());
  chip->inputs[GPIOB] = 1U << kFaultPin;
  EXPECT_FALSE(board_driver_has_fault());
  chip->raw(TIM_SR(TIM1)) = 0xFF;
  EXPECT_TRUE(board_driver_has_fault()) << "too short for the tick to read the pin";
  EXPECT_EQ(chip->raw(TIM_SR(TIM1)), 0x7FU) << "other flags";
  EXPECT_FALSE(board_driver_has_fault());
}

TEST_F(Board, TicksAt1kHzUnderAWatchdogOf20Ms) {
  board_init(&description_);
  board_start();
  const double clock_Hz = chip->timer_Hz(chip->raw(RCC_CFGR) >> 10 & 7);
  EXPECT_EQ(clock_Hz / (chip->raw(TIM_PSC(TIM7)) + 1.0) / (chip->raw(TIM_ARR(TIM7)) + 1.0), 1e3);
  EXPECT_EQ(chip->raw(TIM_EGR(TIM7)), 1U) << "loads the prescaler";
  EXPECT_EQ(chip->raw(TIM_DIER(TIM7)), 1U);
  EXPECT_EQ(chip->raw(TIM_CR1(TIM7)), 1U);
  EXPECT_EQ(chip->raw(NVIC_ISER(INTERRUPT_TIM7)), 1U << (INTERRUPT_TIM7 - 32));
  EXPECT_EQ(chip->raw(NVIC_IPR(INTERRUPT_TIM7)), std::uint32_t{PRIORITY_TICK});
  EXPECT_FALSE(board_tick_is_late());
  chip->raw(TIM_SR(TIM7)) = 1;
  EXPECT_TRUE(board_tick_is_late());
  tim7_interrupt();
  EXPECT_EQ(chip->ticks, 1);
  EXPECT_FALSE(board_tick_is_late());

  EXPECT_TRUE(chip->has_watchdog);
  EXPECT_EQ(chip->raw(IWDG_RLR) / (32e3 / 4), 0.02);
  EXPECT_EQ(chip->refreshes, 0);
  board_refresh_watchdog();
  EXPECT_EQ(chip->refreshes, 1);
}

TEST_F(Board, ReportsAResetByTheWatchdogOnce) {
  board_init(&description_);
  EXPECT_EQ(board_reset_cause(), STOP_NONE);
  chip->raw(RCC_CSR) = 0xDC000000;  // all others
  EXPECT_EQ(board_reset_cause(), STOP_NONE);
  chip->raw(RCC_CSR) = 1U << 29;
  EXPECT_EQ(board_reset_cause(), STOP_WATCHDOG);
  EXPECT_EQ(board_reset_cause(), STOP_NONE);
}

TEST_F(Board, SetsTheBrownOutLevelOnce) {
  board_init(&description_);
  EXPECT_EQ(chip->brown_out_level, 0U) << "2.7 V";
  EXPECT_EQ(chip->raw(FLASH_OPTCR) & 1, 1U) << "locked";
  EXPECT_EQ(chip->idle_polls, 1) << "waits until the flash is ready, no longer";
  chip->brown_out_level = 99;
  board_init(&description_);
  EXPECT_EQ(chip->brown_out_level, 99U) << "not written again";
}

TEST_F(Board, DrawsARandomNumber) {
  board_init(&description_);
  EXPECT_EQ(board_random_number(), 0x12345678U);
}

}  // namespace
