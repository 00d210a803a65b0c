#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "proto/text/input_error.hpp"

namespace service {

/// Questions and answers, line by line. What cannot be understood is told in a sentence, and asked
/// again.
class Interview {
 public:
  Interview(std::istream& in, std::ostream& out) : in_(in), out_(out) {}

  /// @param otherwise  what an empty answer means, shown with the question; may be empty
  /// @throws proto::InputError when the answers have ended
  std::string ask(const std::string& question, const std::string& otherwise = "");

  /// The same until `parse` takes it. @param parse  throws proto::InputError for what it does not
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

  /// A number above zero; an empty answer without `otherwise` means that it is not known.
  std::optional<double> ask_size(const std::string& question,
                                 const std::optional<double>& otherwise);

  void say(const std::string& sentence);

 private:
  struct Ended : proto::InputError {
    Ended() : proto::InputError("the answers ended; nothing was written") {}
  };

  std::istream& in_;
  std::ostream& out_;
};

}  // namespace service
