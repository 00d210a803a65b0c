#include "estimator/fit/shadow/step_controls.hpp"

#include "estimator/signal/resample.hpp"

namespace estimator {
namespace {

/// Change of the delay for differences of the mean control, relative to the sampling period. The
/// mean is piecewise linear in the delay, so any small change is exact.
constexpr double kDelayDifference = 1e-6;

}  // namespace

StepControlTable make_step_controls(const Mechanism& mechanism, const Eigen::MatrixXd& controls,
                                    double period, double step, int node_count) {
  StepControlTable table;
  table.mean.resize(node_count, controls.cols());
  table.delay_slope.setZero(node_count, controls.cols());
  Eigen::Index motor = 0;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (!mechanism.joints[static_cast<std::size_t>(j)].motorised) continue;
    const Parameter& delay = mechanism.joint_parameter(j, JointQuantity::kInputDelay);
    const auto mean = [&](double later) -> Eigen::VectorXd {
      return average_controls(controls.col(motor), period, step, node_count,
                              delay.value + 0.5 * step + later)
          .mean;
    };
    table.mean.col(motor) = mean(0.0);
    if (delay.free) {
      const double distance = kDelayDifference * period;
      table.delay_slope.col(motor) = (mean(distance) - mean(-distance)) / (2.0 * distance);
    }
    ++motor;
  }
  return table;
}

}  // namespace estimator
