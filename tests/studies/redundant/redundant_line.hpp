#pragma once

#include <array>
#include <string>
#include <vector>

#include "tests/studies/redundant/redundant.hpp"

namespace service {

/// A link of a drawn chain: x points from its joint to the next.
struct LinkLine {
  double mass = 0.0;     ///< [kg]
  double length = 0.0;   ///< [m]
  double center = 0.0;   ///< distance of the centre of mass from the joint [m]
  double inertia = 0.0;  ///< about the centre of mass, perpendicular to the link [kg·m²]
  std::array<double, 2> sensors = {};  ///< distances of inertial sensors from the joint [m]
};

/// Formats a draw as one JSON object, so that other programs can estimate it
/// (scripts/redundant/compare.py).
std::string draw_line(const std::vector<LinkLine>& links, estimator::MotionObserver& estimator,
                      const Eigen::VectorXd& truth, const Eigen::VectorXd& prior_mean,
                      const Eigen::VectorXd& readings, const Eigen::VectorXd& motion,
                      const ChainResult& draw);

}  // namespace service
