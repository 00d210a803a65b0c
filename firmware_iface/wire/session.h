#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware_iface/wire/limits.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Messages that start and end sessions, streams and trips. Each encoder writes exactly the size of
 * its message. Each decoder returns false, leaving its result unchanged, unless size and type byte
 * are the expected ones. */

/* DESCRIBE, host -> unit: requests the description of one encoder or motor of the unit. The host
 * repeats it until it is answered.
 *
 *   offset  size  field
 *        0     1  type   0x08
 *        1     1  part   PART_*
 *        2     1  index  below encoder_count or motor_count of HELLO_REPLY
 *
 * DESCRIBE_REPLY, unit -> host.
 *
 *   offset  size  field
 *        0     1  type     0x09
 *        1     1  part     of the DESCRIBE answered
 *        2     1  index    of the DESCRIBE answered
 *        3     1  kind     ENCODER_* or MOTOR_*; PART_MISSING where the unit has no such part
 *        4     1  flags    ENCODER_HAS_*; 0 of a motor
 *        5     4  scale    of an encoder its counts per turn, 0: unknown, or not rotary; of a motor
 *                          its output at command_q15 = 32767, in thousandths of the kind's unit
 *        9     4  modulus  of an encoder: counts run from 0 to modulus - 1; 0: all 32 bits, signed;
 *                          of a motor 0 */

enum { DESCRIBE_SIZE_BYTES = 3, DESCRIBE_REPLY_SIZE_BYTES = 13 };

enum { PART_ENCODER = 0, PART_MOTOR = 1 };

enum {
  ENCODER_COUNTER = 0,  /* counts from where it was switched on, and wraps at its modulus */
  ENCODER_ABSOLUTE = 1, /* reads its position within its modulus, also after power-on */
  MOTOR_VOLT = 0,
  MOTOR_DUTY = 1, /* share of the supply voltage, -1 to 1 */
  MOTOR_AMPERE = 2,
  PART_MISSING = 255
};

enum {
  ENCODER_HAS_INDEX = 0x01, /* SAMPLE has its index_passed */
  ENCODER_HAS_HOME = 0x02,  /* SAMPLE has its home_closed */
};

typedef struct {
  uint8_t part;
  uint8_t index;
} describe_request;

typedef struct {
  uint8_t kind;
  uint8_t flags;
  uint32_t scale;
  uint32_t modulus;
} part_description;

typedef struct {
  uint8_t part;
  uint8_t index;
  part_description description;
} describe_reply;

void describe_request_encode(const describe_request* request, uint8_t out[DESCRIBE_SIZE_BYTES]);
bool describe_request_decode(const uint8_t* in, size_t size_bytes, describe_request* request);
void describe_reply_encode(const describe_reply* reply, uint8_t out[DESCRIBE_REPLY_SIZE_BYTES]);
bool describe_reply_decode(const uint8_t* in, size_t size_bytes, describe_reply* reply);

/* HELLO, host -> unit: starts a session. The unit stops its stream, sets its output to zero, trips
 * (FAULT_SESSION) if it was driving, and answers with HELLO_REPLY.
 *
 *   offset  size  field
 *        0     1  type              0x01
 *        1     1  protocol_version
 *        2     4  layout_hash
 *        6     2  nonce             any number; the reply repeats it
 *
 * HELLO_REPLY, unit -> host: description of the unit.
 *
 *   offset  size  field
 *        0     1  type              0x02
 *        1     1  protocol_version
 *        2     4  layout_hash
 *        6     2  nonce             of the HELLO answered
 *        8     8  unit_id           unique to the unit
 *       16     2  boot_count        counts resets, wraps
 *       18     2  tick_rate_Hz      of the unit's timer, by its own clock
 *       20     1  ttl_max_ms        longest time to live the unit accepts
 *       21     1  capabilities      UNIT_CAN_*
 *       22     1  fault_flags       latched, see fault.h
 *       23     4  configuration_hash  unit_configuration_hash
 *       27     2  stream_count      streams started since power-up, kept over resets, wraps
 *       29     4  samples_sent      in the last of them; 0xFFFFFFFF unknown
 *       33     1  encoder_count     1..ENCODERS_MAX
 *       34     1  motor_count       0..MOTORS_MAX
 *       35     1  inertial_count    0..INERTIAL_SENSORS_MAX
 *       36     1  inertial_ticks[0], then [1], [2], [3]: number of ticks from one reading of the
 *                 sensor to the next, 1..255; 0 for sensors that do not exist
 *
 * The first 8 bytes of both, called the head, and the seed of their CRC are the same in every
 * protocol version. In no version they are longer than HELLO_REPLY_SIZE_BYTES_MAX. */

enum { HELLO_HEAD_SIZE_BYTES = 8, HELLO_SIZE_BYTES = 8, HELLO_REPLY_SIZE_BYTES = 40 };

enum {
  UNIT_CAN_COMPACT = 0x01,    /* compact SAMPLE and COMMAND */
  UNIT_CAN_HOST_PACED = 0x02, /* a SAMPLE in reply to each COMMAND */
  UNIT_CAN_MARKS = 0x04,      /* index pulses and home switches in SAMPLE */
};

typedef struct {
  uint8_t protocol_version;
  uint32_t layout_hash;
  uint16_t nonce;
} hello_head;

typedef struct {
  uint8_t protocol_version;
  uint32_t layout_hash;
  uint16_t nonce;
  uint64_t unit_id;
  uint16_t boot_count;
  uint16_t tick_rate_Hz;
  uint8_t ttl_max_ms;
  uint8_t capabilities;
  uint8_t fault_flags;
  uint32_t configuration_hash;
  uint16_t stream_count;
  uint32_t samples_sent;
  uint8_t encoder_count;
  uint8_t motor_count;
  uint8_t inertial_count;
  uint8_t inertial_ticks[INERTIAL_SENSORS_MAX];
} hello_reply;

/* HELLO of this version consists of the head only. */
void hello_encode(const hello_head* head, uint8_t out[HELLO_SIZE_BYTES]);

/* Reads the head of a HELLO or HELLO_REPLY of any version. Returns false, leaving *head unchanged,
 * for another type or fewer bytes. */
bool hello_head_decode(const uint8_t* in, size_t size_bytes, hello_head* head);

void hello_reply_encode(const hello_reply* reply, uint8_t out[HELLO_REPLY_SIZE_BYTES]);

/* Decodes a HELLO_REPLY. Returns false, leaving *reply unchanged, unless type, size and
 * protocol_version match this version. */
bool hello_reply_decode(const uint8_t* in, size_t size_bytes, hello_reply* reply);

/* Returns the CRC-32C of the encoded unit_id, tick_rate_Hz, ttl_max_ms, capabilities,
 * encoder_count, motor_count, inertial_count and inertial_ticks, then kind, flags, scale and
 * modulus of each encoder and of each motor. It differs between units and between set-ups of one
 * unit. */
uint32_t unit_configuration_hash(const hello_reply* reply,
                                 const part_description encoder[ENCODERS_MAX],
                                 const part_description motor[MOTORS_MAX]);

/* CONFIGURE, host -> unit: starts, changes or stops the stream of samples. The host repeats it
 * until it is acknowledged. The unit recognizes a repetition by its sequence, and only repeats its
 * answer.
 *
 *   offset  size  field
 *        0     1  type        0x03
 *        1     2  sequence
 *        3     1  flags       STREAM_*
 *        4     1  divider     a sample every divider ticks, 1..255
 *        5     1  command_age_ticks  a COMMAND may answer a sample that is at most this much older
 *                 than the newest one, 1..255
 *        6     1  inertial_divider[0], then [1], [2], [3]: readings of the inertial sensor with
 *                 sample 0 and every so many samples after it; 0: not read
 *
 * CONFIGURE_REPLY, unit -> host.
 *
 *   offset  size  field
 *        0     1  type           0x04
 *        1     2  sequence       of the CONFIGURE answered
 *        3     1  result         CONFIGURE_*; anything but CONFIGURE_DONE changed nothing
 *        4     1  flags          now in force
 *        5     1  divider        now in force
 *        6     4  samples_sent   in the stream that this CONFIGURE ended, 0 when there was none
 *       10     4  start_tick_us  unit clock of the tick that sends sample 0 of the new stream
 *       14     2  stream_count   streams started since power-up, this one included, wraps */

enum { CONFIGURE_SIZE_BYTES = 10, CONFIGURE_REPLY_SIZE_BYTES = 16 };

enum {
  STREAM_ON = 0x01,
  STREAM_COMPACT = 0x02, /* compact SAMPLE and COMMAND */
  STREAM_HOST_PACED =
      0x04,            /* a SAMPLE in reply to each COMMAND, instead of one every divider ticks */
  STREAM_MARKS = 0x08, /* SAMPLE carries index_passed and home_closed */
};

enum {
  CONFIGURE_DONE = 0,
  /* an unknown or unsupported flag, divider 0 or command_age_ticks 0, an inertial sensor that does
   * not exist, or a divider that does not match its ticks */
  CONFIGURE_UNSUPPORTED = 1,
  CONFIGURE_NO_SESSION = 2, /* no HELLO since the unit was reset */
};

typedef struct {
  uint16_t sequence;
  uint8_t flags;
  uint8_t divider;
  uint8_t command_age_ticks;
  uint8_t inertial_divider[INERTIAL_SENSORS_MAX];
} configure_request;

typedef struct {
  uint16_t sequence;
  uint8_t result;
  uint8_t flags;
  uint8_t divider;
  uint32_t samples_sent;
  uint32_t start_tick_us;
  uint16_t stream_count;
} configure_reply;

void configure_request_encode(const configure_request* request, uint8_t out[CONFIGURE_SIZE_BYTES]);
bool configure_request_decode(const uint8_t* in, size_t size_bytes, configure_request* request);
void configure_reply_encode(const configure_reply* reply, uint8_t out[CONFIGURE_REPLY_SIZE_BYTES]);
bool configure_reply_decode(const uint8_t* in, size_t size_bytes, configure_reply* reply);

/* CLEAR, host -> unit: ends a trip, in two steps, so that no single frame, even a corrupted one,
 * can arm the output.
 *
 *   step 1 (token 0)       the unit answers with a new token
 *   step 2 (that token)    within CLEAR_WINDOW_MS the unit clears its fault flags, unless a cause
 *                          is still present; the output stays zero until a COMMAND enables it
 *
 *   offset  size  field
 *        0     1  type   0x05
 *        1     1  step   1 or 2
 *        2     2  token
 *
 * CLEAR_REPLY, unit -> host.
 *
 *   offset  size  field
 *        0     1  type         0x06
 *        1     1  step         of the CLEAR answered
 *        2     1  result       CLEAR_*
 *        3     2  token        step 1: the new token; step 2: the token received
 *        5     1  fault_flags  after this step */

enum { CLEAR_SIZE_BYTES = 4, CLEAR_REPLY_SIZE_BYTES = 6 };

enum {
  CLEAR_DONE = 0,          /* step 1: token issued; step 2: the trip has ended */
  CLEAR_WRONG_TOKEN = 1,   /* not the last token issued, or it has expired */
  CLEAR_CAUSE_PRESENT = 2, /* fault_flags has the remaining causes */
  CLEAR_WRONG_STEP = 3,
};

typedef struct {
  uint8_t step;
  uint16_t token;
} clear_request;

typedef struct {
  uint8_t step;
  uint8_t result;
  uint16_t token;
  uint8_t fault_flags;
} clear_reply;

void clear_request_encode(const clear_request* request, uint8_t out[CLEAR_SIZE_BYTES]);
bool clear_request_decode(const uint8_t* in, size_t size_bytes, clear_request* request);
void clear_reply_encode(const clear_reply* reply, uint8_t out[CLEAR_REPLY_SIZE_BYTES]);
bool clear_reply_decode(const uint8_t* in, size_t size_bytes, clear_reply* reply);

#ifdef __cplusplus
}
#endif
