#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace firmware_iface {

/// Kinds of trouble with a port or the unit behind it.
enum class ErrorCode {
  kBadUrl,
  kPortNotFound,
  kPortBusy,
  kPortFailed,       ///< the operating system refused; `detail` says what
  kLineTooSlow,      ///< the baud rate does not carry the traffic
  kUnitSilent,       ///< no answer within the stated time
  kProtocolVersion,  ///< the unit speaks another version
  kLayoutMismatch,   ///< same version, different message layout
  kUnitRefused,      ///< the unit answered, and declined
  kBadConfig,        ///< a configuration file or value
};

/// What failed: `code` for the program, `detail` for the person at the rig.
/// Never built on the real-time thread (detail allocates).
struct Error {
  ErrorCode code;
  std::string detail;  // e.g. "/dev/ttyACM0: no reply to HELLO within 200 ms"
};

/// A value or the Error that explains its absence. Until std::expected (C++23).
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

/// The outcome of something that yields no value.
using Status = Result<std::monostate>;

inline Status success() { return std::monostate{}; }

}  // namespace firmware_iface
