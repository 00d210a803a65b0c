#include "service/simulation/plant.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "estimator/fit/loop_closed_states.hpp"
#include "estimator/fit/physical/joint_mobility.hpp"
#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/simulation/interval/inertial_sensing.hpp"
#include "estimator/simulation/interval/interval_motion.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"
#include "estimator/spook/spook_stepper.hpp"
#include "proto/text/input_error.hpp"
#include "service/messages/message_text.hpp"
#include "service/rig/rig_contacts.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr double kBegin = 0.0;  // start of a step [s]
constexpr double kWorn = 0.5;   // a condition below this share of good_ needs new coordinates
constexpr double kChangePoint = 1e-4;  // condition of the best coordinates there [m, rad per rad]

void refuse_divergence(const Eigen::VectorXd& angles, double time) {
  if (angles.allFinite()) return;
  throw proto::InputError(
      "the simulation diverges at {} s; use a smaller step (--step, in Python step)",
      format_number(time));
}

class SpookPlant final : public Plant {
 public:
  SpookPlant(const Rig& rig, const Scenario& scenario, double step)
      : Plant(scenario.initial_angles, scenario.initial_speeds),
        mechanism_(rig.mechanism),
        stepper_(rig.mechanism, step),
        state_(estimator::assemble_state(rig.mechanism, estimator::unpack_parameters(rig.mechanism),
                                         scenario.initial_angles, scenario.initial_speeds)) {
    unwrap(estimator::joint_angles(mechanism_, state_.poses));
  }

  void advance_step(const Eigen::VectorXd& control, double time) override {
    if (stepper_.step(state_, control) != estimator::StepOutcome::kOk) {
      throw proto::InputError(
          "the model cannot be stepped at {} s; "
          "use a smaller step (--step, in Python step), or a compliance above 0 for loops",
          format_number(time));
    }
    motion_.col(0) = angles_;
    motion_.col(1) = speeds_;
    unwrap(estimator::joint_angles(mechanism_, state_.poses));
    speeds_ = (angles_ - motion_.col(0)) / stepper_.step_size();
    motion_.col(2) = (speeds_ - motion_.col(1)) / stepper_.step_size();
    refuse_divergence(angles_, time);
  }

  Eigen::MatrixXd motion_at_step_start() const override { return motion_; }

 private:
  void unwrap(const Eigen::VectorXd& wrapped) {
    for (Eigen::Index j = 0; j < angles_.size(); ++j) {
      angles_[j] += estimator::wrap_angle_difference(wrapped[j] - angles_[j]);
    }
  }

  const estimator::Mechanism& mechanism_;
  estimator::SpookStepper stepper_;
  estimator::State state_;
  Eigen::Matrix<double, Eigen::Dynamic, 3> motion_ =
      Eigen::Matrix<double, Eigen::Dynamic, 3>::Zero(angles_.size(), 3);
};

/// Equations of motion of a mechanism for one choice of independent joint coordinates.
struct Course {
  /// @param near_rest  longest integration step while joints creep near rest [s]
  Course(const estimator::Mechanism& mechanism, estimator::CoordinateChoice chosen,
         double near_rest)
      : choice(std::move(chosen)),
        program(mechanism, choice),
        motion(program, mechanism, 1, near_rest) {}

  estimator::CoordinateChoice choice;
  estimator::TreeProgram program;
  estimator::IntervalIntegrator motion;
};

/// Simulated mechanism that integrates the equations of motion by Runge–Kutta steps. A step is
/// split where a joint stops, reverses or breaks loose. For a mechanism with loops, other
/// independent coordinates are chosen when the dependent coordinates become ill-conditioned.
class IntervalPlant final : public PhysicalPlant {
 public:
  IntervalPlant(const Rig& rig, const Eigen::VectorXd& angles, const Eigen::VectorXd& speeds,
                double step)
      : PhysicalPlant(angles, speeds),
        path_(rig.path),
        rig_(rig),
        mechanism_(rig.mechanism),
        closure_(mechanism_),
        joint_angles_(1) {
    close();
    choose_course();
    const estimator::TreeProgram& program = course_->program;
    segment_.angles = Eigen::MatrixXd::Zero(2, 1);
    segment_.controls.resize(2, static_cast<Eigen::Index>(program.motor_joints().size()));
    joint_angles_[0].resize(2, program.joint_count());
    interval_[0] = {.controls = &controls_,
                    .last_sample = 2,
                    .sample_instants = &kBegin,
                    .last_instant = 1,
                    .guess = angles_};
    IntervalPlant::set_step(step);
    begin_from_here();
  }

  void set_step(double step) override { segment_.period = interval_[0].period = step; }

  void set_motion(const Eigen::VectorXd& angles, const Eigen::VectorXd& speeds) override {
    angles_ = angles;
    speeds_ = speeds;
    close();
    if (closure_.has_loops()) choose_course();
    interval_[0].guess = angles_;
    begin_from_here();
  }

  void advance_step(const Eigen::VectorXd& control, double time) override {
    segment_.controls.rowwise() = control.transpose();
    segment_.recording_start = 0.0;
    segment_.start = time;
    if (!rig_.contacts.empty()) {
      segment_.contacts = contact_activity(rig_, time).replicate(2, 1);
    }
    controls_ = {segment_, {0.0, segment_.period}, undelayed_controls(course_->program)};
    interval_[0].last_substep = controls_.first(1);
    course_->motion.run(interval_, joint_angles_);
    begin_ = interval_[0];
    course_of_begin_ = course_;
    angles_ = joint_angles_[0].row(1).transpose();
    refuse_divergence(angles_, time);
    const auto& independent = course_->program.independent_joints();
    const auto n = static_cast<Eigen::Index>(independent.size());
    speeds_.setConstant(std::numeric_limits<double>::quiet_NaN());
    for (Eigen::Index i = 0; i < n; ++i) {
      speeds_[independent[static_cast<std::size_t>(i)]] = interval_[0].end[n + i];
    }
    if (closure_.has_loops()) speeds_ = closure_.rates(angles_, speeds_);
    interval_[0].start = interval_[0].end;
    interval_[0].guess = angles_;
    if (closure_.has_loops()) look_at_coordinates(time);
  }

  Eigen::MatrixXd motion_at_step_start() const override {
    const Eigen::MatrixXd at =
        estimator::motion_at_sample_instants(course_of_begin_->program, mechanism_, {&begin_, 1});
    return at.reshaped(angles_.size(), 3);
  }

 private:
  /// Closes the kinematic loops at the start. Joints with a nonzero initial speed determine the
  /// speeds of all other joints.
  void close() {
    if (!closure_.has_loops()) return;
    Eigen::MatrixXd states(2 * angles_.size(), 1);
    states << angles_, speeds_;
    estimator::close_loops(mechanism_, 1.0, "the start", states);
    angles_ = states.col(0).head(angles_.size());
    const auto is_given = [](double speed) { return speed != 0.0; };
    if (std::ranges::none_of(speeds_, is_given)) return;
    speeds_ = closure_.rates(angles_, speeds_.unaryExpr([&](double speed) {
      return is_given(speed) ? speed : std::numeric_limits<double>::quiet_NaN();
    }));
  }

  void choose_course() {
    estimator::CoordinateChoice choice = closure_.choose_coordinates({angles_});
    const auto key = std::pair(choice.independent, choice.rows);
    std::unique_ptr<Course>& course = courses_[key];
    if (!course) course = std::make_unique<Course>(mechanism_, std::move(choice), near_rest());
    course_ = course.get();
    if (closure_.has_loops())
      good_ = closure_.smallest_singular_value(angles_, course_->choice.dependent);
  }

  /// Returns the longest integration step that resolves creeping joints near rest [s].
  double near_rest() const {
    if (!estimator::has_steep_friction(mechanism_)) return std::numeric_limits<double>::infinity();
    Eigen::VectorXd state(2 * angles_.size());
    state << angles_, speeds_;
    try {
      return estimator::compute_friction_step_limits(mechanism_, {state}).near_rest;
    } catch (const std::invalid_argument& too_steep) {
      throw proto::InputError(path_ + ": " + too_steep.what());
    }
  }

  void look_at_coordinates(double time) {
    const estimator::CoordinateChoice& present = course_->choice;
    if (closure_.smallest_singular_value(angles_, present.dependent) > kWorn * good_) return;
    choose_course();
    if (!(good_ > kChangePoint)) {
      throw proto::InputError(
          "{}: at {} s of the scenario the loops pass a singular configuration (change point), "
          "from which the motion can continue in two ways. "
          "Start or drive the rig so that it avoids this configuration",
          path_, format_number(time));
    }
    begin_from_here();
  }

  void begin_from_here() {
    const auto& independent = course_->program.independent_joints();
    const auto n = static_cast<Eigen::Index>(independent.size());
    interval_[0].start.resize(2 * n);
    for (Eigen::Index i = 0; i < n; ++i) {
      interval_[0].start[i] = angles_[independent[static_cast<std::size_t>(i)]];
      interval_[0].start[n + i] = speeds_[independent[static_cast<std::size_t>(i)]];
    }
  }

  std::string path_;  // of the rig file
  const Rig& rig_;
  const estimator::Mechanism& mechanism_;
  estimator::LoopClosure closure_;
  std::map<std::pair<std::vector<int>, std::vector<int>>, std::unique_ptr<Course>> courses_;
  Course* course_ = nullptr;
  Course* course_of_begin_ = nullptr;
  double good_ = 0.0;  // condition of the coordinates when they were chosen
  estimator::Segment segment_;
  estimator::SegmentControls controls_;
  std::array<estimator::MotionInterval, 1> interval_;
  estimator::MotionInterval begin_;  // interval of the last step
  std::vector<Eigen::MatrixXd> joint_angles_;
};

}  // namespace

Plant::Plant(const Eigen::VectorXd& angles, const Eigen::VectorXd& speeds)
    : angles_(angles), speeds_(speeds) {}

Integrator choose_integrator(const estimator::Mechanism& mechanism, Integrator asked) {
  if (asked != Integrator::kAutomatic) return asked;
  try {
    estimator::require_spook_support(mechanism);
  } catch (const std::invalid_argument&) {
    return Integrator::kPhysical;
  }
  return Integrator::kSpook;
}

std::unique_ptr<PhysicalPlant> make_physical_plant(const Rig& rig, const Eigen::VectorXd& angles,
                                                   const Eigen::VectorXd& speeds, double step) {
  return std::make_unique<IntervalPlant>(rig, angles, speeds, step);
}

std::unique_ptr<Plant> make_plant(const Rig& rig, const Scenario& scenario, double step,
                                  Integrator integrator) {
  if (choose_integrator(rig.mechanism, integrator) == Integrator::kPhysical) {
    return make_physical_plant(rig, scenario.initial_angles, scenario.initial_speeds, step);
  }
  estimator::require_spook_support(rig.mechanism);
  return std::make_unique<SpookPlant>(rig, scenario, step);
}

std::vector<std::string> find_inertia_notes(const Rig& rig) {
  std::vector<std::string> notes;
  for (const estimator::Message& error : estimator::find_mechanism_errors(rig.mechanism)) {
    if (error.code != estimator::MessageCode::kTriangleInequality) {
      throw proto::InputError(rig.path + ": cannot be simulated: " + format_error(error));
    }
    notes.push_back(format_error(error));
  }
  return notes;
}

}  // namespace service
