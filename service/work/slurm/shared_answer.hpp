#pragma once

#include <functional>
#include <optional>
#include <string>

namespace service {

/// Answer of a command that several processes of a machine share in a file, so that the command
/// runs at most once per interval however many processes need its answer.
class SharedAnswer {
 public:
  /// @param file      path of the file; a lock file lies beside it
  /// @param interval  age at which an answer is renewed [s]
  SharedAnswer(std::string file, double interval);

  /// Returns the newest stored output of the command; nullopt if it was stored before this object
  /// existed. Renews the answer if it is too old and no other process renews it.
  /// @param renew  runs the command and returns its answer
  /// @throws proto::InputError if the file cannot be written
  std::optional<std::string> read(const std::function<std::string()>& renew) const;

 private:
  std::string file_;
  double interval_;
  double begin_;  ///< time at which this object was made [s]
};

}  // namespace service
