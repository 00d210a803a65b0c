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

/// Shortest simulated rebound from an end stop [s]. After a shorter rebound the joint rests at the
/// stop. At 100 rad/s², a joint rises by 0.13 µrad in this time.
inline constexpr double kFlightMin = 1e-4;

/// Largest number of intervals, or of spans between checkpoints, that are integrated in parallel
/// SIMD lanes.
inline constexpr std::size_t kSideBySide = 16;

/// An impact of a joint at an end stop. The joint rebounds or comes to rest at the stop. A joint
/// that starts an interval beyond a stop is moved to the stop.
struct EndStopImpact {
  int stop = 0;           ///< index among the mechanism's stops (joint_end_stops)
  bool rebounds = false;  ///< whether the joint rebounds; false: it stays at the stop
  double speed = 0.0;     ///< impact speed [rad/s]; 0 if the time of the impact is fixed
  JointVector<double> position = {};               ///< coordinates at the impact
  JointVector<double> rates = {};                  ///< rates before the impact
  JointVector<double> before = {}, after = {};     ///< accelerations before and after
  std::vector<ImpactedJoint<double>> struck = {};  ///< joints at whose stops an impulse acts
};

/// An instant at which accelerations or rates jump: a joint stops, reverses, breaks loose, or
/// reaches or leaves an end stop, or a control with an estimated delay jumps.
struct MotionEvent {
  double time = 0.0;       ///< from the first sample of the recording segment [s]
  int substep = 0;         ///< index of the substep of the controls
  int joint = -1;          ///< joint whose contact changes; −1 if a control jumps
  int motor = -1;          ///< motor whose control jumps
  Contacts contacts = {};  ///< contacts of all joints after the event
  /// Acceleration of the joint just before it stops, at the zero of its rate. It is zero if the
  /// joint breaks loose: accelerations are then continuous, and the event's time has no effect.
  double acceleration_before = 0.0;
  JointVector<double> rates = {};  ///< of the coordinates, if a joint stops or reaches an end stop
  JointVector<double> drop =
      {};  ///< acceleration before minus acceleration after, of each coordinate
  std::shared_ptr<const EndStopImpact> impact = nullptr;  ///< null if rates do not jump
};

/// Contact states of one interval, recorded by the integration and reused for the derivatives.
struct ContactLog {
  Contacts start;
  std::vector<MotionEvent> events;  ///< in order of time
  /// Times at which integration steps also end within substeps, as smoothed friction near rest
  /// requires. Ascending, from the segment's first sample [s].
  std::vector<double> cuts;
  /// Number of substeps in which contacts change too often to be resolved. Joints that stop, or
  /// reach end stops, stay there until such a substep ends.
  int unresolved = 0;
};

/// Motion at the sample instants of inertial sensors. If the motion jumps at an instant, the values
/// are from the side of the jump to which the sample belongs.
struct SampleInstantMotion {
  int first = 0;                ///< index of the first sample instant
  Eigen::MatrixXd states = {};  ///< coordinates, then rates; one column per sample instant
  Eigen::MatrixXd guesses =
      {};  ///< with loops: angles of all joints, one column per sample instant
  std::vector<int> substeps = {};
  std::vector<Contacts> contacts = {};
};

/// A stored state within a long interval, between two substeps, from which the computation of
/// derivatives can start.
struct MotionCheckpoint {
  int substep = 0, sample = 0, look = 0;  ///< indices of the next ones
  std::size_t event = 0, cut = 0;         ///< indices of the next event and the next cut in the log
  Contacts contacts = {};
  Eigen::VectorXd state = {};  ///< coordinates, then rates
  Eigen::VectorXd guess = {};  ///< with loops: angles of all joints
};

/// One interval to integrate: consecutive substeps with linear controls, and the samples within
/// these substeps.
struct MotionInterval {
  const SegmentControls* controls = nullptr;
  int first_substep = 0, last_substep = 0;  ///< [first, last)
  int first_sample = 0, last_sample = 0;    ///< [first, last)
  double period = 0.0;                      ///< sampling period [s]
  const double* times = nullptr;  ///< times of the samples [s]; null if they are equidistant
  const double* sample_instants = nullptr;  ///< sample instants of inertial sensors [s]
  int first_instant = 0, last_instant = 0;  ///< [first, last)
  Eigen::VectorXd start = {};               ///< coordinates, then rates
  Eigen::VectorXd guess = {};               ///< with loops: angles of all joints at the start
  Eigen::VectorXd end = {};                 ///< result: coordinates, then rates at the end
  Eigen::VectorXd start_angles = {};        ///< result, with loops: initial joint angles
  ContactLog log = {};                      ///< result of IntervalIntegrator
  std::vector<MotionCheckpoint> checkpoints = {};  ///< result of IntervalIntegrator
  std::shared_ptr<SampleInstantMotion> instants =
      nullptr;  ///< result; null without inertial sensors

  double time(int sample) const { return times != nullptr ? times[sample] : sample * period; }
  int substep_count() const { return last_substep - first_substep; }
};

struct SharedLaneData;

/// Integrates batches of at most kSideBySide intervals in parallel SIMD lanes, on one thread. The
/// construction of a BatchIntegrator takes as long as a few integration steps, so one object should
/// integrate many short intervals. `program` must outlive it.
class BatchIntegrator {
 public:
  /// @param near_rest  longest step while a joint with smoothed friction is at rest [s]
  /// @param count      largest number of intervals in a batch
  BatchIntegrator(const TreeProgram& program, const Mechanism& values, double near_rest,
                  std::size_t count);
  BatchIntegrator(BatchIntegrator&&) noexcept;
  ~BatchIntegrator();

  /// Integrates a batch like IntervalIntegrator.
  /// @param checkpoint_span  number of substeps between checkpoints
  void run(int checkpoint_span, std::span<MotionInterval> intervals,
           std::span<Eigen::MatrixXd> angles);

 private:
  std::unique_ptr<SharedLaneData> tools_;
};

/// Integrates the equations of motion over many intervals in parallel SIMD lanes, by fourth-order
/// Runge–Kutta steps. Steps end at the instants at which a joint stops, reverses or breaks loose,
/// or hits or leaves an end stop. The motion between these instants is smooth, so the integration
/// is of fourth order despite dry friction and impacts. The result of an interval does not depend
/// on other intervals, except that checkpoints are closer together if there are few intervals.
///
/// A joint rests at its end stop while the stop and dry friction can hold it. It comes to rest at
/// the stop if a rebound would last less than kFlightMin. A joint that starts beyond a stop is
/// moved to it.
///
/// Smoothed Coulomb friction is steep near rest. Steps are short while such a joint moves slower
/// than a few transition velocities (ScaledSpeedParabola).
class IntervalIntegrator {
 public:
  /// @param values     mechanism whose parameter values are used
  /// @param threads    number of threads; results do not depend on it
  /// @param near_rest  longest step while joints with smoothed friction are near rest [s]
  IntervalIntegrator(const TreeProgram& program, const Mechanism& values, int threads = 1,
                     double near_rest = std::numeric_limits<double>::infinity())
      : program_(program), values_(values), threads_(threads), near_rest_(near_rest) {}

  /// Integrates all intervals from their start states, and sets their end states, logs and
  /// checkpoints.
  ///
  /// @param angles  result, one per interval: joint angles, one row per sample [rad]
  void run(std::span<MotionInterval> intervals, std::span<Eigen::MatrixXd> angles) const;

 private:
  const TreeProgram& program_;
  const Mechanism& values_;
  int threads_;
  double near_rest_;
};

/// Computes the derivatives of intervals that IntervalIntegrator has integrated, with respect to
/// their start states and the motion parameters. Derivatives across jumps of the acceleration a are
/// exact. The time t of a jump depends on the state. Rates v and a joint's rate ω therefore change
/// at a fixed time by
///
///   δv⁺ = δv⁻ + (a⁻ − a⁺) δt,    δt = −δω/a⁻ if a joint stops (saltation matrix).
///
/// ImpactSensitivities handles impacts, at which rates jump.
///
/// Long intervals are divided into checkpoint spans, which are processed side by side and then
/// combined by the chain rule. The checkpoint positions affect the result by round-off only.
class IntervalSensitivities {
 public:
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// The derivatives of one interval.
  struct IntervalDerivatives {
    std::vector<RowMajor> readings;  ///< per encoder: samples × directions
    /// Derivatives of the readings of each requested sensor axis: one row per sample instant.
    /// Columns are the state and the motion parameters, then the parameters of the sensor
    /// (SensingProgram::sensor_parameters). The column of a delay contains minus the time
    /// derivative of the reading.
    std::vector<RowMajor> inertial;
    RowMajor
        instants;  ///< state at the sample instants, coordinates over rates of each × directions
    RowMajor end;  ///< state at the end × directions
  };

  /// @param sensors  encoders whose readings at the samples are needed
  /// @param threads  number of threads; results do not depend on it
  /// @param sensing  program for inertial readings (differentiate_sensor_readings); null if there
  /// are none
  IntervalSensitivities(const TreeProgram& program, const Mechanism& values,
                        std::vector<Encoder> sensors, int threads = 1,
                        const SensingProgram* sensing = nullptr)
      : program_(program),
        sensing_(sensing),
        values_(values),
        sensors_(std::move(sensors)),
        threads_(threads) {}

  void run(std::span<const MotionInterval> intervals, std::span<IntervalDerivatives> results) const;

 private:
  const TreeProgram& program_;
  const SensingProgram* sensing_;
  const Mechanism& values_;
  std::vector<Encoder> sensors_;
  int threads_;
};

}  // namespace estimator
