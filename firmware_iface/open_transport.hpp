#pragma once

#include <memory>
#include <string>

#include "firmware_iface/result.hpp"
#include "firmware_iface/transport/transport.hpp"

namespace firmware_iface {

/// Opens what the URL names. The table of schemes is in open_transport.cpp.
///
///   serial:///dev/ttyUSB0?baud=921600   a serial port, locked for this process alone
///   pty:///path?baud=921600             a pseudo-terminal, e.g. of rigcal-sim; it does not pace
///                                       bytes, the baud rate is what its far end keeps to
///   tcp://host:port                     a serial-to-TCP server, or rigcal-sim --tcp
///   sim:<file.textproto>                a simulated unit inside this process, in real time
///
/// Errors name the URL and what to do about it.
Result<std::unique_ptr<Transport>> open_transport(const std::string& url);

}  // namespace firmware_iface
