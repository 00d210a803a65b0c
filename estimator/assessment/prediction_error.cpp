#include "estimator/assessment/prediction_error.hpp"

#include <cmath>
#include <limits>

namespace estimator {

void PredictionError::add(const PredictionError& other) {
  squares += other.squares;
  readings += other.readings;
  if (!(other.largest <= largest)) largest = other.largest;
}

double PredictionError::rmse() const {
  return readings > 0 ? std::sqrt(squares / static_cast<double>(readings))
                      : std::numeric_limits<double>::quiet_NaN();
}

PredictionError prediction_error(const SegmentTrajectory& trajectory, Eigen::Index sensor,
                                 JointKind kind, Eigen::Index first) {
  PredictionError error;
  if (first == 0 && std::isnan(trajectory.simulated(0, sensor))) first = 1;
  for (Eigen::Index k = first; k < trajectory.measured.rows(); ++k) {
    if (std::isnan(trajectory.measured(k, sensor))) continue;
    const double difference = std::abs(
        joint_difference(kind, trajectory.simulated(k, sensor) - trajectory.measured(k, sensor)));
    error.add({difference * difference, 1, difference});
  }
  return error;
}

double pooled_rmse(const std::vector<SegmentTrajectory>& trajectories,
                   const std::vector<JointKind>& kinds) {
  PredictionError pooled;
  for (const SegmentTrajectory& trajectory : trajectories) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const double scale = joint_units(kinds[i]).scale;
      const PredictionError own =
          prediction_error(trajectory, static_cast<Eigen::Index>(i), kinds[i]);
      pooled.add({own.squares / (scale * scale), own.readings, own.largest / scale});
    }
  }
  return pooled.rmse();
}

}  // namespace estimator
