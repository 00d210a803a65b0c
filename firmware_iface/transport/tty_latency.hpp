#pragma once

#include <string>
#include <vector>

namespace firmware_iface {

/// Configures the driver of an open serial port for low latency: ASYNC_LOW_LATENCY, the USB
/// adapter's latency_timer (with FTDI's default of 16 ms it would deliver 62 batches a second), and
/// the UART's rx_trig_bytes. Returns one sentence for each: its value, or why it could not be set.
std::vector<std::string> reduce_tty_latency(int fd, const std::string& path);

}  // namespace firmware_iface
