#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace proto {

enum class ErrorCode {
  kNotFound,        // no such file
  kExists,          // would overwrite something
  kDiskFull,        // no space left, or a quota or size limit was reached
  kInputOutput,     // any other trouble with a file
  kDamaged,         // bytes that are not what they claim to be
  kUnsupported,     // well-formed, but of a kind this program does not read
  kTooLarge,        // beyond a stated limit
  kClosed,          // used after it ended or failed
  kVerifyMismatch,  // what was read back is not what was written
};

/// What failed: `code` for the program, `detail` for the person at the rig.
/// Never built on the real-time thread (detail allocates).
struct Error {
  ErrorCode code;
  std::string detail;  // e.g. "run.mcap: exists already; choose another name"
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

}  // namespace proto
