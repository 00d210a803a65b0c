#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

#include "proto/check/number_check.hpp"
#include "proto/recording/arrays/array_file.hpp"
#include "proto/recording/export/export_csv.hpp"
#include "proto/recording/export/export_mat.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/recording/recording_rules.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/table/csv_table.hpp"
#include "service/recordings/formats/recording_formats.hpp"

namespace service {
namespace {

constexpr const char* kMatAngles = "angle_rad";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns the inertial sensors in a CSV header of `rigcal export`, starting at column `first`.
std::vector<std::string> inertial_sensors_of(const std::vector<std::string>& header,
                                             std::size_t first) {
  std::vector<std::string> sensors;
  const std::size_t count = proto::kInertialEndings.size();
  for (std::size_t k = first; k + count <= header.size(); k += count) {
    const std::string_view ending = proto::kInertialEndings.front();
    if (!header[k].ends_with(ending)) break;
    sensors.push_back(header[k].substr(0, header[k].size() - ending.size()));
  }
  return sensors;
}

/// Returns joints, motors and sensors in a CSV header of `rigcal export`; nullopt for others.
std::optional<proto::RecordingHeader> names_of_export(const std::vector<std::string>& header) {
  // Columns: time_s, readings, commands, segment, sequence, device_time_us, counts, ... The counts
  // columns give the joints and thereby the number of readings before the commands.
  constexpr std::string_view kCounts = "_counts";
  const auto segment =
      static_cast<std::size_t>(std::ranges::find(header, std::string("segment")) - header.begin());
  proto::RecordingHeader names;
  std::vector<std::string>& joints = names.joints;
  for (std::size_t k = segment + 3; k < header.size() && header[k].ends_with(kCounts); ++k) {
    joints.push_back(header[k].substr(0, header[k].size() - kCounts.size()));
  }
  if (joints.empty() || joints.size() > proto::kChannelCountMax || segment < 1 + joints.size()) {
    return std::nullopt;
  }
  std::vector<std::string> expected = {"time_s"};
  for (std::size_t c = 0; c < joints.size(); ++c) {
    const bool slides = header[1 + c] == joints[c] + "_m";
    if (slides) names.slides.push_back(joints[c]);
    expected.push_back(joints[c] + (slides ? "_m" : "_rad"));
  }
  const std::span commands(header.begin() + static_cast<std::ptrdiff_t>(expected.size()),
                           header.begin() + static_cast<std::ptrdiff_t>(segment));
  if (!proto::read_command_columns(commands, names)) return std::nullopt;
  expected.insert(expected.end(), commands.begin(), commands.end());
  const auto add = [&](std::string_view ending) {
    for (const std::string& joint : joints) expected.push_back(joint + std::string(ending));
  };
  expected.insert(expected.end(), {"segment", "sequence", "device_time_us"});
  add(kCounts);
  add("_valid");
  expected.insert(expected.end(),
                  {"command_sequence", "tripped", "driving", "fault_flags", "error_count"});
  const bool starts_so = header.size() >= expected.size() &&
                         std::equal(expected.begin(), expected.end(), header.begin());
  if (!starts_so) return std::nullopt;
  names.inertial_sensors = inertial_sensors_of(header, expected.size());
  return names;
}

/// Converts a double to the integer that it represents exactly; throws if it is no such integer.
/// @param where  returns the location of the number in the file, for messages
template <typename Whole, typename Where>
Whole whole(double value, const Where& where, const std::string& what) {
  const bool has_sign = std::is_unsigned_v<Whole> ? value >= 0.0 : true;
  if (has_sign && std::abs(value) <= static_cast<double>(proto::kSequenceMax) &&
      value == std::floor(value)) {
    return static_cast<Whole>(value);
  }
  throw proto::InputError(where() + ": " + what +
                          " is not an integer up to 2^53. Export the recording again");
}

/// Returns the names of the prismatic joints of a MAT file, whose unit is metre.
std::vector<std::string> slides_of(const std::string& path, const std::vector<std::string>& joints,
                                   const std::vector<std::string>& units) {
  const bool known = std::ranges::all_of(
      units, [](const std::string& unit) { return unit == "rad" || unit == "m"; });
  if (!known || units.size() != joints.size()) {
    throw proto::InputError(path + ": variable \"" + proto::kMatUnits +
                            "\" must have \"rad\" or \"m\" for each of the " +
                            std::to_string(joints.size()) + " joints; export the recording again");
  }
  std::vector<std::string> slides;
  for (std::size_t c = 0; c < joints.size(); ++c) {
    if (units[c] == "m") slides.push_back(joints[c]);
  }
  return slides;
}

/// Makes a recording from columns in this order: time, sequence, unit time, commands, readings of
/// joints, cells of inertial sensors. Checks samples like the reader of rigcal-daq recordings.
/// @param place  returns the location of a cell in the file, for messages
proto::Recording read_samples(
    const proto::RecordingHeader& names, const std::vector<std::vector<double>>& columns,
    const std::function<std::string(std::size_t row, std::size_t column)>& place) {
  constexpr std::size_t kFirstCommand = 3;
  const std::size_t motors = proto::recording_shape(names).commands();
  const std::size_t joints = names.joints.size();
  const std::size_t first_inertial = kFirstCommand + motors + joints;
  proto::Recording recording;
  recording.header = names;
  recording.scan.container.finished = true;  // a table cannot be cut off
  proto::RecordingRules rules(proto::recording_shape(names));
  for (std::size_t k = 0; k < columns[0].size(); ++k) {
    const auto where = [&](std::size_t column) {
      return [&place, k, column] { return place(k, column); };
    };
    const auto check = [&](const auto& item, std::size_t column) {
      if (const auto breach = rules.take(item)) {
        throw proto::InputError(place(k, column) + ": " + *breach + "; export the recording again");
      }
    };
    proto::Sample sample{.timestamp_s = columns[0][k]};
    sample.sequence = whole<std::uint64_t>(columns[1][k], where(1), "the sequence");
    sample.device_time_us = whole<std::int64_t>(columns[2][k], where(2), "the unit's time");
    sample.motor_count = static_cast<std::uint32_t>(motors);
    for (std::size_t m = 0; m < motors; ++m) sample.command[m] = columns[kFirstCommand + m][k];
    sample.channel_count = static_cast<std::uint32_t>(joints);
    for (std::size_t c = 0; c < joints; ++c) {
      const double angle = columns[kFirstCommand + motors + c][k];
      sample.angle_rad[c] = angle;
      sample.valid[c] = !std::isnan(angle);
      if (std::isnan(angle) || proto::require_range("Sample.angle_rad").holds(angle)) continue;
      throw proto::InputError(place(k, 0) + ": the angle must be " +
                              proto::require_range("Sample.angle_rad").text());
    }
    check(sample, 0);
    recording.samples.push_back(sample);
    for (std::size_t i = 0; i < names.inertial_sensors.size(); ++i) {
      const auto cell = columns.begin() + static_cast<std::ptrdiff_t>(
                                              first_inertial + i * proto::kInertialEndings.size());
      const double mask = cell[static_cast<std::ptrdiff_t>(proto::kInertialAxes)][k];
      if (std::isnan(mask)) continue;  // no reading
      proto::InertialReading reading{.timestamp_s = sample.timestamp_s,
                                     .sequence = sample.sequence,
                                     .sensor = static_cast<std::uint32_t>(i)};
      for (std::size_t a = 0; a < proto::kInertialAxes; ++a) {
        reading.value[a] = cell[static_cast<std::ptrdiff_t>(a)][k];
      }
      const auto saturated =
          whole<std::uint64_t>(mask, where(first_inertial), "the mask of saturated axes");
      reading.saturated =
          static_cast<std::uint32_t>(saturated & ((1U << proto::kInertialAxes) - 1U));
      check(reading, first_inertial);
      recording.inertial.push_back(reading);
    }
  }
  for (std::size_t k = 1; k < recording.samples.size(); ++k) {
    const std::uint64_t next = recording.samples[k - 1].sequence + 1;
    if (recording.samples[k].sequence <= next) continue;
    recording.gaps.push_back({.first_sequence = next,
                              .sample_count = recording.samples[k].sequence - next,
                              .cause = proto::GapCause::kNotListed});
  }
  return recording;
}

/// Returns the rate error of the acquisition unit's clock [ppm], computed from the first and the
/// last sample. Older exports lack the measured rate error.
std::optional<double> rate_error_of(const std::vector<proto::Sample>& samples) {
  if (samples.size() < 2) return std::nullopt;
  const double on_unit =
      1e-6 * static_cast<double>(samples.back().device_time_us - samples.front().device_time_us);
  const double on_host = samples.back().timestamp_s - samples.front().timestamp_s;
  if (!(on_host > 0.0) || !(on_unit > 0.0)) return std::nullopt;
  return 1e6 * (on_unit / on_host - 1.0);
}

/// Sets the trip state of the samples, and adds the trip that ended the recording.
/// @param tripped  whether the unit was tripped, one number per sample
void add_trip(const std::vector<double>& tripped, proto::Recording& recording) {
  std::size_t first = std::min(tripped.size(), recording.samples.size());
  const std::size_t end = first;
  for (std::size_t k = 0; k < end; ++k) recording.samples[k].tripped = tripped[k] == 1.0;
  while (first > 0 && tripped[first - 1] == 1.0) --first;
  if (first == end || first == 0) return;
  recording.events.push_back({.timestamp_s = recording.samples[first].timestamp_s,
                              .kind = proto::EventKind::kTrip,
                              .text = "the unit was tripped"});
}

void set_rate_error(double rate_error_ppm, double deviation_ppm, proto::Recording& recording) {
  recording.clock_fits.push_back(
      {.rate_error_ppm = rate_error_ppm, .rate_error_ppm_sd = deviation_ppm});
}

/// Returns the name of the MAT variable with the commands of one or several motors; empty if there
/// is none.
std::string command_variable(const proto::ArrayFile& file) {
  if (!file.read_texts(proto::kMatMotors).empty()) return proto::kMatCommands;
  for (const proto::ArrayFile::Array& array : file.arrays()) {
    proto::RecordingHeader unnamed;
    if (array.name == "command_sequence") continue;
    if (proto::read_command_columns({&array.name, 1}, unnamed)) return array.name;
  }
  return {};
}

}  // namespace

bool is_exported_csv(const std::vector<std::string>& header) {
  return names_of_export(header).has_value();
}

ImportedRecording import_exported_csv(const std::string& path, std::string_view text,
                                      const Rig& rig) {
  const std::vector<std::string> header = proto::parse_csv_header(path, text).names;
  const proto::RecordingHeader names = names_of_export(header).value();
  const std::vector<std::string>& joints = names.joints;
  const bool has_clock = header.back() == "release_s";
  std::vector<proto::ColumnRequest> requests = {{"time_s"}, {"sequence"}, {"device_time_us"}};
  for (std::size_t m = 0; m < proto::recording_shape(names).commands(); ++m) {
    requests.push_back({header[1 + joints.size() + m]});
  }
  for (std::size_t c = 0; c < joints.size(); ++c) {
    requests.push_back({header[1 + c], proto::MissingCells::kAllowed});
  }
  for (const std::string& sensor : names.inertial_sensors) {
    for (const std::string_view ending : proto::kInertialEndings) {
      requests.push_back({sensor + std::string(ending), proto::MissingCells::kAllowed});
    }
  }
  const std::size_t tripped = requests.size(), clock = tripped + 1;
  requests.push_back({"tripped"});
  if (has_clock) {
    requests.push_back({"clock_error_ppm", proto::MissingCells::kAllowed});
    requests.push_back({"release_s", proto::MissingCells::kAllowed});
  }
  const proto::CsvTable table = proto::parse_csv(path, text, requests);
  proto::Recording recording =
      read_samples(names, table.values, [&](std::size_t row, std::size_t column) {
        return table.where(static_cast<int>(row), static_cast<int>(column));
      });
  add_trip(table.values[tripped], recording);
  double release_s = -kInfinity;
  if (has_clock) {
    const double rate_error_ppm = table.values[clock].back();
    if (!std::isnan(rate_error_ppm)) set_rate_error(rate_error_ppm, 0.0, recording);
    const double stored_release_s = table.values[clock + 1].back();
    if (!std::isnan(stored_release_s))
      release_s = stored_release_s >= proto::kTimeMax_s ? kInfinity : stored_release_s;
  } else if (const auto rate_error_ppm = rate_error_of(recording.samples)) {
    set_rate_error(*rate_error_ppm, 0.0, recording);
  }
  return import_daq_samples(path, std::move(recording), release_s, rig);
}

bool is_exported_mat(const proto::ArrayFile& file) {
  const auto holds = [&](const std::string& name) {
    return file.find(name) != nullptr || !file.read_texts(name).empty();
  };
  const std::vector<std::string> always = {"time_s", "sequence", "device_time_us", "hinges",
                                           "clock"};
  return std::ranges::all_of(always, holds) && !command_variable(file).empty() &&
         (holds(kMatAngles) || (holds(proto::kMatReadings) && holds(proto::kMatUnits)));
}

ImportedRecording import_exported_mat(const std::string& path, const proto::ArrayFile& file,
                                      const Rig& rig) {
  const auto read = [&](const std::string& name) {
    const proto::ArrayFile::Array* const array = file.find(name);
    if (array != nullptr) return file.read(*array);
    throw proto::InputError(path + ": variable \"" + name +
                            "\" is missing; export the recording again");
  };
  proto::RecordingHeader names{.joints = file.read_texts("hinges")};
  const std::vector<std::string>& joints = names.joints;
  std::vector<std::vector<double>> columns = {read("time_s")};
  const std::size_t rows = columns[0].size();
  const auto column = [&](const char* name, std::size_t count) {
    std::vector<double> values = read(name);
    if (values.size() == count) return values;
    throw proto::InputError(path + ": variable \"" + name + "\" has " +
                            std::to_string(values.size()) + " elements, but must have " +
                            std::to_string(count) + "; export the recording again");
  };
  const auto add = [&](const char* name, std::size_t count) {
    const std::vector<double> values = column(name, count * rows);  // column-major
    for (std::size_t c = 0; c < count; ++c) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(c * rows);
      columns.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(rows));
    }
  };
  if (joints.empty() || joints.size() > proto::kChannelCountMax) {
    throw proto::InputError(path + ": variable \"hinges\" names " + std::to_string(joints.size()) +
                            " joints; export the recording again");
  }
  names.motors = file.read_texts(proto::kMatMotors);
  if (!names.motors.empty()) {
    names.command_units = file.read_texts(proto::kMatCommandUnits);
    if (const auto breach = proto::find_violation(names)) {
      throw proto::InputError(path + ": " + *breach + "; export the recording again");
    }
  }
  add("sequence", 1);
  add("device_time_us", 1);
  add(command_variable(file).c_str(), proto::recording_shape(names).commands());
  const bool turns = file.find(kMatAngles) != nullptr;
  add(turns ? kMatAngles : proto::kMatReadings, joints.size());
  if (!turns) names.slides = slides_of(path, joints, file.read_texts(proto::kMatUnits));
  names.inertial_sensors = file.read_texts("inertial_sensors");
  const std::size_t sensors = names.inertial_sensors.size();
  if (sensors > proto::kInertialCountMax) {
    throw proto::InputError(path + ": variable \"inertial_sensors\" names " +
                            std::to_string(sensors) + " sensors; export the recording again");
  }
  if (sensors > 0) add("inertial", proto::kInertialEndings.size() * sensors);
  proto::Recording recording = read_samples(names, columns, [&](std::size_t row, std::size_t) {
    return path + ": sample " + std::to_string(row + 1);
  });
  const std::vector<double> clock = read("clock");  // k×3, column-major
  if (const std::size_t fits = clock.size() / 3; fits > 0) {
    set_rate_error(clock[2 * fits - 1], clock[3 * fits - 1], recording);
  }
  if (file.find("tripped") != nullptr) add_trip(column("tripped", rows), recording);
  double release_s = -kInfinity;
  if (file.find("release_s") != nullptr) release_s = column("release_s", 1).front();
  return import_daq_samples(path, std::move(recording), release_s, rig);
}

}  // namespace service
