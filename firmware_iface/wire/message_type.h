#pragma once

/* List of messages. A message is its type byte and a body of fixed layout, described in the header
 * given here. To add one: write its header, give it a type here and its sizes in
 * message_size_is_valid. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  MESSAGE_HELLO = 0x01,           /* host -> unit, session.h */
  MESSAGE_HELLO_REPLY = 0x02,     /* unit -> host, session.h */
  MESSAGE_CONFIGURE = 0x03,       /* host -> unit, session.h */
  MESSAGE_CONFIGURE_REPLY = 0x04, /* unit -> host, session.h */
  MESSAGE_CLEAR = 0x05,           /* host -> unit, session.h */
  MESSAGE_CLEAR_REPLY = 0x06,     /* unit -> host, session.h */
  MESSAGE_FAULT = 0x07,           /* unit -> host, fault.h */
  MESSAGE_DESCRIBE = 0x08,        /* host -> unit, session.h */
  MESSAGE_DESCRIBE_REPLY = 0x09,  /* unit -> host, session.h */
  MESSAGE_SAMPLE = 0x10,          /* unit -> host, sample.h */
  MESSAGE_SAMPLE_COMPACT = 0x11,  /* unit -> host, sample.h */
  MESSAGE_INERTIAL = 0x12,        /* unit -> host, inertial.h */
  MESSAGE_COMMAND = 0x20,         /* host -> unit, command.h */
  MESSAGE_COMMAND_COMPACT = 0x21  /* host -> unit, command.h */
};

/* Returns whether a message of that type may have that size (type and body, without CRC) for some
 * unit. The decoders of SAMPLE and COMMAND check it against the unit's own numbers. False for an
 * unknown type. */
bool message_size_is_valid(uint8_t type, size_t size_bytes);

/* Returns whether the type is in the list. */
bool message_type_is_known(uint8_t type);

/* Returns the size of the CRC of messages of that type [byte]: 2 for the compact ones, else 4. */
size_t message_crc_size_bytes(uint8_t type);

#ifdef __cplusplus
}
#endif
