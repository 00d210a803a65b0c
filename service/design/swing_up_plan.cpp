#include "service/design/swing_up_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "estimator/simulation/statics/equilibrium.hpp"

namespace service {
namespace {

enum Gain { kEnergyGain, kCommand, kKick, kStopAngle, kKickTime, kGains };

constexpr double kHangs = 0.1;       // largest angle that counts as hanging at zero [rad]
constexpr double kLeastGain = 1e-3;  // smallest magnitude, relative to command_max
constexpr double kQuietest = 0.01;   // smallest limit of a plan's command, relative to command_max
constexpr double kKickMax_s = 1.0;
constexpr double kStopAngleMax = 0.5 * std::numbers::pi;  // stop angles end at the horizontal [rad]

bool has_own_encoder(const estimator::Mechanism& mechanism, int joint) {
  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(mechanism);
  return std::ranges::any_of(sensors, [&](const estimator::Encoder& sensor) {
    return sensor.terms.size() == 1 && sensor.terms.front().joint == joint;
  });
}

}  // namespace

std::optional<SwingUpRig> find_swing_up(const estimator::Mechanism& mechanism, int motor,
                                        double command_max) {
  const std::optional<estimator::Equilibrium> rest = estimator::find_stable_equilibrium(mechanism);
  if (!rest) return std::nullopt;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const estimator::Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    if (j == motor || joint.motorised || !joint.traits().turns) continue;
    if (!has_own_encoder(mechanism, j) || find_mimic_joint(mechanism, j) != nullptr) continue;
    const double hangs = std::remainder(rest->coordinates[j], 2.0 * std::numbers::pi);
    if (!(std::abs(hangs) < kHangs)) continue;
    const auto mode = std::ranges::max_element(rest->modes, {}, [&](const auto& each) {
      return is_neutral(each, rest->modes) ? 0.0 : std::abs(each.shape[j]);
    });
    if (mode == rest->modes.end() || is_neutral(*mode, rest->modes)) continue;
    return SwingUpRig{
        .pendulum = j,
        .name = joint.name,
        .natural_frequency_Hz = std::sqrt(mode->rate_squared) / (2.0 * std::numbers::pi),
        .command_max = command_max};
  }
  return std::nullopt;
}

daq::SwingUpSettings swing_up_gains(const SwingUpRig& rig, const Eigen::VectorXd& plan) {
  const double gain =
      std::copysign(std::max(std::abs(plan[kEnergyGain]), kLeastGain), plan[kEnergyGain]);
  return {.energy_gain = rig.command_max * gain,
          .command_max = rig.command_max * std::clamp(std::abs(plan[kCommand]), kQuietest, 1.0),
          .natural_frequency_Hz = rig.natural_frequency_Hz,
          .stop_angle_rad = std::clamp(plan[kStopAngle], 0.0, kStopAngleMax),
          .kick_command = rig.command_max * std::clamp(plan[kKick], -1.0, 1.0),
          .kick_time_s = std::clamp(plan[kKickTime], 0.0, kKickMax_s)};
}

estimator::FeedbackLaw swing_up_law(const SwingUpRig& rig, Eigen::Index samples) {
  return {.command =
              [rig](const Eigen::VectorXd& plan, double time, const Eigen::VectorXd& joints,
                    const Eigen::VectorXd& rates) {
                const double angle = joints[rig.pendulum], rate = rates[rig.pendulum];
                const daq::JointState seen = {angle, rate, std::isfinite(angle + rate)};
                return daq::SwingUp(swing_up_gains(rig, plan)).command({time, {&seen, 1}});
              },
          .draw =
              [](std::mt19937_64& random) {
                std::normal_distribution<double> normal;
                std::uniform_real_distribution<double> uniform;
                const auto sign = [&] { return uniform(random) < 0.5 ? -1.0 : 1.0; };
                Eigen::VectorXd plan(kGains);
                plan[kEnergyGain] = sign() * std::exp(normal(random));
                plan[kCommand] = std::pow(kQuietest, uniform(random));
                plan[kKick] = sign() * std::pow(kQuietest, uniform(random));
                plan[kStopAngle] = kStopAngleMax * uniform(random);
                plan[kKickTime] = kKickMax_s * uniform(random);
                return plan;
              },
          .samples = samples};
}

Eigen::VectorXd weakened_swing_up_plan(const SwingUpRig& rig, Eigen::VectorXd plan, double share) {
  const daq::SwingUpSettings gains = swing_up_gains(rig, plan);
  plan[kCommand] = share * gains.command_max / rig.command_max;
  plan[kKick] = share * gains.kick_command / rig.command_max;
  return plan;
}

}  // namespace service
