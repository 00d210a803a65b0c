#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "estimator/fit/physical/shooting_problem.hpp"
#include "estimator/simulation/inertial_sensing.hpp"

namespace estimator {

/// Fixed parameters with their covariance.
struct FixedParameters {
  std::vector<int> parameters;  ///< indices into Mechanism::parameters
  Eigen::MatrixXd covariance;
};

/// Linearized transition from one sample to the next, with motion and readings at the sample.
/// Columns are the state, coordinates over rates, then the parameters of a spread.
struct SampleStep {
  Eigen::VectorXd end;                ///< state at the next sample; at the last sample its own
  Eigen::MatrixXd end_sensitivities;  ///< its derivatives
  Eigen::VectorXd motion;             ///< joint angles, rates, accelerations, and controls
  Eigen::MatrixXd motion_sensitivities;
  Eigen::VectorXd sensed;  ///< reading of each sensed axis, without delay
  Eigen::MatrixXd sensed_sensitivities;
  Eigen::VectorXd sensed_rate;  ///< time derivative of delayed readings
};

/// Motion of one segment from sample to sample, in integration steps that end at every sample and
/// at every node of its joint estimation.
class SegmentSteps {
 public:
  /// @param mechanism  for its values; free flags are ignored
  /// @param grid       for its longest step and its coordinates
  /// @param node_times  of the segment [s]
  SegmentSteps(const Mechanism& mechanism, const Segment& segment, const ShootingGrid& grid,
               const std::vector<double>& node_times, const std::vector<int>& parameters,
               int threads);
  SegmentSteps(const SegmentSteps&) = delete;
  SegmentSteps& operator=(const SegmentSteps&) = delete;

  int coordinate_count() const { return program().coordinate_count(); }
  int joint_count() const { return program().joint_count(); }
  int motor_count() const { return static_cast<int>(program().motors().size()); }
  int sample_count() const { return static_cast<int>(times_.size()); }
  const std::vector<double>& times() const { return times_; }
  /// Time to the next sample; for the last sample, from the previous one [s].
  double period(int sample) const;
  /// Axes of the inertial sensors that are read.
  const std::vector<int>& sensed() const { return sensing_.axes(); }
  /// Values, without the inertias of bodies that are missing in the segment.
  const Mechanism& values() const { return run_.values; }
  /// Whether a parameter of the spread affects the motion, and not readings alone.
  bool moves(int parameter) const;
  /// The mechanism with the parameters of the spread free.
  const Mechanism& freed() const { return freed_; }

  /// Coordinates over rates of all samples, and initial guesses for joints that close loops.
  struct States {
    Eigen::MatrixXd states, guesses;
  };
  /// The motion from nodes: angles over rates of all joints × nodes.
  States along(const Eigen::MatrixXd& nodes) const;
  /// Converts joint angles over rates to coordinates over rates.
  Eigen::VectorXd state_of(const Eigen::VectorXd& joints) const;

  /// Linearizes the steps of consecutive samples from `first` on.
  std::vector<SampleStep> linearize(int first, const States& at);

 private:
  const TreeProgram& program() const { return run_.program; }
  bool is_missing(int parameter) const;
  void lay_edges(double step);
  void place_columns(const std::vector<int>& parameters);
  int step_at(double time) const;
  MotionInterval interval(double begin, double end, int first_instant, int last_instant) const;
  void sample_last_step(const Eigen::VectorXd& guess, MotionInterval& last) const;
  void take_sensed(const Eigen::MatrixXd& values,
                   const std::vector<IntervalSensitivities::RowMajor>& slopes,
                   SampleStep& out) const;
  Eigen::MatrixXd chosen_columns(const Eigen::Ref<const IntervalSensitivities::RowMajor>& slopes,
                                 const std::vector<int>& columns) const;
  int chosen_width() const {
    return 2 * coordinate_count() + static_cast<int>(motion_columns_.size());
  }
  int program_width() const {
    return 2 * coordinate_count() + static_cast<int>(program().motion_parameters().size());
  }

  const Segment& segment_;
  std::vector<double> node_times_;
  int threads_;
  double near_rest_;  // longest step for smoothed friction near rest [s]
  std::vector<double> times_, edges_;
  Mechanism freed_;
  ProgramVariants programs_;
  ProgramVariants::Run run_;
  SensingProgram sensing_;
  std::vector<int> motion_columns_;                // of each parameter of the spread; −1: none
  std::vector<std::vector<int>> sensing_columns_;  // likewise, of each sensed axis
  std::vector<int> delay_columns_;                 // of each sensed axis
  SegmentControls controls_;
  std::shared_ptr<const SampleInstantMotion> last_looks_;  // of the second-to-last sample
};

}  // namespace estimator
