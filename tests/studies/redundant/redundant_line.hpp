#pragma once

#include <array>
#include <string>
#include <vector>

#include "tests/studies/redundant/redundant.hpp"

namespace service {

/// Properties of a link of a random chain. Its x axis points from its joint to the next joint.
struct LinkLine {
  double mass = 0.0;     ///< [kg]
  double length = 0.0;   ///< [m]
  double center = 0.0;   ///< distance from joint to centre of mass [m]
  double inertia = 0.0;  ///< about the centre of mass, perpendicular to the link [kg·m²]
  std::array<double, 2> sensors = {};  ///< distances from joint to inertial sensors [m]
};

/// Formats a random chain, its readings and its estimate as a JSON object, so that other programs
/// can estimate the same motion (scripts/redundant/compare.py).
std::string draw_line(const std::vector<LinkLine>& links, estimator::MotionObserver& estimator,
                      const Eigen::VectorXd& truth, const Eigen::VectorXd& prior_mean,
                      const Eigen::VectorXd& readings, const Eigen::VectorXd& motion,
                      const ChainResult& draw);

}  // namespace service
