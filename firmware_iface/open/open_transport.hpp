#pragma once

#include <memory>
#include <string>

#include "firmware_iface/result.hpp"
#include "firmware_iface/transport/transport.hpp"

namespace firmware_iface {

/// Opens a transport by its URL. The table of schemes is in open_transport.cpp.
///
///   serial:///dev/ttyUSB0?baud=921600   a serial port, locked for this process alone
///   pty:///path?baud=921600             a pseudo-terminal, e.g. of rigcal-sim; `baud` is the rate
///                                       of its other end, as the terminal does not limit bytes
///   tcp://host:port                     a serial-to-TCP server, or rigcal-sim --tcp
///   sim:<file.textproto>                a simulated unit within this process, in real time
///
/// Errors contain the URL and the remedy.
Result<std::unique_ptr<Transport>> open_transport(const std::string& url);

}  // namespace firmware_iface
