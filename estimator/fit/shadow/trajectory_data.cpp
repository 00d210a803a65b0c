#include "estimator/fit/shadow/trajectory_data.hpp"

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/fit/loop_closed_states.hpp"
#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/signal/resample.hpp"

namespace estimator {

TrajectoryData make_trajectory_data(const Mechanism& mechanism, const Segment& segment, double step,
                                    double cutoff, const std::string& where) {
  TrajectoryData data;
  data.start = segment.start;
  data.period = segment.period;
  data.controls = segment.controls;
  data.angles = resample_segment(remove_encoder_slips(mechanism, segment), step).angles;
  const Eigen::MatrixXd start =
      compute_initial_coordinates(mechanism, segment, step, data.angles.rows(), {cutoff});
  Eigen::MatrixXd states = Eigen::MatrixXd::Zero(2 * start.cols(), start.rows());
  states.topRows(start.cols()) = start.transpose();
  if (mechanism.joint_count() <= kTreeJointsMax) close_loops(mechanism, step, where, states);
  const ModelParameterValues values = unpack_parameters(mechanism);
  data.initial.reserve(static_cast<std::size_t>(start.rows()));
  for (const auto& state : states.colwise()) {
    data.initial.push_back(assemble_configuration(mechanism, values, state.head(start.cols())));
  }
  return data;
}

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
  for (const int j : joints_with_motor(mechanism)) {
    const Parameter& delay = mechanism.joint_parameter(j, JointParameter::kInputDelay);
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
