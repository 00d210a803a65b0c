#include "service/simulation/plant.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "estimator/calibrate/closed_states.hpp"
#include "estimator/dynamics/spook_stepper.hpp"
#include "estimator/model/kinematics.hpp"
#include "estimator/model/model_values.hpp"
#include "estimator/tree/inertial_sensing.hpp"
#include "estimator/tree/interval_motion.hpp"
#include "proto/text/input_error.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr double kBegin = 0.0;  // of a step [s]

void refuse_divergence(const Eigen::VectorXd& angles, double time) {
  if (angles.allFinite()) return;
  throw proto::InputError("the simulation diverges at " + format_number(time) +
                          " s; use a smaller --step");
}

class SpookPlant final : public Plant {
 public:
  SpookPlant(const Rig& rig, const Scenario& scenario, double step)
      : Plant(scenario),
        mechanism_(rig.mechanism),
        stepper_(rig.mechanism, step),
        state_(estimator::assemble_state(rig.mechanism, estimator::unpack(rig.mechanism),
                                         scenario.initial_angles, scenario.initial_speeds)) {
    unwrap(estimator::hinge_angles(mechanism_, state_.poses));
  }

  void advance(const Eigen::VectorXd& control, double time) override {
    if (stepper_.step(state_, control) != estimator::StepOutcome::kOk) {
      throw proto::InputError("the model cannot be stepped at " + format_number(time) +
                              " s; use a smaller --step, or a compliance above 0 for loops");
    }
    motion_.col(0) = angles_;
    motion_.col(1) = speeds_;
    unwrap(estimator::hinge_angles(mechanism_, state_.poses));
    speeds_ = (angles_ - motion_.col(0)) / stepper_.step_size();
    motion_.col(2) = (speeds_ - motion_.col(1)) / stepper_.step_size();
    refuse_divergence(angles_, time);
  }

  Eigen::MatrixXd motion() const override { return motion_; }

 private:
  void unwrap(const Eigen::VectorXd& wrapped) {
    for (Eigen::Index j = 0; j < angles_.size(); ++j) {
      angles_[j] += std::remainder(wrapped[j] - angles_[j], 2.0 * std::numbers::pi);
    }
  }

  const estimator::Mechanism& mechanism_;
  estimator::SpookStepper stepper_;
  estimator::State state_;
  Eigen::Matrix<double, Eigen::Dynamic, 3> motion_ =
      Eigen::Matrix<double, Eigen::Dynamic, 3>::Zero(angles_.size(), 3);
};

/// Runge–Kutta steps of the equations of motion, cut where joints stop, reverse or break loose.
class PhysicalPlant final : public Plant {
 public:
  PhysicalPlant(const Rig& rig, const Scenario& scenario, double step)
      : Plant(scenario),
        mechanism_(rig.mechanism),
        close_(close()),
        program_(mechanism_, estimator::choose_coordinates(mechanism_, {close_})),
        motion_(program_, mechanism_),
        joint_angles_(1) {
    segment_.period = step;
    segment_.angles = Eigen::MatrixXd::Zero(2, 1);
    segment_.controls.resize(2, static_cast<Eigen::Index>(program_.motors().size()));
    joint_angles_[0].resize(2, program_.joint_count());
    interval_[0] = {.controls = &controls_,
                    .last_sample = 2,
                    .period = step,
                    .look_times = &kBegin,
                    .last_look = 1,
                    .guess = angles_};
    const auto& independent = program_.independent();
    const auto n = static_cast<Eigen::Index>(independent.size());
    interval_[0].start.resize(2 * n);
    for (Eigen::Index i = 0; i < n; ++i) {
      interval_[0].start[i] = angles_[independent[static_cast<std::size_t>(i)]];
      interval_[0].start[n + i] = speeds_[independent[static_cast<std::size_t>(i)]];
    }
  }

  void advance(const Eigen::VectorXd& control, double time) override {
    segment_.controls.rowwise() = control.transpose();
    controls_ = {segment_,
                 {0.0, segment_.period},
                 std::vector<estimator::ControlDelay>(program_.motors().size())};
    interval_[0].last_stretch = controls_.first(1);
    motion_.run(interval_, joint_angles_);
    begin_ = interval_[0];
    const Eigen::VectorXd before = angles_;
    angles_ = joint_angles_[0].row(1).transpose();
    speeds_ = (angles_ - before) / segment_.period;
    const auto n = static_cast<Eigen::Index>(program_.independent().size());
    for (Eigen::Index i = 0; i < n; ++i) {
      speeds_[program_.independent()[static_cast<std::size_t>(i)]] = interval_[0].end[n + i];
    }
    refuse_divergence(angles_, time);
    interval_[0].start = interval_[0].end;
    interval_[0].guess = angles_;
  }

  Eigen::MatrixXd motion() const override {
    const Eigen::MatrixXd at = estimator::motion_at_looks(program_, mechanism_, {&begin_, 1});
    return at.reshaped(angles_.size(), 3);
  }

 private:
  /// The state at the start, with loops closed: a column as of a calibration's states.
  Eigen::MatrixXd close() {
    Eigen::MatrixXd states(2 * angles_.size(), 1);
    states << angles_, speeds_;
    estimator::close_loops(mechanism_, 1.0, "the start", states);
    angles_ = states.col(0).head(angles_.size());
    return states;
  }

  const estimator::Mechanism& mechanism_;
  Eigen::MatrixXd close_;
  estimator::TreeProgram program_;
  estimator::IntervalMotion motion_;
  estimator::Segment segment_;
  estimator::HeldControls controls_;
  std::array<estimator::MotionInterval, 1> interval_;
  estimator::MotionInterval begin_;  // of the step taken last
  std::vector<Eigen::MatrixXd> joint_angles_;
};

}  // namespace

Plant::Plant(const Scenario& scenario)
    : angles_(scenario.initial_angles),
      speeds_(scenario.initial_speeds),
      joints_(static_cast<std::size_t>(angles_.size())) {}

std::span<const daq::JointState> Plant::joints() {
  for (Eigen::Index j = 0; j < angles_.size(); ++j) {
    joints_[static_cast<std::size_t>(j)] = {angles_[j], speeds_[j], true};
  }
  return joints_;
}

Integrator choose_integrator(const estimator::Mechanism& mechanism, Integrator asked) {
  if (asked != Integrator::kAutomatic) return asked;
  try {
    estimator::require_hinges(mechanism);
  } catch (const std::invalid_argument&) {
    return Integrator::kPhysical;
  }
  return Integrator::kSpook;
}

std::unique_ptr<Plant> make_plant(const Rig& rig, const Scenario& scenario, double step,
                                  Integrator integrator) {
  if (choose_integrator(rig.mechanism, integrator) == Integrator::kPhysical) {
    return std::make_unique<PhysicalPlant>(rig, scenario, step);
  }
  estimator::require_hinges(rig.mechanism);
  return std::make_unique<SpookPlant>(rig, scenario, step);
}

}  // namespace service
