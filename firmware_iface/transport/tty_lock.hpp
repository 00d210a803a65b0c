#pragma once

#include <string>

#include "firmware_iface/result.hpp"

namespace firmware_iface {

/// Locks the terminal for this process: an advisory lock (flock), which also works between two
/// processes of the superuser, and TIOCEXCL, which makes open() by others fail. Both end with the
/// descriptor. Returns kPortBusy if another process holds it.
Status lock_terminal(int fd, const std::string& path);

}  // namespace firmware_iface
