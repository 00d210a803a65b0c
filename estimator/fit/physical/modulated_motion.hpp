#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/fit/physical/shooting_input.hpp"
#include "estimator/model/mechanism.hpp"

namespace estimator {

/// The low-pass filtered motion at the instants at which test functions φ(t) are not zero. The
/// equations of motion are multiplied by the test functions and integrated. Controls and directions
/// are filtered like the readings of their joint, so that they change when the filtered
/// accelerations do.
///
/// Test functions are cubic B-splines with ∫φ dt = 1 [1/s]. They and their slopes are zero at their
/// ends, so integration by parts moves both time derivatives of a coordinate to φ:
///
///   ∫ φ M(q) q̈ dt = −∫ (φ̇ M + φ Ṁ) q̇ dt.
///
/// On a grid of instants, accelerations are central differences of the rates, and summation by
/// parts is exact. Although the sum contains accelerations, the noise of the readings is therefore
/// multiplied only by the second differences of φ.
struct ModulatedMotion {
  Eigen::MatrixXd angle, rate, acceleration;  ///< joints × instants [rad, rad/s, rad/s²]
  Eigen::MatrixXd direction;  ///< direction of motion, joints × instants, −1 to 1
  Eigen::MatrixXd control;                    ///< motors × instants [unit of the control]
  Eigen::VectorXd time;                       ///< since the start of the recording, at instants [s]
  Eigen::VectorXd offsets;                    ///< encoder offsets in the angles [rad]
  std::vector<int> segment;                   ///< segment of each instant, ascending
  std::vector<std::vector<int>> absent;       ///< absent bodies of each segment
  /// Variance of the readings of each joint [rad²].
  Eigen::VectorXd angle_variance;

  /// The test functions of one segment, which differ only by a shift.
  struct FunctionShape {
    double spacing = 0.0;    ///< time between instants [s]
    Eigen::VectorXd values;  ///< φ at the instants of one function [1/s]
    /// Covariances of the integrals of two functions, indexed by the distance of their positions.
    /// `torque`: for white torque of the density 1 N²m²/Hz. `inertia`: for M q̈ with M = 1 and
    /// readings of q with variance 1.
    Eigen::Vector4d torque, inertia;
    /// Variances of the integral of one function for the same noise, low-pass filtered as the
    /// joint. One per joint.
    Eigen::VectorXd filtered_torque, filtered_inertia;
  };
  std::vector<FunctionShape> shapes;  ///< test functions of each segment
  struct TestFunction {
    int segment;
    int position;       ///< position of its first knot in the segment [knots]
    int first_instant;  ///< index of the first instant at which φ ≠ 0
  };
  std::vector<TestFunction> functions;  ///< ascending
  /// Joints × functions: share of ∫φ dt in which the joint moves so slowly that its direction is
  /// uncertain. Dry friction may then have any value between its bounds. Zero without dry friction.
  Eigen::ArrayXXd undirected;

  int function_count() const { return static_cast<int>(functions.size()); }
  /// Returns the integrals ∫φ u dt of the control of a motor, one for each test function.
  Eigen::VectorXd control_integrals(int motor) const;
};

/// Places test functions over the recordings, except near gaps of the readings and near the ends of
/// segments, where the low-pass filter of the initial states is inaccurate. If there are very many,
/// keeps an evenly distributed selection.
/// @param cutoff  cutoff of this filter [Hz]
ModulatedMotion place_test_functions(const Mechanism& mechanism, const ShootingInput& input,
                                     double cutoff);

}  // namespace estimator
