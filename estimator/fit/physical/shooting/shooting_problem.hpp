#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/physical/shooting/sensor_sample_instants.hpp"
#include "estimator/math/parallel_jobs.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/optimize/least_squares_problem.hpp"
#include "estimator/signal/time_series.hpp"
#include "estimator/simulation/interval/interval_motion.hpp"
#include "estimator/simulation/tree_program.hpp"

namespace estimator {

/// Standard deviations of the prior of angle [rad] and rate [rad/s] at the first shooting node of a
/// segment. The mean is the initial value. This weak prior determines states that no reading
/// determines, such as the initial speed of a joint that friction stops before the next reading.
inline constexpr double kStartAngleDeviation = 10.0;
inline constexpr double kStartRateDeviation = 100.0;

/// Standard deviation of the jump of an active contact's points at a shooting node [m]. It is far
/// below the resolution of sensors, so that process noise does not move feet.
inline constexpr double kContactTolerance = 1e-6;

/// Duration of the time intervals for which integration steps are chosen separately [s].
inline constexpr double kStepPiece = 0.2;

/// The integration steps and the shooting nodes of a ShootingProblem.
struct ShootingGrid {
  /// Integration step for the fastest motion [s]. Each segment uses the next shorter step that
  /// divides its sampling period.
  double step = 0.0;
  double interval = 0.0;  ///< time between shooting nodes, rounded to whole steps [s]; infinite for
                          ///< a single node per segment
  CoordinateChoice coordinates = {};  ///< independent joints, whose states are the nodes
  /// Longer integration steps for slower motion [s]: for each segment, one entry for every
  /// kStepPiece seconds. If empty, all steps are `step`.
  std::vector<std::vector<double>> local_steps = {};
  /// Longest integration step while joints with smoothed Coulomb friction are almost at rest [s].
  double near_rest = std::numeric_limits<double>::infinity();
};

/// The assumed noise levels of sensors, unmodelled accelerations and controls.
struct ShootingNoise {
  Eigen::VectorXd angle;          ///< standard deviation of each encoder's readings [rad or m]
  Eigen::VectorXd acceleration;   ///< root spectral density of each coordinate's process noise
                                  ///< [rad/s²/√Hz]
  Eigen::VectorXd inertial = {};  ///< standard deviation of each inertial sensor axis [SI unit]
  /// Standard deviation of the difference between recorded and actual control of each motor [unit
  /// of the control]. If empty, the recorded controls are exact.
  Eigen::VectorXd control = {};
};

/// The least-squares problem of estimating states and parameters in continuous time by multiple
/// shooting [Boc87]. The states x_k at shooting nodes are angles and rates of the independent
/// joints. Between nodes the equations of motion are integrated (IntervalIntegrator), so the
/// parameters χ are physical and every sample y is used. With the integrated state φ, the cost is
///
///   Σ ((θ(t; x_k, χ) − offset − y)/σ_y)² + Σ ‖Q^{−½} (x_{k+1} − φ(x_k, χ))‖² + priors.
///
/// A contact with the ground that lasts from one node interval to the next adds the condition that
/// its points stay where they are at the node, with the tolerance kContactTolerance.
///
/// Inertial sensors and delayed encoders add similar terms at their sample instants
/// (SensorSampleInstants), with accelerations from the equations of motion.
///
/// Q is the covariance that white acceleration noise of density σ_a² causes over a node interval T:
/// σ_a² [T³/3, T²/2; T²/2, T] per joint. White control noise adds terms that couple joints
/// (compute_acceleration_whitening). With one node per segment the second sum is empty. The fit is
/// then an output-error fit: the maximum-likelihood estimate if only the readings are noisy.
///
/// All residuals are whitened: their variance is 1 if the noise levels are right.
class ShootingProblem final : public LeastSquaresProblem {
 public:
  /// @param mechanism  with the initial values of the parameters
  /// @param states     one matrix per segment, angles over rates (2·joints rows). Columns are
  /// spaced by `state_spacing` [s]; each shooting node starts from the nearest column
  /// @param noise      all levels > 0
  /// @param threads    number of threads; results do not depend on it
  ShootingProblem(const Mechanism& mechanism, const std::vector<Segment>& segments,
                  const std::vector<Eigen::MatrixXd>& states,
                  const std::vector<double>& state_spacing, const ShootingGrid& grid,
                  const ShootingNoise& noise, int threads = 1);

  /// Returns a copy of the problem with other mechanism, segments, grid and noise levels, which
  /// starts from the current states.
  /// @param segments  must match the present segments in number and times
  ShootingProblem copy_with_changes(const Mechanism& mechanism,
                                    const std::vector<Segment>& segments, const ShootingGrid& grid,
                                    const ShootingNoise& noise) const;

  // LeastSquaresProblem.
  ProblemShape shape() const override;
  int block_count() const override { return static_cast<int>(blocks_.size()); }
  int max_block_rows() const override { return max_rows_; }
  int noise_group_count() const override { return prior_noise_group() + 1; }
  int thread_count() const override { return threads_; }
  void linearize(int index, ResidualBlock& out) const override;
  double cost() const override { return point_.cost; }
  double evaluate_trial_step(const Eigen::VectorXd& node_step,
                             const Eigen::VectorXd& parameter_step) override;
  void accept_trial_step() override;
  void save_point() override { saved_ = point_; }
  void restore_point() override { point_ = saved_; }
  Eigen::VectorXd parameter_values() const override {
    return free_.parameter_values(point_.mechanism);
  }
  Eigen::VectorXd lower_bounds() const override { return free_.lower(point_.mechanism); }
  Eigen::VectorXd upper_bounds() const override { return free_.upper(point_.mechanism); }
  Eigen::VectorXd step_factor_limits() const override {
    return free_.step_factor_limits(point_.mechanism);
  }

  /// Return the index of a noise group, which is a set of residuals with a common variance. The
  /// first groups are the encoders.
  int inertial_noise_group(int axis) const { return encoder_count() + axis; }
  int acceleration_noise_group(int coordinate) const {
    return inertial_noise_group(Sensor::kAxes * mechanism().sensor_count()) + coordinate;
  }
  int initial_state_noise_group() const { return acceleration_noise_group(coordinate_count()); }
  int prior_noise_group() const { return initial_state_noise_group() + 1; }

  int encoder_count() const { return static_cast<int>(sensors_.size()); }
  const Encoder& encoder(int index) const { return sensors_[index]; }
  /// Returns the independent joints. Their states are the unknowns at the shooting nodes.
  const std::vector<int>& independent_joints() const {
    return programs_.common_program().independent_joints();
  }
  int coordinate_count() const { return programs_.common_program().coordinate_count(); }
  int segment_count() const { return static_cast<int>(segments_.size()); }
  const Mechanism& mechanism() const { return point_.mechanism; }
  const ShootingNoise& noise() const { return noise_; }

  /// Changes the noise levels, and thus the weights of all residuals.
  void set_noise_levels(const ShootingNoise& noise);

  /// Returns the predicted encoder readings of a segment, samples × encoders [rad or m]. Each
  /// sample is simulated from the shooting node before it.
  const Eigen::MatrixXd& predicted_angles(int segment) const { return point_.angles[segment]; }

  /// Returns the states at the shooting nodes of a segment, 2·joints × nodes: first the rows of
  /// joint angles, then the rows of joint rates. Rates of dependent joints are zero.
  Eigen::MatrixXd node_states(int segment) const;
  /// Returns the nominal time between the shooting nodes of a segment [s].
  double node_spacing(int segment) const { return segments_[segment].spacing; }
  /// Returns the times of the shooting nodes since the segment's first sample [s]. For mechanisms
  /// with end stops, nodes are shifted to avoid impacts (find_impact_free_tick).
  const std::vector<double>& node_times(int segment) const { return segments_[segment].node_times; }

  /// Returns the number of integration steps in which contacts with end stops or of friction could
  /// not be resolved (ContactLog).
  int unresolved_step_count() const;
  /// Returns the number of integration steps, including steps added for smoothed friction.
  int integration_step_count() const;

  bool has_reading(int segment, Eigen::Index sample, int sensor) const {
    return !std::isnan(segments_[segment].data.angles(sample, sensor));
  }

  /// Return the number of readings of an encoder, and the sum of their squared errors [rad²].
  int reading_count(int sensor) const;
  double squared_error(int sensor) const;
  /// Returns the number of readings of all encoders.
  int reading_count() const;

  /// Returns the inertial sensor axes that have readings, each given as sensor · kAxes + axis.
  const std::vector<int>& inertial_axes() const { return inertial_axes_; }
  /// Return the number of readings of an inertial sensor axis, and the sum of their squared errors.
  /// @param place  index of the axis in `inertial_axes()`
  int inertial_reading_count(int place) const;
  double inertial_squared_error(int place) const;
  /// Returns the number of readings of all encoders and inertial sensors.
  int total_reading_count() const;
  /// Returns the prediction errors of an inertial axis, one per reading.
  std::vector<double> inertial_prediction_errors(int place) const;

 private:
  /// The samples [first, last) and integration steps [begin, end) between two shooting nodes.
  struct NodeInterval {
    int first, last, begin, end;
  };
  struct ShootingSegment {
    Segment data;
    std::vector<double> edges;  ///< boundaries of the integration steps [s]
    double spacing;             ///< nominal node interval [s]
    int first_node, node_count;
    std::vector<NodeInterval> spans = {};  ///< of the node intervals
    std::vector<double> node_times = {};   ///< times of the nodes [s]
  };
  /// Derivatives of the motion between all nodes. They are computed when they are first needed,
  /// because many iterates need only the cost.
  struct Sensitivities {
    OnceJob once;
    std::vector<IntervalSensitivities::IntervalDerivatives> of_nodes;
  };
  struct Iterate {
    Mechanism mechanism;
    Eigen::MatrixXd states;   ///< states at all nodes: 2·coordinates × nodes
    Eigen::MatrixXd guesses;  ///< initial guesses for dependent joints: joints × nodes
    std::shared_ptr<const std::vector<SegmentControls>> controls;  ///< controls of each segment
    std::vector<MotionInterval> intervals;                         ///< motion after each node
    std::vector<Eigen::MatrixXd> angles;  ///< predicted readings of each segment
    std::shared_ptr<const std::vector<SensorSampleInstants>>
        instants;                          ///< sample instants of each segment
    std::vector<Eigen::VectorXd> contact_jumps;  ///< after each node, in units of kContactTolerance
    std::vector<Eigen::MatrixXd> sampled;  ///< predictions of each node: instants × sampled_
    double cost = 0.0;
    std::shared_ptr<Sensitivities> slopes;  ///< null for a candidate point
  };
  enum class ResidualBlockKind : unsigned char {
    kReadings,
    kInertial,
    kAcceleration,
    kContact,
    kStart,
    kPrior
  };
  struct ResidualBlockId {
    ResidualBlockKind kind;
    int segment, interval;
    int detail;  ///< index of a sensor, inertial axis or coordinate
  };
  int first_node_of_block(const ResidualBlockId& block) const {
    return segments_[block.segment].first_node + block.interval;
  }

  void add_segment(const Segment& segment, const ShootingGrid& grid);
  void place_shooting_nodes(const std::vector<Eigen::MatrixXd>& states,
                            const std::vector<double>& state_spacing);
  void set_expected_initial_state(int segment);
  Eigen::VectorXd initial_state_error(const Iterate& point, int segment) const;
  void make_residual_blocks();
  void update_controls(Iterate& point) const;
  void update_sample_instants(Iterate& point) const;
  void assign_sample_instants(Iterate& point) const;
  std::span<const SensorSampleInstants::Reading> readings_after_node(const Iterate& point,
                                                                     int segment, int node,
                                                                     int place) const;
  double sampled_prediction(const Iterate& point, int node, int place, int instant) const;
  double inertial_error(const Iterate& point, int segment, int node, int place,
                        const SensorSampleInstants::Reading& reading) const;
  template <typename Use>
  void for_each_inertial_error(const Iterate& point, int segment, int place, const Use& use) const;
  double inertial_square_sum(const Iterate& point, int segment, int place) const;
  int max_instant_count() const;
  void find_delayed_encoders();
  void predict_delayed_encoders(Iterate& point, int segment) const;
  void simulate(Iterate& point) const;
  void predict_encoder_readings(Iterate& point,
                                const std::vector<Eigen::MatrixXd>& coordinates) const;
  double total_cost(const Iterate& point) const;
  double reading_error(const Iterate& point, int segment, int sample, int sensor) const;
  Eigen::Vector2d whitened_defect(const Iterate& point, int segment, int interval,
                                  int coordinate) const;
  std::vector<int> lasting_contact_equations(const Iterate& point, int segment, int interval) const;
  void compute_contact_jumps(Iterate& point) const;
  Eigen::Matrix2d defect_whitening(int segment, int interval) const;
  Eigen::VectorXd acceleration_weights(int node, int coordinate) const;
  void update_acceleration_whitening();
  const IntervalSensitivities::IntervalDerivatives& node_sensitivities(int node) const;
  void compute_sensitivities(std::vector<IntervalSensitivities::IntervalDerivatives>& slopes) const;
  void linearize_readings(const ResidualBlockId& block, ResidualBlock& out) const;
  void linearize_sampled_readings(const ResidualBlockId& block, ResidualBlock& out) const;
  void linearize_instant(int node, int place, int instant, int row, double weight,
                         ResidualBlock& out) const;
  void linearize_acceleration(const ResidualBlockId& block, ResidualBlock& out) const;
  void linearize_contacts(const ResidualBlockId& block, ResidualBlock& out) const;
  void linearize_initial_state(const ResidualBlockId& block, ResidualBlock& out) const;

  int joint_count_;
  FreeParameters free_;
  ProgramVariants programs_;  ///< equations of motion, one group per segment
  std::vector<int> inertial_axes_;
  std::shared_ptr<const SensingProgram> sensing_program_;  ///< null if nothing is sampled
  std::vector<int> moving_;   ///< positions of free parameters that affect the motion
  std::vector<int> sensing_;  ///< positions of free parameters that affect only `sampled_`
  std::vector<Encoder> sensors_;
  std::vector<int>
      sampled_;  ///< axes of the sensing program: inertial_axes_, then delayed encoders
  std::vector<int> sampled_index_;  ///< index of each sensor in sampled_; −1 if it has no delay
  ShootingNoise noise_;
  /// Matrix at each shooting node that whitens unmodelled accelerations; empty if recorded controls
  /// have no noise.
  std::vector<Eigen::MatrixXd> whitening_;
  int threads_;
  double near_rest_;  // longest step for smoothed friction near rest [s]
  std::vector<ShootingSegment> segments_;
  std::vector<ResidualBlockId> blocks_;
  int node_count_ = 0, max_rows_ = 0;
  std::vector<int> groups_;          ///< segment of each node
  Eigen::MatrixXd start_;            ///< expected first nodes: 2·coordinates × segments
  Eigen::MatrixXd start_deviation_;  ///< standard deviations of `start_`
  Iterate point_, candidate_, saved_;
};

}  // namespace estimator
