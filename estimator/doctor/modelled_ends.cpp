#include "estimator/doctor/modelled_ends.hpp"

namespace estimator {
namespace {

/// @param row     the last of a model, or its first
/// @param inward  −1 from the last one, +1 from the first
ModelledEnd end_of(const Eigen::MatrixXd& model, Eigen::Index row, Eigen::Index inward,
                   Eigen::Index sensor) {
  const double at = model(row, sensor), next = model(row + inward, sensor);
  const double third = model(row + 2 * inward, sensor);
  const double bend = third - 2.0 * next + at;
  const auto sign = static_cast<double>(inward);
  return {at, sign * (next - at - 0.5 * bend), bend};
}

const Eigen::MatrixXd* model_of(const Calibration& calibration, const Recording& recording,
                                std::size_t segment) {
  for (const SegmentTrajectory& trajectory : calibration.trajectories) {
    if (trajectory.recording != recording.name) continue;
    if (trajectory.start != recording.segments[segment].start) continue;
    return calibration.refined ? &trajectory.simulated : &trajectory.estimated;
  }
  return nullptr;
}

}  // namespace

std::optional<CutEnds> ends_at_cut(const Calibration& calibration, const Recording& recording,
                                   int behind) {
  const auto at = static_cast<std::size_t>(behind);
  const Eigen::MatrixXd* const first = model_of(calibration, recording, at - 1);
  const Eigen::MatrixXd* const next = model_of(calibration, recording, at);
  if (first == nullptr || next == nullptr || first->rows() < 3 || next->rows() < 3) return {};
  CutEnds ends;
  for (Eigen::Index i = 0; i < first->cols(); ++i) {
    ends.before.push_back(end_of(*first, first->rows() - 1, -1, i));
    ends.after.push_back(end_of(*next, 0, 1, i));
  }
  return ends;
}

}  // namespace estimator
