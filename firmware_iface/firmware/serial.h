#pragma once

/* The serial line to the host, with two byte rings that its interrupt fills and empties. */

#include <stdbool.h>
#include <stdint.h>

/* Opens the line. The board configures its pins. */
void serial_start(void);

/* Takes a byte sent by the host, for the tick; returns false if there is none. If the ring is
 * full, received bytes are lost and their frame is damaged. */
bool serial_take(uint8_t* byte);

/* Functions for the tick: return the number of bytes that can be queued, queue a byte, and send
 * the queued bytes. */
uint32_t serial_room(void);
void serial_put(uint8_t byte);
void serial_send(void);
