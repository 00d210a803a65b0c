#include "service/rig/init/rig_text_parts.hpp"

#include <cmath>

#include "proto/text/input_error.hpp"
#include "service/rig/init/column_recognition.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

/// Returns a name in quotes, with special characters escaped.
std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

const char* field_of(ReadingUnit unit) {
  switch (unit) {
    case ReadingUnit::kRadian:
      return "RADIAN";
    case ReadingUnit::kDegree:
      return "DEGREE";
    case ReadingUnit::kTurn:
      return "TURN";
    case ReadingUnit::kCount:
      return "COUNT";
    case ReadingUnit::kMetre:
      return "METER";
    case ReadingUnit::kMillimetre:
      return "MILLIMETER";
  }
  return "";
}

const char* words_of(ValueSource source) {
  switch (source) {
    case ValueSource::kGiven:
      return "given";
    case ValueSource::kAssumed:
      return "assumed";
    case ValueSource::kFromRecording:
      return "from the oscillation frequency in the recording";
    case ValueSource::kUnknown:
      return "not known: estimated";
  }
  return "";
}

}  // namespace

SourcedValue given_or_default(const std::optional<double>& given, double otherwise,
                              ValueSource source) {
  return given ? SourcedValue{*given, ValueSource::kGiven} : SourcedValue{otherwise, source};
}

std::string number(double value) { return format_number(value, 8); }

void RigTextBuilder::line(const std::string& text, const std::string& comment) {
  text_ += std::string(static_cast<std::size_t>(2 * depth_), ' ') + text;
  text_ += comment.empty() ? "\n" : "  # " + comment + "\n";
}

void RigTextBuilder::open(const std::string& name) {
  line(name + " {");
  ++depth_;
}

void RigTextBuilder::close() {
  --depth_;
  line("}");
}

void RigTextBuilder::value(const std::string& name, const SourcedValue& known,
                           const std::string& comment) {
  line(name + " { value: " + number(known.value) + (known.is_free() ? " free: true }" : " }"),
       comment + (comment.empty() ? "" : " ") + words_of(known.source));
}

void RigTextBuilder::free(const std::string& name, double start, const std::string& comment) {
  line(name + " { value: " + format_number(start, 2) + " free: true }", comment);
}

void RigTextBuilder::comment(const std::string& text) { line("# " + text); }

void write_encoder(RigTextBuilder& text, const ReadingAnswer& reading, bool position, bool offset) {
  std::string fields = offset ? " offset { value: 0 free: true }" : "";
  if (reading.counts) {
    fields += (position ? " counts_per_m: " : " counts_per_turn: ") + number(*reading.counts);
  }
  text.line("encoder {" + fields + (fields.empty() ? "}" : " }"),
            offset ? "exact zero: estimated" : "");
}

void write_motor(RigTextBuilder& text, const MotorAnswer& motor, double gain,
                 const std::string& force) {
  text.open("motor");
  text.line("control_unit: " + quoted(motor.unit));
  text.free("gain", gain, "[" + force + "/" + motor.unit + "] not known: estimated");
  text.comment("If the command takes effect with a delay, add:");
  text.comment("input_delay { value: 0.002 free: true upper: 0.02 }  # [s]");
  text.close();
}

void write_recording(RigTextBuilder& text, const RigAnswers& answers,
                     const std::vector<std::string>& names, const std::string& motor_joint) {
  text.comment("Columns of a CSV recording.");
  text.open("recording");
  static const char* const kUnits[] = {"", " unit: MILLISECOND", " unit: MICROSECOND"};
  if (answers.time_column.empty()) {
    text.line("time { rate_hz: " + number(answers.rate) + " }");
  } else {
    text.line("time { column: " + quoted(answers.time_column) +
              kUnits[static_cast<int>(answers.time_unit)] + " }");
  }
  for (std::size_t k = 0; k < answers.readings.size(); ++k) {
    const ReadingAnswer& reading = answers.readings[k];
    if (reading.column.empty()) continue;
    const bool position = is_position(answers.kind, k);
    if (reading.unit == ReadingUnit::kCount && !reading.counts) {
      throw proto::InputError("column " + reading.column +
                              " is in counts. Give the encoder's counts " +
                              (position ? "per metre (--counts-per-m)" : "per turn (--counts)"));
    }
    std::string line = std::string(position ? "position" : "angle") +
                       " { joint: " + quoted(names[k]) + " column: " + quoted(reading.column) +
                       " unit: " + field_of(reading.unit);
    if (reading.inverted) line += " inverted: true";
    const double rest = (reading.inverted ? -1.0 : 1.0) * reading.rest;
    if (rest != 0.0) line += " offset_rad: " + format_number(-rest, 16);
    const bool upright = std::abs(std::abs(rest) - M_PI) < 1e-12;
    text.line(line + " }", rest == 0.0 ? ""
                           : upright   ? "reads a half turn when hanging"
                                       : "reads the negative of this when hanging");
  }
  if (answers.motor && !answers.motor->column.empty()) {
    text.line("control { joint: " + quoted(motor_joint) +
              " column: " + quoted(answers.motor->column) + " }");
  }
  if (!answers.segment_column.empty()) {
    text.line("segment_column: " + quoted(answers.segment_column));
  }
  text.close();
}

}  // namespace service
