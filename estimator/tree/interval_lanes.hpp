#pragma once

#include <array>
#include <span>
#include <vector>

#include "estimator/tree/interval_motion.hpp"
#include "estimator/tree/motion_lanes.hpp"

namespace estimator {

/// Below this a joint of a loop is at rest [rad/s].
inline constexpr double kRestRate = 1e-11;

/// The engine of IntervalMotion: kWidth intervals at a time, each lane going on to the next
/// interval as soon as it has finished one.
template <int kWidth>
class IntervalLanes {
 public:
  /// @param values  parameters of the mechanism that the program was made from
  IntervalLanes(const TreeProgram& program, const Mechanism& values);

  void run(std::span<MotionInterval> intervals, std::span<Eigen::MatrixXd> angles);

 private:
  static constexpr int kSingle = 4;
  struct Slot {
    MotionInterval* interval = nullptr;  // none: the lane idles
    Eigen::MatrixXd* angles = nullptr;
    int stretch = 0, sample = 0, look = 0, event_count = 0;
    double begin = 0.0, end = 0.0;  // of the piece
    int event_joint = -1;           // whose contact ends with the piece; −1: none
    bool holds = false;             // contacts changed too often: joints that stop stay
    Contacts contacts;
  };

  /// Times within a piece between which a margin vanishes, and the margins there.
  struct Bracket {
    double low, high;
    double at_low, at_high;
    double width() const { return high - low; }
    double root() const { return low + at_low / (at_low - at_high) * width(); }
  };

  void start(int lane, MotionInterval& interval, Eigen::MatrixXd& angles);
  void idle(int lane);
  void keep_checkpoint(int lane);
  void load(int lane);
  void advance(int lane);
  bool find_event(int lane);
  void meet_event(int lane, double time, int joint);
  void enter_stretch(int lane);
  void read_samples(int lane);
  void take_looks(int lane);

  double* state(int lane, int row) { return lanes_.state(row) + lane; }
  void hold_single(int lane, double time);
  JointVector<double> accelerate_single();
  template <int W>
  double spare_torque(const MotionLanes<W>& lanes, int lane, const Contacts& contacts) const;
  void find_torques();
  void stop_joint(int lane, int joint);
  void settle_loops(int lane, int joint, double time, bool stops);
  double holding_torque_single(int joint) const;
  std::array<double, kSingle> margin(const Slot& slot, int joint, bool at_end);
  double locate(int lane, int joint, double at_end);
  void leave_rest(int lane, int joint, Bracket& bracket);
  void probe(int lane, int joint, const std::array<double, kSingle>& times, Bracket& bracket);
  void settle_joint(int lane, int joint, double time);
  void settle_start(int lane);

  const TreeProgram& program_;
  MotionLanes<kWidth> lanes_;
  MotionLanes<kSingle> single_;  // one state in all its lanes
  std::vector<Slot> slots_;
  std::vector<std::vector<double>> torques_;  // that hold joints at the ends of the pieces
  std::vector<double> spare_;                 // with loops: torque left to hold a lane's joints
};

extern template class IntervalLanes<4>;
extern template class IntervalLanes<16>;

}  // namespace estimator
