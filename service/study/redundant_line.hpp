#pragma once

#include <array>
#include <string>
#include <vector>

#include "service/study/redundant.hpp"

namespace service {

/// A link of a drawn chain: x runs from its joint to the next.
struct LinkLine {
  double mass = 0.0;                   ///< [kg]
  double length = 0.0;                 ///< [m]
  double center = 0.0;                 ///< of mass, from the joint [m]
  double inertia = 0.0;                ///< about the centre of mass, across the link [kg·m²]
  std::array<double, 2> sensors = {};  ///< where inertial sensors sit, from the joint [m]
};

/// A draw as one JSON object, for other programs to estimate the same
/// (scripts/redundant/compare.py).
std::string draw_line(const std::vector<LinkLine>& links, estimator::InstantEstimator& estimator,
                      const Eigen::VectorXd& truth, const Eigen::VectorXd& prior_mean,
                      const Eigen::VectorXd& readings, const Eigen::VectorXd& motion,
                      const ChainDraw& draw);

}  // namespace service
