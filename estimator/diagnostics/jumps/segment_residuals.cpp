#include "estimator/diagnostics/jumps/segment_residuals.hpp"

#include <algorithm>
#include <cmath>

namespace estimator {
namespace {

/// Smallest significant step in residuals, relative to their root mean square over the recording.
/// An unmodelled slip leaves half of its size on either side; smaller steps belong to other misfit.
constexpr double kResidualStep = 0.5;

const Segment* find_segment(const std::vector<Recording>& recordings,
                            const SegmentTrajectory& trajectory, int& recording, int& segment) {
  for (std::size_t r = 0; r < recordings.size(); ++r) {
    if (recordings[r].name != trajectory.recording) continue;
    for (std::size_t s = 0; s < recordings[r].segments.size(); ++s) {
      const Segment& each = recordings[r].segments[s];
      if (each.start != trajectory.start || each.sample_count() != trajectory.measured.rows()) {
        continue;
      }
      recording = static_cast<int>(r);
      segment = static_cast<int>(s);
      return &each;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<SegmentResiduals> modelled_segments(const Calibration& calibration,
                                                const std::vector<Encoder>& sensors,
                                                const std::vector<Recording>& recordings,
                                                int wanted) {
  std::vector<SegmentResiduals> modelled;
  for (const SegmentTrajectory& trajectory : calibration.trajectories) {
    int recording = 0, index = 0;
    const Segment* segment = find_segment(recordings, trajectory, recording, index);
    if (segment == nullptr || recording != wanted) continue;
    const Eigen::MatrixXd& model =
        calibration.refined ? trajectory.simulated : trajectory.estimated;
    Eigen::MatrixXd left = segment->angles - model;
    for (Eigen::Index i = 0; i < left.cols(); ++i) {
      for (double& error : left.col(i)) {
        error = sensors[static_cast<std::size_t>(i)].difference(error);
      }
    }
    modelled.push_back({index, segment, &model, std::move(left)});
  }
  return modelled;
}

std::vector<double> root_mean_squares(const std::vector<SegmentResiduals>& modelled,
                                      std::size_t sensors) {
  std::vector<double> squares(sensors, 0.0), counts(sensors, 0.0);
  for (const SegmentResiduals& each : modelled) {
    for (Eigen::Index i = 0; i < each.left.cols(); ++i) {
      for (const double error : each.left.col(i)) {
        if (std::isnan(error)) continue;
        squares[static_cast<std::size_t>(i)] += error * error;
        counts[static_cast<std::size_t>(i)] += 1.0;
      }
    }
  }
  for (std::size_t i = 0; i < sensors; ++i) {
    squares[i] = std::sqrt(squares[i] / std::max(counts[i], 1.0));
  }
  return squares;
}

bool exceeds_residuals(double step, double left) { return std::abs(step) > kResidualStep * left; }

double model_jump(const Eigen::MatrixXd& model, int row, int sensor) {
  if (row < 2 || row + 1 >= model.rows()) return 0.0;
  const auto change = [&](int k) { return model(k, sensor) - model(k - 1, sensor); };
  return change(row) - 0.5 * (change(row - 1) + change(row + 1));
}

}  // namespace estimator
