#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/diagnostics/description/excerpt.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/fit/physical/shooting_input.hpp"

namespace estimator {

/// Limits beyond which a fit to excerpts has no result.
struct FitLimits {
  /// Cost of a first fit of free states over short intervals, which fits better than a simulation.
  double cost_per_reading = std::numeric_limits<double>::infinity();
  double work = std::numeric_limits<double>::infinity();  ///< expected computing work
};

/// A fit of the open-loop simulation to short excerpts of recordings, each with its own initial
/// state. The fit starts from nearly correct parameters and takes a few iterations.
class ExcerptFit {
 public:
  /// Creates an object without a fit; its cost is infinite.
  ExcerptFit() = default;

  /// Fits a mechanism to excerpts of recordings.
  /// @param noise      reading noise of each sensor [rad or m]
  ExcerptFit(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
             const Eigen::VectorXd& noise, const CalibrationMonitor& monitor,
             const FitLimits& limits = {});

  /// Returns the whitened cost; infinite if there is no fit.
  double cost() const;
  double cost_per_reading() const { return cost() / readings_; }
  double reading_count() const { return readings_; }
  /// Returns the computing work: integration steps times integrated vectors, weighted by the size
  /// of the mechanism. These vectors are the motion and its sensitivity to each free parameter.
  double work() const { return work_; }
  /// Returns whether there is no result because it would take too long.
  bool is_too_long() const { return is_too_long_; }
  /// Returns the root-mean-square errors of all sensors [rad or m].
  Eigen::VectorXd rmse() const;
  const Mechanism& mechanism() const { return problem_->mechanism(); }

  /// Segments of the excerpts, in order, and the prediction errors of one: samples × encoders, NaN
  /// without a reading [rad or m].
  const std::vector<Segment>& segments() const { return input_->segments; }
  Eigen::MatrixXd prediction_errors(int segment) const;

  /// Returns the standard deviation of a free parameter, if residuals are white noise.
  double standard_deviation(int parameter) const;

  /// Returns the cost that a fit of a mechanism with further free parameters would have, by one
  /// Gauss–Newton step from this fit: the score test.
  /// @param work  receives the computing work in addition
  double predict_cost(const Mechanism& richer, double& work) const;

 private:
  std::shared_ptr<ShootingProblem> problem_;
  std::shared_ptr<const ShootingInput> input_;
  double readings_ = 1.0;
  double work_ = 0.0;
  bool is_too_long_ = false;
};

/// Returns the noise of each encoder: the scatter of its readings, at least their quantization
/// noise [rad or m].
Eigen::VectorXd estimate_reading_noise(const Mechanism& mechanism,
                                       const std::vector<Recording>& recordings);

/// Length and sampling of the excerpts to which possible causes of a misfit are fitted.
inline constexpr ExcerptLimits kMisfitExcerptLimits = {
    .duration = 9.0, .piece = 1.5, .period = 0.004, .rows = 2500};

/// A possible cause of a misfit that improves the fit, with its fitted size.
struct MisfitCause {
  Finding finding;
  ExcerptFit fit;
  Mechanism mechanism;              ///< mechanism that includes the cause, with fitted values
  std::vector<Recording> excerpts;  ///< excerpts with the error corrected
};

/// The remaining computing work for trying causes, in units of ExcerptFit::work. It counts steps
/// instead of time, so that findings do not depend on the speed of the computer.
struct ComputationBudget {
  double left = 0.0;
  bool exceeded = false;  ///< whether some causes were skipped
};

/// The misfit of a calibration, and the excerpts to which its possible causes are fitted.
struct MisfitProblem {
  Mechanism estimate;
  std::vector<Recording> excerpts;
  /// Limits on length and sampling with which the excerpts were selected.
  ExcerptLimits excerpt_limits = kMisfitExcerptLimits;
  Eigen::VectorXd noise;
  const CalibrationMonitor& monitor;
  ComputationBudget& budget;
  ExcerptFit fitted = {};  ///< fit without any further cause

  /// Includes the effect of a cause in the model and the excerpts, before further causes are tried.
  void include_cause(const MisfitCause& cause);

  /// Fits a mechanism to excerpts. The cost is infinite once the work budget is spent.
  /// @param cost_max  see ExcerptFit
  ExcerptFit fit(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                 double cost_max = std::numeric_limits<double>::infinity()) const;
  ExcerptFit fit(const Mechanism& mechanism) const { return fit(mechanism, excerpts); }

  /// Returns the cost per reading that a fit with further free parameters would have, to first
  /// order; infinite once the work budget is spent.
  double predict_cost(const Mechanism& richer) const;
};

/// Returns the causes of a misfit that improve the fit, in no particular order. Tries the likeliest
/// causes first, as many as the work budget allows.
/// @param recordings  whole recordings; if empty, clipped readings are not tried
std::vector<MisfitCause> try_misfit_causes(const MisfitProblem& problem,
                                           const std::vector<Recording>& recordings);

/// Returns a cause of a misfit, with the errors that remain in its fit.
MisfitCause make_misfit_cause(const ExcerptFit& fit, Finding finding,
                              const std::vector<Recording>& excerpts);

/// Returns whether a fit that includes a cause lowers the cost enough to report this cause.
bool improves_fit_enough(const MisfitProblem& problem, const ExcerptFit& fit);

/// Adds a cause of a misfit to the list `causes` if its fit lowers the cost enough.
void add_cause_if_fit_improves(const MisfitProblem& problem, const ExcerptFit& fit, Finding finding,
                               const std::vector<Recording>& excerpts,
                               std::vector<MisfitCause>& causes);

/// Fits a mechanism to excerpts that both include the effect of a cause. Returns an infinite cost
/// if the fit certainly does not improve enough.
ExcerptFit fit_if_promising(const MisfitProblem& problem, const Mechanism& mechanism,
                            const std::vector<Recording>& excerpts);

/// Fits the excerpts with one parameter freed between `lower` and `upper`. Adds the change of the
/// parameter as a cause of the misfit if its magnitude is significant and not below `least`.
/// Smaller changes may improve the fit of a chaotic motion by chance.
/// @param finding_of  returns the finding about a change and its standard deviation
void try_other_parameter_value(
    const MisfitProblem& problem, int index, double lower, double upper, double least,
    const std::function<Finding(double change, double deviation)>& finding_of,
    std::vector<MisfitCause>& causes);

/// Fixes the moments of inertia that are at a bound.
/// @return index of the first fixed parameter; −1 if none
int fix_inertia_moments_at_bounds(Mechanism& mechanism);

/// Each of these functions tests whether one kind of error of the description explains the misfit.
/// It may be a wrong value of a fixed joint distance, motor gain, end stop or inertial parameter,
/// a joint position coordinate with the wrong sign, or joints that creep instead of sticking. An
/// error that improves the fit enough is added to `causes`.
void try_joint_distances(const MisfitProblem& problem, std::vector<MisfitCause>& causes);
void try_motor_gains(const MisfitProblem& problem, std::vector<MisfitCause>& causes);
void try_inertial_parameters(const MisfitProblem& problem, std::vector<MisfitCause>& causes);
void try_stop_positions(const MisfitProblem& problem, std::vector<MisfitCause>& causes);
void try_joint_position_signs(const MisfitProblem& problem, std::vector<MisfitCause>& causes);
void try_creeping_friction(const MisfitProblem& problem, std::vector<MisfitCause>& causes);

/// Each of these functions tests terms that the rig description lacks, each by its own parameters.
/// Terms that improve the fit enough are added to `causes`. The first tests tilt, encoder errors,
/// gains that sag under load, and the slow terms. These are friction, its drift, a drift of the
/// supply, and air drag. The last tests cogging and vibration, whose order or frequency is
/// searched.
void try_missing_terms(const MisfitProblem& problem, std::vector<MisfitCause>& causes);
void try_slow_terms(const MisfitProblem& problem, std::vector<MisfitCause>& causes);
void try_periodic_terms(const MisfitProblem& problem, std::vector<MisfitCause>& causes);

/// Fits all friction terms that the description lacks. Returns nullopt if this does not improve the
/// fit. The finding of the result is empty.
std::optional<MisfitCause> fit_missing_friction(const MisfitProblem& problem);

/// Each of these functions tests whether one kind of error of the recorded signals explains the
/// misfit. It may be a motor command that acts earlier or later than recorded, commands clipped by
/// the amplifier, a fast or slow logger clock, or readings clipped at an end of an encoder's range.
/// An error that improves the fit enough is added to `causes`.
void try_command_delays(const MisfitProblem& problem, std::vector<MisfitCause>& causes);
void try_clipped_commands(const MisfitProblem& problem, std::vector<MisfitCause>& causes);
void try_clock_error(const MisfitProblem& problem, std::vector<MisfitCause>& causes);
void try_clipped_readings(const MisfitProblem& problem, const std::vector<Recording>& recordings,
                          std::vector<MisfitCause>& causes);

}  // namespace estimator
