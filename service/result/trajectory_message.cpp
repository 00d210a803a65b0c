#include "service/result/trajectory_message.hpp"

#include "estimator/model/encoder.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;

/// Appends a column of a matrix to `out`, unless the matrix lacks the column. Without a simulation,
/// for example, the matrix of simulated angles is empty.
void add_column(const Eigen::MatrixXd& matrix, Eigen::Index column,
                google::protobuf::RepeatedField<double>* out) {
  if (column >= matrix.cols()) return;
  const Eigen::VectorXd values = matrix.col(column);
  out->Add(values.begin(), values.end());
}

}  // namespace

void add_trajectories(const estimator::Calibration& calibration,
                      const std::vector<std::string>& controls,
                      google::protobuf::RepeatedPtrField<v1::TrajectoryResult>* out_list) {
  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(calibration.mechanism);
  for (const estimator::SegmentTrajectory& trajectory : calibration.trajectories) {
    v1::TrajectoryResult* out = out_list->Add();
    out->set_recording(trajectory.recording);
    for (Eigen::Index k = 0; k < trajectory.measured.rows(); ++k) {
      out->add_time_s(trajectory.time(k));
    }
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      v1::SensorTrajectory* sensor = out->add_sensors();
      const auto column = static_cast<Eigen::Index>(i);
      sensor->set_sensor(sensors[i].name);
      sensor->set_unit(sensors[i].units().coordinate);
      add_column(trajectory.measured, column, sensor->mutable_measured());
      add_column(trajectory.estimated, column, sensor->mutable_estimated());
      add_column(trajectory.simulated, column, sensor->mutable_simulated());
    }
    for (std::size_t i = 0; i < controls.size(); ++i) {
      v1::ControlTrajectory* control = out->add_controls();
      control->set_control(controls[i]);
      add_column(trajectory.control, static_cast<Eigen::Index>(i), control->mutable_value());
    }
  }
}

}  // namespace service
