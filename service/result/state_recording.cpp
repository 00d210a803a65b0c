#include "service/result/state_recording.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "proto/recording/convert.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/recording/mcap/mcap_writer.hpp"
#include "proto/recording/topics.hpp"
#include "proto/sample.pb.h"
#include "proto/text/input_error.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::JointLoad;
using estimator::StateQuantity;

constexpr double kNanosecond = 1e-9;  // [s]
constexpr double kMissingState = std::numeric_limits<double>::quiet_NaN();

/// Copies the estimated states of a joint, or their standard deviations, to a message.
void fill(const Eigen::RowVectorXd& row, v1::JointEstimate& out) {
  const auto load = [&](JointLoad each) { return row[estimator::quantity_of(each)]; };
  out.set_position(row[static_cast<int>(StateQuantity::kAngle)]);
  out.set_velocity(row[static_cast<int>(StateQuantity::kRate)]);
  out.set_acceleration(row[static_cast<int>(StateQuantity::kAcceleration)]);
  out.set_effort(load(JointLoad::kTorque));
  out.set_motor_effort(load(JointLoad::kMotorTorque));
  out.set_friction_effort(load(JointLoad::kFriction));
  v1::Vector3& moment = *out.mutable_wrench()->mutable_torque();
  moment.set_x(load(JointLoad::kMomentX));
  moment.set_y(load(JointLoad::kMomentY));
  moment.set_z(load(JointLoad::kMomentZ));
  v1::Vector3& force = *out.mutable_wrench()->mutable_force();
  force.set_x(load(JointLoad::kForceX));
  force.set_y(load(JointLoad::kForceY));
  force.set_z(load(JointLoad::kForceZ));
}

void check(const std::string& path, const proto::Status& status) {
  if (!status.ok()) throw proto::InputError(path + ": " + status.error().detail);
}

}  // namespace

void write_state_recording(const std::string& path, const estimator::Mechanism& mechanism,
                           const std::vector<estimator::StateEstimate>& estimates,
                           const std::vector<int>& wanted) {
  auto file = proto::create_output_file(path);
  if (!file.ok()) throw proto::InputError(path + ": " + file.error().detail);
  proto::McapWriter writer(std::move(file.value()), {});
  check(path, writer.start());
  std::vector<std::uint16_t> channels;
  std::vector<Eigen::Index> motors;  // column of each joint's control; −1: no motor
  Eigen::Index motor_count = 0;
  for (const estimator::Joint& joint : mechanism.joints) {
    motors.push_back(joint.motorised ? motor_count++ : -1);
    channels.push_back(
        proto::add_message_channel(writer, std::string(proto::kJointTopics.name) + joint.name,
                                   *v1::JointEstimate::descriptor()));
  }
  Eigen::RowVectorXd unwanted =
      Eigen::RowVectorXd::Constant(estimator::kStateQuantities, kMissingState);
  for (const int quantity : wanted) unwanted[quantity] = 0.0;
  std::uint32_t sequence = 0;
  std::string bytes;
  for (const estimator::StateEstimate& estimate : estimates) {
    for (std::size_t k = 0; k < estimate.times.size(); ++k, ++sequence) {
      const auto row = static_cast<Eigen::Index>(k);
      const double time = estimate.start + estimate.times[k];
      const auto time_ns =
          static_cast<std::uint64_t>(std::llround(std::max(time, 0.0) / kNanosecond));
      for (int j = 0; j < mechanism.joint_count(); ++j) {
        const auto joint = static_cast<std::size_t>(j);
        const Eigen::Index first = estimator::StateEstimate::column(j, 0);
        v1::JointEstimate message;
        message.set_timestamp(time);
        const auto of_joint = [&](const Eigen::MatrixXd& all) {
          return all.row(row).segment(first, estimator::kStateQuantities) + unwanted;
        };
        fill(of_joint(estimate.values), message);
        fill(of_joint(estimate.deviations), *message.mutable_standard_deviation());
        message.set_control(motors[joint] < 0
                                ? kMissingState
                                : estimate.controls(row, motors[joint]) + unwanted[0]);
        message.SerializeToString(&bytes);
        check(path, writer.write_message({.channel_id = channels[joint],
                                          .sequence = sequence,
                                          .log_time_ns = time_ns,
                                          .publish_time_ns = time_ns,
                                          .data = proto::as_bytes(bytes)}));
      }
    }
  }
  check(path, writer.complete());
  check(path, writer.publish());
}

}  // namespace service
