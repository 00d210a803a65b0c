#pragma once

// Replaces the registers of an STM32F405 by simulated ones, so that the board's port runs on the
// host as C++. The compiler includes this file before the port.

#include <cstdint>

/// A simulated register. Its own address is that of the register; no memory is there.
struct register_word {
  operator std::uint32_t() const;  // NOLINT: is read like a number
  void operator=(std::uint32_t value);
  void operator|=(std::uint32_t bits) { *this = *this | bits; }
  void operator&=(std::uint32_t bits) { *this = *this & bits; }
};

#define REGISTER(address) (*reinterpret_cast<register_word*>(std::uintptr_t{address}))
#define BYTE_REGISTER(address) REGISTER(address)
#define _Noreturn [[noreturn]]

#include "firmware_iface/firmware/board/stm32f405/settings.h"

// A rig that uses everything that the port supports, with different values in all places.
#define ENCODER_COUNT 4
#define ENCODERS_WITH_INDEX 3
#define ENCODERS_WITH_HOME 2
#define COUNTS_PER_TURN_0 1000
#define COUNTS_PER_TURN_1 2000
#define COUNTS_PER_TURN_2 3000
#define COUNTS_PER_TURN_3 4000
