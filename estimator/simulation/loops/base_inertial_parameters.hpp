#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// A standard inertial parameter of a mechanism. The equations of motion are linear in these
/// parameters. Each body has a mass, first moments m c, and moments of inertia I about its parent
/// joint along the body's axes. Each motor has the inertia of its rotor.
struct StandardInertialParameter {
  std::string name;  ///< "B.m", "B.mc_x", "B.I_xx", "1.J_shaft"
  std::string unit;
};

/// An identifiable linear combination of standard parameters, such as "A.I_zz + 0.04 B.m".
struct BaseParameter {
  struct WeightedParameter {
    int parameter;  ///< index of a standard parameter
    double factor;
  };
  std::vector<WeightedParameter>
      terms;  ///< the first is the parameter that names the combination, with the factor 1

  /// Returns the value of the combination for given values of the standard parameters.
  double value(const Eigen::VectorXd& standard) const;
};

/// Base parameters of a mechanism [Gau90]: the inertial parameters identifiable from its motions
/// and torques. Their number is the rank of the regressor over motions of all joints.
///
/// Parameters of bodies near the ground are kept. A parameter whose regressor column depends
/// linearly on other columns is grouped with these columns, as in textbooks [Kha04]. For a link
/// that rotates about z, I_yy is grouped with I_xx and with the previous link.
struct BaseInertialParameters {
  std::vector<StandardInertialParameter> standard;
  std::vector<BaseParameter> base;
  std::vector<int> without_effect;  ///< standard parameters that affect no torque
};

/// Computes the base parameters from the regressor at random angles and accelerations with zero
/// rates. Rate terms add no information, since they follow from the inertia as a function of the
/// configuration. Motions keep loops closed; torques are torques of the independent joints.
///
/// @param seed  seed of the random motions; it affects the result by round-off only
/// @throws std::invalid_argument for more than kTreeJointsMax joints, or loops that cannot be
/// closed
BaseInertialParameters find_base_inertial_parameters(const Mechanism& mechanism, unsigned seed = 1);

/// Returns the values of the standard parameters.
Eigen::VectorXd standard_parameter_values(const Mechanism& mechanism);

}  // namespace estimator
