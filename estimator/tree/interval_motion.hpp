#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "estimator/dynamics/impact.hpp"
#include "estimator/model/sensor.hpp"
#include "estimator/tree/contact.hpp"
#include "estimator/tree/held_controls.hpp"
#include "estimator/tree/sensing_program.hpp"
#include "estimator/tree/tree_program.hpp"

namespace estimator {

/// Rebounds from an end stop that would last for less are not followed: the joint comes to rest at
/// it. At 100 rad/s² such a one rises by 0.13 µrad, and no encoder is read as often [s].
inline constexpr double kFlightMin = 1e-4;

/// Intervals, or their legs, that are integrated side by side at most.
inline constexpr std::size_t kSideBySide = 16;

/// A joint has come to one of its end stops: it rebounds, comes to rest, or is put there where an
/// interval starts beyond.
struct MotionImpact {
  int stop = 0;                       ///< of the mechanism's (joint_stops)
  bool rebounds = false;              ///< with its restitution; false: it stays at the stop
  double speed = 0.0;                 ///< at which it arrives [rad/s]; 0: at a given instant
  JointVector<double> position = {};  ///< coordinates
  JointVector<double> rates = {};     ///< before
  JointVector<double> before = {}, after = {};   ///< accelerations
  std::vector<StruckJoint<double>> struck = {};  ///< whose stops push
};

/// An instant at which the accelerations change their law, or rates jump: a joint stops, reverses
/// or breaks loose, comes to an end stop or leaves it, or a control with a free delay jumps.
struct MotionEvent {
  double time = 0.0;       ///< from the segment's first sample [s]
  int stretch = 0;         ///< of the controls
  int joint = -1;          ///< whose contact changes; −1: a control jumps
  int motor = -1;          ///< whose control jumps
  Contacts contacts = {};  ///< of all joints afterwards
  /// Acceleration of the joint before it stops, whose zero of the rate sets the instant. Zero where
  /// it breaks loose: accelerations are continuous there, so it does not matter when.
  double approach = 0.0;
  JointVector<double> rates = {};  ///< of the coordinates, where a joint stops or strikes a stop
  JointVector<double> drop = {};   ///< accelerations of the coordinates before less after
  std::shared_ptr<const MotionImpact> impact = nullptr;  ///< null: rates do not jump
};

/// Contacts of one interval, found with the values and followed by the derivatives.
struct MotionLog {
  Contacts start;
  std::vector<MotionEvent> events;  ///< in order of time
  /// Instants at which steps end within a stretch, since a joint that creeps is near rest; in order
  /// of time, from the segment's first sample [s].
  std::vector<double> cuts;
  /// Stretches in which contacts change more often than is followed; joints that stop, or strike
  /// their end stops, then stay until the stretch ends.
  int unresolved = 0;
};

/// The motion at instants at which inertial sensors are read, each on the right side of whatever
/// jumps there.
struct LookLog {
  int first = 0;                 ///< of the looks
  Eigen::MatrixXd states = {};   ///< coordinates over rates × looks
  Eigen::MatrixXd guesses = {};  ///< with loops: of all joints × looks
  std::vector<int> stretches = {};
  std::vector<Contacts> contacts = {};
};

/// Where a long interval stands between two stretches, so that its derivatives can begin here.
struct MotionCheckpoint {
  int stretch = 0, sample = 0, look = 0;  ///< that come next
  std::size_t event = 0, cut = 0;         ///< that come next in the log
  Contacts contacts = {};
  Eigen::VectorXd state = {};  ///< coordinates over rates
  Eigen::VectorXd guess = {};  ///< with loops: of all joints
};

/// One interval to integrate: a range of stretches of the controls, and the samples within.
struct MotionInterval {
  const HeldControls* controls = nullptr;
  int first_stretch = 0, last_stretch = 0;  ///< [first, last)
  int first_sample = 0, last_sample = 0;    ///< [first, last)
  double period = 0.0;                      ///< of the samples [s]
  const double* times = nullptr;            ///< of the segment's samples [s]; null: every period
  const double* look_times = nullptr;       ///< of the segment, rising [s]
  int first_look = 0, last_look = 0;        ///< [first, last)
  Eigen::VectorXd start = {};               ///< coordinates over rates
  Eigen::VectorXd guess = {};               ///< with loops: of all joints at the start
  Eigen::VectorXd end = {};                 ///< as the start, where the interval ends: a result
  Eigen::VectorXd start_angles = {};        ///< with loops: of all joints at the start: a result
  MotionLog log = {};                       ///< a result of the values
  std::vector<MotionCheckpoint> checkpoints = {};  ///< a result of the values
  std::shared_ptr<LookLog> looks = nullptr;        ///< a result of the values; null without looks

  double time(int sample) const { return times != nullptr ? times[sample] : sample * period; }
  int stretch_count() const { return last_stretch - first_stretch; }
};

/// Integrates the equations of motion over many intervals side by side: Runge–Kutta steps of fourth
/// order, cut at the instants at which a joint stops, reverses or breaks loose, strikes an end stop
/// (strike) or leaves it. Between those instants the motion is smooth, so the order holds in spite
/// of dry friction and impacts. Every interval comes out the same whatever runs beside it; only its
/// checkpoints are closer where few do.
///
/// A joint rests at its stop, held by a push of which dry friction may be a part, until that push
/// would have to pull by more than friction can. It comes to rest there when a rebound would last
/// for less than kFlightMin; where an interval starts beyond a stop, the joint is put at it.
///
/// Friction that creeps is steep near rest and flat elsewhere: steps are short where a joint with
/// it is within a few creep speeds of rest (CreepCourse).
class IntervalMotion {
 public:
  /// @param values     parameters of the mechanism that the program was made from
  /// @param threads    that integrate; results do not depend on it
  /// @param near_rest  longest step where joints that creep are near rest [s]
  IntervalMotion(const TreeProgram& program, const Mechanism& values, int threads = 1,
                 double near_rest = std::numeric_limits<double>::infinity())
      : program_(program), values_(values), threads_(threads), near_rest_(near_rest) {}

  /// Integrates all intervals from their starts; fills their ends, logs and checkpoints.
  ///
  /// @param angles  of each interval: where to write joint angles, a sample a row, [rad]
  void run(std::span<MotionInterval> intervals, std::span<Eigen::MatrixXd> angles) const;

 private:
  const TreeProgram& program_;
  const Mechanism& values_;
  int threads_;
  double near_rest_;
};

/// Derivatives of intervals whose values IntervalMotion has found, along their start states and the
/// moving parameters. They pass through the instants at which accelerations jump exactly: such an
/// instant moves with the state, so that at a given time
///
///   δv⁺ = δv⁻ + (a⁻ − a⁺) δt,    δt = −δω/a⁻ where a joint stops (what is called saltation).
///
/// Where rates jump in an impact, ImpactSlopes has the same for them and for the coordinates.
///
/// Long intervals are taken leg by leg from their checkpoints, legs side by side, and the legs'
/// derivatives chained: to rounding, the same for checkpoints wherever they are.
class IntervalSlopes {
 public:
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// Of one interval.
  struct Result {
    std::vector<RowMajor> readings;  ///< of each sensor: samples × directions, offsets left out
    /// Of each inertial axis wanted: looks × (directions, SensingProgram::constants of the axis),
    /// where along a delay stands what the reading grows by in a unit of time, times −1.
    std::vector<RowMajor> inertial;
    RowMajor looks;  ///< of the state at looks, coordinates over rates of each × directions
    RowMajor end;    ///< coordinates over rates × directions
  };

  /// @param sensors  whose readings at the samples are wanted
  /// @param threads  that integrate; results do not depend on it
  /// @param sensing  what inertial sensors read at the looks (linearize_sensing); null: nothing
  IntervalSlopes(const TreeProgram& program, const Mechanism& values, std::vector<Sensor> sensors,
                 int threads = 1, const SensingProgram* sensing = nullptr)
      : program_(program),
        sensing_(sensing),
        values_(values),
        sensors_(std::move(sensors)),
        threads_(threads) {}

  void run(std::span<const MotionInterval> intervals, std::span<Result> results) const;

 private:
  const TreeProgram& program_;
  const SensingProgram* sensing_;
  const Mechanism& values_;
  std::vector<Sensor> sensors_;
  int threads_;
};

}  // namespace estimator
