#include "service/result/result_message.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/common.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "estimator/model/encoder.hpp"
#include "proto/text/input_error.hpp"
#include "service/messages/message_text.hpp"
#include "service/options/option_message.hpp"
#include "service/result/calibration_outcome.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;

/// Appends a column of a matrix to `out`, unless the matrix lacks the column. Without a simulation,
/// for example, the matrix of simulated angles is empty.
void add_column(const Eigen::MatrixXd& matrix, Eigen::Index column,
                google::protobuf::RepeatedField<double>* out) {
  if (column >= matrix.cols()) return;
  const Eigen::VectorXd values = matrix.col(column);
  out->Add(values.begin(), values.end());
}

#if defined(__aarch64__)
constexpr const char* kProcessor = "aarch64";
#elif defined(__x86_64__)
constexpr const char* kProcessor = "x86_64";
#else
constexpr const char* kProcessor = "another processor";
#endif

#ifdef NDEBUG
constexpr const char* kAssertions = "release";
#else
constexpr const char* kAssertions = "with assertions";
#endif

std::string dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

/// Returns a description of the build properties that can change the last digits of results.
std::string describe_build() {
  return std::string(kProcessor) + ", " + kAssertions + ", compiler " + __VERSION__ + ", Eigen " +
         dotted(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION) + ", Protobuf " +
         dotted(GOOGLE_PROTOBUF_VERSION / 1000000, GOOGLE_PROTOBUF_VERSION / 1000 % 1000,
                GOOGLE_PROTOBUF_VERSION % 1000);
}

std::string utc_text(std::time_t seconds) {
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, std::size(text), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::time_t seconds_now() {
  const char* const stored = std::getenv("SOURCE_DATE_EPOCH");
  if (stored == nullptr || *stored == '\0') return std::time(nullptr);
  const std::string_view text = stored;
  constexpr long long kYear10000 = 253402300800;  // later years have five digits
  long long seconds = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (fault != std::errc() || end != text.data() + text.size() || seconds < 0 ||
      seconds >= kYear10000) {
    throw proto::InputError(
        "SOURCE_DATE_EPOCH: {:?} is not a number of seconds since 1970. Correct or unset it", text);
  }
  return static_cast<std::time_t>(seconds);
}

void add_mark(const FileDigest& mark, v1::SourceResult* out) {
  out->set_sha256(mark.sha256);
  out->set_size_bytes(mark.size_bytes);
}

void add_source(const RecordingSource& source, const FileDigest& mark, v1::SourceResult* out) {
  out->set_path(source.origin.empty() ? source.path : source.origin);
  out->set_name(source.name);
  add_mark(mark, out);
  out->set_from_s(source.selection.from);
  out->set_to_s(source.selection.to);
  for (const int segment : source.selection.segments) out->add_segments(segment);
  out->set_topic(source.selection.topic);
}

void add_values(const ParameterValues& values, v1::ProvenanceResult* out) {
  if (values.file.empty()) return;
  out->mutable_values_file()->set_path(values.file);
  add_mark(values.mark, out->mutable_values_file());
  for (const ParameterValues::ParameterValue& entry : values.entries) {
    v1::ValueResult* value = out->add_values();
    value->set_name(entry.name);
    value->set_value(entry.value);
    value->set_unit(entry.unit);
  }
}

void assign(const std::vector<std::string>& texts,
            google::protobuf::RepeatedPtrField<std::string>* out) {
  out->Assign(texts.begin(), texts.end());
}

std::vector<std::string> texts_of(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

[[noreturn]] void fail(const std::string& file, const std::string& field, const std::string& what) {
  throw proto::InputError(file + ": provenance." + field + ": " + what);
}

RecordingSource source_of(const std::string& file, int index, const v1::SourceResult& stored) {
  RecordingSource source;
  source.path = stored.path();
  source.name = stored.name();
  source.selection.from = stored.from_s();
  source.selection.to = stored.to_s();
  source.selection.segments = {stored.segments().begin(), stored.segments().end()};
  source.selection.topic = stored.topic();
  if (!(stored.from_s() < stored.to_s())) {
    fail(file, "recordings[" + std::to_string(index) + "]", "fromS must be less than toS");
  }
  return source;
}

}  // namespace

void add_parameter_results(const std::vector<estimator::ParameterEstimate>& estimates,
                           const estimator::Mechanism& mechanism,
                           google::protobuf::RepeatedPtrField<v1::ParameterResult>* out_list) {
  for (const estimator::ParameterEstimate& estimate : estimates) {
    v1::ParameterResult* out = out_list->Add();
    out->set_name(estimate.name);
    out->set_value(estimate.value);
    out->set_standard_deviation(estimate.standard_deviation);
    out->set_half_interval(estimate.half_interval);
    out->set_noise_deviation(estimate.noise_deviation);
    out->set_scatter_deviation(estimate.scatter_deviation);
    out->set_data_value(estimate.data_value);
    out->set_data_standard_deviation(estimate.data_deviation);
    out->set_unit(estimate.unit);
    out->set_lower(estimate.lower);
    out->set_upper(estimate.upper);
    out->set_initial(estimate.initial);
    out->set_at_bound(estimate.at_bound);
    const ParameterPrior prior = find_parameter_prior(mechanism, estimate.name);
    out->set_prior_mean(prior.mean);
    out->set_prior_standard_deviation(prior.standard_deviation);
  }
}

void add_matrix_rows(const Eigen::MatrixXd& matrix,
                     google::protobuf::RepeatedPtrField<v1::MatrixRow>* rows) {
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    v1::MatrixRow* row = rows->Add();
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) row->add_values(matrix(i, j));
  }
}

void add_simulation_errors(const std::vector<estimator::OpenLoopError>& errors,
                           google::protobuf::RepeatedPtrField<v1::SimulationResult>* out_list) {
  for (const estimator::OpenLoopError& error : errors) {
    v1::SimulationResult* out = out_list->Add();
    out->set_joint(error.joint);
    const bool slides = !joint_traits(error.kind).turns;
    out->set_rmse_rad(slides ? std::numeric_limits<double>::quiet_NaN() : error.rmse);
    if (slides) out->set_rmse_m(error.rmse);
  }
}

google::protobuf::Struct used_options(const estimator::Calibration& calibration,
                                      estimator::CalibrationOptions options) {
  options.kind = calibration.kind;
  options.step = calibration.step;
  options.state_error_weight = calibration.state_error_weight;
  return make_options_message(options, true);
}

void add_recording_result(const UsedRecording& recording, v1::RecordingResult* out) {
  out->set_file(recording.summary.file);
  out->set_rate_hz(1.0 / recording.summary.period);
  out->set_gaps(static_cast<int>(recording.summary.gaps.size()));
  out->set_dropped_rows(recording.summary.dropped_rows);
  out->set_rows_before_release(recording.summary.rows_before_release);
  out->set_missing_rows(recording.summary.holes.rows);
  out->set_steady_clock(recording.summary.steady_clock);
  out->set_missing_samples(recording.summary.missing_samples);
  out->set_scenario(recording.summary.scenario);
  if (recording.summary.epoch_unix_ns != 0) {
    out->set_recorded_at(utc_text(recording.summary.epoch_unix_ns / 1'000'000'000));
  }
  if (const auto& clock = recording.summary.clock) {
    out->set_clock_error_ppm(clock->rate_error_ppm);
    out->set_clock_error_ppm_standard_deviation(clock->standard_deviation_ppm);
  }
  if (const auto& arrival = recording.summary.arrival) {
    out->set_arrival_jitter_us_p99(arrival->jitter_us_p99);
    out->set_arrival_jitter_us_max(arrival->jitter_us_max);
  }
  int samples = 0;
  for (const UsedSegment& use : recording.segments) {
    v1::SegmentResult* segment = out->add_segments();
    segment->set_index(use.index);
    segment->set_start_s(use.start);
    segment->set_end_s(use.end);
    segment->set_samples(use.samples);
    segment->set_used(use.samples > 0);
    samples += use.samples;
  }
  out->set_samples(samples);
}

void add_null_directions(const std::vector<estimator::NullDirection>& directions,
                         google::protobuf::RepeatedPtrField<v1::NullDirectionResult>* out_list) {
  for (const estimator::NullDirection& direction : directions) {
    v1::NullDirectionResult* out = out_list->Add();
    out->set_description(format_message(direction.description));
    for (const double value : direction.coefficients) out->add_coefficients(value);
  }
}

std::string format_message_json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  std::string bytes, json;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.SetSerializationDeterministic(true);  // options in alphabetical order
    message.SerializeToCodedStream(&out);
  }
  const std::unique_ptr<google::protobuf::util::TypeResolver> types(
      google::protobuf::util::NewTypeResolverForDescriptorPool(
          "", google::protobuf::DescriptorPool::generated_pool()));
  const auto status = google::protobuf::util::BinaryToJsonString(
      types.get(), "/" + message.GetDescriptor()->full_name(), bytes, &json, options);
  if (!status.ok()) throw std::runtime_error("result as JSON: " + status.ToString());
  return json;
}

void add_trajectories(const estimator::Calibration& calibration,
                      const std::vector<std::string>& controls,
                      google::protobuf::RepeatedPtrField<v1::TrajectoryResult>* out_list) {
  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(calibration.mechanism);
  for (const estimator::SegmentTrajectory& trajectory : calibration.trajectories) {
    v1::TrajectoryResult* out = out_list->Add();
    out->set_recording(trajectory.recording);
    for (Eigen::Index k = 0; k < trajectory.measured.rows(); ++k) {
      out->add_time_s(trajectory.time(k));
    }
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      v1::SensorTrajectory* sensor = out->add_sensors();
      const auto column = static_cast<Eigen::Index>(i);
      sensor->set_sensor(sensors[i].name);
      sensor->set_unit(sensors[i].units().coordinate);
      add_column(trajectory.measured, column, sensor->mutable_measured());
      add_column(trajectory.estimated, column, sensor->mutable_estimated());
      add_column(trajectory.simulated, column, sensor->mutable_simulated());
    }
    for (std::size_t i = 0; i < controls.size(); ++i) {
      v1::ControlTrajectory* control = out->add_controls();
      control->set_control(controls[i]);
      add_column(trajectory.control, static_cast<Eigen::Index>(i), control->mutable_value());
    }
  }
}

void add_findings(const std::vector<estimator::Finding>& findings,
                  google::protobuf::RepeatedPtrField<rigcal::v1::FindingResult>* out_list) {
  for (const estimator::Finding& finding : findings) {
    rigcal::v1::FindingResult* out = out_list->Add();
    const FindingText text = describe_finding(finding);
    out->set_kind(text.kind);
    out->set_severity(severity_name(finding.severity));
    out->set_recording(finding.recording);
    out->set_channel(finding.channel);
    out->set_from_s(finding.from);
    out->set_to_s(finding.to);
    out->set_size(finding.size);
    out->set_unit(finding.unit);
    out->set_confidence(finding.confidence);
    out->set_what(text.what);
    out->set_advice(text.advice);
    out->set_treatment(text.treatment);
  }
}

std::string current_utc_time() { return utc_text(seconds_now()); }

void fill_provenance(const CalibrationMetadata& context, v1::ProvenanceResult* out) {
  const CalibrationRequest& request = context.request;
  out->set_date(context.date);
  out->set_command(context.command);
  out->set_version(context.version);
  out->set_build(describe_build());
  out->mutable_rig()->set_path(request.rig_name);
  add_mark(compute_text_digest(request.rig_text), out->mutable_rig());
  out->set_rig_text(request.rig_text);
  for (std::size_t i = 0; i < request.recordings.size() && i < context.recordings.size(); ++i) {
    add_source(request.recordings[i], context.recordings[i].mark, out->add_recordings());
  }
  add_values(request.values, out);
  assign(request.edits.start, out->mutable_start());
  assign(request.edits.free, out->mutable_free());
  assign(request.edits.fix, out->mutable_fix());
  assign(request.edits.hold_out, out->mutable_hold_out());
  *out->mutable_options() = make_options_message(request.options, true);
}

CalibrationRequest read_stored_request(const std::string& file,
                                       const v1::ProvenanceResult& provenance) {
  CalibrationRequest request;
  request.rig_name = file + ": rig text of " + provenance.rig().path();
  request.rig_text = provenance.rig_text();
  if (provenance.has_values_file()) request.values.file = file;
  for (int i = 0; i < provenance.values_size(); ++i) {
    const v1::ValueResult& value = provenance.values(i);
    const std::string field = "values[" + std::to_string(i) + "]";
    if (!std::isfinite(value.value())) fail(file, field + ".value", "is not a finite number");
    request.values.entries.push_back(
        {"provenance." + field, value.name(), value.unit(), value.value()});
  }
  request.edits = {texts_of(provenance.start()), texts_of(provenance.free()),
                   texts_of(provenance.fix()), texts_of(provenance.hold_out())};
  for (int i = 0; i < provenance.recordings_size(); ++i) {
    request.recordings.push_back(source_of(file, i, provenance.recordings(i)));
  }
  request.options =
      read_calibration_options(provenance.options(), file + ": provenance.options", true);
  return request;
}

}  // namespace service
