#include "estimator/design/plan_prediction.hpp"

#include <limits>

#include "estimator/assessment/quantization.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

Uncertainty predict_plan(const Mechanism& mechanism, const std::vector<Recording>& earlier,
                         const Segment& run, const Eigen::VectorXd& noise,
                         const Eigen::VectorXd& quantum, const Eigen::MatrixXd& known,
                         int threads) {
  std::vector<Recording> recordings = earlier;
  recordings.push_back({.name = "the plan", .segments = {run}});
  ShootingInput input = prepare_shooting(mechanism, recordings, {});
  input.noise.angle = noise;
  input.grid.interval = std::numeric_limits<double>::infinity();
  const ShootingProblem problem(mechanism, input.segments, input.states, input.state_spacing,
                                input.grid, input.noise, threads);
  ParameterInformation information = compute_information(problem, {.effective_parameters = false});
  if (information.valid) {
    if (known.size() > 0) {
      information.group_schur[static_cast<std::size_t>(problem.prior_group())] = known;
      recompute_information(information);
    }
    std::vector<QuantizedSensor> counting;
    for (int i = 0; i < problem.encoder_count(); ++i) {
      if (quantum[i] > 0.0) counting.push_back({i, quantum[i], 0.0});
    }
    const QuantizationErrors errors = quantization_errors(problem, counting);
    for (std::size_t i = 0; i < counting.size(); ++i) {
      information.group_schur[static_cast<std::size_t>(counting[i].sensor)] = errors.scatter[i];
    }
  }
  const std::vector<int> free = FreeParameters(mechanism).indices();
  const Eigen::VectorXd unit = Eigen::VectorXd::Ones(problem.group_count());
  return make_uncertainty(mechanism, free, free, information, unit);
}

}  // namespace estimator
