#include "tests/studies/arm/arm_judgement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimator/assessment/calibration.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "tests/studies/arm/arm_regressors.hpp"
#include "tests/studies/runs/study_task.hpp"

namespace service {
namespace {

namespace est = estimator;
using Eigen::VectorXd;

constexpr double kFoundOver = 1.2;   // upper limit of residuals over the noise
constexpr double kFoundRmse = 1e-5;  // [rad]; upper limit without noise

double off(double value, double truth) { return std::abs(value - truth) / std::abs(truth); }

/// Returns the relative errors of base parameters, followed by those of unknown friction and gains.
/// @param values  estimates in the order of regression_values
std::vector<double> relative_errors(const est::BaseInertialParameters& base, const VectorXd& values,
                                    const VectorXd& truth) {
  std::vector<double> errors;
  for (const est::BaseParameter& each : base.base) {
    errors.push_back(off(each.value(values), each.value(truth)));
  }
  const Eigen::Index inertias = std::ssize(base.standard);
  for (Eigen::Index i = inertias; i < truth.size(); ++i) errors.push_back(off(values[i], truth[i]));
  return errors;
}

/// Returns the parameter values of a mechanism in the order of regression_values.
VectorXd arm_values(const est::Mechanism& mechanism) {
  const int n = mechanism.joint_count();
  VectorXd values(regression_size(n));
  values.head(11 * n) = est::standard_parameter_values(mechanism);
  for (int j = 0; j < n; ++j) {
    const auto value = [&](est::JointParameter quantity) {
      return mechanism.joint_parameter(j, quantity).value;
    };
    values[11 * n + j] = value(est::JointParameter::kViscous);
    values[12 * n + j] = value(est::JointParameter::kCoulombTorque);
    if (j > 0) values[13 * n + j - 1] = value(est::JointParameter::kMotorGain);
  }
  return values;
}

/// Returns the median of values, where NaN counts as the largest value.
double compute_median(std::vector<double> values) {
  for (double& value : values) {
    if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
  }
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Returns whether all inertias are physically consistent. A link that turns about only one axis
/// has unidentifiable other moments of inertia. For these, consistent values exist if the moment
/// about that axis is positive.
bool all_consistent(const est::Mechanism& mechanism, const est::BaseInertialParameters& base) {
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const bool turns_about_z = std::ranges::count(base.without_effect, 10 * body) > 0 &&
                               std::ranges::count(base.without_effect, 10 * body + 1) > 0;
    est::Moments moments;
    for (int i = 0; i < 6; ++i) {
      moments[i] = mechanism.at(mechanism.index(body, est::BodyParameter::kJxx) + i).value;
    }
    if (!(mechanism.parameter(body, est::BodyParameter::kMass).value > 0.0)) return false;
    if (turns_about_z ? !(moments[2] > 0.0)
                      : !est::is_physically_consistent(est::inertia_matrix(moments))) {
      return false;
    }
  }
  return true;
}

/// Returns the root mean square error of the readings of all joints [rad].
double rmse_of(const StudyArm& arm, const StudyRun& run) {
  return std::sqrt(run.observation_error / arm.links);
}

}  // namespace

ArmTruth::ArmTruth(const RandomArm& drawn)
    : mechanism_(arm_mechanism(drawn.arm, drawn.bodies)),
      base_(est::find_base_inertial_parameters(mechanism_)),
      values_(regression_values(drawn.arm)) {}

std::vector<double> ArmTruth::errors(const VectorXd& values) const {
  return relative_errors(base_, values, values_);
}

double ArmTruth::median_error(const VectorXd& values) const {
  return compute_median(errors(values));
}

void ArmTruth::count_intervals(const StudyRun& run, ArmResult& draw) const {
  const VectorXd standard = est::standard_parameter_values(mechanism_);
  const auto count = [&](const RunParameter& estimate, double truth) {
    const double error = std::abs(estimate.value - truth);
    draw.covering_intervals +=
        error <= est::kNormalHalfWidth95 * estimate.standard_deviation ? 1 : 0;
    ++draw.intervals;
  };
  for (std::size_t i = 0; i < run.base.size(); ++i) {
    count(run.base[i], base_.base[i].value(standard));
  }
  for (const RunParameter& each : run.parameters) {
    const int index = mechanism_.find_parameter(each.name);
    if (index < mechanism_.joint_parameter_index(0, est::JointParameter::kViscous)) continue;
    if (index >= mechanism_.index(est::GravityParameter::kGravity)) continue;  // centres of mass
    if (each.name.ends_with("shaft")) continue;  // among the base parameters
    count(each, mechanism_.at(index).value);
  }
}

ArmResult evaluate_arm(const StudyArm& arm, double noise, std::uint64_t index, const StudyRun& fit,
                       const StudyRun& regressions, const StudyRun* tied) {
  const RandomArm drawn = make_study_arm(arm, index);
  const ArmTruth truth(drawn);
  const est::Mechanism reached =
      with_estimates(arm_mechanism(drawn.start, drawn.start_bodies, noise), fit);
  ArmResult draw;
  draw.noise = noise;
  draw.fits_noise = fit.error.empty() && rmse_of(arm, fit) <= kFoundOver * noise + kFoundRmse;
  // Both define links' standard parameters about the joints; rotors follow them.
  draw.errors = truth.errors(arm_values(reached));
  draw.has_consistent_inertias = all_consistent(reached, truth.base());
  truth.count_intervals(fit, draw);
  draw.seconds = fit.wall_time;
  draw.iterations = fit.iterations;
  const Eigen::Index size = regression_size(arm.links);
  VectorXd values(2 * size);
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    values[i] = regressions.parameters[static_cast<std::size_t>(i)].value;
  }
  draw.torque_errors = truth.errors(values.head(size));
  draw.energy_errors = truth.errors(values.tail(size));
  if (tied == nullptr || !draw.fits_noise) return draw;
  for (std::size_t i = 0; i < tied->base.size(); ++i) {
    draw.tied_ratios.push_back(tied->base[i].standard_deviation / fit.base[i].standard_deviation);
  }
  return draw;
}

}  // namespace service
