#pragma once

#include <optional>
#include <string>

#include "service/rig/init/rig_answers.hpp"

namespace service {

/// Source of a value in a rig file. The comment of the value names it.
enum class ValueSource { kGiven, kAssumed, kFromRecording, kUnknown };

/// Value for a rig file with its source. A value with ValueSource::kUnknown becomes a free
/// parameter.
struct SourcedValue {
  double value = 0.0;
  ValueSource source = ValueSource::kAssumed;
  bool is_free() const { return source == ValueSource::kUnknown; }
};

/// Returns `given` with ValueSource::kGiven, or else the default `otherwise` with the source
/// `source`.
SourcedValue given_or_default(const std::optional<double>& given, double otherwise,
                              ValueSource source = ValueSource::kAssumed);

/// Builder that assembles the text of a rig file line by line.
class RigTextBuilder {
 public:
  /// Adds a line, indented by the number of open blocks.
  void line(const std::string& text, const std::string& comment = "");
  void open(const std::string& name);
  void close();
  /// Adds a line "name { value: 1 free: true }  # [unit] assumed".
  void value(const std::string& name, const SourcedValue& known, const std::string& comment);
  /// Adds a parameter that is always estimated.
  /// @param start  initial value
  void free(const std::string& name, double start, const std::string& comment = "");
  void comment(const std::string& text);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

/// Returns a number as text with eight significant digits.
std::string number(double value);

/// Writes the block "recording" of a rig file with the columns of time, encoder readings and
/// command.
/// @param names        names of the readings' joints, or of the encoders between bodies
/// @param motor_joint  name of the driven joint; empty: no motor
void write_recording(RigTextBuilder& text, const RigAnswers& answers,
                     const std::vector<std::string>& names, const std::string& motor_joint);

/// Writes the block "encoder" of a rig file.
/// @param position  true for a prismatic joint, false for a revolute joint
/// @param offset    true to estimate the encoder's offset, starting at zero; false to omit it
void write_encoder(RigTextBuilder& text, const ReadingAnswer& reading, bool position, bool offset);

/// Writes the block "motor" of a rig file with a free gain.
void write_motor(RigTextBuilder& text, const MotorAnswer& motor, double gain,
                 const std::string& force);

}  // namespace service
