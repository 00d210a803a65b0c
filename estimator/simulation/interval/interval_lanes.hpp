#pragma once

#include <array>
#include <limits>
#include <span>
#include <vector>

#include "estimator/model/joint_stop.hpp"
#include "estimator/simulation/interval/friction_argument_course.hpp"
#include "estimator/simulation/interval/interval_motion.hpp"
#include "estimator/simulation/interval/motion_lanes.hpp"

namespace estimator {

/// Rate below which a joint in a loop is at rest [rad/s].
inline constexpr double kRestRate = 1e-11;

/// Limits on the length of integration segments.
struct SegmentLimits {
  int checkpoint_span = 0;  ///< number of substeps between checkpoints
  double near_rest = 0.0;   ///< longest segment while a joint with smoothed friction is at rest [s]
};

/// The integrator of IntervalMotion. It integrates kWidth intervals at a time. A lane starts the
/// next interval as soon as it has finished its current one.
template <int kWidth>
class IntervalLanes {
 public:
  /// @param values  mechanism whose parameter values are used
  IntervalLanes(const TreeProgram& program, const Mechanism& values, const SegmentLimits& limits);

  void run(std::span<MotionInterval> intervals, std::span<Eigen::MatrixXd> angles);

 private:
  static constexpr int kSingle = 4;
  struct Lane {
    MotionInterval* interval = nullptr;  // null: the lane is idle
    Eigen::MatrixXd* angles = nullptr;
    int substep = 0, sample = 0, look = 0, event_count = 0;
    double begin = 0.0, end = 0.0;  // times of the segment
    int event_joint = -1;           // joint whose contact changes at the segment's end; −1: none
    int event_stop = -1;            // end stop at which this contact changes; −1: dry friction
    bool holds = false;             // after too many contact changes: joints that stop stay at rest
    double longest = std::numeric_limits<double>::infinity();  // longest allowed next segment [s]
    Contacts contacts;
  };

  /// Two times within a segment between which a contact margin changes sign, and the margins there.
  struct Bracket {
    double low, high;
    double at_low, at_high;
    double width() const { return high - low; }
    double root() const { return low + at_low / (at_low - at_high) * width(); }
  };

  /// The first contact change within a segment: its time from the segment's begin and its joint.
  struct Ending {
    double time = std::numeric_limits<double>::infinity();
    int joint = -1, stop = -1;  // as in Lane
  };

  void start(int lane, MotionInterval& interval, Eigen::MatrixXd& angles);
  void idle(int lane);
  void keep_checkpoint(int lane);
  void load(int lane);
  void advance(int lane);
  bool find_event(int lane);
  void handle_event(int lane, double time, int joint);
  void handle_contact_event(int lane, double time, int joint, int stop);
  void begin_segment(int lane, double time);
  void enter_substep(int lane);
  void read_samples(int lane);
  void record_instants(int lane);

  double* state(int lane, int row) { return lanes_.state(row) + lane; }
  void fix_single(int lane, double time);
  JointVector<double> accelerate_single();
  template <int W>
  double spare_torque(const MotionLanes<W>& lanes, int lane, const Contacts& contacts) const;
  void find_torques();
  void stop_joint(int lane, int joint);
  void determine_loop_contacts(int lane, int joint, double time, bool stops);
  double holding_torque_single(int joint) const;
  std::array<double, kSingle> margin(const Lane& slot, int joint, int stop, bool at_end);
  double locate(int lane, int joint, int stop, double time, double left);
  void leave_rest(int lane, int joint, int stop, Bracket& bracket);
  void probe(int lane, int joint, int stop, const std::array<double, kSingle>& times,
             Bracket& bracket);
  void determine_contact(int lane, int joint, double time);
  void determine_initial_contacts(int lane);

  // Joints with smoothed Coulomb friction.
  struct SmoothedFrictionJoint {
    int joint;
    double speed;  // transition velocity [rad/s]
  };
  bool is_cut(const Lane& slot) const {
    return slot.end < slot.interval->controls->end(slot.substep);
  }
  FrictionArgumentCourse course(const SmoothedFrictionJoint& each, int lane) const;
  double longest_at(double x) const;
  double longest_after(int lane) const;
  double full_segment(const Lane& slot) const;
  bool shorten_for_smoothed_friction(int lane);

  // Joints with end stops, supported only without loops.
  static Contact contact_at(const JointStop& stop) {
    return stop.side > 0.0 ? Contact::kAtLower : Contact::kAtUpper;
  }
  bool rests_at(const Lane& slot, int stop) const {
    const JointStop& at = stops_[static_cast<std::size_t>(stop)];
    return slot.contacts[static_cast<std::size_t>(at.joint)] == contact_at(at);
  }
  void determine_initial_stop_contacts(int lane);
  void find_stop_event(int lane, Ending& first);
  double find_dip(int lane, int stop, double& left);
  std::array<double, kSingle> stop_margin(const Lane& slot, int stop, bool at_end);
  void handle_stop_event(int lane, double time, int stop, bool moves);
  void impact_joint(int lane, double time, int stop, MotionImpact& impact);
  void leave_impact(int lane, int stop, double restitution, const Eigen::MatrixXd& mass,
                    MotionImpact& impact);
  void settle_rest(int lane, double time);

  const TreeProgram& program_;
  SegmentLimits limits_;
  std::vector<SmoothedFrictionJoint> smoothed_joints_;
  std::vector<JointStop> stops_;
  MotionLanes<kWidth> lanes_;
  MotionLanes<kSingle> single_;  // the same state in all its lanes
  std::vector<Lane> lane_states_;
  std::vector<std::vector<double>> torques_;  // holding torques of joints, at the segments' ends
  std::vector<double> spare_;                 // with loops: remaining holding torque
};

extern template class IntervalLanes<4>;
extern template class IntervalLanes<8>;
extern template class IntervalLanes<16>;

}  // namespace estimator
