#include "tests/studies/arm/arm_simulation.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace service {
namespace {

using Eigen::VectorXd;

constexpr int kSines = 6;            // per joint
constexpr double kStiffness = 60.0;  // of joint control, relative to the moved inertia [1/s²]
constexpr double kDamping = 6.0;     // [1/s]
constexpr int kBisections = 40;      // to locate a friction change
constexpr int kEventsMax = 50;       // per step
constexpr double kInstant = 1e-12;   // [s]

/// Simulated arm under zero-order-hold controls. The sign of each joint's friction is −1, 0 (at
/// rest) or +1.
class MovingArm {
 public:
  explicit MovingArm(const Arm& arm)
      : arm_(arm),
        angle_(VectorXd::Zero(arm.size())),
        rate_(VectorXd::Zero(arm.size())),
        friction_sign_(VectorXd::Zero(arm.size())) {}

  const VectorXd& angle() const { return angle_; }
  const VectorXd& rate() const { return rate_; }

  void hold(const VectorXd& control) {
    torque_.resize(control.size());
    for (Eigen::Index j = 0; j < control.size(); ++j) torque_[j] = link(j).gain * control[j];
    choose_friction_signs();
  }

  /// Advances the simulation by a step h [s], which is split when friction changes.
  void advance(double h) {
    for (int event = 0; event < kEventsMax && h > kInstant; ++event) {
      const State end = stepped(h);
      if (!changes(end)) {
        take(end);
        return;
      }
      double before = 0.0, after = h;
      for (int i = 0; i < kBisections && after - before > kInstant; ++i) {
        const double middle = 0.5 * (before + after);
        (changes(stepped(middle)) ? after : before) = middle;
      }
      const State at = stepped(after);
      for (Eigen::Index j = 0; j < friction_sign_.size(); ++j) {
        if (friction_sign_[j] != 0.0 && at.rate[j] * friction_sign_[j] < 0.0)
          friction_sign_[j] = 0.0;
      }
      take(at);
      h -= after;
      choose_friction_signs();
    }
  }

 private:
  struct State {
    VectorXd angle, rate;
  };

  const ArmLink& link(Eigen::Index j) const { return arm_.links[static_cast<std::size_t>(j)]; }

  /// Returns the joint accelerations, which are zero for resting joints. The other result is the
  /// friction needed to keep these joints at rest.
  VectorXd accelerations(const State& state, VectorXd* covering_intervals = nullptr) const {
    const ArmState own = arm_state(arm_, state.angle, state.rate);
    VectorXd force = torque_ - own.bias;
    Eigen::MatrixXd mass = own.mass;
    for (Eigen::Index j = 0; j < force.size(); ++j) {
      force[j] -= link(j).viscous * state.rate[j] + link(j).coulomb * friction_sign_[j];
    }
    VectorXd right = force;
    for (Eigen::Index j = 0; j < force.size(); ++j) {
      if (friction_sign_[j] != 0.0) continue;
      mass.row(j).setZero();
      mass.col(j).setZero();
      mass(j, j) = 1.0;
      right[j] = 0.0;
    }
    const VectorXd acceleration = mass.llt().solve(right);
    if (covering_intervals != nullptr) *covering_intervals = force - own.mass * acceleration;
    return acceleration;
  }

  State stepped(double h) const {
    const State now{angle_, rate_};
    const auto from = [&](const VectorXd& rate, const VectorXd& acceleration, double time) {
      return State{angle_ + time * rate, rate_ + time * acceleration};
    };
    const VectorXd a1 = accelerations(now);
    const State s2 = from(rate_, a1, 0.5 * h);
    const VectorXd a2 = accelerations(s2);
    const State s3 = from(s2.rate, a2, 0.5 * h);
    const VectorXd a3 = accelerations(s3);
    const State s4 = from(s3.rate, a3, h);
    const VectorXd a4 = accelerations(s4);
    return from((rate_ + 2.0 * s2.rate + 2.0 * s3.rate + s4.rate) / 6.0,
                (a1 + 2.0 * a2 + 2.0 * a3 + a4) / 6.0, h);
  }

  /// Returns whether a moving joint has reversed, or the torque on a resting joint exceeds its dry
  /// friction.
  bool changes(const State& state) const {
    VectorXd covering_intervals;
    accelerations(state, &covering_intervals);
    for (Eigen::Index j = 0; j < friction_sign_.size(); ++j) {
      if (friction_sign_[j] != 0.0
              ? state.rate[j] * friction_sign_[j] < 0.0
              : std::abs(covering_intervals[j]) > link(j).coulomb * (1.0 + 1e-9)) {
        return true;
      }
    }
    return false;
  }

  /// Sets each joint's friction sign. Releases the resting joint with the largest torque relative
  /// to its dry friction, and repeats this until friction can keep all other joints at rest.
  void choose_friction_signs() {
    for (Eigen::Index j = 0; j < friction_sign_.size(); ++j) {
      friction_sign_[j] = rate_[j] > 0.0 ? 1.0 : rate_[j] < 0.0 ? -1.0 : 0.0;
    }
    for (Eigen::Index round = 0; round < friction_sign_.size(); ++round) {
      VectorXd covering_intervals;
      accelerations({angle_, rate_}, &covering_intervals);
      Eigen::Index hardest = -1;
      double most = 1.0;
      for (Eigen::Index j = 0; j < friction_sign_.size(); ++j) {
        const double share = std::abs(covering_intervals[j]) / std::max(link(j).coulomb, 1e-12);
        if (friction_sign_[j] != 0.0 || share <= most) continue;
        most = share;
        hardest = j;
      }
      if (hardest < 0) return;
      friction_sign_[hardest] = covering_intervals[hardest] > 0.0 ? 1.0 : -1.0;
    }
  }

  void take(const State& state) {
    angle_ = state.angle;
    for (Eigen::Index j = 0; j < rate_.size(); ++j) {
      rate_[j] = friction_sign_[j] == 0.0 ? 0.0 : state.rate[j];
    }
  }

  const Arm& arm_;
  VectorXd angle_, rate_, friction_sign_, torque_;
};

/// Reference motion of a joint.
struct Path {
  std::vector<double> amplitude, frequency, phase;  // [rad, rad/s, rad]

  /// Returns angle and rate of the reference motion at a time [s].
  Eigen::Vector2d at(double time) const {
    Eigen::Vector2d value = Eigen::Vector2d::Zero();
    for (std::size_t i = 0; i < amplitude.size(); ++i) {
      const double turn = frequency[i] * time + phase[i];
      value += amplitude[i] * Eigen::Vector2d(std::sin(turn), frequency[i] * std::cos(turn));
    }
    return value;
  }
};

Path draw_path(const ArmExcitation& excitation, std::mt19937_64& random) {
  std::uniform_real_distribution<double> even(0.0, 1.0);
  Path path;
  for (int i = 0; i < kSines; ++i) {
    const double share = (i + even(random)) / kSines;
    path.amplitude.push_back(excitation.amplitude * std::sqrt(2.0 / kSines));
    path.frequency.push_back(2.0 * std::numbers::pi * excitation.slowest *
                             std::pow(excitation.fastest / excitation.slowest, share));
    path.phase.push_back(2.0 * std::numbers::pi * even(random));
  }
  return path;
}

}  // namespace

ArmRun simulate_arm(const Arm& arm, const ArmExcitation& excitation, double step) {
  std::mt19937_64 random(excitation.seed);
  std::normal_distribution<double> normal;
  std::vector<Path> paths;
  for (int j = 0; j < arm.size(); ++j) paths.push_back(draw_path(excitation, random));
  const auto count =
      static_cast<Eigen::Index>(std::lround(excitation.duration / excitation.period));
  const int pieces = static_cast<int>(std::ceil(excitation.period / step - 1e-9));
  ArmRun run{excitation.period, Eigen::MatrixXd(count, arm.size()),
             Eigen::MatrixXd(count, arm.size()), Eigen::MatrixXd(count, arm.size())};
  MovingArm moving(arm);
  const VectorXd zero = VectorXd::Zero(arm.size());
  for (Eigen::Index k = 0; k < count; ++k) {
    const ArmState own = arm_state(arm, moving.angle(), zero);
    VectorXd control(arm.size());
    for (int j = 0; j < arm.size(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      const Eigen::Vector2d wanted = paths[at].at(static_cast<double>(k) * excitation.period) -
                                     Eigen::Vector2d(moving.angle()[j], moving.rate()[j]);
      const double pull = own.mass(j, j) * (kStiffness * wanted[0] + kDamping * wanted[1]);
      const double size = own.mass(j, j) * kStiffness * excitation.amplitude;
      control[j] =
          (own.bias[j] + pull + excitation.dither * size * normal(random)) / arm.links[at].gain;
    }
    run.angles.row(k) = moving.angle().transpose();
    run.rates.row(k) = moving.rate().transpose();
    run.controls.row(k) = control.transpose();
    moving.hold(control);
    for (int i = 0; i < pieces; ++i) moving.advance(excitation.period / pieces);
  }
  return run;
}

}  // namespace service
