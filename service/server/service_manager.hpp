#pragma once

#include <string>

namespace service {

/// Sends a state of this service to systemd, using the datagram protocol of sd_notify(3). Does
/// nothing if NOTIFY_SOCKET is not set.
/// @return false if sending failed
bool notify_service_manager(const std::string& state);

}  // namespace service
