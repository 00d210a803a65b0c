#include "service/cli/commands/identification_run.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "estimator/design/plan_evaluator.hpp"
#include "estimator/model/encoder.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/recording/recording_info.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/recordings/formats/recording_formats.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

/// Returns the readings of the last segment, with those after a trip, samples × encoders.
Eigen::MatrixXd import_until_the_end(const std::string& path, const Rig& rig) {
  auto recording = proto::read_recording(path);
  if (!recording.ok()) throw proto::InputError(recording.error().detail);
  std::erase_if(recording.value().events,
                [](const proto::Event& event) { return event.kind == proto::EventKind::kTrip; });
  constexpr double kAlways = -std::numeric_limits<double>::infinity();
  return import_daq_samples(path, std::move(recording.value()), kAlways, rig)
      .recording.segments.back()
      .angles;
}

}  // namespace

IdentificationFolder::IdentificationFolder(const std::string& path) : path_(path) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (!std::filesystem::is_directory(path_)) {
    throw proto::InputError(path + ": cannot be created as a folder; give another --folder");
  }
  count_runs();
  const std::string part = proto::part_file_path(recording(count_ + 1));
  if (std::filesystem::exists(part)) {
    throw proto::InputError(
        "{}: is an incomplete recording; finish it with rigcal recover {}, or remove it", part,
        part);
  }
}

void IdentificationFolder::count_runs() {
  while (std::filesystem::exists(recording(count_ + 1))) ++count_;
}

std::string IdentificationFolder::exclude_last_run(const std::string& why) {
  std::string aside = name("run-", count_, "." + why + ".mcap");
  for (int k = 2; std::filesystem::exists(aside); ++k) {
    aside = name("run-", count_, "." + why + "-" + std::to_string(k) + ".mcap");
  }
  std::filesystem::remove(result(count_));
  std::filesystem::rename(recording(count_--), aside);
  return aside;
}

std::string IdentificationFolder::set_result_aside(int run) const {
  const std::string aside = name("result-", run, ".no-fit.json");
  std::filesystem::rename(result(run), aside);
  return aside;
}

std::string IdentificationFolder::name(const std::string& stem, int run,
                                       const std::string& ending) const {
  return (path_ / (stem + (run < 10 ? "0" : "") + std::to_string(run) + ending)).string();
}

std::optional<RunTrip> find_run_trip(const std::string& recording) {
  const auto info = proto::inspect_recording(recording);
  if (!info.ok()) return std::nullopt;
  std::optional<RunTrip> trip;
  bool has_driven = false;
  for (const proto::Event& event : info.value().events) {
    has_driven =
        has_driven || (event.kind == proto::EventKind::kScenario && event.name == "running");
    if (event.kind != proto::EventKind::kTrip || trip) continue;
    trip = RunTrip{event.text, event.name == "angle" || event.name == "speed"};
    if (trip->text.ends_with('.')) trip->text.pop_back();
  }
  if (trip) trip->is_usable = trip->is_usable && has_driven;
  return trip;
}

std::vector<std::string> find_rest_positions(const std::string& path, const Rig& rig) {
  const estimator::Mechanism& mechanism = rig.mechanism;
  const Eigen::MatrixXd angles = import_until_the_end(path, rig);
  Eigen::VectorXd readings = angles.row(angles.rows() - 1).transpose();
  for (Eigen::Index i = 0; i < readings.size(); ++i) {
    for (Eigen::Index k = angles.rows() - 1; k > 0 && std::isnan(readings[i]); --k) {
      readings[i] = angles(k - 1, i);
    }
  }
  const estimator::EncoderToJointMap joints(mechanism);
  const Eigen::VectorXd at =
      estimator::simulate_release_to_rest(mechanism, joints.joint_coordinates(readings));
  std::vector<std::string> places;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (!joints.is_observed(j) || !std::isfinite(at[j])) continue;
    places.push_back(mechanism.joints[static_cast<std::size_t>(j)].name + "=" +
                     format_number(at[j], 9));
  }
  return places;
}

void reject_implausible_target(const TargetPrecision& target,
                               const estimator::Mechanism& mechanism) {
  constexpr double kUselessFactor = 100.0;
  const auto& parameter = mechanism.parameters[static_cast<std::size_t>(target.index)];
  const double value = std::abs(parameter.value);
  const bool is_place = parameter.unit == "rad" || parameter.unit == "m";  // may be near zero
  if (is_place || is_at_bound(parameter) || value == 0.0) return;
  if (!(target.deviation > kUselessFactor * value)) return;
  throw proto::InputError(
      "--until {0}: a standard deviation of {1} {2} is far above the value {3} {2}. "
      "Write {0}:2% for a percentage of the value",
      target.name, format_number(target.deviation, 3), parameter.unit, format_number(value, 3));
}

}  // namespace service
