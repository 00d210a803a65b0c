#pragma once

#include <functional>
#include <optional>
#include <string>

namespace service {

/// Answer of a command, shared in a file by several processes of a machine. The command runs at
/// most once per interval, even if many processes need its answer.
class CachedCommandOutput {
 public:
  /// @param file      path of the file; a lock file is created beside it
  /// @param interval  age above which an answer is renewed [s]
  CachedCommandOutput(std::string file, double interval);

  /// Returns the newest stored output of the command; nullopt if it is older than this object.
  /// Renews the answer if it is too old and no other process is renewing it.
  /// @param renew  runs the command and returns its answer
  /// @throws proto::InputError if the file cannot be written
  std::optional<std::string> read(const std::function<std::string()>& renew) const;

 private:
  std::string file_;
  double interval_;
  double begin_;  ///< time at which this object was made [s]
};

}  // namespace service
