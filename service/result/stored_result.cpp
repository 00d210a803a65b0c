#include "service/result/stored_result.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cmath>

#include "proto/calibration.pb.h"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/renamed_fields.hpp"
#include "service/options/option_message.hpp"
#include "service/options/option_texts.hpp"
#include "service/options/parameter_values.hpp"
#include "service/result/result_message.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using google::protobuf::Struct;
using google::protobuf::Value;

std::vector<estimator::ParameterEstimate> estimates_of(
    const google::protobuf::RepeatedPtrField<v1::ParameterResult>& parameters) {
  std::vector<estimator::ParameterEstimate> estimates;
  for (const v1::ParameterResult& parameter : parameters) {
    estimator::ParameterEstimate estimate;
    estimate.name = parameter.name();
    estimate.unit = parameter.unit();
    estimate.value = parameter.value();
    estimate.standard_deviation = parameter.standard_deviation();
    estimate.initial = parameter.initial();
    estimate.lower = parameter.lower();
    estimate.upper = parameter.upper();
    estimate.at_bound = parameter.at_bound();
    estimate.half_interval = parameter.half_interval();
    estimates.push_back(std::move(estimate));
  }
  return estimates;
}

CalibratedParameters rig_of(const std::string& file, const v1::CalibrationResult& result) {
  CalibratedParameters rig{.estimates = estimates_of(result.parameters()),
                           .dependent = estimates_of(result.dependent()),
                           .kept = {},
                           .headline = {}};
  for (const v1::ValueResult& value : result.fixed()) {
    estimator::Parameter parameter{.name = value.name(), .unit = value.unit()};
    parameter.value = value.value();
    rig.kept.push_back(std::move(parameter));
  }
  const std::string files = join_items(result.recordings(), &v1::RecordingResult::file);
  const estimator::CalibrationOptions chosen =
      read_calibration_options(result.options(), file + ": options", true);
  rig.headline =
      make_rig_file_headline(result.version(), result.provenance().date(), files,
                             chosen.kind ? estimate_kind_name(*chosen.kind) : "", chosen.step);
  return rig;
}

/// Returns the correlation of the parameters; empty if the result has another number of rows.
Eigen::MatrixXd correlation_of(const v1::CalibrationResult& result) {
  const int count = result.parameters_size();
  if (result.correlation_size() != count) return {};
  Eigen::MatrixXd correlation(count, count);
  for (int i = 0; i < count; ++i) {
    if (result.correlation(i).values_size() != count) return {};
    for (int j = 0; j < count; ++j) correlation(i, j) = result.correlation(i).values(j);
  }
  return correlation;
}

/// Returns the time of the earliest recording; empty if unknown.
std::string recorded_at(const v1::CalibrationResult& result) {
  std::string earliest;
  for (const v1::RecordingResult& recording : result.recordings()) {
    if (recording.recorded_at().empty()) continue;
    if (earliest.empty() || recording.recorded_at() < earliest) earliest = recording.recorded_at();
  }
  return earliest;
}

std::map<std::string, double> noise_of(const v1::CalibrationResult& result) {
  std::map<std::string, double> noise;
  for (const v1::NoiseResult& each : result.noise()) {
    const double reading = each.has_reading_m() ? each.reading_m() : each.reading_rad();
    if (reading > 0.0 && std::isfinite(reading)) noise[each.joint()] = reading;
  }
  return noise;
}

const Value* head_field(const Struct& object, const std::string& name) {
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? nullptr : &found->second;
}

/// Returns the text in a field of a JSON object; empty if the field is missing.
std::string head_text(const Struct& object, const std::string& name) {
  const Value* value = head_field(object, name);
  return value == nullptr ? "" : value->string_value();
}

Struct head_object(const Struct& object, const std::string& name) {
  const Value* value = head_field(object, name);
  return value == nullptr ? Struct() : value->struct_value();
}

/// Returns the text of a result file. Protobuf needs up to 150 bytes of memory for each value.
/// @throws InputError also for a file with more values than fit in 1 GB of memory
std::string read_json_text(const std::string& path) {
  constexpr std::ptrdiff_t kValuesMax = 6'000'000;
  std::string text = proto::read_file(path, proto::kTableSizeMax);
  if (std::ranges::count(text, ',') > kValuesMax) {
    throw proto::InputError(
        "{}: has more than 6 million values, the limit of a result; "
        "calibrate again without --trajectories",
        path);
  }
  return text;
}

}  // namespace

StoredResult convert_stored_result(const std::string& file, const v1::CalibrationResult& result) {
  const v1::ProvenanceResult& provenance = result.provenance();
  if (provenance.rig_text().empty()) {
    throw proto::InputError(
        "{}: provenance.rigText: missing, because an older rigcal wrote the result. "
        "Calibrate again",
        file);
  }
  StoredResult stored{.file = file,
                      .rig = rig_of(file, result),
                      .noise = noise_of(result),
                      .rig_label = result.rig(),
                      .recorded_at = recorded_at(result),
                      .correlation = correlation_of(result),
                      .rig_name = provenance.rig().path(),
                      .rig_text = provenance.rig_text(),
                      .command = provenance.command(),
                      .date = provenance.date(),
                      .version = provenance.version(),
                      .build = provenance.build(),
                      .request = read_stored_request(file, provenance),
                      .recordings = {}};
  for (const v1::SourceResult& source : provenance.recordings()) {
    stored.recordings.push_back({source.sha256(), source.size_bytes()});
  }
  return stored;
}

StoredResult parse_stored_result(const std::string& path, const std::string& text) {
  v1::CalibrationResult result;
  auto status = google::protobuf::util::JsonStringToMessage(text, &result);
  if (!status.ok()) {
    const std::string renamed =
        proto::find_renamed_json_field(path, text, *v1::CalibrationResult::descriptor());
    if (!renamed.empty()) throw proto::InputError(renamed);
    google::protobuf::util::JsonParseOptions options;
    options.ignore_unknown_fields = true;  // from a later version
    result.Clear();
    status = google::protobuf::util::JsonStringToMessage(text, &result, options);
  }
  if (!status.ok()) reject_result_file(path, "not a result", std::string(status.message()));
  return convert_stored_result(path, result);
}

StoredResult read_stored_result(const std::string& path) {
  return parse_stored_result(path, read_json_text(path));
}

bool have_common_recordings(const StoredResult& first, const StoredResult& second) {
  return std::ranges::any_of(first.recordings, [&](const FileDigest& each) {
    return !each.sha256.empty() &&
           std::ranges::count(second.recordings, each.sha256, &FileDigest::sha256) > 0;
  });
}

ResultHeader read_result_header(const std::string& path) {
  Struct result;
  const auto status = google::protobuf::util::JsonStringToMessage(read_json_text(path), &result);
  if (!status.ok()) reject_result_file(path, "not JSON", std::string(status.message()));
  ResultHeader head;
  const Struct provenance = head_object(result, "provenance");
  head.version = head_text(result, "version");
  if (head.version.empty()) head.version = head_text(provenance, "version");
  if (head.version.empty()) reject_result_file(path, "not a result of rigcal", "no version");
  head.command = head_text(provenance, "command");
  head.date = head_text(provenance, "date");
  head.rig = head_text(result, "rig");
  head.rig_file = head_text(head_object(provenance, "rig"), "path");
  head.verdict = head_text(result, "verdict");
  if (const Value* recordings = head_field(provenance, "recordings")) {
    for (const Value& each : recordings->list_value().values()) {
      head.recordings.push_back(head_text(each.struct_value(), "path"));
    }
  }
  return head;
}

std::string describe_result_file(const ResultHeader& head) {
  return fmt::format("a result of {} {}{}",
                     head.command.empty() ? "rigcal" : fmt::format("\"rigcal {}\"", head.command),
                     head.version, head.date.empty() ? "" : " of " + head.date);
}

}  // namespace service
