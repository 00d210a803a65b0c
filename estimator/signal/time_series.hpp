#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

namespace estimator {

/// Uniformly sampled stretch of a recording, without gaps.
///
/// Row k was sampled at start + k·period. The control in row k is held over [t_k, t_{k+1}).
/// A NaN angle means "not observed" (a sensor's channel was missing); controls are finite.
struct Segment {
  double start = 0.0;        ///< time of row 0 [s]
  double period = 0.0;       ///< sampling period [s], > 0
  Eigen::MatrixXd angles;    ///< samples × sensors, in their order [rad or m]
  Eigen::MatrixXd controls;  ///< samples × motorised hinges, in hinge order [unit of the control]
  Eigen::MatrixXd withheld;  ///< samples × sensors whose readings are not used; mostly none

  int sample_count() const { return static_cast<int>(angles.rows()); }
};

/// A recording: its name (for messages) and its gap-free segments in order of time.
struct Recording {
  std::string name;
  std::vector<Segment> segments;
};

}  // namespace estimator
