#include "estimator/design/plan_prediction.hpp"

#include <limits>

#include "estimator/calibrate/closed_states.hpp"
#include "estimator/calibrate/free_parameters.hpp"
#include "estimator/calibrate/integration_steps.hpp"
#include "estimator/calibrate/joint_mobility.hpp"
#include "estimator/calibrate/quantisation.hpp"
#include "estimator/calibrate/shooting_problem.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {
namespace {

/// Where joints are and how fast, by the readings: a sample a column.
Eigen::MatrixXd states_of(const Mechanism& mechanism, const Segment& run) {
  const JointReadings readings(mechanism);
  const std::vector<Sensor> sensors = sensors_of(mechanism);
  const Eigen::Index joints = mechanism.hinge_count(), samples = run.angles.rows();
  Eigen::VectorXd offsets(static_cast<Eigen::Index>(sensors.size()));
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    offsets[static_cast<Eigen::Index>(i)] =
        mechanism.parameters[static_cast<std::size_t>(sensors[i].offset)].value;
  }
  Eigen::MatrixXd states = Eigen::MatrixXd::Zero(2 * joints, samples);
  for (Eigen::Index k = 0; k < samples; ++k) {
    states.col(k).head(joints) = readings.coordinates(run.angles.row(k).transpose() + offsets);
  }
  for (Eigen::Index k = 1; k < samples; ++k) {
    states.col(k).tail(joints) =
        (states.col(k).head(joints) - states.col(k - 1).head(joints)) / run.period;
  }
  close_loops(mechanism, run.period, "the plan", states);
  return states;
}

Eigen::VectorXd fastest_of(const Mechanism& mechanism, const Eigen::MatrixXd& states) {
  Eigen::VectorXd fastest(mechanism.hinge_count());
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    fastest[j] = states.row(mechanism.hinge_count() + j).cwiseAbs().maxCoeff() /
                 mechanism.hinges[static_cast<std::size_t>(j)].units().scale;
  }
  return fastest;
}

}  // namespace

Uncertainty predict_plan(const Mechanism& mechanism, Segment run, const Eigen::VectorXd& noise,
                         const Eigen::VectorXd& quantum, const Knowledge& knowledge, int threads) {
  run.begins = true;
  const Eigen::MatrixXd states = states_of(mechanism, run);
  ShootingGrid grid{.step = choose_step(fastest_of(mechanism, states)),
                    .interval = std::numeric_limits<double>::infinity(),
                    .coordinates = choose_coordinates(mechanism, {states})};
  limit_steps(creep_step(mechanism, {states}), grid);
  const auto coordinates = static_cast<Eigen::Index>(grid.coordinates.independent.size());
  const ShootingNoise levels{.angle = noise, .acceleration = Eigen::VectorXd::Ones(coordinates)};
  const ShootingProblem problem(mechanism, {run}, {states}, {run.period}, grid, levels, threads);
  ParameterInformation information = compute_information(problem, {.effective_parameters = false});
  const std::vector<int> free = FreeParameters(mechanism).indices();
  const Eigen::VectorXd unit = Eigen::VectorXd::Ones(problem.group_count());
  if (information.valid) {
    // What earlier recordings said holds the priors already.
    information.group_schur[static_cast<std::size_t>(problem.prior_group())] =
        knowledge.information;
    analyse_again(information);
    std::vector<CountingSensor> counting;
    for (int i = 0; i < problem.sensor_count(); ++i) {
      if (quantum[i] > 0.0) counting.push_back({i, quantum[i], 0.0});
    }
    const QuantisedErrors errors = quantised_errors(problem, counting, 0);
    for (std::size_t i = 0; i < counting.size(); ++i) {
      information.group_schur[static_cast<std::size_t>(counting[i].sensor)] = errors.scatter[i];
    }
  }
  return make_uncertainty(mechanism, free, free, information, unit);
}

}  // namespace estimator
