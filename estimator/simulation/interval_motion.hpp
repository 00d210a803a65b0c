#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "estimator/dynamics/impact.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/simulation/contact.hpp"
#include "estimator/simulation/segment_controls.hpp"
#include "estimator/simulation/sensing_program.hpp"
#include "estimator/simulation/tree_program.hpp"

namespace estimator {

/// Shortest rebound from an end stop that is simulated; after a shorter one the joint rests at the
/// stop. At 100 rad/s² it rises by 0.13 µrad, and no encoder is sampled as fast [s].
inline constexpr double kFlightMin = 1e-4;

/// Largest number of intervals, or checkpoint spans, integrated side by side.
inline constexpr std::size_t kSideBySide = 16;

/// An impact of a joint at an end stop. The joint rebounds, or comes to rest there. It is moved to
/// the stop if an interval starts beyond it.
struct MotionImpact {
  int stop = 0;                       ///< index among the mechanism's stops (joint_stops)
  bool rebounds = false;              ///< with its restitution; false: it stays at the stop
  double speed = 0.0;                 ///< impact speed [rad/s]; 0: at a fixed instant
  JointVector<double> position = {};  ///< coordinates
  JointVector<double> rates = {};     ///< before the impact
  JointVector<double> before = {}, after = {};     ///< accelerations
  std::vector<ImpactedJoint<double>> struck = {};  ///< joints at whose stops an impulse acts
};

/// An instant at which accelerations or rates jump: a joint stops, reverses or breaks loose,
/// reaches or leaves an end stop, or a control with a free delay jumps.
struct MotionEvent {
  double time = 0.0;       ///< from the segment's first sample [s]
  int substep = 0;         ///< index of the substep of the controls
  int joint = -1;          ///< joint whose contact changes; −1: a control jumps
  int motor = -1;          ///< motor whose control jumps
  Contacts contacts = {};  ///< of all joints after the event
  /// Acceleration of a joint before it stops; the instant is the zero of its rate. Zero if the
  /// joint breaks loose: accelerations are continuous there, so its time has no effect.
  double acceleration_before = 0.0;
  JointVector<double> rates = {};  ///< of the coordinates, if a joint stops or reaches an end stop
  JointVector<double> drop = {};   ///< accelerations of the coordinates, before minus after
  std::shared_ptr<const MotionImpact> impact = nullptr;  ///< null: rates do not jump
};

/// Contacts of one interval: a result of the integration, reused for the derivatives.
struct MotionLog {
  Contacts start;
  std::vector<MotionEvent> events;  ///< in order of time
  /// Ends of steps within a substep that smoothed friction near rest requires, ascending, from the
  /// segment's first sample [s].
  std::vector<double> cuts;
  /// Number of substeps in which contacts change too often to be resolved. Joints that stop, or
  /// reach their end stops, then stay until the substep ends.
  int unresolved = 0;
};

/// Motion at the sample instants of inertial sensors, each on the correct side of any jump.
struct SampleInstantMotion {
  int first = 0;                 ///< of the sample instants
  Eigen::MatrixXd states = {};   ///< coordinates over rates × sample instants
  Eigen::MatrixXd guesses = {};  ///< with loops: of all joints × sample instants
  std::vector<int> substeps = {};
  std::vector<Contacts> contacts = {};
};

/// State of a long interval between two substeps, from which derivatives can be started.
struct MotionCheckpoint {
  int substep = 0, sample = 0, look = 0;  ///< next ones
  std::size_t event = 0, cut = 0;         ///< next ones in the log
  Contacts contacts = {};
  Eigen::VectorXd state = {};  ///< coordinates over rates
  Eigen::VectorXd guess = {};  ///< with loops: of all joints
};

/// One interval to integrate: a range of substeps of the controls, and its samples.
struct MotionInterval {
  const SegmentControls* controls = nullptr;
  int first_substep = 0, last_substep = 0;  ///< [first, last)
  int first_sample = 0, last_sample = 0;    ///< [first, last)
  double period = 0.0;                      ///< of the samples [s]
  const double* times = nullptr;            ///< of the segment's samples [s]; null: every period
  const double* sample_instants = nullptr;  ///< sample instants of inertial sensors [s]
  int first_instant = 0, last_instant = 0;  ///< [first, last)
  Eigen::VectorXd start = {};               ///< coordinates over rates
  Eigen::VectorXd guess = {};               ///< with loops: of all joints at the start
  Eigen::VectorXd end = {};                 ///< result: state at the end
  Eigen::VectorXd start_angles = {};        ///< result, with loops: initial joint angles
  MotionLog log = {};                       ///< result of IntervalMotion
  std::vector<MotionCheckpoint> checkpoints = {};           ///< result of IntervalMotion
  std::shared_ptr<SampleInstantMotion> instants = nullptr;  ///< result; null: no inertial sensors

  double time(int sample) const { return times != nullptr ? times[sample] : sample * period; }
  int substep_count() const { return last_substep - first_substep; }
};

/// Integrates the equations of motion over many intervals side by side, by fourth-order Runge–Kutta
/// steps. Steps end at the instants at which a joint stops, reverses, breaks loose, hits an end
/// stop (strike) or leaves it. The motion between them is smooth, so the order holds despite dry
/// friction and impacts. The result of an interval is independent of the intervals beside it,
/// except that few intervals have more closely spaced checkpoints.
///
/// A joint rests at its stop while stop and dry friction can hold it. It comes to rest there if a
/// rebound would last less than kFlightMin. A joint that starts beyond a stop is moved to it.
///
/// Smoothed Coulomb friction is steep near rest. Steps are short while a joint with it is within a
/// few transition velocities of rest (FrictionArgumentCourse).
class IntervalMotion {
 public:
  /// @param values     parameters of the mechanism of the program
  /// @param threads    number of threads; results do not depend on it
  /// @param near_rest  longest step while joints with smoothed friction are near rest [s]
  IntervalMotion(const TreeProgram& program, const Mechanism& values, int threads = 1,
                 double near_rest = std::numeric_limits<double>::infinity())
      : program_(program), values_(values), threads_(threads), near_rest_(near_rest) {}

  /// Integrates all intervals from their starts; fills their ends, logs and checkpoints.
  ///
  /// @param angles  result, one per interval: joint angles, one row per sample [rad]
  void run(std::span<MotionInterval> intervals, std::span<Eigen::MatrixXd> angles) const;

 private:
  const TreeProgram& program_;
  const Mechanism& values_;
  int threads_;
  double near_rest_;
};

/// Derivatives of intervals that IntervalMotion has integrated, with respect to their start states
/// and the moving parameters. They cross jumps of the accelerations exactly. The instant of a jump
/// depends on the state, so that at a fixed time
///
///   δv⁺ = δv⁻ + (a⁻ − a⁺) δt,    δt = −δω/a⁻ if a joint stops (saltation).
///
/// ImpactSensitivities handles impacts, at which rates jump.
///
/// Long intervals are divided into checkpoint spans, which are processed side by side and chained.
/// The positions of the checkpoints affect the result by round-off only.
class IntervalSensitivities {
 public:
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// Result of one interval.
  struct Result {
    std::vector<RowMajor> readings;  ///< of each sensor: samples × directions, without offsets
    /// Derivatives of the readings of each requested axis: sample instants × (directions,
    /// SensingProgram::constants of the axis). The column of a delay contains minus the time
    /// derivative of the reading.
    std::vector<RowMajor> inertial;
    RowMajor
        instants;  ///< state at the sample instants, coordinates over rates of each × directions
    RowMajor end;  ///< coordinates over rates × directions
  };

  /// @param sensors  encoders whose readings are needed at the samples
  /// @param threads  number of threads; results do not depend on it
  /// @param sensing  inertial readings at the sample instants (linearize_sensing); null: none
  IntervalSensitivities(const TreeProgram& program, const Mechanism& values,
                        std::vector<Encoder> sensors, int threads = 1,
                        const SensingProgram* sensing = nullptr)
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
  std::vector<Encoder> sensors_;
  int threads_;
};

}  // namespace estimator
