#include "service/result/state_output.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "proto/recording/convert.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/recording/mcap/mcap_writer.hpp"
#include "proto/recording/topics.hpp"
#include "proto/sample.pb.h"
#include "proto/text/input_error.hpp"
#include "service/text/csv_row.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::JointLoad;
using estimator::StateEstimate;
using estimator::StateQuantity;

constexpr double kNanosecond = 1e-9;  // [s]
constexpr double kMissingState = std::numeric_limits<double>::quiet_NaN();

/// Copies the estimated states of a joint, or their standard deviations, to a message.
void fill(const Eigen::RowVectorXd& row, v1::JointEstimate& out) {
  const auto load = [&](JointLoad each) { return row[estimator::load_quantity_index(each)]; };
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

/// Name of a joint state in requests, and endings of its CSV columns for each joint type.
struct Quantity {
  const char* name;
  const char* turn;
  const char* slide;
};

// In the order of StateQuantity and JointLoad.
constexpr Quantity kQuantities[] = {{"angle", "rad", "m"},
                                    {"rate", "rad_per_s", "m_per_s"},
                                    {"acceleration", "rad_per_s2", "m_per_s2"},
                                    {"effort", "effort_Nm", "effort_N"},
                                    {"motor", "motor_Nm", "motor_N"},
                                    {"friction", "friction_Nm", "friction_N"},
                                    {"moment", "moment_x_Nm", "moment_x_Nm"},
                                    {"moment", "moment_y_Nm", "moment_y_Nm"},
                                    {"moment", "moment_z_Nm", "moment_z_Nm"},
                                    {"force", "force_x_N", "force_x_N"},
                                    {"force", "force_y_N", "force_y_N"},
                                    {"force", "force_z_N", "force_z_N"}};
static_assert(std::size(kQuantities) == estimator::kStateQuantities);

struct Column {
  Eigen::Index index;
  std::string name;
  bool is_control = false;  ///< a control, without a standard deviation
};

std::vector<Column> columns_of(const estimator::Mechanism& mechanism,
                               const std::vector<int>& wanted) {
  std::vector<Column> columns;
  Eigen::Index motor = 0;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const estimator::Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    for (const int quantity : wanted) {
      if (!estimator::is_observable(mechanism, j, quantity)) continue;
      const Quantity& facts = kQuantities[quantity];
      columns.push_back(
          {StateEstimate::column_index(j, quantity),
           joint.name + "_" + (joint.kind_traits().turns ? facts.turn : facts.slide)});
    }
    if (!joint.motor.present) continue;
    if (includes_joint_positions(wanted)) columns.push_back({motor, joint.name + "_control", true});
    ++motor;
  }
  return columns;
}

}  // namespace

void write_state_mcap(const std::string& path, const estimator::Mechanism& mechanism,
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
    motors.push_back(joint.motor.present ? motor_count++ : -1);
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
        const Eigen::Index first = estimator::StateEstimate::column_index(j, 0);
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

bool includes_joint_positions(const std::vector<int>& wanted) {
  return std::ranges::count(wanted, static_cast<int>(estimator::StateQuantity::kAngle)) > 0;
}

std::vector<std::string> requestable_state_names() {
  std::vector<std::string> names;
  for (const Quantity& each : kQuantities) names.emplace_back(each.name);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

std::vector<int> find_state_quantities(const std::string& name) {
  std::vector<int> quantities;
  for (int i = 0; i < estimator::kStateQuantities; ++i) {
    if (name == kQuantities[i].name) quantities.push_back(i);
  }
  return quantities;
}

std::string format_state_csv(const estimator::Mechanism& mechanism,
                             const std::vector<StateEstimate>& estimates,
                             const std::vector<int>& wanted) {
  const std::vector<Column> columns = columns_of(mechanism, wanted);
  std::vector<std::string> cells = {"recording", "t_s"};
  for (const Column& column : columns) {
    cells.push_back(column.name);
    if (!column.is_control) cells.push_back(column.name + "_sd");
  }
  std::string text = format_csv_row(cells);
  for (const StateEstimate& estimate : estimates) {
    for (std::size_t k = 0; k < estimate.times.size(); ++k) {
      const auto row = static_cast<Eigen::Index>(k);
      cells = {estimate.recording, format_csv_number(estimate.start + estimate.times[k])};
      for (const Column& column : columns) {
        if (column.is_control) {
          cells.push_back(format_csv_number(estimate.controls(row, column.index)));
          continue;
        }
        cells.push_back(format_csv_number(estimate.values(row, column.index)));
        cells.push_back(format_csv_number(estimate.deviations(row, column.index)));
      }
      text += format_csv_row(cells);
    }
  }
  return text;
}

}  // namespace service
