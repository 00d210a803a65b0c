#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Coordinates in which the torques of inverse dynamics are linear, although they are nonlinear in
/// the parameters of a mechanism [Gau90]. A body with estimated inertia or joint points has its
/// standard inertial parameters: mass m, first moments m c, and moments of inertia about its parent
/// joint. The centre of mass c and the other joint points are relative to that joint. Every other
/// estimated parameter is its own coordinate.
class StandardCoordinates {
 public:
  explicit StandardCoordinates(const Mechanism& mechanism);

  int size() const { return static_cast<int>(parameters_.size()); }
  /// Returns the parameters that determine the coordinates, one for each coordinate, as indices
  /// into Mechanism::parameters.
  const std::vector<int>& parameters() const { return parameters_; }

  /// Returns the values of the coordinates.
  Eigen::VectorXd values(const Mechanism& mechanism) const;

  /// Returns the derivatives of the coordinates with respect to the free parameters, size × free.
  Eigen::MatrixXd derivatives(const Mechanism& mechanism, const FreeParameters& free) const;

  /// Converts derivatives with respect to `parameters()` to derivatives with respect to the
  /// coordinates, both rows × size.
  /// @param at  parameter values; masses must be positive
  void convert_derivatives(const Mechanism& at, Eigen::MatrixXd& derivatives) const;

  /// Returns the mechanism, changed so that all bodies with standard parameters have a positive
  /// mass.
  Mechanism with_positive_masses(Mechanism mechanism) const;

 private:
  /// A body with standard parameters. Its points belong to its joints and its air drag; the point
  /// of the parent joint comes first. A point is given by the index of its first coordinate.
  struct StandardBody {
    int body;
    int first;  ///< position of its first coordinate
    std::vector<int> points;

    int size() const { return 7 + 3 * static_cast<int>(points.size()); }
  };
  Eigen::MatrixXd body_derivatives(const Mechanism& mechanism, const StandardBody& body) const;

  std::vector<int> parameters_;
  std::vector<StandardBody> bodies_;
};

}  // namespace estimator
