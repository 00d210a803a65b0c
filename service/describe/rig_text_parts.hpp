#pragma once

#include <optional>
#include <string>

#include "service/describe/rig_answers.hpp"

namespace service {

/// ValueSource of a value, written in its comment.
enum class ValueSource { kGiven, kAssumed, kFromRecording, kUnknown };

/// Value of a rig file; with ValueSource::kUnknown it is free.
struct SourcedValue {
  double value = 0.0;
  ValueSource source = ValueSource::kAssumed;
  bool is_free() const { return source == ValueSource::kUnknown; }
};

/// Returns the given value, or else the default `otherwise`.
SourcedValue given_or_default(const std::optional<double>& given, double otherwise,
                              ValueSource source = ValueSource::kAssumed);

/// Text of a rig file, built line by line.
class RigTextBuilder {
 public:
  /// Adds a line, indented by the open blocks.
  void line(const std::string& text, const std::string& comment = "");
  void open(const std::string& name);
  void close();
  /// Adds "name { value: 1 free: true }  # [unit] assumed".
  void value(const std::string& name, const SourcedValue& known, const std::string& comment);
  /// Adds a parameter that is always estimated, with its initial value.
  void free(const std::string& name, double start, const std::string& comment = "");
  void comment(const std::string& text);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

/// Returns a number for a rig file with eight significant digits.
std::string number(double value);

/// Writes recording { … }: time, readings by the names of their joints or encoders, command.
/// @param names      names of the readings' joints, or of the encoders between bodies
/// @param motor_joint  empty: none
void write_recording(RigTextBuilder& text, const RigAnswers& answers,
                     const std::vector<std::string>& names, const std::string& motor_joint);

/// Writes encoder { … } of a reading.
/// @param offset  true: estimate the offset from zero; false: omit it
void write_encoder(RigTextBuilder& text, const ReadingAnswer& reading, bool position, bool offset);

/// Writes motor { … } with a free gain.
void write_motor(RigTextBuilder& text, const MotorAnswer& motor, double gain,
                 const std::string& force);

}  // namespace service
