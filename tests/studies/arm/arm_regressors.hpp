#pragma once

#include <Eigen/Core>

#include "tests/studies/arm/arm_simulation.hpp"

namespace service {

/// Returns the number of parameters in which the torques of an arm with n joints are linear:
/// standard parameters of all links (10 n), rotor inertias (n), viscous friction (n), dry friction
/// (n), and the negative gains of all motors but the first (n − 1). The first motor's known gain
/// sets the scale.
int regression_size(int joints);

/// Returns the values of an arm's parameters in the order that regression_size describes.
Eigen::VectorXd regression_values(const Arm& arm);

/// Result of a regression. Its `values` are arbitrary along unidentifiable directions.
struct Regression {
  Eigen::VectorXd values;
  int window = 0;  ///< width of the smoothing window [samples]
};

/// Estimates parameters by least squares with the best smoothing window [MTM, table II "ID"]. Rates
/// and accelerations come from angles by third-order Savitzky–Golay filters; residuals are weighted
/// per joint. Of several windows it uses the one with the smallest error, as an ideal tuning would.
/// @param geometry  joints and gravity; its other values are not used
/// @param error     returns the error of estimates with respect to the true values
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

/// Estimates parameters by regression of torques with the given smoothing window.
Regression regress_torques(const Arm& geometry, const ArmRun& run, int window);

/// Estimates parameters by regression of work and energy over intervals of 0.1 s, with one equation
/// for all joints [MTM, table II "Energy"; Gautier 1997]. Uses the filters of tuned_regression.
Regression regress_energy(const Arm& geometry, const ArmRun& run, int window);

/// Signals of a run after smoothing.
struct SmoothedRun {
  Eigen::MatrixXd angles, rates, accelerations, controls;  ///< samples × joints
};

/// Smooths a run by fitting third-order polynomials to an odd number of samples around each sample;
/// omits samples near the ends. Controls have a zero-order hold, so their averages use other
/// weights.
SmoothedRun smooth_run(const ArmRun& run, int window);

}  // namespace service
