#include "estimator/fit/physical/integration_steps.hpp"

#include <algorithm>
#include <cmath>

namespace estimator {
namespace {

constexpr double kLongestStep = 0.004;   // [s]
constexpr double kShortestStep = 0.001;  // [s]; that speeds in wrong units can ask for
constexpr double kLongestTurn = 0.04;    // of a hinge in a step [rad]

}  // namespace

double choose_step(const Eigen::VectorXd& fastest) {
  return std::clamp(kLongestTurn / fastest.maxCoeff(), kShortestStep, kLongestStep);
}

std::vector<double> choose_local_steps(const Segment& segment, const Eigen::MatrixXd& states,
                                       double spacing, const Eigen::VectorXd& scales,
                                       double shortest) {
  std::vector<double> steps;
  const Eigen::Index columns = states.cols(), hinges = scales.size();
  const auto piece = std::max<Eigen::Index>(1, std::lround(kStepPiece / spacing));
  for (Eigen::Index first = 0; first < columns; first += piece) {
    const Eigen::Index begin = std::max<Eigen::Index>(0, first - piece / 2);
    const Eigen::Index end = std::min(columns, first + piece + piece / 2 + 1);
    const auto rates = states.bottomRows(hinges).middleCols(begin, end - begin);
    const int first_row = std::min(segment.first_sample_from(static_cast<double>(begin) * spacing),
                                   segment.sample_count() - 1);
    const int last_row = segment.first_sample_from(static_cast<double>(end) * spacing);
    bool changes = false;
    for (const auto& control : segment.controls.colwise()) {
      const auto own = control.segment(first_row, std::max(last_row - first_row, 1));
      changes |= own.maxCoeff() > own.minCoeff();
    }
    steps.push_back(changes
                        ? shortest
                        : choose_step(rates.cwiseAbs().rowwise().maxCoeff().cwiseQuotient(scales)));
  }
  return steps;
}

void limit_steps(double longest, ShootingGrid& grid) {
  grid.step = std::min(grid.step, longest);
  for (std::vector<double>& steps : grid.local_steps) {
    for (double& step : steps) step = std::min(step, longest);
  }
}

}  // namespace estimator
