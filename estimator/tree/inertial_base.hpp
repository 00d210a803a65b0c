#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// One of the numbers that equations of motion are linear in: of each body its mass, first moments
/// m c and moments of inertia I about the joint that carries it, along the body's axes; of each
/// motor the inertia of its shaft.
struct StandardParameter {
  std::string name;  ///< "B.m", "B.mc_x", "B.I_xx", "1.J_shaft"
  std::string unit;
};

/// A sum of standard parameters that motion sees, such as "A.I_zz + 0.04 B.m".
struct BaseCombination {
  struct Term {
    int parameter;  ///< index of a standard parameter
    double factor;
  };
  std::vector<Term> terms;  ///< the one that it is named by first, with the factor 1

  /// Of standard parameters with these values.
  double value(const Eigen::VectorXd& standard) const;
};

/// What motions and torques of a mechanism can tell of its inertias at all: the base parameters
/// [Gau90], as many as the rank of the equations' coefficients over motions of every joint.
///
/// Parameters of bodies near the ground are kept and what only adds to them is grouped with them,
/// as textbooks do [Kha04]: I_yy of a link that turns about z goes with I_xx and the link before.
struct InertialBase {
  std::vector<StandardParameter> standard;
  std::vector<BaseCombination> base;
  std::vector<int> unseen;  ///< standard parameters without any effect
};

/// From the coefficients at random angles and accelerations, joints at rest: what rates add follows
/// from how inertias change with the angles. Loops are closed, and torques those of the joints that
/// move them.
///
/// @param seed  of the random motions; the result does not depend on it but for rounding
/// @throws std::invalid_argument with more joints than kTreeHingesMax, or loops that never close
InertialBase find_inertial_base(const Mechanism& mechanism, unsigned seed = 1);

/// Values of the standard parameters.
Eigen::VectorXd standard_values(const Mechanism& mechanism);

}  // namespace estimator
