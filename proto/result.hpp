#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace proto {

enum class ErrorCode {
  kNotFound,        // no such file
  kExists,          // would overwrite a file
  kDiskFull,        // no space left, or a quota or size limit was reached
  kInputOutput,     // any other file error
  kDamaged,         // invalid content, e.g. a wrong checksum
  kUnsupported,     // valid, but of a kind that this program does not read
  kTooLarge,        // beyond a given limit
  kClosed,          // used after it was closed or failed
  kVerifyMismatch,  // data read back differ from the written data
};

/// A failure: `code` for the program, `detail` for the user at the rig. Never created on the
/// real-time thread, because `detail` allocates.
struct Error {
  ErrorCode code;
  std::string detail;  // e.g. "run.mcap: exists already; choose another name"
};

/// A value, or the error that prevented it. Replaces std::expected (C++23).
template <typename T, typename E>
class [[nodiscard]] ResultOr {
 public:
  ResultOr(T value) : state_(std::move(value)) {}
  ResultOr(E error) : state_(std::move(error)) {}

  bool ok() const noexcept { return std::holds_alternative<T>(state_); }
  T& value() {
    assert(ok());
    return *std::get_if<T>(&state_);
  }
  const T& value() const {
    assert(ok());
    return *std::get_if<T>(&state_);
  }
  const E& error() const {
    assert(!ok());
    return *std::get_if<E>(&state_);
  }

 private:
  std::variant<T, E> state_;
};

template <typename T>
using Result = ResultOr<T, Error>;

/// The outcome of a function that returns no value: success or an error.
using Status = Result<std::monostate>;

inline Status success() { return std::monostate{}; }

}  // namespace proto
