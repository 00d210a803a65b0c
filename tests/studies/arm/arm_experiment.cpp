#include <Eigen/Dense>
#include <atomic>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "estimator/fit/inertia_parameterized_problem.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/simulation/loops/base_inertial_parameters.hpp"
#include "tests/studies/arm/arm.hpp"
#include "tests/studies/arm/arm_draw.hpp"
#include "tests/studies/arm/arm_energy.hpp"

namespace service {
namespace {

namespace est = estimator;
using Eigen::VectorXd;

constexpr double kEnergyMotionStep = 2.5e-3;  // of the simulation [s]
constexpr double kEnergyCutoff = 5.0;         // of filters for initial states [Hz]
constexpr double kUnexplained = 1e-4;         // accelerations not caused by the controls' noise
constexpr double kNoiseInflation = 30.0;      // inflation of the controls' noise
constexpr double kEnergyTolerance = 1e-8;     // relative decrease of the cost at which a solve ends
constexpr int kEnergyIterations = 100;
constexpr double kEnergyFound = 0.5;  // upper limit of the relative error of base parameters
constexpr double kPriorToValueRatio =
    1e3;  // prior deviations relative to values: without influence

/// Returns the mechanism with weak priors, which determine only unidentifiable directions.
est::Mechanism with_weak_priors(est::Mechanism mechanism) {
  for (est::Parameter& parameter : mechanism.parameters) {
    if (!parameter.free) continue;
    parameter.prior_mean = parameter.value;
    parameter.prior_standard_deviation = kPriorToValueRatio * std::abs(parameter.value);
  }
  return mechanism;
}

/// Random arm with a recording, from which parameters are estimated with many initial values.
struct EnergyCase {
  EnergyCase(const StudyArm& settings, std::uint64_t start)
      : arm(settings),
        drawn(
            make_random_arm(arm.links, arm.initial_error, arm.seed, arm.seed + 31 * (start + 1))) {
    clean = simulate_arm(drawn.arm,
                         {.seed = arm.seed + 17,
                          .duration = arm.energy_duration,
                          .period = arm.period,
                          .amplitude = arm.amplitude,
                          .slowest = arm.slowest,
                          .fastest = arm.fastest,
                          .dither = arm.dither},
                         kEnergyMotionStep);
    run = with_noise(clean, arm.energy_noise, arm.seed + 19);
    truth = arm_mechanism(drawn.arm, drawn.bodies);
    first = with_weak_priors(arm_mechanism(drawn.start, drawn.start_bodies));
    est::CalibrationOptions options;
    options.filter_cutoff = kEnergyCutoff;
    input = est::prepare_shooting_input(first, {recording_of(run)}, options);
    input.grid.interval = arm.period;
    input.noise.angle.setConstant(arm.energy_noise);
    input.noise.acceleration.setConstant(kUnexplained);
  }

  est::ShootingNoise noise(double looseness) const {
    est::ShootingNoise noise = input.noise;
    noise.control = VectorXd::Constant(arm.links, looseness * arm.energy_noise);
    return noise;
  }

  /// Returns the shooting problem with inflated control noise, for poor initial values.
  est::ShootingProblem problem() const {
    return {first,      input.segments,        input.states, input.state_spacing,
            input.grid, noise(kNoiseInflation)};
  }

  /// Returns the shooting problem with the correct noise, starting from the result `reached`.
  est::ShootingProblem with_correct_noise(const est::ShootingProblem& reached) const {
    return reached.copy_with_changes(reached.mechanism(), input.segments, input.grid, noise(1.0));
  }

  StudyArm arm;
  RandomArm drawn;
  ArmRun clean, run;
  est::Mechanism truth, first;
  est::ShootingInput input;
};

double relative(const VectorXd& values, const VectorXd& truth) {
  return (values - truth).norm() / truth.norm();
}

VectorXd base_values(const est::BaseInertialParameters& base, const est::Mechanism& mechanism) {
  const VectorXd standard = est::standard_parameter_values(mechanism);
  VectorXd values(std::ssize(base.base));
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    values[i] = base.base[static_cast<std::size_t>(i)].value(standard);
  }
  return values;
}

/// Returns the indices of the friction parameters.
std::vector<int> friction_law_parameter(const est::Mechanism& mechanism) {
  std::vector<int> indices;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    indices.push_back(mechanism.joint_parameter_index(j, est::JointParameter::kViscous));
    indices.push_back(mechanism.joint_parameter_index(j, est::JointParameter::kCoulombTorque));
  }
  return indices;
}

/// Solves a least-squares problem and compares the result with the true values.
EnergyRun solve(est::LeastSquaresProblem& problem, const est::ShootingProblem& inner,
                const EnergyCase& own, const std::atomic<bool>* stop) {
  est::LmOptions options;
  options.max_iterations = kEnergyIterations;
  options.cost_tolerance = kEnergyTolerance;
  options.stagnant_gain = kEnergyTolerance;
  const est::LmSummary summary = est::solve_in_inertia_coordinates(
      problem, inner.mechanism(), est::InertiaParameterization::kLogCholesky, options, {}, stop);
  EnergyRun run{.iterations = summary.iterations, .cost = summary.cost};
  const est::Mechanism& reached = inner.mechanism();
  run.trajectory = (inner.predicted_angles(0) - own.clean.angles).cwiseAbs().maxCoeff();
  const est::BaseInertialParameters base = est::find_base_inertial_parameters(own.truth);
  run.inertia = relative(base_values(base, reached), base_values(base, own.truth));
  const est::ParameterInformation information =
      est::compute_information(problem, {.effective_parameters = false});
  const est::FreeParameters free(reached);
  const std::vector<int> indices = friction_law_parameter(reached);
  VectorXd values(std::ssize(indices)), truth(values.size());
  double squares = 0.0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    values[at] = reached.at(indices[i]).value;
    truth[at] = own.truth.at(indices[i]).value;
    if (!information.valid) continue;
    const int position = free.find_position(indices[i]);
    squares += std::pow(values[at] - truth[at], 2) / information.inverse(position, position);
  }
  run.friction = relative(values, truth);
  run.reported = std::sqrt(squares / static_cast<double>(indices.size()));
  run.fits_noise = run.inertia < kEnergyFound && run.friction < kEnergyFound;
  return run;
}

constexpr std::pair<const char*, EnergyRun EnergyRuns::*> kEnergyParts[] = {
    {"without", &EnergyRuns::without},
    {"with", &EnergyRuns::with},
    {"loose_without", &EnergyRuns::inflated_without},
    {"loose_with", &EnergyRuns::inflated_with}};

}  // namespace

std::vector<RunParameter> parameters_of(const EnergyRuns& runs) {
  std::vector<RunParameter> all;
  for (const auto& [name, part] : kEnergyParts) {
    const EnergyRun& run = runs.*part;
    const auto add = [&, prefix = std::string(name) + "."](const char* what, double value) {
      all.push_back({.name = prefix + what, .unit = "SI", .value = value});
    };
    add("found", run.fits_noise ? 1.0 : 0.0);
    add("iterations", run.iterations);
    add("cost", run.cost);
    add("trajectory", run.trajectory);
    add("inertia", run.inertia);
    add("friction", run.friction);
    add("told", run.reported);
  }
  return all;
}

EnergyRuns energy_runs_of(const StudyRun& kept) {
  EnergyRuns runs;
  for (const auto& [name, part] : kEnergyParts) {
    const auto value = [&, prefix = std::string(name) + "."](const char* what) {
      return kept.find(prefix + what)->value;
    };
    runs.*part = {.fits_noise = value("found") != 0.0,
                  .iterations = static_cast<int>(value("iterations")),
                  .cost = value("cost"),
                  .trajectory = value("trajectory"),
                  .inertia = value("inertia"),
                  .friction = value("friction"),
                  .reported = value("told")};
  }
  return runs;
}

EnergyRuns run_energy(const StudyArm& arm, std::uint64_t start, const std::atomic<bool>* stop) {
  const EnergyCase own(arm, start);
  EnergyRuns runs;
  est::ShootingProblem loose = own.problem();
  runs.inflated_without = solve(loose, loose, own, stop);
  est::ShootingProblem right = own.with_correct_noise(loose);
  runs.without = solve(right, right, own, stop);
  EnergyObservedProblem inflated_with(own.problem(), own.drawn.arm, own.run, arm.energy_noise);
  runs.inflated_with = solve(inflated_with, inflated_with.inner(), own, stop);
  EnergyObservedProblem right_with(own.with_correct_noise(inflated_with.inner()), own.drawn.arm,
                                   own.run, arm.energy_noise);
  runs.with = solve(right_with, right_with.inner(), own, stop);
  runs.without.iterations += runs.inflated_without.iterations;
  runs.with.iterations += runs.inflated_with.iterations;
  return runs;
}

}  // namespace service
