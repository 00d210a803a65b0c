#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>

#include "estimator/calibrate/charted_bodies.hpp"
#include "estimator/calibrate/physical_calibration.hpp"
#include "estimator/model/inertia_chart.hpp"
#include "estimator/model/possible_inertia.hpp"
#include "estimator/tree/inertial_base.hpp"
#include "service/study/arm.hpp"
#include "service/study/arm_draw.hpp"
#include "service/study/arm_regressors.hpp"

namespace service {
namespace {

namespace est = estimator;
using Eigen::VectorXd;

constexpr double kArmCutoff = 5.0;  // of filters for first states [Hz]
constexpr int kArmIterations = 200;
constexpr double kFoundOver = 1.2;   // residuals over the noise, at most
constexpr double kFoundRmse = 1e-5;  // [rad] likewise, without noise
constexpr double kTimedNoise = 0.01;

double processor_seconds(std::clock_t since) {
  return static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC;
}

/// The one pipeline's, of a control whose noise is known as a torque sensor's is.
est::Calibration calibrate_arm(const est::Mechanism& start, const ArmRun& recorded, double noise,
                               const StopQuestion& is_stopped) {
  est::CalibrationOptions options;
  options.filter_cutoff = kArmCutoff;
  options.max_iterations = kArmIterations;
  options.refine_simulation = false;
  options.compare_pieces = false;
  std::atomic<bool> stop = false;
  est::CalibrationMonitor monitor;
  monitor.stop = &stop;
  monitor.on_iteration = [&](const est::IterationRecord&) { stop = is_stopped(); };
  VectorXd control;
  if (noise > 0.0) control = VectorXd::Constant(start.hinge_count(), noise);
  return est::calibrate_physical(start, {recording_of(recorded)}, options, monitor, control);
}

double along(const est::BaseCombination& combination, const VectorXd& values) {
  double sum = 0.0;
  for (const auto& term : combination.terms) sum += term.factor * values[term.parameter];
  return sum;
}

double off(double value, double truth) { return std::abs(value - truth) / std::abs(truth); }

/// Of base parameters, then friction and gains, where these are unknown.
/// @param values  in the order of regression_values
std::vector<double> relative_errors(const est::InertialBase& base, const VectorXd& values,
                                    const VectorXd& truth) {
  std::vector<double> errors;
  for (const est::BaseCombination& each : base.base) {
    errors.push_back(off(along(each, values), along(each, truth)));
  }
  const Eigen::Index inertias = std::ssize(base.standard);
  for (Eigen::Index i = inertias; i < truth.size(); ++i) errors.push_back(off(values[i], truth[i]));
  return errors;
}

/// Values of a mechanism in the order of regression_values.
VectorXd values_of(const est::Mechanism& mechanism) {
  const int n = mechanism.hinge_count();
  VectorXd values(regression_size(n));
  values.head(11 * n) = est::standard_values(mechanism);
  for (int j = 0; j < n; ++j) {
    const auto value = [&](est::HingeQuantity quantity) {
      return mechanism.hinge_parameter(j, quantity).value;
    };
    values[11 * n + j] = value(est::HingeQuantity::kViscous);
    values[12 * n + j] = value(est::HingeQuantity::kCoulombTorque);
    if (j > 0) values[13 * n + j - 1] = value(est::HingeQuantity::kMotorGain);
  }
  return values;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void count_intervals(const est::Calibration& result, const est::InertialBase& base,
                     const est::Mechanism& truth, ArmDraw& draw) {
  const VectorXd standard = est::standard_values(truth);
  for (std::size_t i = 0; i < result.base.size(); ++i) {
    const double error = std::abs(result.base[i].value - along(base.base[i], standard));
    draw.held += error <= est::kNormalHalfWidth95 * result.base[i].standard_deviation ? 1 : 0;
    ++draw.intervals;
  }
  for (const est::ParameterEstimate& each : result.parameters) {
    const int index = truth.find_parameter(each.name);
    if (index < truth.index_of_hinge(0, est::HingeQuantity::kViscous)) continue;
    if (index >= truth.index(est::WorldQuantity::kGravity)) continue;  // centres of mass
    if (each.name.ends_with("shaft")) continue;                        // among the base
    draw.held += std::abs(each.value - est::parameter_at(truth, index).value) <= each.half_interval;
    ++draw.intervals;
  }
}

/// Of a link that turns about one axis alone no motion shows the moments about the others: these
/// can be chosen so that a body can exist wherever the one about the axis is above zero.
bool all_possible(const est::Mechanism& mechanism, const est::InertialBase& base) {
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const bool turns_about_z = std::ranges::count(base.unseen, 10 * body) > 0 &&
                               std::ranges::count(base.unseen, 10 * body + 1) > 0;
    est::Moments moments;
    for (int i = 0; i < 6; ++i) {
      moments[i] =
          est::parameter_at(mechanism, mechanism.index(body, est::BodyQuantity::kJxx) + i).value;
    }
    if (!(mechanism.parameter(body, est::BodyQuantity::kMass).value > 0.0)) return false;
    if (turns_about_z ? !(moments[2] > 0.0)
                      : !est::is_possible_inertia(est::inertia_matrix(moments))) {
      return false;
    }
  }
  return true;
}

/// Moments that no motion shows stay where they were and may not fit the others: the nearest that
/// do.
est::Mechanism with_possible_bodies(est::Mechanism mechanism) {
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const Eigen::Matrix3d possible =
        est::possible_inertia(mechanism.parameter(body, est::BodyQuantity::kMass).value,
                              est::inertia_matrix(est::moments_of(mechanism, body)));
    const est::Moments moments = est::moments_of(possible);
    for (int i = 0; i < 6; ++i) {
      const int index = mechanism.index(body, est::BodyQuantity::kJxx) + i;
      mechanism.parameters[static_cast<std::size_t>(index)].value = moments[i];
    }
  }
  return mechanism;
}

/// Friction of every joint follows from the first's, in the proportion that it has.
est::Mechanism with_tied_friction(est::Mechanism mechanism, const Arm& arm) {
  for (int j = 1; j < arm.size(); ++j) {
    const ArmLink& first = arm.links.front();
    const ArmLink& own = arm.links[static_cast<std::size_t>(j)];
    const auto tie = [&](est::HingeQuantity quantity, double ratio) {
      const int index = mechanism.index_of_hinge(j, quantity);
      mechanism.parameters[static_cast<std::size_t>(index)].free = false;
      mechanism.ties.push_back(
          {.parameter = index, .terms = {{mechanism.index_of_hinge(0, quantity), ratio}}});
    };
    tie(est::HingeQuantity::kViscous, own.viscous / first.viscous);
    tie(est::HingeQuantity::kCoulombTorque, own.coulomb / first.coulomb);
  }
  est::apply_ties(mechanism);
  return mechanism;
}

}  // namespace

ArmDraw run_arm_draw(const StudyArm& arm, double noise, std::uint64_t index,
                     const StopQuestion& is_stopped) {
  const auto [drawn, clean] = draw_run(arm, arm.links, arm.duration, index);
  const ArmRun run = recorded_draw(arm, clean, noise, index);
  const est::Mechanism truth = arm_mechanism(drawn.arm, drawn.bodies);
  const est::InertialBase base = est::find_inertial_base(truth);
  const VectorXd true_values = regression_values(drawn.arm);
  // Standard parameters of links lie about their joints in both; shafts follow them.
  const auto errors_of = [&](const VectorXd& values) {
    return relative_errors(base, values, true_values);
  };
  ArmDraw draw;
  draw.noise = noise;
  const std::clock_t start = std::clock();
  const est::Calibration result =
      calibrate_arm(arm_mechanism(drawn.start, drawn.start_bodies), run, noise, is_stopped);
  draw.seconds = processor_seconds(start);
  draw.iterations = result.iterations;
  draw.found = result.observation_rmse <= kFoundOver * noise + kFoundRmse;
  draw.errors = errors_of(values_of(result.mechanism));
  draw.possible = all_possible(result.mechanism, base);
  count_intervals(result, base, truth, draw);
  const auto middle = [&](const VectorXd& values) { return median_of(errors_of(values)); };
  draw.torque_errors = errors_of(tuned_regression(drawn.arm, run, middle, regress_torques).values);
  draw.energy_errors = errors_of(tuned_regression(drawn.arm, run, middle, regress_energy).values);
  if (index < static_cast<std::uint64_t>(arm.tied) && noise > 0.0 && draw.found) {
    const est::Calibration tied =
        calibrate_arm(with_tied_friction(with_possible_bodies(result.mechanism), drawn.arm), run,
                      noise, is_stopped);
    for (std::size_t i = 0; i < tied.base.size(); ++i) {
      draw.tied_ratios.push_back(tied.base[i].standard_deviation /
                                 result.base[i].standard_deviation);
    }
  }
  return draw;
}

ArmTime time_arm(const StudyArm& arm, int links, double duration, const StopQuestion& is_stopped) {
  const auto [drawn, clean] = draw_run(arm, links, duration, 0);
  const ArmRun run = recorded_draw(arm, clean, kTimedNoise, 0);
  const std::clock_t start = std::clock();
  const est::Calibration result =
      calibrate_arm(arm_mechanism(drawn.start, drawn.start_bodies), run, kTimedNoise, is_stopped);
  return {links, duration, processor_seconds(start), result.iterations};
}

}  // namespace service
