#pragma once

#include <google/protobuf/message.h>
#include <google/protobuf/repeated_field.h>

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/assessment/finding.hpp"
#include "proto/calibration.pb.h"
#include "service/result/calibration_message.hpp"

namespace service {

// Functions that fill result messages of calibrations and cross-validations.

void add_parameter_results(
    const std::vector<estimator::ParameterEstimate>& estimates,
    const estimator::Mechanism& mechanism,
    google::protobuf::RepeatedPtrField<rigcal::v1::ParameterResult>* out_list);

void add_matrix_rows(const Eigen::MatrixXd& matrix,
                     google::protobuf::RepeatedPtrField<rigcal::v1::MatrixRow>* rows);

void add_simulation_errors(
    const std::vector<estimator::OpenLoopError>& errors,
    google::protobuf::RepeatedPtrField<rigcal::v1::SimulationResult>* out_list);

/// Returns the options of a calibration as a message. Parameter kind, step and weight are the
/// values that the calibration chose.
google::protobuf::Struct used_options(const estimator::Calibration& calibration,
                                      estimator::CalibrationOptions options);

void add_recording_result(const UsedRecording& recording, rigcal::v1::RecordingResult* out);

void add_null_directions(
    const std::vector<estimator::NullDirection>& directions,
    google::protobuf::RepeatedPtrField<rigcal::v1::NullDirectionResult>* out_list);

/// Returns a Protobuf message as JSON text with all fields.
std::string format_message_json(const google::protobuf::Message& message);

/// Appends the measured, estimated and simulated trajectories of a calibration to a list in a
/// result message.
/// @param controls  label of each motor's control
void add_trajectories(const estimator::Calibration& calibration,
                      const std::vector<std::string>& controls,
                      google::protobuf::RepeatedPtrField<rigcal::v1::TrajectoryResult>* out_list);

/// Appends findings about the recordings to a list in a result message.
void add_findings(const std::vector<estimator::Finding>& findings,
                  google::protobuf::RepeatedPtrField<rigcal::v1::FindingResult>* out_list);

/// Returns the current time in UTC, e.g. "2026-11-22T20:15:00Z". The environment variable
/// SOURCE_DATE_EPOCH (reproducible-builds.org) can replace the current time, so that results are
/// reproducible to the last byte.
/// @throws proto::InputError if SOURCE_DATE_EPOCH is not a number of seconds
std::string current_utc_time();

/// Fills a message with the provenance of a result: program version, date, command and inputs.
void fill_provenance(const CalibrationMetadata& context, rigcal::v1::ProvenanceResult* out);

/// Returns the calibration request that led to a stored result, with the original paths of the
/// recordings.
/// @param file  path of the result for messages
CalibrationRequest read_stored_request(const std::string& file,
                                       const rigcal::v1::ProvenanceResult& provenance);

/// Fills the fields that results of all commands have in common, and returns the result as JSON.
template <typename Result>
std::string finish_result_json(Result& result, const CalibrationMetadata& context) {
  result.set_rig(context.rig);
  result.set_version(context.version);
  if constexpr (requires { result.set_wall_time_s(0.0); }) {
    result.set_wall_time_s(context.wall_time);
  }
  for (const UsedRecording& use : context.recordings) {
    if constexpr (requires { add_recording_result(use, result.add_recordings()); }) {
      add_recording_result(use, result.add_recordings());
    }
  }
  fill_provenance(context, result.mutable_provenance());
  return format_message_json(result);
}

}  // namespace service
