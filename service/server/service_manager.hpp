#pragma once

#include <string>

namespace service {

/// Tells systemd how the service is, by the datagram that sd_notify(3) documents. Does nothing
/// where NOTIFY_SOCKET is not set. @return false if it could not be sent
bool notify_service_manager(const std::string& state);

}  // namespace service
