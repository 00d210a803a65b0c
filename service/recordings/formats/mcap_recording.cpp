#include "service/recordings/formats/recording_formats.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "estimator/model/encoder.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "proto/check/number_check.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/recording/recording_recover.hpp"
#include "proto/recording/recording_rules.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/command_unit.hpp"
#include "service/recordings/row_times.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

/// Reader that copies the readings of inertial sensors from a recording to segments. Sensors of the
/// recording are matched by name to sensors of the rig file. Saturated readings count as missing.
class InertialSampleReader {
 public:
  InertialSampleReader(const proto::Recording& recording, const Rig& rig)
      : recording_(recording), rig_(rig) {
    const auto& known = rig.mechanism.sensors;
    for (const std::string& name : recording.header.inertial_sensors) {
      const auto found = std::ranges::find(known, name, &estimator::Sensor::name);
      const bool is_known = found != known.end();
      columns_.push_back({name, is_known ? static_cast<int>(found - known.begin()) : -1});
    }
  }

  /// Fills `segment.inertial` with the readings that belong to the rows of `source`.
  void fill(const proto::SeriesSegment& source, estimator::Segment& segment) {
    const auto is_known = [](const Column& column) { return column.sensor >= 0; };
    if (std::ranges::none_of(columns_, is_known)) return;
    segment.inertial.setConstant(segment.angles.rows(),
                                 estimator::Sensor::kAxes * rig_.mechanism.sensor_count(),
                                 std::numeric_limits<double>::quiet_NaN());
    for (const proto::InertialReading& reading : recording_.inertial) {
      const std::uint64_t row_number = reading.sequence - source.first_sequence;  // wraps if before
      if (row_number >= source.row_count) continue;
      Column& column = columns_[reading.sensor];
      if (column.sensor < 0) continue;
      ++column.read;
      if (reading.saturated != 0) ++column.saturated;
      const auto row = static_cast<Eigen::Index>(row_number);
      for (int axis = 0; axis < estimator::Sensor::kAxes; ++axis) {
        if (((reading.saturated >> axis) & 1) != 0) continue;
        segment.inertial(row, estimator::Sensor::kAxes * column.sensor + axis) =
            reading.value[static_cast<std::size_t>(axis)];
      }
    }
  }

  /// Appends messages on missing, saturated and unused sensor readings to `notes`.
  void add_notes(std::vector<std::string>& notes) const {
    for (const Column& column : columns_) {
      const std::string name = "inertial sensor \"" + column.name + "\"";
      if (column.sensor < 0) {
        notes.push_back(name + " of the recording is not in " + rig_.path +
                        " and is not used; add inertial_sensor { name: \"" + column.name +
                        "\" ... } to use it");
      } else if (column.read == 0) {
        notes.push_back("warning: " + name + " has no readings: is it connected?");
      } else if (column.saturated > 0) {
        notes.push_back(name + " is saturated in " + std::to_string(column.saturated) + " of " +
                        std::to_string(column.read) + " readings; these axes are not used there");
      }
    }
    for (const estimator::Sensor& sensor : rig_.mechanism.sensors) {
      if (std::ranges::count(columns_, sensor.name, &Column::name) > 0) continue;
      notes.push_back("sensor \"" + sensor.name + "\" is not in the recording");
    }
  }

 private:
  struct Column {
    std::string name;
    int sensor = -1;       ///< sensor index in the mechanism; −1 if the rig file lacks the sensor
    std::size_t read = 0;  ///< number of readings
    std::size_t saturated = 0;  ///< number of readings with a saturated axis
  };

  const proto::Recording& recording_;
  const Rig& rig_;
  std::vector<Column> columns_;  // one per sensor of the recording
};

static_assert(estimator::Sensor::kAxes == proto::kInertialAxes);

/// Returns for each encoder of the rig the column of its readings in the recording.
std::vector<std::size_t> find_channels(const std::string& path, const Rig& rig,
                                       const std::vector<std::string>& recorded) {
  std::vector<std::size_t> channels;
  for (const estimator::Encoder& sensor : estimator::used_encoders(rig.mechanism)) {
    const auto found = std::find(recorded.begin(), recorded.end(), sensor.name);
    if (found == recorded.end()) {
      std::string names;
      for (const std::string& name : recorded) names += " \"" + name + "\"";
      throw proto::InputError(path + ": has no joint \"" + sensor.name + "\"; it has" + names +
                              ". Use the rig file it was recorded with");
    }
    channels.push_back(static_cast<std::size_t>(found - recorded.begin()));
  }
  if (channels.empty()) {
    throw proto::InputError(rig.path + ": no joint is measured; give one an encoder { }");
  }
  return channels;
}

/// Returns for each motor of the rig, in joint order, the column of its commands in the recording.
std::vector<std::size_t> find_motors(const std::string& path, const Rig& rig,
                                     const std::vector<std::string>& recorded) {
  std::vector<std::string> motors;
  for (const estimator::Joint& joint : rig.mechanism.joints) {
    if (joint.motor.present) motors.push_back(joint.name);
  }
  std::vector<std::size_t> columns;
  for (const std::string& motor : motors) {
    const auto found = std::ranges::find(recorded, motor);
    if (found != recorded.end()) {
      columns.push_back(static_cast<std::size_t>(found - recorded.begin()));
    } else if (motors.size() == 1 && recorded.empty()) {
      columns.push_back(0);  // one command of an unnamed motor
    } else {
      const std::string holds = recorded.empty() ? "one command of an unnamed motor"
                                                 : "commands of " + proto::join_names(recorded);
      throw proto::InputError(path + ": has " + holds + ", and the rig in " + rig.path +
                              " has a motor on \"" + motor +
                              "\". Use the rig file it was recorded with, or a CSV recording");
    }
  }
  return columns;
}

estimator::Segment make_segment(const proto::SeriesSegment& source, std::size_t joint_count,
                                const std::vector<std::size_t>& channels, std::size_t command_count,
                                const std::vector<std::size_t>& motors) {
  estimator::Segment segment;
  segment.start = source.start_s;
  segment.period = source.period_s;
  const auto rows = static_cast<Eigen::Index>(source.row_count);
  segment.angles.resize(rows, static_cast<Eigen::Index>(channels.size()));
  segment.controls.resize(rows, static_cast<Eigen::Index>(motors.size()));
  for (std::size_t k = 0; k < source.row_count; ++k) {
    const auto row = static_cast<Eigen::Index>(k);
    for (std::size_t j = 0; j < channels.size(); ++j) {
      segment.angles(row, static_cast<Eigen::Index>(j)) =
          source.angle_rad[k * joint_count + channels[j]];
    }
    for (std::size_t m = 0; m < motors.size(); ++m) {
      segment.controls(row, static_cast<Eigen::Index>(m)) =
          source.command[k * command_count + motors[m]];
    }
  }
  return segment;
}

/// Checks that the commands were recorded in the units of the rig's motors.
void check_command_units(const std::string& path, const Rig& rig,
                         const proto::RecordingHeader& header,
                         const std::vector<std::size_t>& motors) {
  const std::vector<int> joints = estimator::joints_with_motor(rig.mechanism);
  for (std::size_t m = 0; m < motors.size(); ++m) {
    const auto joint = static_cast<std::size_t>(joints[m]);
    const std::string why = describe_unit_contradiction(proto::command_unit(header, motors[m]),
                                                        rig.mechanism.joints[joint].name,
                                                        rig.joint_properties[joint].control_unit);
    if (why.empty()) continue;
    throw proto::InputError(path + ": " + why + " in " + rig.path +
                            ". Use the rig file it was recorded with");
  }
}

/// Removes the rows of a segment before a time. @return number of removed rows
std::size_t drop_before(double time_s, const proto::Series& series, proto::SeriesSegment& segment) {
  const double rows = std::ceil((time_s - segment.start_s) / segment.period_s - 1e-6);
  const auto count =
      static_cast<std::size_t>(std::clamp(rows, 0.0, static_cast<double>(segment.row_count)));
  segment.start_s += static_cast<double>(count) * segment.period_s;
  segment.row_count -= count;
  segment.first_sequence += count;
  const auto drop = [&](std::vector<double>& rows_of, std::size_t columns) {
    rows_of.erase(rows_of.begin(), rows_of.begin() + static_cast<std::ptrdiff_t>(count * columns));
  };
  drop(segment.angle_rad, series.joints.size());
  drop(segment.command, series.command_count);
  return count;
}

/// Removes the rows of a segment from a time on. @return number of removed rows
std::size_t drop_from(double time_s, const proto::Series& series, proto::SeriesSegment& segment) {
  const double rows = std::ceil((time_s - segment.start_s) / segment.period_s - 1e-6);
  const auto kept =
      static_cast<std::size_t>(std::clamp(rows, 0.0, static_cast<double>(segment.row_count)));
  segment.angle_rad.resize(kept * series.joints.size());
  segment.command.resize(kept * series.command_count);
  return std::exchange(segment.row_count, kept) - kept;
}

/// Returns the first trip of a run; nullptr if there was none.
const proto::Event* find_trip(const proto::Recording& recording) {
  const auto trip = std::ranges::find_if(recording.events, [](const proto::Event& event) {
    return event.kind == proto::EventKind::kTrip && event.name != proto::kInterruptedEvent;
  });
  return trip == recording.events.end() ? nullptr : &*trip;
}

/// Returns whether the unit was tripped in all samples, as during a release. Its motors were then
/// off all the time, so that a trip changed nothing.
bool was_always_tripped(const proto::Recording& recording) {
  return std::ranges::all_of(recording.samples, &proto::Sample::tripped);
}

/// Sets the commands of a tripped unit to zero, because it holds its outputs at zero.
void clear_tripped_commands(proto::Recording& recording) {
  for (proto::Sample& sample : recording.samples) {
    if (sample.tripped) sample.command = {};
  }
}

/// Describes the trip of a run and its effect on the import.
std::string describe_trip(const proto::Event& trip, bool was_always_off, int rows_after_trip) {
  const std::string text = trip.text + (trip.text.ends_with('.') ? "" : ".");
  if (was_always_off) {
    return "the unit was tripped from the first row on, so its motors were off; all rows are used. "
           "The trip: " +
           text;
  }
  return "a safety limit ended the run: " + text + " The " + std::to_string(rows_after_trip) +
         " rows from then on are left out";
}

void note_damage(const proto::RecordingScan& scan, std::vector<std::string>& notes) {
  if (!scan.container.finished) {
    notes.push_back(
        "the file is cut off; its intact part is used (rigcal recover repairs the file)");
  }
  if (scan.container.damaged_chunk_count > 0) {
    notes.push_back(std::to_string(scan.container.damaged_chunk_count) +
                    " chunks were damaged and left out; the recording is split there");
  }
  if (scan.unreadable_count > 0) {
    notes.push_back(std::to_string(scan.unreadable_count) +
                    " messages were left out; the first: " + scan.first_violation);
  }
}

}  // namespace

bool has_mcap_extension(const std::string& path) {
  return path.ends_with(".mcap") || path.ends_with(".mcap.part");
}

/// Adds scenario, clock error, jitter, missing samples and events to the summary of an import.
void note_quality(const proto::Recording& recording, ImportSummary& summary) {
  const auto scenario = recording.header.facts.find("scenario");
  if (scenario != recording.header.facts.end()) summary.scenario = scenario->second;
  summary.epoch_unix_ns = recording.header.epoch_unix_ns;
  if (!recording.clock_fits.empty()) {
    const proto::ClockFit& fit = recording.clock_fits.back();
    summary.clock = {fit.rate_error_ppm, fit.rate_error_ppm_sd};
  }
  if (!recording.loop_stats.empty()) {
    const proto::LoopStats& loop = recording.loop_stats.back();
    summary.arrival = {loop.wakeup_us_p99, loop.wakeup_us_max};
  }
  for (const proto::Gap& gap : recording.gaps) summary.missing_samples += gap.sample_count;
  for (const proto::Event& event : recording.events) {
    if (event.name == proto::kInterruptedEvent) {
      summary.notes.push_back("the run was not ended properly: " + event.text);
    }
  }
  if (const proto::Event* const trip = find_trip(recording)) {
    summary.notes.push_back(
        describe_trip(*trip, was_always_tripped(recording), summary.rows_after_trip));
  }
  note_damage(recording.scan, summary.notes);
}

void report_rows_before_release(int rows_before_release, ImportSummary& summary) {
  summary.rows_before_release = rows_before_release;
  if (rows_before_release == 0) return;
  summary.notes.push_back(std::to_string(rows_before_release) +
                          " rows before the release of the rig are left out");
}

/// Throws for implausible clock errors and sampling periods, which foreign files may have.
void check_times(const std::string& path, const proto::Recording& recording,
                 const proto::Series& series) {
  const double rate_error_ppm =
      recording.clock_fits.empty() ? 0.0 : recording.clock_fits.back().rate_error_ppm;
  if (!proto::require_range("SimUnit.clock_error_ppm").holds(rate_error_ppm)) {
    throw proto::InputError(path +
                            ": the recording's clock fit gives an implausible clock error of " +
                            format_number(rate_error_ppm) +
                            " ppm. Use \"rigcal export\" and the times of the CSV file");
  }
  for (const proto::SeriesSegment& segment : series.segments) {
    if (segment.period_s >= kSamplingPeriodMin && segment.period_s <= kSamplingPeriodMax) continue;
    throw proto::InputError(
        path + ": the sampling period would be " + format_number(segment.period_s) + " s, " +
        (segment.period_s > kSamplingPeriodMax ? "too long to resolve an oscillation"
                                               : "shorter than any encoder's"));
  }
}

ImportedRecording import_daq_mcap(const std::string& path, const Rig& rig) {
  auto recording = proto::read_recording(path);
  if (!recording.ok()) throw proto::InputError(recording.error().detail);
  const double release_s = proto::find_release_time(recording.value().events);
  return import_daq_samples(path, std::move(recording.value()), release_s, rig);
}

ImportedRecording import_daq_samples(const std::string& path, proto::Recording recording,
                                     double release_s, const Rig& rig) {
  clear_tripped_commands(recording);
  auto series = proto::make_uniform_series(recording);
  if (!series.ok()) throw proto::InputError(path + ": " + series.error().detail);
  check_times(path, recording, series.value());
  const std::vector<std::string>& joints = series.value().joints;
  const std::vector<std::size_t> channels = find_channels(path, rig, joints);
  const std::vector<std::size_t> motors = find_motors(path, rig, recording.header.motors);
  check_command_units(path, rig, recording.header, motors);

  ImportedRecording result;
  result.recording.name = path;
  ImportSummary& summary = result.summary;
  summary.file = path;
  summary.rows = static_cast<int>(recording.samples.size());
  InertialSampleReader inertial(recording, rig);
  std::size_t held = 0, tripped = 0;
  const proto::Event* const trip =
      was_always_tripped(recording) ? nullptr : find_trip(recording);
  std::vector<estimator::Segment>& segments = result.recording.segments;
  for (proto::SeriesSegment& source : series.value().segments) {
    summary.period = source.period_s;
    held += drop_before(release_s, series.value(), source);
    if (trip != nullptr) tripped += drop_from(trip->timestamp_s, series.value(), source);
    if (source.row_count == 0) continue;
    segments.push_back(
        make_segment(source, joints.size(), channels, series.value().command_count, motors));
    inertial.fill(source, segments.back());
  }
  summary.holes = join_segments_across_gaps(segments);
  for (std::size_t i = 1; i < segments.size(); ++i) {
    const double end = segments[i - 1].start + segments[i - 1].duration();
    summary.gaps.push_back({0, end, segments[i].start - end});
  }
  std::erase_if(segments, [](const estimator::Segment& segment) {
    return segment.sample_count() < kSegmentSamplesMin;
  });
  int kept = -summary.holes.rows;
  for (const estimator::Segment& segment : segments) kept += segment.sample_count();
  report_rows_before_release(static_cast<int>(held), summary);
  summary.rows_after_trip = static_cast<int>(tripped);
  summary.dropped_rows =
      summary.rows - kept - summary.rows_before_release - summary.rows_after_trip;
  if (std::isinf(release_s) && release_s > 0.0) {
    throw proto::InputError(path +
                            ": the rig was never released, so the recording has no free motion");
  }
  if (result.recording.segments.empty() && trip != nullptr) {
    throw proto::InputError(
        path + ": has too few samples before the safety trip that ended the run: " + trip->text +
        (trip->text.ends_with('.') ? "" : ".") + " Correct its cause and record again");
  }
  if (result.recording.segments.empty()) {
    throw proto::InputError(path + ": the recording is too short: no segment without gaps has " +
                            std::to_string(kSegmentSamplesMin) + " samples. Record longer");
  }
  note_quality(recording, summary);
  inertial.add_notes(summary.notes);
  return result;
}

}  // namespace service
