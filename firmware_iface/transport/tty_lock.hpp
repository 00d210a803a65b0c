#pragma once

#include <string>

#include "firmware_iface/result.hpp"

namespace firmware_iface {

/// Takes the terminal for this process alone: an advisory lock (flock), which also tells two
/// programs of the superuser apart, and TIOCEXCL, which refuses others' open(). Both end with the
/// descriptor. kPortBusy when another process holds it.
Status lock_terminal(int fd, const std::string& path);

}  // namespace firmware_iface
