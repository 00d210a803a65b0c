#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/excerpt.hpp"
#include "estimator/fit/physical/shooting_input.hpp"
#include "estimator/fit/physical/shooting_problem.hpp"
#include "estimator/fit/segment_trajectory.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"

namespace estimator {

/// Open-loop errors above this say that the motion cannot be predicted from its start (passing the
/// upright, or a model that is far off); there a simulation fit has no basin to work in [rad]. Of
/// what slides this and other thresholds in rad are multiplied by JointUnits::scale.
inline constexpr double kPredictableRmse = 0.5;

/// Cost a reading above which a fit has gone astray: more than a model that is merely wrong leaves
/// with a generous process noise.
inline constexpr double kAstray = 10.0;

/// One solve after another, with all iterations counted and recorded as one history.
struct ShootingHistory {
  Termination termination = Termination::kNumericalFailure;  ///< of the last solve
  int iterations = 0;
  int iterations_most = 0;  ///< at which it is over; second chances get as many again
  double cost = 0.0;        ///< after the last solve
  int solve = 0;            ///< as of IterationRecord, likewise the next
  std::string stage;        ///< "noise re-estimated", …
  std::vector<IterationRecord> records;
};

/// What the stages are called in progress reports.
struct StageNames {
  std::string_view joint = "joint estimation";
  std::string_view simulation = "simulation fit";
};

/// The stages of a fit by shooting, for a mechanism with any number of free parameters.
class ShootingFit {
 public:
  ShootingFit(ShootingInput input, const CalibrationOptions& options,
              const CalibrationMonitor& monitor, StageNames stages = {});

  const ShootingInput& input() const { return input_; }

  /// Puts nodes nearer to one another until the motion from each can be followed to the next: near
  /// configurations that loops hardly close in, values that are not right yet may tear them.
  /// @throws std::invalid_argument where it cannot be followed over a few samples
  void shorten_intervals(const Mechanism& start);

  /// Intervals and process noise of the second stage, at the start.
  std::unique_ptr<ShootingProblem> first_problem(const Mechanism& mechanism) const;

  /// Stages 1 to 3: states and parameters jointly, with noise levels from the data unless they are
  /// given.
  void estimate_jointly(const Mechanism& start);

  /// Stage 4, or only the open-loop simulation where that is asked for, the motion cannot be
  /// predicted, or controls acted otherwise than recorded. True if it was fitted.
  bool fit_simulation();

  /// After `estimate_jointly`.
  const ShootingProblem& joint() const { return *joint_; }
  const ShootingHistory& joint_history() const { return joint_history_; }
  /// Whether the data show that a coordinate's accelerations are not all explained by the model.
  bool is_process_noise_seen(int coordinate) const;

  /// After `fit_simulation`: open loop from each segment's start.
  const ShootingProblem& simulation() const { return *simulation_; }
  const ShootingHistory& simulation_history() const { return simulation_history_; }
  bool is_predictable() const { return predictable_; }
  /// Whether the simulation fit lost its way, and what there is is the simulation from the states.
  bool has_gone_astray() const { return astray_; }

  /// Measured, estimated and simulated angles of each segment.
  std::vector<SegmentTrajectory> trajectories() const;

  /// Whether a stop was asked for. It may fall between two solves, each of which converged.
  bool is_cancelled() const;

 private:
  std::unique_ptr<ShootingProblem> loose_problem(const Mechanism& mechanism, const Excerpt& excerpt,
                                                 double interval, const ShootingNoise& noise) const;
  ShootingNoise lenient_noise(double share, double interval) const;
  void fit_loosely(const Mechanism& start);
  std::unique_ptr<ShootingProblem> search(const Mechanism& start, const Excerpt& excerpt);
  bool is_near(const ShootingProblem& problem) const;
  void run_loosely(ShootingProblem& problem);
  bool is_over(const ShootingHistory& history) const;
  std::unique_ptr<ShootingProblem> problem_from(const Mechanism& mechanism,
                                                const ShootingNoise& noise,
                                                const ShootingGrid& grid) const;
  std::unique_ptr<ShootingProblem> simulation_from(const Mechanism& mechanism) const;
  bool leaves_accelerations() const;
  std::vector<Mechanism> chances_at(const Mechanism& reached) const;
  void retry_jointly();
  void anneal_again();
  void retry_simulation();
  bool is_astray() const;
  bool try_again(std::unique_ptr<ShootingProblem>& problem, std::unique_ptr<ShootingProblem> again,
                 double decrease, ShootingHistory& history) const;
  LmOptions options_for(const ShootingProblem& problem, double decrease) const;
  void run(ShootingProblem& problem, LmOptions options, ShootingHistory& history) const;
  /// Tells that another problem begins, whose cost does not compare with the one before.
  void announce(std::string_view change, const Mechanism& varied, ShootingHistory& history) const;
  void estimate_noise();
  bool update_noise(const ParameterInformation& information, ShootingNoise& noise);

  ShootingInput input_;
  CalibrationOptions options_;
  CalibrationMonitor monitor_;
  StageNames stages_;
  Mechanism start_;
  std::unique_ptr<ShootingProblem> joint_, simulation_;
  ShootingHistory joint_history_, simulation_history_;
  std::vector<bool> process_seen_;
  bool predictable_ = false, astray_ = false;
};

}  // namespace estimator
