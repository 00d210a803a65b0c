#pragma once

#include <memory>
#include <string>
#include <vector>

#include "firmware_iface/result.hpp"
#include "firmware_iface/transport/transport.hpp"
#include "firmware_iface/transport/url.hpp"

namespace firmware_iface {

/// Locks the terminal for this process: an advisory lock (flock), which also works between two
/// processes of the superuser, and TIOCEXCL, which makes open() by others fail. Both end with the
/// descriptor. Returns kPortBusy if another process holds it.
Status lock_terminal(int fd, const std::string& path);

/// Configures the driver of an open serial port for low latency: ASYNC_LOW_LATENCY, the USB
/// adapter's latency_timer (with FTDI's default of 16 ms it would deliver 62 batches a second), and
/// the UART's rx_trig_bytes. Returns one sentence for each: its value, or why it could not be set.
std::vector<std::string> reduce_tty_latency(int fd, const std::string& path);

/// Opens serial:///dev/ttyUSB0?baud=921600: a serial port through libserialport, 8N1 without flow
/// control, locked and flushed. Low-latency settings of the driver (ASYNC_LOW_LATENCY,
/// latency_timer, rx_trig_bytes) are set if possible and listed in the report's notes.
Result<std::unique_ptr<Transport>> open_serial(const Url& url);

}  // namespace firmware_iface
