#include "firmware_iface/transport/tty_lock.hpp"

#include <sys/file.h>
#include <sys/ioctl.h>

#include <cerrno>

#include "firmware_iface/transport/descriptor.hpp"

namespace firmware_iface {

Status lock_terminal(int fd, const std::string& path) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return Error{ErrorCode::kPortBusy,
                   path + ": another program has locked it; end that program first (fuser " + path +
                       " shows it)"};
    }
    return Error{ErrorCode::kPortFailed, path + ": flock: " + describe_errno(errno)};
  }
  if (ioctl(fd, TIOCEXCL) != 0) {
    return Error{ErrorCode::kPortFailed, path + ": TIOCEXCL: " + describe_errno(errno)};
  }
  return success();
}

}  // namespace firmware_iface
