#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "estimator/messages/message_code.hpp"

namespace estimator {

/// A number with its unit, and with its standard deviation unless that is NaN.
struct Quantity {
  double value = 0.0;
  std::string unit = {};
  double deviation = std::numeric_limits<double>::quiet_NaN();

  bool operator==(const Quantity& other) const {
    return value == other.value && unit == other.unit &&
           (deviation == other.deviation || (std::isnan(deviation) && std::isnan(other.deviation)));
  }
};

struct Message;

/// A named value of a message. Names of sensors, joints and parameters are strings; counts are
/// integers; a list of messages stands for the clauses of a sentence.
struct Argument {
  using Value = std::variant<std::string, int, double, bool, Quantity, std::vector<std::string>,
                             std::vector<Message>>;

  std::string name;
  Value value;

  bool operator==(const Argument&) const;
};

/// A finding, note, verdict or part of one, as data.
struct Message {
  MessageCode code = MessageCode::kText;
  std::vector<Argument> arguments = {};

  Message() = default;
  Message(MessageCode of, std::vector<Argument> with = {}) : code(of), arguments(std::move(with)) {}

  /// A sentence of the caller.
  Message(std::string text) : arguments{{"text", std::move(text)}} {}
  Message(const char* text) : Message(std::string(text)) {}

  /// Returns the argument with a name, or nullptr.
  const Argument::Value* find(const std::string& name) const;

  bool operator==(const Message&) const = default;
};

/// Returns a note about one recording.
Message in_recording(const std::string& recording, Message note);

/// Returns the severity of a message; of the note, if it is about one recording.
Severity severity_of(const Message& message);

}  // namespace estimator
