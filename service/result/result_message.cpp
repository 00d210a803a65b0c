#include "service/result/result_message.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <limits>
#include <memory>
#include <stdexcept>

#include "estimator/model/encoder.hpp"
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

}  // namespace

void add_parameters(const std::vector<estimator::ParameterEstimate>& estimates,
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
    const ParameterPrior prior = find_prior(mechanism, estimate.name);
    out->set_prior_mean(prior.mean);
    out->set_prior_standard_deviation(prior.standard_deviation);
  }
}

void add_matrix(const Eigen::MatrixXd& matrix,
                google::protobuf::RepeatedPtrField<v1::MatrixRow>* rows) {
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    v1::MatrixRow* row = rows->Add();
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) row->add_values(matrix(i, j));
  }
}

void add_simulation(const std::vector<estimator::SimulationError>& errors,
                    google::protobuf::RepeatedPtrField<v1::SimulationResult>* out_list) {
  for (const estimator::SimulationError& error : errors) {
    v1::SimulationResult* out = out_list->Add();
    out->set_joint(error.joint);
    const bool slides = !joint_traits(error.kind).turns;
    out->set_rmse_rad(slides ? std::numeric_limits<double>::quiet_NaN() : error.rmse);
    if (slides) out->set_rmse_m(error.rmse);
  }
}

google::protobuf::Struct chosen_options(const estimator::Calibration& calibration,
                                        estimator::CalibrationOptions options) {
  options.kind = calibration.kind;
  options.step = calibration.step;
  options.state_error_weight = calibration.state_error_weight;
  return options_message(options, true);
}

void add_recording(const RecordingUse& recording, v1::RecordingResult* out) {
  out->set_file(recording.summary.file);
  out->set_rate_hz(1.0 / recording.summary.period);
  out->set_gaps(static_cast<int>(recording.summary.gaps.size()));
  out->set_dropped_rows(recording.summary.dropped_rows);
  out->set_rows_before_release(recording.summary.rows_before_release);
  out->set_missing_rows(recording.summary.holes.rows);
  out->set_steady_clock(recording.summary.steady_clock);
  out->set_missing_samples(recording.summary.missing_samples);
  out->set_scenario(recording.summary.scenario);
  if (const auto& clock = recording.summary.clock) {
    out->set_clock_error_ppm(clock->rate_error_ppm);
    out->set_clock_error_ppm_standard_deviation(clock->standard_deviation_ppm);
  }
  if (const auto& arrival = recording.summary.arrival) {
    out->set_arrival_jitter_us_p99(arrival->jitter_us_p99);
    out->set_arrival_jitter_us_max(arrival->jitter_us_max);
  }
  int samples = 0;
  for (const SegmentUse& use : recording.segments) {
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
    out->set_description(text_of(direction.description));
    for (const double value : direction.coefficients) out->add_coefficients(value);
  }
}

std::string to_json(const google::protobuf::Message& message) {
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
    const FindingText text = describe(finding);
    out->set_kind(text.kind);
    out->set_severity(to_text(finding.severity));
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

}  // namespace service
