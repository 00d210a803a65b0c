#pragma once

/* Causes for which the unit holds its output at zero. Latched until CLEAR. A unit boots tripped. */

/* FAULT, unit -> host, sent once when the unit trips. It is not acknowledged: every SAMPLE carries
 * fault_flags too.
 *
 *   offset  size  field
 *        0     1  type             0x07
 *        1     1  fault_flags      all that are latched
 *        2     1  cause            the one that is new
 *        3     2  sample_sequence  of the last sample sent before the trip
 *        5     4  tick_us          unit clock at the trip
 *        9     4  detail           the number behind the cause, see the list */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FAULT_SIZE_BYTES = 13 };

enum {
  FAULT_BOOT = 0x01,      /* after a reset; detail: boot count */
  FAULT_TTL = 0x02,       /* no valid command in time; detail: the ttl that expired [ms] */
  FAULT_SESSION = 0x04,   /* HELLO, or CONFIGURE of another stream, while driving; detail: 0 */
  FAULT_COMMAND = 0x08,   /* ttl of 0 or above the unit's maximum; detail: that ttl [ms] */
  FAULT_HOST = 0x10,      /* COMMAND_TRIP; detail: sequence of the command */
  FAULT_AMPLIFIER = 0x20, /* the power stage reports a fault; detail: its code */
  FAULT_INTERNAL = 0x40,  /* internal error of the unit; detail: its code */
};

typedef struct {
  uint8_t fault_flags;
  uint8_t cause;
  uint16_t sample_sequence;
  uint32_t tick_us;
  int32_t detail;
} fault_report;

/* Writes exactly FAULT_SIZE_BYTES. The decoder returns false, leaving *report unchanged, unless the
 * size is exactly that and the type byte is MESSAGE_FAULT. */
void fault_report_encode(const fault_report* report, uint8_t out[FAULT_SIZE_BYTES]);
bool fault_report_decode(const uint8_t* in, size_t size_bytes, fault_report* report);

#ifdef __cplusplus
}
#endif
