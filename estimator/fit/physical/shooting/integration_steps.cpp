#include "estimator/fit/physical/shooting/integration_steps.hpp"

#include <algorithm>
#include <cmath>

namespace estimator {

double choose_integration_step(const Eigen::VectorXd& max_speed,
                               const IntegrationStepLimits& limits) {
  return std::clamp(limits.turn / max_speed.maxCoeff(), limits.shortest, limits.longest);
}

std::vector<double> choose_local_integration_steps(const Segment& segment,
                                                   const Eigen::MatrixXd& states, double spacing,
                                                   const Eigen::VectorXd& scales,
                                                   const IntegrationStepLimits& limits,
                                                   double shortest) {
  std::vector<double> steps;
  const Eigen::Index columns = states.cols(), joints = scales.size();
  const auto piece = std::max<Eigen::Index>(1, std::lround(kStepPiece / spacing));
  // Positions are computed from the time: rounding to whole samples would accumulate.
  const auto first_of = [&](std::size_t k) -> Eigen::Index {
    return std::lround(static_cast<double>(k) * kStepPiece / spacing);
  };
  for (std::size_t k = 0; first_of(k) < columns; ++k) {
    const Eigen::Index begin = std::max<Eigen::Index>(0, first_of(k) - piece / 2);
    const Eigen::Index end = std::min(columns, first_of(k) + piece + piece / 2 + 1);
    const auto rates = states.bottomRows(joints).middleCols(begin, end - begin);
    const int first_row =
        std::min(segment.first_sample_at_or_after(static_cast<double>(begin) * spacing),
                 segment.sample_count() - 1);
    const int last_row = segment.first_sample_at_or_after(static_cast<double>(end) * spacing);
    bool changes = false;
    for (const auto& control : segment.controls.colwise()) {
      const auto own = control.segment(first_row, std::max(last_row - first_row, 1));
      changes |= own.maxCoeff() > own.minCoeff();
    }
    const Eigen::VectorXd max_speed = rates.cwiseAbs().rowwise().maxCoeff().cwiseQuotient(scales);
    steps.push_back(changes ? shortest : choose_integration_step(max_speed, limits));
  }
  return steps;
}

std::vector<double> select_local_steps_after(const std::vector<double>& steps, double start) {
  const auto at = std::min(static_cast<std::size_t>(start / kStepPiece), steps.size() - 1);
  std::vector<double> own;
  for (std::size_t k = at; k < steps.size(); ++k) {
    own.push_back(std::min(steps[k], steps[std::min(k + 1, steps.size() - 1)]));
  }
  return own;
}

void limit_integration_steps(double longest, ShootingGrid& grid) {
  grid.step = std::min(grid.step, longest);
  for (std::vector<double>& steps : grid.local_steps) {
    for (double& step : steps) step = std::min(step, longest);
  }
}

}  // namespace estimator
