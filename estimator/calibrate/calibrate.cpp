#include <algorithm>
#include <stdexcept>

#include "estimator/assessment/model_test/verdict.hpp"
#include "estimator/calibrate/calibrate.hpp"
#include "estimator/calibrate/held_out_sensors.hpp"
#include "estimator/calibrate/physical_calibration.hpp"
#include "estimator/calibrate/shadow_calibration.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {
namespace {

bool has_simulator_choices(const CalibrationOptions& options) {
  return std::ranges::any_of(kOptionRows, [&](const OptionRow& row) {
    return row.group == OptionGroup::kSimulator && !is_default(row, options);
  });
}

}  // namespace

EstimateKind chosen_kind(const Mechanism& mechanism, const CalibrationOptions& options) {
  const bool simulator = has_simulator_choices(options);
  if (!options.kind) {
    return simulator || has_loaded_loop(mechanism) ? EstimateKind::kShadow
                                                   : EstimateKind::kPhysical;
  }
  if (*options.kind == EstimateKind::kPhysical && simulator) {
    throw std::invalid_argument(
        "state error weight, compliance, damping time, residual form, state form and no approach "
        "are options for shadow parameters (of a SPOOK simulator) only: request shadow parameters, "
        "or omit the option");
  }
  return *options.kind;
}

Calibration calibrate(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                      const CalibrationOptions& options, const CalibrationMonitor& monitor) {
  const std::vector<Recording> used = split_held_out_sensors(mechanism, recordings);
  Calibration result = chosen_kind(mechanism, options) == EstimateKind::kPhysical
                           ? calibrate_physical(mechanism, used, options, monitor)
                           : calibrate_shadow(mechanism, used, options, monitor);
  if (!options.kind && has_loaded_loop(mechanism)) {
    result.notes.insert(result.notes.begin(),
                        Message(MessageCode::kLoadedLoop, {{"step", Quantity{result.step, "s"}}}));
  }
  result.verdict = judge(result);
  return result;
}

}  // namespace estimator
