#pragma once

#include <memory>

#include "firmware_iface/result.hpp"
#include "firmware_iface/transport/transport.hpp"
#include "firmware_iface/transport/url.hpp"

namespace firmware_iface {

/// Opens a pseudo-terminal by a URL pty:///path?baud=n in raw mode, flushed and locked.
Result<std::unique_ptr<Transport>> open_pty(const Url& url);

/// Opens a TCP connection by a URL tcp://host:port?connect_timeout_ms=n, with TCP_NODELAY. IPv6
/// addresses are in brackets.
Result<std::unique_ptr<Transport>> open_tcp(const Url& url);

}  // namespace firmware_iface
