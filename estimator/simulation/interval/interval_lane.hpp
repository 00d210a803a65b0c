#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <vector>

#include "estimator/model/joint_stop.hpp"
#include "estimator/simulation/interval/interval_motion.hpp"
#include "estimator/simulation/interval/motion_lanes.hpp"
#include "estimator/simulation/loops/ground_contact_points.hpp"

namespace estimator {

/// Speed x of a joint with smoothed Coulomb friction during an integration step, in units of its
/// transition velocity. Friction is proportional to tanh x. x follows a parabola with given begin,
/// end and mean.
///
/// The variable u, with du/dx = e^{−0.4 |x|}, measures how far a step reaches. The error of a
/// fourth-order Runge–Kutta step grows with the fifth power of its length in x and with the fourth
/// derivative of tanh. This derivative decays as e^{−2 |x|}. Far from rest u is constant; its total
/// range is 5.
class ScaledSpeedParabola {
 public:
  ScaledSpeedParabola(double begin, double mean, double end);
  /// Constructs a linear course of the speed.
  ScaledSpeedParabola(double begin, double end)
      : ScaledSpeedParabola(begin, 0.5 * (begin + end), end) {}

  /// Returns the distance that the variable u covers during the step.
  double transformed_length() const;
  /// Returns the time after which u has changed by `way` if x keeps its initial slope, ≥ 0, as a
  /// fraction of the step.
  double step_fraction_at_initial_slope(double way) const;
  /// Returns the time in which the next step changes u by `way` if x keeps its final slope, as a
  /// fraction of this step.
  double step_fraction_at_final_slope(double way) const;

  double begin() const { return begin_; }
  double end() const { return end_; }

 private:
  double begin_, end_;
  double rise_, bend_;  // begin + rise s + bend s² at the fraction s of the step
};

/// Rate below which a joint in a loop is at rest [rad/s].
inline constexpr double kRestRate = 1e-11;

/// Limits on the length of integration segments.
struct IntegrationSegmentLimits {
  int checkpoint_span = 0;  ///< number of substeps between checkpoints
  double near_rest = 0.0;   ///< longest segment while a joint with smoothed friction is at rest [s]
};

/// Integrators and constants that all SIMD lanes of an integration use together.
struct SharedLaneData {
  static constexpr int kSingle = 4;
  struct SmoothedFrictionJoint {
    int joint;
    double speed;  ///< transition velocity [rad/s]
  };

  /// @param values  mechanism whose parameter values are used
  SharedLaneData(const TreeProgram& equations, const Mechanism& values,
                 const IntegrationSegmentLimits& segment, int width);

  const TreeProgram& program;
  IntegrationSegmentLimits limits;
  std::vector<SmoothedFrictionJoint> smoothed_joints;
  std::vector<JointStop> stops;
  std::unique_ptr<SimdMotionIntegrator> lanes;
  std::unique_ptr<SimdMotionIntegrator> single;  ///< the same state in all its lanes
  std::unique_ptr<GroundContactPoints> ground;   ///< null without contacts with the ground
  std::vector<std::vector<double>> torques;  ///< holding torques of joints, at the segments' ends
};

/// Integrates one interval segment by segment, in one of the SIMD lanes of IntervalIntegrator. The
/// integrator handles the events at which the contacts of joints change.
class SegmentIntegrator {
 public:
  SegmentIntegrator(SharedLaneData& tools, int lane)
      : program_(tools.program),
        limits_(tools.limits),
        smoothed_joints_(tools.smoothed_joints),
        stops_(tools.stops),
        lanes_(*tools.lanes),
        single_(*tools.single),
        ground_(tools.ground.get()),
        torques_(tools.torques),
        lane_(lane) {}

  bool has_interval() const { return interval_ != nullptr; }
  /// Returns whether any joint rests.
  bool has_resting_joint() const { return std::ranges::any_of(contacts_, is_at_rest); }
  void start(MotionInterval& interval, Eigen::MatrixXd& angles);
  /// Sets the step length to zero in a lane that has no interval.
  void idle() { lanes_.substep_length()[lane_] = 0.0; }
  /// After an integration step, accepts the end of the segment or shortens the segment.
  void accept_or_shorten_segment();

 private:
  static constexpr int kSingle = SharedLaneData::kSingle;
  /// Two times within a segment between which the margin of a contact changes sign, and the margins
  /// there. A margin is the speed, distance or force that is left until the contact changes.
  struct RootBracket {
    double low, high;
    double at_low, at_high;
    /// The last time that was an end of the bracket, and the margin there.
    double past = 0.0, at_past = std::numeric_limits<double>::quiet_NaN();

    void narrow(double time, double margin);
    double estimate_root() const;
  };

  /// A contact change: its time since the begin of the segment, its joint, and the end stop at
  /// which the contact changes. The end stop is null for dry friction.
  struct ContactChange {
    double time = std::numeric_limits<double>::infinity();
    int joint = -1;  // −1: none
    const JointStop* stop = nullptr;
    RootBracket bracket = {};
  };

  // Segments.
  void load();
  void begin_segment(double time);
  void begin_substep();
  void apply_touch_down();
  void record_control_jumps();
  void store_checkpoint();
  void interpolate_samples();
  void record_sample_instants();
  bool is_segment_shortened() const { return end_ < interval_->controls->end(substep_); }
  double full_segment_end() const;

  // Events.
  bool find_contact_change(double latest = std::numeric_limits<double>::infinity());
  bool refine_contact_change();
  ContactChange find_first_contact_change() const;
  void handle_friction_event(double time, int joint);
  void handle_contact_event(const ContactChange& event, double time);
  ContactChange bracket_contact_change(int joint, const JointStop* stop, double time,
                                       double left) const;
  void bracket_return_to_contact(int joint, const JointStop* stop, RootBracket& bracket) const;
  double margin_at_begin(int joint, const JointStop* stop) const;
  double margin_at_end(int joint, const JointStop* stop) const;
  double holding_margin(const SimdMotionIntegrator& lanes, int lane, int joint,
                        const JointStop* stop, double torque) const;

  // The narrow integrator.
  void load_narrow_integrator(double time) const;
  JointVector<double> narrow_accelerations() const;
  double narrow_holding_torque(int joint) const;

  // Dry friction.
  void determine_initial_contacts();
  void determine_contact(int joint, double time);
  void determine_loop_contacts(int joint, double time, bool stops);
  void set_joint_rate_to_zero(int joint);
  double spare_holding_torque(const SimdMotionIntegrator& lanes, int lane) const;

  // Smoothed Coulomb friction.
  ScaledSpeedParabola scaled_speed(const SharedLaneData::SmoothedFrictionJoint& each) const;
  double longest_stable_segment(double x) const;
  double longest_next_segment() const;
  bool shorten_for_smoothed_friction();

  // End stops, supported only without loops.
  static Contact contact_at_stop(const JointStop& stop) {
    return stop.side > 0.0 ? Contact::kAtLower : Contact::kAtUpper;
  }
  bool is_resting_at_stop(const JointStop& stop) const {
    return contact_state(stop.joint) == contact_at_stop(stop);
  }
  void determine_initial_stop_contacts();
  void find_stop_event(ContactChange& first) const;
  double find_reversal_at_stop(const JointStop& stop, double& left) const;
  void handle_stop_event(double time, const JointStop& stop, bool moves);
  void apply_stop_impact(double time, const JointStop& stop, EndStopImpact& impact);
  void apply_impact_rates(const JointStop& stop, double restitution, const Eigen::MatrixXd& mass,
                          EndStopImpact& impact);
  void update_resting_contacts(double time);

  double& state(int row) const { return lanes_.state(row)[lane_]; }
  Contact& contact_state(int joint) { return contacts_[joint]; }
  Contact contact_state(int joint) const { return contacts_[joint]; }

  const TreeProgram& program_;
  const IntegrationSegmentLimits& limits_;
  const std::vector<SharedLaneData::SmoothedFrictionJoint>& smoothed_joints_;
  const std::vector<JointStop>& stops_;
  SimdMotionIntegrator& lanes_;
  SimdMotionIntegrator& single_;
  GroundContactPoints* ground_;
  const std::vector<std::vector<double>>& torques_;
  int lane_;

  MotionInterval* interval_ = nullptr;  // null: the lane is idle
  Eigen::MatrixXd* angles_ = nullptr;
  int substep_ = 0, sample_ = 0, look_ = 0, event_count_ = 0;
  double begin_ = 0.0, end_ = 0.0;  // times of the segment
  ContactChange event_;             // the event at the segment's end
  int refinements_ = 0;             // number of times that the time of the event was refined
  bool holds_ = false;              // after too many contact changes: joints that stop stay at rest
  double longest_ = std::numeric_limits<double>::infinity();  // longest allowed next segment [s]
  Contacts contacts_;
};

}  // namespace estimator
