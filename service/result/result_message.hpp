#pragma once

#include <google/protobuf/message.h>

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "proto/calibration.pb.h"
#include "service/result/calibration_message.hpp"

namespace service {

// Functions that fill result messages of calibrations and cross-validations.

void add_parameters(const std::vector<estimator::ParameterEstimate>& estimates,
                    const estimator::Mechanism& mechanism,
                    google::protobuf::RepeatedPtrField<rigcal::v1::ParameterResult>* out_list);

void add_matrix(const Eigen::MatrixXd& matrix,
                google::protobuf::RepeatedPtrField<rigcal::v1::MatrixRow>* rows);

void add_simulation(const std::vector<estimator::SimulationError>& errors,
                    google::protobuf::RepeatedPtrField<rigcal::v1::SimulationResult>* out_list);

/// Adds the requested options to a result message. Kind, step and weight are the values that the
/// calibration chose.
void add_options(const estimator::Calibration& calibration,
                 const estimator::CalibrationOptions& options, rigcal::v1::OptionsResult* out);

/// Adds the options to a result message as they were requested. Values that the calibration chooses
/// are 0, −1 or empty.
void add_requested_options(const estimator::CalibrationOptions& options,
                           rigcal::v1::OptionsResult* out);

void add_recording(const RecordingUse& recording, rigcal::v1::RecordingResult* out);

/// Returns a message in the proto3 JSON mapping with all fields.
std::string to_json(const google::protobuf::Message& message);

}  // namespace service
