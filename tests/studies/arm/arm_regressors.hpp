#pragma once

#include <Eigen/Core>

#include "tests/studies/arm/arm_simulation.hpp"

namespace service {

/// Number of parameters in which torques are linear: standard parameters of all links (10 n), rotor
/// inertias (n), viscous friction (n), dry friction (n), and the gains of all motors but the first,
/// whose known gain sets the scale (n − 1, with the opposite sign).
int regression_size(int joints);

/// Returns an arm's values in that order.
Eigen::VectorXd regression_values(const Arm& arm);

/// Result of a regression. `values` are arbitrary along unidentifiable directions.
struct Regression {
  Eigen::VectorXd values;
  int window = 0;  ///< of the smoothing [samples]
};

/// Least squares on torques [MTM, table II "ID"]. Rates and accelerations come from angles by
/// third-order Savitzky–Golay filters; residuals are weighted per joint. Of several windows the one
/// with the smallest error with respect to the truth is chosen, as an ideal tuning.
/// @param geometry  joints and gravity; its other values are not used
/// @param error     returns the error of values
template <typename Error>
Regression tuned_regression(const Arm& geometry, const ArmRun& run, const Error& error,
                            Regression (*regress)(const Arm&, const ArmRun&, int)) {
  Regression best;
  for (const int window : {5, 9, 15, 21, 31, 45, 61}) {
    Regression tried = regress(geometry, run, window);
    if (best.window == 0 || error(tried.values) < error(best.values)) best = std::move(tried);
  }
  return best;
}

/// Regression on torques with one window.
Regression regress_torques(const Arm& geometry, const ArmRun& run, int window);

/// Regression on work and energy over intervals of 0.1 s, one equation for all joints [MTM, table
/// II "Energy"; Gautier 1997]. Rates come from the same filters.
Regression regress_energy(const Arm& geometry, const ArmRun& run, int window);

/// Smoothed signals of a run.
struct SmoothedRun {
  Eigen::MatrixXd angles, rates, accelerations, controls;  ///< samples × joints
};

/// Fits third-order polynomials to an odd number of samples around each sample; the ends are
/// omitted. Controls have a zero-order hold, so their averages use other weights.
SmoothedRun smooth_run(const ArmRun& run, int window);

}  // namespace service
