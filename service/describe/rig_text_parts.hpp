#pragma once

#include <optional>
#include <string>

#include "service/describe/rig_answers.hpp"

namespace service {

/// How sure a value is, told in its comment.
enum class Source { kGiven, kAssumed, kSeen, kUnknown };

/// A value of a rig file: with Source::kUnknown it is free.
struct Known {
  double value = 0.0;
  Source source = Source::kAssumed;
  bool is_free() const { return source == Source::kUnknown; }
};

/// What was given, or else a value that is assumed.
Known given_or(const std::optional<double>& given, double otherwise,
               Source source = Source::kAssumed);

/// Text of a rig file, line by line.
class RigText {
 public:
  /// A line, moved in by the blocks that are open.
  void line(const std::string& text, const std::string& comment = "");
  void open(const std::string& name);
  void close();
  /// "name { value: 1 free: true }  # [unit] assumed"
  void value(const std::string& name, const Known& known, const std::string& comment);
  /// A start of what is always estimated.
  void free(const std::string& name, double start, const std::string& comment = "");
  void comment(const std::string& text);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

/// A number as a rig file holds it: five digits are more than anyone measures.
std::string number(double value);

/// recording { … }: time, readings by the names of their joints or encoders, command.
/// @param names      of the readings' joints, or of the encoders between bodies
/// @param motor_hinge  empty: none
void write_recording(RigText& text, const RigAnswers& answers,
                     const std::vector<std::string>& names, const std::string& motor_hinge);

/// encoder { … } of a reading.
/// @param offset  estimated from zero; else it is not
void write_encoder(RigText& text, const ReadingAnswer& reading, bool position, bool offset);

/// motor { … }, its gain estimated.
void write_motor(RigText& text, const MotorAnswer& motor, double gain, const std::string& force);

}  // namespace service
