#pragma once

#include <string>
#include <variant>

#include "proto/result.hpp"

namespace firmware_iface {

/// Kinds of failures of a port or of the conversion unit at the port.
enum class ErrorCode {
  kBadUrl,
  kPortNotFound,
  kPortBusy,
  kPortFailed,       ///< the operating system reports an error, given in `detail`
  kLineTooSlow,      ///< the baud rate is too low for the traffic
  kUnitSilent,       ///< no answer in time
  kProtocolVersion,  ///< the unit uses another protocol version
  kLayoutMismatch,   ///< same version, different message layout
  kUnitRefused,      ///< the unit answered and refused
  kBadConfig,        ///< invalid configuration file or value
};

/// A failure: `code` for the program, `detail` for the user at the rig. Never created on the
/// real-time thread, because `detail` allocates.
struct Error {
  ErrorCode code;
  std::string detail;  // e.g. "/dev/ttyACM0: no reply to HELLO within 200 ms"
};

template <typename T>
using Result = proto::ResultOr<T, Error>;

/// The outcome of a function that returns no value: success or an error.
using Status = Result<std::monostate>;

inline Status success() { return std::monostate{}; }

}  // namespace firmware_iface
