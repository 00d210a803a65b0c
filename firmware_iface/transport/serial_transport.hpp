#pragma once

#include <memory>
#include <string>

#include "firmware_iface/result.hpp"
#include "firmware_iface/transport/transport.hpp"
#include "firmware_iface/transport/url.hpp"

namespace firmware_iface {

/// Locks the terminal for this process: an advisory lock (flock), which also works between two
/// processes of the superuser, and TIOCEXCL, which makes open() by others fail. Both end with the
/// descriptor. Returns kPortBusy if another process holds it.
Status lock_terminal(int fd, const std::string& path);

/// Opens serial:///dev/ttyUSB0?baud=921600: a serial port through libserialport, 8N1 without flow
/// control, locked and flushed. Low-latency settings of the driver (ASYNC_LOW_LATENCY,
/// latency_timer, rx_trig_bytes) are set if possible and listed in the report's notes.
Result<std::unique_ptr<Transport>> open_serial(const Url& url);

}  // namespace firmware_iface
