/* Runs the golden vectors of PROTOCOL.md on the target, under an emulator with semihosting: prints
 * each vector that fails and their number, and ends the emulator with 0 if there is none.
 * Semihosting: Arm, "Semihosting for AArch32 and AArch64", SYS_WRITE0 and SYS_EXIT. */

#include "tests/firmware/target/golden.h"

#include "firmware_iface/firmware/board/board.h"
#include "firmware_iface/wire/frame.h"

enum { SYS_WRITE0 = 0x04, SYS_EXIT = 0x18, EXIT_DONE = 0x20026, EXIT_FAILED = 0x20023 };

static void call_host(uint32_t operation, uint32_t argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register uint32_t r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

static void print(const char* text) { call_host(SYS_WRITE0, (uint32_t)(uintptr_t)text); }

bool golden_encodes_to(const uint8_t* message, size_t size_bytes, const uint8_t* frame,
                       size_t frame_size_bytes) {
  uint8_t encoded[FRAME_SIZE_BYTES_MAX];
  const size_t encoded_size_bytes = frame_encode(message, size_bytes, encoded, sizeof(encoded));
  bool same = encoded_size_bytes == frame_size_bytes;
  for (size_t k = 0; same && k < frame_size_bytes; ++k) same = encoded[k] == frame[k];
  return same;
}

bool golden_decode(const uint8_t* frame, size_t frame_size_bytes, uint8_t* message,
                   size_t* size_bytes) {
  return frame_decode(frame, frame_size_bytes - 1, message, size_bytes) == FRAME_OK;
}

_Noreturn void firmware_stop(int32_t cause) {
  (void)cause;
  print("stopped by an exception\n");
  call_host(SYS_EXIT, EXIT_FAILED);
  reset_chip();
}

void dead_man_interrupt(void) { firmware_stop(0); }
void serial_interrupt(void) { firmware_stop(0); }

int main(void) {
  size_t passed = 0;
  for (size_t k = 0; k < kGoldenCheckCount; ++k) {
    if (kGoldenChecks[k].passes()) {
      ++passed;
    } else {
      print("failed: ");
      print(kGoldenChecks[k].vector);
      print("\n");
    }
  }
  const bool all = passed == kGoldenCheckCount && passed > 0;
  print(all ? "all golden vectors pass on the target\n" : "golden vectors fail\n");
  call_host(SYS_EXIT, all ? EXIT_DONE : EXIT_FAILED);
  reset_chip();
}
