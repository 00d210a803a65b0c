#pragma once

#include <Eigen/Core>
#include <array>
#include <span>
#include <vector>

#include "estimator/tree/contact.hpp"
#include "estimator/tree/held_controls.hpp"
#include "estimator/tree/motion_lanes.hpp"

namespace estimator {

/// An instant at which the accelerations change their law: a joint stops, reverses or breaks loose,
/// or a control with a free delay jumps.
struct MotionEvent {
  double time = 0.0;       ///< from the segment's first sample [s]
  int stretch = 0;         ///< of the controls
  int joint = -1;          ///< whose contact changes; −1: a control jumps
  int motor = -1;          ///< whose control jumps
  Contacts contacts = {};  ///< of all joints afterwards
  /// Acceleration of the joint before it stops, whose zero of the rate sets the instant. Zero where
  /// it breaks loose: accelerations are continuous there, so it does not matter when.
  double approach = 0.0;
  JointVector<double> rates = {};  ///< of the coordinates, where a joint stops
  JointVector<double> drop = {};   ///< accelerations of the coordinates before less after
};

/// Contacts of one interval, found with the values and followed by the derivatives.
struct MotionLog {
  Contacts start;
  std::vector<MotionEvent> events;  ///< in order of time
  /// Stretches in which contacts change more often than is followed; joints that stop then stay
  /// until the stretch ends.
  int unresolved = 0;
};

/// One interval to integrate: a range of stretches of the controls, and the samples within.
struct MotionInterval {
  const HeldControls* controls = nullptr;
  int first_stretch = 0, last_stretch = 0;  ///< [first, last)
  int first_sample = 0, last_sample = 0;    ///< [first, last)
  double period = 0.0;                      ///< of the samples [s]
  Eigen::VectorXd start = {};               ///< coordinates over rates
  Eigen::VectorXd guess = {};               ///< with loops: of all joints at the start
  Eigen::VectorXd end = {};                 ///< as the start, where the interval ends: a result
  Eigen::VectorXd start_angles = {};        ///< with loops: of all joints at the start: a result
  MotionLog log = {};                       ///< a result of the values
};

/// The place of a sample between the ends of a smooth piece, by cubic Hermite interpolation.
struct HermiteWeights {
  double angle_begin, angle_end;  ///< [-]
  double rate_begin, rate_end;    ///< [s]
};

/// Below this a joint of a loop is at rest [rad/s].
inline constexpr double kRestRate = 1e-11;

/// Integrates the equations of motion over many intervals side by side: Runge–Kutta steps of fourth
/// order, cut at the instants at which a joint stops, reverses or breaks loose. Between those
/// instants the motion is smooth, so the order holds in spite of dry friction. Every interval comes
/// out the same whatever runs beside it.
class IntervalMotion {
 public:
  /// @param values  parameters of the mechanism that the program was made from
  IntervalMotion(const TreeProgram& program, const Mechanism& values);

  /// Integrates all intervals from their starts; fills their ends and logs.
  ///
  /// @param angles  of each interval: where to write joint angles, a sample a row, [rad]
  void run(std::span<MotionInterval> intervals, std::span<Eigen::MatrixXd> angles);

 private:
  static constexpr int kWidth = 16;
  static constexpr int kSingle = 4;
  struct Slot {
    MotionInterval* interval = nullptr;  // none: the lane idles
    Eigen::MatrixXd* angles = nullptr;
    int stretch = 0, sample = 0, event_count = 0;
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
  void load(int lane);
  void advance(int lane);
  bool find_event(int lane);
  void meet_event(int lane, double time, int joint);
  void enter_stretch(int lane);
  void read_samples(int lane);

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

/// Derivatives of intervals whose values IntervalMotion has found, along their start states and the
/// moving parameters. They pass through the instants at which accelerations jump exactly: such an
/// instant moves with the state, so that at a given time
///
///   δv⁺ = δv⁻ + (a⁻ − a⁺) δt,    δt = −δω/a⁻ where a joint stops (what is called saltation).
class IntervalSlopes {
 public:
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// Of one interval.
  struct Result {
    std::vector<RowMajor> readings;  ///< of each joint read: samples × directions
    RowMajor end;                    ///< coordinates over rates × directions
  };

  /// @param joints  whose angles at the samples are wanted
  IntervalSlopes(const TreeProgram& program, const Mechanism& values, std::vector<int> joints);

  int direction_count() const { return lanes_.direction_count(); }

  void run(std::span<const MotionInterval> intervals, std::span<Result> results);

 private:
  static constexpr int kWidth = 16;
  struct Slot {
    const MotionInterval* interval = nullptr;
    Result* result = nullptr;
    int stretch = 0, sample = 0;
    std::size_t event = 0;
    double begin = 0.0, end = 0.0;
    Contacts contacts;
  };

  void start(int lane, const MotionInterval& interval, Result& result);
  void load(int lane);
  void go_on(int lane);
  void pass(int lane, const MotionEvent& event);
  double rate_slope(int lane, int joint, int direction);
  void read_samples(int lane);

  const TreeProgram& program_;
  MotionLanes<kWidth> lanes_;
  std::vector<int> joints_;
  std::vector<Slot> slots_;
};

}  // namespace estimator
