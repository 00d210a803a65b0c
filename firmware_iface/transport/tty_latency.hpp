#pragma once

#include <string>
#include <vector>

namespace firmware_iface {

/// Asks the driver of an open serial port not to hold bytes back: ASYNC_LOW_LATENCY, the USB
/// adapter's latency_timer (FTDI's default of 16 ms would deliver 62 batches a second), and the
/// UART's rx_trig_bytes. Returns one sentence for each: what it is now, or why it could not be set.
std::vector<std::string> reduce_tty_latency(int fd, const std::string& path);

}  // namespace firmware_iface
