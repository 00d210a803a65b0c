#include "service/recordings/formats/joint_motion.hpp"

#include <cmath>

#include "estimator/model/encoder.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/formats/recording_file.hpp"

namespace service {
namespace {

/// Table of encoder readings, computed from joint coordinates.
class ReadingColumns {
 public:
  explicit ReadingColumns(const proto::CsvTable& source) : source_(source) {
    table.path = source.path;
    table.delimiter = source.delimiter;
    table.header = source.header;
    table.lines = source.lines;
  }

  /// Adds an unchanged column of the file.
  void add(int request) { add(request, source_.values[static_cast<std::size_t>(request)]); }
  void add(int request, std::vector<double> values) {
    const auto at = static_cast<std::size_t>(request);
    table.fields.push_back(source_.fields[at]);
    if (!source_.sources.empty()) table.sources.push_back(source_.sources[at]);
    table.values.push_back(std::move(values));
  }

  void add_sensor(const estimator::Encoder& sensor, double offset, const std::vector<int>& joints) {
    std::vector<double> readings(source_.lines.size(), -offset);
    for (const estimator::Encoder::Term& term : sensor.terms) {
      const int request = joints[static_cast<std::size_t>(term.joint)];
      const std::vector<double>& own = source_.values[static_cast<std::size_t>(request)];
      for (std::size_t k = 0; k < readings.size(); ++k) readings[k] += term.sign * own[k];
    }
    add(joints[static_cast<std::size_t>(sensor.terms.front().joint)], std::move(readings));
  }

  proto::CsvTable table;

 private:
  const proto::CsvTable& source_;
};

/// Times and segment numbers of the rows of a table. Time runs backwards where another recording
/// starts; later times are then shifted forward by whole seconds.
struct RowPlaces {
  explicit RowPlaces(const JointMotion& motion)
      : times(motion.table.values[static_cast<std::size_t>(motion.time)]),
        segments(times.size(), 0.0) {
    const std::vector<double>* const names =
        motion.segment < 0 ? nullptr
                           : &motion.table.values[static_cast<std::size_t>(motion.segment)];
    double shift = 0.0;
    for (std::size_t k = 1; k < times.size(); ++k) {
      times[k] += shift;
      const bool goes_back = times[k] < times[k - 1];
      if (goes_back) {
        const double more = 1.0 + std::ceil(times[k - 1] - times[k]);
        shift += more;
        times[k] += more;
        ++shifts;
      }
      const bool changes = goes_back || (names != nullptr && (*names)[k] != (*names)[k - 1]);
      segments[k] = segments[k - 1] + (changes ? 1.0 : 0.0);
    }
  }

  std::vector<double> times;  ///< [s]
  std::vector<double> segments;
  int shifts = 0;
};

/// Returns the recording format for importing a table of these columns with import_table.
RecordingFormat format_of_motion(const Rig& rig) {
  RecordingFormat format = plain_format(rig);
  format.segment_column = "recording";
  for (EncoderColumn& angle : format.angles) angle.allow_missing = true;
  if (!rig.format) return format;
  format.jitter_tolerance = rig.format->jitter_tolerance;
  format.speed_max = rig.format->speed_max;
  format.prismatic_speed_max = rig.format->prismatic_speed_max;
  return format;
}

void require_joints_and_motors(const JointMotion& motion, const Rig& rig) {
  const estimator::Mechanism& mechanism = rig.mechanism;
  for (const estimator::Encoder& sensor : estimator::used_encoders(mechanism)) {
    for (const estimator::Encoder::Term& term : sensor.terms) {
      const auto joint = static_cast<std::size_t>(term.joint);
      if (motion.joints[joint] >= 0) continue;
      throw proto::InputError(
          motion.table.path + ": lacks the position of joint \"" + mechanism.joints[joint].name +
          "\", which encoder \"" + sensor.name +
          "\" measures. Include angles in the estimate (--only angle), and use the same rig file");
    }
  }
  for (std::size_t j = 0, motor = 0; j < mechanism.joints.size(); ++j) {
    if (!mechanism.joints[j].motorised || motion.controls[motor++] >= 0) continue;
    throw proto::InputError(motion.table.path + ": lacks the control of joint \"" +
                            mechanism.joints[j].name +
                            "\". Use the rig file that the file was made with");
  }
}

}  // namespace

ImportedRecording import_joint_motion(const JointMotion& motion, const Rig& rig) {
  require_joints_and_motors(motion, rig);
  ReadingColumns columns(motion.table);
  const RowPlaces places(motion);
  columns.add(motion.time, places.times);
  columns.add(motion.segment < 0 ? motion.time : motion.segment, places.segments);
  for (const estimator::Encoder& sensor : estimator::used_encoders(rig.mechanism)) {
    const double offset = rig.mechanism.parameters[static_cast<std::size_t>(sensor.offset)].value;
    columns.add_sensor(sensor, offset, motion.joints);
  }
  for (const int control : motion.controls) columns.add(control);
  ImportedRecording imported = import_table(columns.table, format_of_motion(rig));
  if (places.shifts > 0) {
    imported.summary.notes.push_back("time restarts " + std::to_string(places.shifts) +
                                     " times; later recordings were shifted to follow one another");
  }
  return imported;
}

void note_estimated_states(ImportSummary& summary) {
  summary.notes.push_back(
      "the angles are estimates from a model. A calibration would return that model's parameters "
      "with meaningless standard deviations. Calibrate the original recording");
}

}  // namespace service
