#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "proto/text/input_error.hpp"
#include "service/rig/init/rig_answers.hpp"
#include "service/rig/init/rig_proposal.hpp"

namespace service {

/// Dialogue with a user in lines of text. After an invalid answer, the dialogue explains the error
/// and repeats the question.
class Interview {
 public:
  Interview(std::istream& in, std::ostream& out) : in_(in), out_(out) {}

  /// Asks a question and returns the answer.
  /// @param otherwise  default for an empty answer, shown with the question; may be empty
  /// @throws proto::InputError at the end of the input
  std::string ask(const std::string& question, const std::string& otherwise = "");

  /// Repeats a question until `parse` accepts the answer, and returns the parsed value.
  /// @param parse  converts the answer; throws proto::InputError for an invalid answer
  template <typename Value>
  Value ask_until_valid(const std::string& question, const std::string& otherwise,
                        const std::function<Value(const std::string&)>& parse) {
    for (;;) {
      try {
        return parse(ask(question, otherwise));
      } catch (const InputEnded&) {
        throw;
      } catch (const proto::InputError& fault) {
        say(fault.what());
      }
    }
  }

  bool ask_yes_or_no(const std::string& question, bool otherwise);

  /// Asks for a positive number. Returns nullopt for an empty answer without a default.
  /// @param otherwise  default for an empty answer
  std::optional<double> ask_positive_number(const std::string& question,
                                            const std::optional<double>& otherwise);

  void say(const std::string& sentence);

 private:
  struct InputEnded : proto::InputError {
    InputEnded()
        : proto::InputError(
              "the input ended before all questions were answered; nothing was written") {}
  };

  std::istream& in_;
  std::ostream& out_;
};

/// Asks the user for the kind of rig and, for a chain, for the number of links. Stores both in
/// `answers`.
void ask_rig_kind(Interview& interview, RigAnswers& answers);

/// Asks the user for the lengths and masses of the links that are known. Stores them in `answers`.
void ask_link_sizes(Interview& interview, RigAnswers& answers);

/// Asks for the conversion unit and the safety limits. Without a unit, `answers` stay unchanged.
void ask_unit(Interview& interview, RigAnswers& answers);

/// Asks the user to confirm the guessed columns of a recording. Then asks for facts that a
/// recording does not show: absolute or relative angles, the positive direction, and whether a
/// motor drives the rig.
/// @param choice  columns that the user has already chosen
void ask_recording_columns(Interview& interview, const std::vector<ColumnProfile>& columns,
                           ColumnChoice choice, RigAnswers& answers);

}  // namespace service
