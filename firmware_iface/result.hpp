#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace firmware_iface {

/// Kinds of failures of a port or the unit connected to it.
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

/// A value, or the Error that prevented it. Replaces std::expected (C++23).
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  bool ok() const noexcept { return std::holds_alternative<T>(state_); }
  T& value() {
    assert(ok());
    return *std::get_if<T>(&state_);
  }
  const T& value() const {
    assert(ok());
    return *std::get_if<T>(&state_);
  }
  const Error& error() const {
    assert(!ok());
    return *std::get_if<Error>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

/// The outcome of a function without a return value.
using Status = Result<std::monostate>;

inline Status success() { return std::monostate{}; }

}  // namespace firmware_iface
