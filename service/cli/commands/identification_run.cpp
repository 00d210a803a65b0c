#include "service/cli/commands/identification_run.hpp"

#include <cmath>

#include "proto/recording/mcap/file.hpp"
#include "proto/recording/recording_info.hpp"
#include "proto/text/input_error.hpp"
#include "service/text/number_format.hpp"

namespace service {

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

void refuse_useless_target(const TargetPrecision& target, const estimator::Mechanism& mechanism) {
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
