#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <vector>

#include "estimator/model/joint_stop.hpp"
#include "estimator/simulation/interval/interval_motion.hpp"
#include "estimator/simulation/interval/motion_lanes.hpp"

namespace estimator {

/// Speed x of a joint with smoothed Coulomb friction over one time step, in units of its transition
/// velocity. Friction is proportional to tanh x. x follows a parabola with given begin, end and
/// mean.
///
/// The variable u, with du/dx = e^{−0.4 |x|}, measures how far a step reaches. The error of a
/// fourth-order Runge–Kutta step grows with the fifth power of its length in x and with the fourth
/// derivative of tanh. This derivative decays as e^{−2 |x|}. Far from rest u is constant; its total
/// range is 5.
class FrictionArgumentCourse {
 public:
  FrictionArgumentCourse(double begin, double mean, double end);
  /// Constructs a linear course of the speed.
  FrictionArgumentCourse(double begin, double end)
      : FrictionArgumentCourse(begin, 0.5 * (begin + end), end) {}

  /// Returns the length of the step along u.
  double passed() const;
  /// Returns the time after which u has changed by `way` if x keeps its initial slope, ≥ 0, as a
  /// fraction of the step.
  double fraction_from_begin(double way) const;
  /// Returns the time in which the next step changes u by `way` if x keeps its final slope, as a
  /// fraction of this step.
  double fraction_from_end(double way) const;

  double begin() const { return begin_; }
  double end() const { return end_; }

 private:
  double begin_, end_;
  double rise_, bend_;  // begin + rise s + bend s² at the fraction s of the step
};

/// Rate below which a joint in a loop is at rest [rad/s].
inline constexpr double kRestRate = 1e-11;

/// Limits on the length of integration segments.
struct SegmentLimits {
  int checkpoint_span = 0;  ///< number of substeps between checkpoints
  double near_rest = 0.0;   ///< longest segment while a joint with smoothed friction is at rest [s]
};

/// Integrators and facts that all lanes of a run share.
struct IntervalTools {
  static constexpr int kSingle = 4;
  struct SmoothedFrictionJoint {
    int joint;
    double speed;  ///< transition velocity [rad/s]
  };

  /// @param values  mechanism whose parameter values are used
  IntervalTools(const TreeProgram& equations, const Mechanism& values, const SegmentLimits& segment,
                int width);

  const TreeProgram& program;
  SegmentLimits limits;
  std::vector<SmoothedFrictionJoint> smoothed_joints;
  std::vector<JointStop> stops;
  std::unique_ptr<MotionLanes> lanes;
  std::unique_ptr<MotionLanes> single;       ///< the same state in all its lanes
  std::vector<std::vector<double>> torques;  ///< holding torques of joints, at the segments' ends
};

/// One lane of IntervalMotion: integrates an interval segment by segment, and handles the events at
/// which the contacts of its joints change.
class IntervalLane {
 public:
  IntervalLane(IntervalTools& tools, int lane)
      : program_(tools.program),
        limits_(tools.limits),
        smoothed_joints_(tools.smoothed_joints),
        stops_(tools.stops),
        lanes_(*tools.lanes),
        single_(*tools.single),
        torques_(tools.torques),
        lane_(lane) {}

  bool is_busy() const { return interval_ != nullptr; }
  /// Returns whether any joint rests.
  bool holds_any() const { return std::ranges::any_of(contacts_, is_held); }
  void start(MotionInterval& interval, Eigen::MatrixXd& angles);
  /// Lets a lane without an interval repeat a step of zero length.
  void idle() { lanes_.length()[lane_] = 0.0; }
  /// Computes the remaining holding torque at the end of the step, for a mechanism with loops.
  void find_spare_torque() { spare_ = spare_torque(lanes_, lane_); }
  /// Accepts the end of the segment after a step, or shortens the segment.
  void advance();

 private:
  static constexpr int kSingle = IntervalTools::kSingle;
  using Margins = std::array<double, kSingle>;

  /// Two times within a segment between which a contact margin changes sign, and the margins there.
  struct Bracket {
    double low, high;
    double at_low, at_high;
    double width() const { return high - low; }
    double root() const { return low + at_low / (at_low - at_high) * width(); }
  };

  /// A contact change: its time, its joint, and the end stop at which the contact changes; null for
  /// dry friction.
  struct Ending {
    double time = std::numeric_limits<double>::infinity();
    int joint = -1;  // −1: none
    const JointStop* stop = nullptr;
  };

  // Segments.
  void load();
  void begin_segment(double time);
  void enter_substep();
  void record_jumps();
  void keep_checkpoint();
  void read_samples();
  void record_instants();
  bool is_cut() const { return end_ < interval_->controls->end(substep_); }
  double full_segment() const;

  // Events.
  bool find_event();
  void handle_event(double time, int joint);
  void handle_contact_event(const Ending& event, double time);
  double locate(int joint, const JointStop* stop, double time, double left);
  void leave_rest(int joint, const JointStop* stop, Bracket& bracket);
  void probe(int joint, const JointStop* stop, const Margins& times, Bracket& bracket);
  Margins margin(int joint, const JointStop* stop, bool at_end);

  // The narrow integrator.
  void fix_single(double time);
  JointVector<double> accelerate_single();
  double holding_torque_single(int joint) const;

  // Dry friction.
  void determine_initial_contacts();
  void determine_contact(int joint, double time);
  void determine_loop_contacts(int joint, double time, bool stops);
  void stop_joint(int joint);
  double spare_torque(const MotionLanes& lanes, int lane) const;

  // Smoothed Coulomb friction.
  FrictionArgumentCourse course(const IntervalTools::SmoothedFrictionJoint& each) const;
  double longest_at(double x) const;
  double longest_after() const;
  bool shorten_for_smoothed_friction();

  // End stops, supported only without loops.
  static Contact contact_at(const JointStop& stop) {
    return stop.side > 0.0 ? Contact::kAtLower : Contact::kAtUpper;
  }
  bool rests_at(const JointStop& stop) const { return contact(stop.joint) == contact_at(stop); }
  void determine_initial_stop_contacts();
  void find_stop_event(Ending& first);
  double find_dip(const JointStop& stop, double& left);
  Margins stop_margin(const JointStop& stop, bool at_end);
  void handle_stop_event(double time, const JointStop& stop, bool moves);
  void impact_joint(double time, const JointStop& stop, MotionImpact& impact);
  void leave_impact(const JointStop& stop, double restitution, const Eigen::MatrixXd& mass,
                    MotionImpact& impact);
  void settle_rest(double time);

  double& state(int row) { return lanes_.state(row)[lane_]; }
  Contact& contact(int joint) { return contacts_[joint]; }
  Contact contact(int joint) const { return contacts_[joint]; }

  const TreeProgram& program_;
  const SegmentLimits& limits_;
  const std::vector<IntervalTools::SmoothedFrictionJoint>& smoothed_joints_;
  const std::vector<JointStop>& stops_;
  MotionLanes& lanes_;
  MotionLanes& single_;
  const std::vector<std::vector<double>>& torques_;
  int lane_;

  MotionInterval* interval_ = nullptr;  // null: the lane is idle
  Eigen::MatrixXd* angles_ = nullptr;
  int substep_ = 0, sample_ = 0, look_ = 0, event_count_ = 0;
  double begin_ = 0.0, end_ = 0.0;  // times of the segment
  Ending event_;                    // the event at the segment's end
  bool holds_ = false;              // after too many contact changes: joints that stop stay at rest
  double longest_ = std::numeric_limits<double>::infinity();  // longest allowed next segment [s]
  double spare_ = 0.0;  // with loops: remaining holding torque
  Contacts contacts_;
};

}  // namespace estimator
