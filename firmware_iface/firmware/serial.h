#pragma once

/* The serial line to the host, through two byte rings that its interrupt fills and empties. */

#include <stdbool.h>
#include <stdint.h>

/* Opens the line. Its pins are the board's affair. */
void serial_start(void);

/* From the tick: a byte that the host has sent; false when there is none. Bytes that found the ring
 * full are lost, and the frame they belong to is damaged. */
bool serial_take(uint8_t* byte);

/* From the tick: how many bytes can be put now, puts one, and sends those that were put. */
uint32_t serial_room(void);
void serial_put(uint8_t byte);
void serial_send(void);
