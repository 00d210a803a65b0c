#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace service {

/// Tells systemd how the service is, by the datagram that sd_notify(3) documents. Does nothing
/// where NOTIFY_SOCKET is not set. @return false if it could not be sent
bool notify_service_manager(const std::string& state);

/// How often systemd wants to hear "WATCHDOG=1" at least; nothing if it does not.
std::optional<std::chrono::microseconds> watchdog_period();

}  // namespace service
