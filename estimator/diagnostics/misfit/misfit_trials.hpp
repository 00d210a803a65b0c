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

namespace estimator {

/// A fit of the open-loop simulation to short excerpts of recordings, each with its own initial
/// state. It starts from nearly correct parameters and takes a few iterations.
class ExcerptFit {
 public:
  /// Creates an object without a fit; its cost is infinite.
  ExcerptFit() = default;

  /// Fits a mechanism to excerpts of recordings.
  /// @param noise      reading noise of each sensor [rad or m]
  /// @param cost_max  limit on the cost per reading. There is no fit if free states over short
  ///                  intervals, which fit better than a simulation, cost more
  ExcerptFit(const Mechanism& mechanism, const std::vector<Recording>& pieces,
             const Eigen::VectorXd& noise, const CalibrationMonitor& monitor,
             double cost_max = std::numeric_limits<double>::infinity());

  /// Returns the whitened cost; infinite if there is no fit.
  double cost() const;
  double cost_per_reading() const { return cost() / readings_; }
  /// Returns the computing work: the number of integration steps times the number of integrated
  /// vectors, which are the motion and its sensitivities to every free parameter.
  double work() const { return work_; }
  /// Returns the root-mean-square errors of all sensors [rad or m].
  Eigen::VectorXd rmse() const;
  const Mechanism& mechanism() const { return problem_->mechanism(); }

  /// Returns the standard deviation of a free parameter for white residuals of the observed size.
  double deviation(int parameter) const;

 private:
  std::unique_ptr<ShootingProblem> problem_;
  double readings_ = 1.0;
  double work_ = 0.0;
};

/// Returns the noise of each sensor: the scatter of its readings, or their quantization noise.
Eigen::VectorXd reading_noise(const Mechanism& mechanism, const std::vector<Recording>& recordings);

/// Length and sampling of the excerpts to which possible causes of a misfit are fitted.
inline constexpr ExcerptLimits kMisfitBudget = {
    .duration = 9.0, .piece = 1.5, .period = 0.004, .rows = 2500};

/// A possible cause of a misfit that improves the fit, with its fitted size.
struct MisfitCause {
  Finding finding;
  double cost_per_reading = std::numeric_limits<double>::infinity();
  Eigen::VectorXd rmse;
  Mechanism mechanism;            ///< mechanism that includes the cause, with fitted values
  std::vector<Recording> pieces;  ///< excerpts with the error corrected
};

/// The remaining computing work for trying causes, in units of ExcerptFit::work. A count of steps,
/// not a time, so that findings do not depend on the speed of the computer.
struct ComputationBudget {
  double left = 0.0;
  bool exceeded = false;  ///< whether some causes were skipped
};

/// The misfit of a calibration, and the excerpts to which its possible causes are fitted.
struct MisfitProblem {
  Mechanism estimate;
  std::vector<Recording> pieces;
  /// Limits with which the excerpts `pieces` were selected.
  ExcerptLimits excerpts = kMisfitBudget;
  Eigen::VectorXd noise;
  const CalibrationMonitor& monitor;
  ComputationBudget& budget;
  double cost_per_reading = 0.0;  ///< cost without any cause
  Eigen::VectorXd rmse;

  /// Includes a cause in the model and the excerpts before further causes are tried.
  void take(const MisfitCause& cause);

  /// Fits a mechanism to excerpts. The cost is infinite once the work budget is spent.
  /// @param cost_max  see ExcerptFit
  ExcerptFit fit(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                 double cost_max = std::numeric_limits<double>::infinity()) const;
  ExcerptFit fit(const Mechanism& mechanism) const { return fit(mechanism, pieces); }
};

/// Returns the causes of a misfit that improve the fit, in no particular order. Tries the likeliest
/// causes first, as many as the work budget allows.
/// @param recordings  whole recordings; if empty, clipped readings are not tried
std::vector<MisfitCause> try_misfit_causes(const MisfitProblem& on,
                                           const std::vector<Recording>& recordings);

/// Returns a cause of a misfit with its remaining errors.
MisfitCause make_misfit_cause(const ExcerptFit& fit, Finding finding,
                              const std::vector<Recording>& pieces);

/// Returns whether a fit lowers the cost enough to report the cause that it includes.
bool improves_fit_enough(const MisfitProblem& on, const ExcerptFit& fit);

/// Adds a cause of a misfit if the fit improves enough.
void add_cause_if_fit_improves(const MisfitProblem& on, const ExcerptFit& fit, Finding finding,
                               const std::vector<Recording>& pieces,
                               std::vector<MisfitCause>& causes);

/// Fits a cause of a misfit. The cost is infinite if the cause certainly does not help.
ExcerptFit fit_if_promising(const MisfitProblem& on, const Mechanism& mechanism,
                            const std::vector<Recording>& pieces);

/// Smallest relative change of a parameter that is reported.
inline constexpr double kMinRelativeChange = 1e-3;

/// Fits with one parameter freed, within ±`widest`. The fit is a cause only if the parameter
/// changes significantly and by at least `least`, since in chaotic motions a smaller change may
/// improve the fit by chance.
/// @param finding_of  returns the finding about a change and its standard deviation
void try_other_parameter_value(
    const MisfitProblem& on, int index, double widest, double least,
    const std::function<Finding(double change, double deviation)>& finding_of,
    std::vector<MisfitCause>& causes);

/// Fixes the moments of inertia that are at a bound.
/// @return index of the first fixed parameter; −1 if none
int fix_inertia_moments_at_bounds(Mechanism& mechanism);

/// Tries fixed joint distances at other values.
void try_joint_distances(const MisfitProblem& on, std::vector<MisfitCause>& causes);

/// Tries fixed motor gains at other values.
void try_motor_gains(const MisfitProblem& on, std::vector<MisfitCause>& causes);

/// Tries joint position coordinates with the opposite sign.
void try_joint_position_signs(const MisfitProblem& on, std::vector<MisfitCause>& causes);

/// Tries friction terms that the description lacks.
void try_missing_friction(const MisfitProblem& on, std::vector<MisfitCause>& causes);

/// Tries air drag on bodies that are carried by other bodies.
void try_air_drag(const MisfitProblem& on, std::vector<MisfitCause>& causes);

/// Fits all friction terms that the description lacks. Returns nullopt if this does not improve the
/// fit. The finding of the result is empty.
std::optional<MisfitCause> fit_missing_friction(const MisfitProblem& on);

/// Length and sampling of excerpts for the creep trial, which runs if the most active excerpts show
/// no cause. Creep shows over seconds while joints are almost at rest.
inline constexpr ExcerptLimits kCreepBudget = {
    .duration = 30.0, .piece = 15.0, .period = 0.01, .rows = 2500};

/// Tries friction that creeps at rest instead of sticking: replaces Coulomb friction by its
/// smoothed law, with the transition velocity that fits best. Adds no cause if no joint can stick.
void try_creeping_friction(const MisfitProblem& on, std::vector<MisfitCause>& causes);

/// Tries motor commands that act earlier or later than recorded.
void try_command_delays(const MisfitProblem& on, std::vector<MisfitCause>& causes);

/// Tries motor commands clipped at some level.
void try_clipped_commands(const MisfitProblem& on, std::vector<MisfitCause>& causes);

/// Tries time stamps of a clock that is fast or slow.
void try_clock_error(const MisfitProblem& on, std::vector<MisfitCause>& causes);

/// Tries readings clipped at an end of an encoder's range.
void try_clipped_readings(const MisfitProblem& on, const std::vector<Recording>& recordings,
                          std::vector<MisfitCause>& causes);

}  // namespace estimator
