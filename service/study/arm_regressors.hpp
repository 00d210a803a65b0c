#pragma once

#include <Eigen/Core>

#include "service/study/arm_simulation.hpp"

namespace service {

/// Everything that torques are linear in: standard parameters of all links (10 n), shafts (n),
/// viscous friction (n), dry friction (n), and gains of all motors but the first, which scales the
/// rest, against their controls (n − 1, with the opposite sign).
int regression_size(int joints);

/// Values of an arm in that order.
Eigen::VectorXd regression_values(const Arm& arm);

/// What a regression found: `values` may be anything along directions that no motion shows.
struct Regression {
  Eigen::VectorXd values;
  int window = 0;  ///< of the smoothing [samples]
};

/// Least squares of torques [MTM, table II "ID"]: rates and accelerations from angles by
/// Savitzky–Golay polynomials of third order, residuals weighted by each joint's own. The window is
/// the best of several by its error of values that are known, as the best that tuning can do.
/// @param geometry  joints and gravity; its other values are not used
/// @param error     how far values are off
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

/// By torques, with one window.
Regression regress_torques(const Arm& geometry, const ArmRun& run, int window);

/// By work and energy over stretches of a tenth of a second, every joint's work in one equation
/// [MTM, table II "Energy"; Gautier 1997]: rates by the same polynomials.
Regression regress_energy(const Arm& geometry, const ArmRun& run, int window);

/// Smoothed signals of a run.
struct SmoothedRun {
  Eigen::MatrixXd angles, rates, accelerations, controls;  ///< samples × joints
};

/// Polynomials of third order over an odd number of samples about each; ends are left out. Controls
/// are held from a sample to the next, so they are averaged with weights of their own.
SmoothedRun smooth_run(const ArmRun& run, int window);

}  // namespace service
