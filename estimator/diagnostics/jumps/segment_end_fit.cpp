#include "estimator/diagnostics/jumps/segment_end_fit.hpp"

namespace estimator {
namespace {

/// Returns the fitted value and derivatives at one end of a segment.
/// @param row     last or first row of the modelled readings
/// @param inward  −1 from the last row, +1 from the first
SegmentEndFit end_of(const Eigen::MatrixXd& model, Eigen::Index row, Eigen::Index inward,
                     Eigen::Index sensor, EndCurve curve) {
  const double at = model(row, sensor), next = model(row + inward, sensor);
  const double third = model(row + 2 * inward, sensor);
  const double curvature = third - 2.0 * next + at;
  const auto sign = static_cast<double>(inward);
  if (curve == EndCurve::kParabola) return {at, sign * (next - at - 0.5 * curvature), curvature};
  // The second difference is the curvature one row inward.
  const double change = model(row + 3 * inward, sensor) - 2.0 * third + next - curvature;
  const double own = curvature - change;
  return {at, sign * (next - at - 0.5 * own - change / 6.0), own, sign * change};
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
                                   int behind, EndCurve curve) {
  const auto at = static_cast<std::size_t>(behind);
  const Eigen::MatrixXd* const first = model_of(calibration, recording, at - 1);
  const Eigen::MatrixXd* const next = model_of(calibration, recording, at);
  const Eigen::Index rows = curve == EndCurve::kParabola ? 3 : 4;
  if (first == nullptr || next == nullptr || first->rows() < rows || next->rows() < rows) return {};
  CutEnds ends;
  for (Eigen::Index i = 0; i < first->cols(); ++i) {
    ends.before.push_back(end_of(*first, first->rows() - 1, -1, i, curve));
    ends.after.push_back(end_of(*next, 0, 1, i, curve));
  }
  return ends;
}

}  // namespace estimator
