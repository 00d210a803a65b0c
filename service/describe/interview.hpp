#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "proto/text/input_error.hpp"

namespace service {

/// Line-based dialogue. An invalid answer is explained, and the question is repeated.
class Interview {
 public:
  Interview(std::istream& in, std::ostream& out) : in_(in), out_(out) {}

  /// @param otherwise  default for an empty answer, shown with the question; may be empty
  /// @throws proto::InputError at the end of the input
  std::string ask(const std::string& question, const std::string& otherwise = "");

  /// Repeats the question until `parse` accepts the answer. @param parse  throws proto::InputError
  /// otherwise
  template <typename Value>
  Value ask_until(const std::string& question, const std::string& otherwise,
                  const std::function<Value(const std::string&)>& parse) {
    for (;;) {
      try {
        return parse(ask(question, otherwise));
      } catch (const Ended&) {
        throw;
      } catch (const proto::InputError& fault) {
        say(fault.what());
      }
    }
  }

  bool ask_yes(const std::string& question, bool otherwise);

  /// Asks for a positive number; an empty answer without `otherwise` means "unknown".
  std::optional<double> ask_size(const std::string& question,
                                 const std::optional<double>& otherwise);

  void say(const std::string& sentence);

 private:
  struct Ended : proto::InputError {
    Ended()
        : proto::InputError(
              "the input ended before all questions were answered; nothing was written") {}
  };

  std::istream& in_;
  std::ostream& out_;
};

}  // namespace service
