#include "service/calibration/state_run.hpp"

#include <stdexcept>

#include "proto/text/input_error.hpp"

namespace service {

std::vector<estimator::StateEstimate> run_state_estimation(
    const CalibrationRequest& request, CalibrationInput& input,
    const estimator::CalibrationMonitor& monitor, estimator::StateOptions options,
    std::vector<std::string>& notes) {
  if (request.values.kind == estimator::EstimateKind::kShadow ||
      input.context.options.kind == estimator::EstimateKind::kShadow) {
    throw proto::InputError(
        "states cannot be estimated with shadow parameters, which belong to a simulator. Give "
        "--parameters the result of a calibration of physical parameters");
  }
  estimator::Mechanism rig = parse_rig(request.rig_name, request.rig_text).mechanism;
  rig.held_out = input.rig.mechanism.held_out;
  std::vector<std::string> unknown;
  options.spread = value_covariance(request.values, input.rig.mechanism, unknown);
  for (const std::string& name : unknown) {
    notes.push_back(request.values.file + " has no standard deviation for " + name +
                    "; the standard deviations of the states assume that its value is exact");
  }
  try {
    return estimator::estimate_states(rig, input.rig.mechanism, input.recordings,
                                      input.context.options, monitor, options);
  } catch (const std::invalid_argument& fault) {
    throw proto::InputError(describe_fault(input, fault.what()));
  }
}

}  // namespace service
