#pragma once

#include <memory>
#include <string>

#include "firmware_iface/result.hpp"
#include "firmware_iface/transport/transport.hpp"
#include "firmware_iface/transport/url.hpp"

namespace firmware_iface {

/// Locks a terminal for this process. Uses an advisory lock (flock), which also works between two
/// processes of the superuser, and TIOCEXCL, which makes open() of other processes fail. Both locks
/// end when the descriptor is closed. Returns kPortBusy if another process holds the lock.
Status lock_terminal(int fd, const std::string& path);

/// Opens a serial port by a URL such as serial:///dev/ttyUSB0?baud=921600, 8N1 without flow
/// control, locked and flushed. Uses libserialport. Low-latency settings of the driver
/// (ASYNC_LOW_LATENCY, latency_timer, rx_trig_bytes) are set if possible and listed in the report's
/// notes.
Result<std::unique_ptr<Transport>> open_serial(const Url& url);

}  // namespace firmware_iface
