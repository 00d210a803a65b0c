#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/simulation/interval/inertial_sensing.hpp"

namespace estimator {

/// Parameters that are fixed in a fit of states although they are uncertain, with their covariance.
struct UncertainParameters {
  std::vector<int> parameters;  ///< indices into Mechanism::parameters
  Eigen::MatrixXd covariance;
};

/// The linearized transition of the state from one sample to the next, and the readings at the
/// first sample. Derivatives have a column for each element of the state (coordinates, then rates),
/// and then for each uncertain parameter.
struct SampleTransition {
  Eigen::VectorXd end;                ///< state at the next sample (last sample: own state)
  Eigen::MatrixXd end_sensitivities;  ///< derivatives of `end`
  Eigen::VectorXd motion;             ///< joint angles, rates, accelerations, and controls
  Eigen::MatrixXd motion_sensitivities;
  Eigen::VectorXd sensed;  ///< undelayed reading of each inertial axis
  Eigen::MatrixXd sensed_sensitivities;
  Eigen::VectorXd sensed_rate;  ///< time derivative of the readings of delayed axes
};

/// Simulates the motion of a segment from sample to sample. Integration steps end at every sample
/// and at every shooting node.
class SegmentSimulator {
 public:
  /// @param mechanism   parameter values; which of them are free is ignored
  /// @param grid        longest integration step and choice of coordinates
  /// @param node_times  times of the segment's shooting nodes [s]
  /// @param parameters  uncertain parameters, as indices into Mechanism::parameters
  SegmentSimulator(const Mechanism& mechanism, const Segment& segment, const ShootingGrid& grid,
                   const std::vector<double>& node_times, const std::vector<int>& parameters,
                   int threads);
  SegmentSimulator(const SegmentSimulator&) = delete;

  int coordinate_count() const { return tree_program().coordinate_count(); }
  int joint_count() const { return tree_program().joint_count(); }
  int sample_count() const { return static_cast<int>(times_.size()); }
  const std::vector<double>& times() const { return times_; }
  /// Returns the time to the next sample [s]; for the last sample, the time since the previous
  /// sample.
  double sample_period(int sample) const;
  /// Returns the axes of inertial sensors that have readings in the segment.
  const std::vector<int>& inertial_axes() const { return sensing_.axes(); }
  /// Returns the mechanism without the inertias of bodies that are absent in the segment.
  const Mechanism& segment_mechanism() const { return run_.values; }
  /// Returns whether a parameter affects the motion, and not only readings.
  bool affects_motion(int parameter) const;
  /// Returns a mechanism in which only the uncertain parameters are free.
  const Mechanism& freed_mechanism() const { return freed_mechanism_; }

  /// States at all samples: independent coordinates over rates, and initial guesses for the joints
  /// that close loops.
  struct SampleStates {
    Eigen::MatrixXd states, guesses;
  };
  /// Simulates the motion from the shooting nodes, and returns the states at all samples.
  /// @param nodes  angles over rates of all joints × nodes
  SampleStates simulate(const Eigen::MatrixXd& nodes) const;
  /// Selects the independent coordinates and their rates from the angles and rates of all joints.
  Eigen::VectorXd select_independent_coordinates(const Eigen::VectorXd& joints) const;

  /// Linearizes the transitions of consecutive samples, starting with `first`.
  std::vector<SampleTransition> linearize(int first, const SampleStates& at);

 private:
  const TreeProgram& tree_program() const { return run_.program; }
  bool belongs_to_absent_body(int parameter) const;
  void place_step_boundaries(double step);
  void assign_derivative_columns(const std::vector<int>& parameters);
  int step_index_at(double time) const;
  MotionInterval make_motion_interval(double begin, double end, int first_instant,
                                      int last_instant) const;
  void complete_last_sample(const Eigen::VectorXd& guess, MotionInterval& last) const;
  void store_sensor_readings(const Eigen::MatrixXd& values,
                             const std::vector<IntervalSensitivities::RowMajor>& slopes,
                             SampleTransition& out) const;
  Eigen::MatrixXd select_columns(const Eigen::Ref<const IntervalSensitivities::RowMajor>& slopes,
                                 const std::vector<int>& columns) const;
  int selected_column_count() const {
    return 2 * coordinate_count() + static_cast<int>(motion_columns_.size());
  }
  int program_column_count() const {
    return 2 * coordinate_count() + static_cast<int>(tree_program().motion_parameters().size());
  }

  const Segment& segment_;
  std::vector<double> node_times_;
  int threads_;
  double near_rest_;  // longest step for smoothed friction near rest [s]
  std::vector<double> times_, edges_;
  Mechanism freed_mechanism_;
  ProgramVariants programs_;
  ProgramVariants::IntervalRun run_;
  SensingProgram sensing_;
  std::vector<int> motion_columns_;                // column of each uncertain parameter; −1: none
  std::vector<std::vector<int>> sensing_columns_;  // the same for each inertial axis
  std::vector<int> delay_columns_;                 // delay column of each inertial axis
  SegmentControls controls_;
  std::shared_ptr<const SampleInstantMotion> last_instants_;  // motion at the second-to-last sample
};

}  // namespace estimator
