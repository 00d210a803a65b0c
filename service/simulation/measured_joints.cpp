#include "service/simulation/measured_joints.hpp"

#include <cmath>

#include "estimator/model/encoder.hpp"

namespace service {

MeasuredJoints::MeasuredJoints(const Rig& rig)
    : states_(static_cast<std::size_t>(rig.mechanism.joint_count())) {
  const std::vector<estimator::Encoder> encoders = estimator::used_encoders(rig.mechanism);
  for (std::size_t i = 0; i < encoders.size(); ++i) {
    if (encoders[i].terms.size() != 1) continue;
    measured_.push_back({.joint = static_cast<std::size_t>(encoders[i].terms.front().joint),
                         .encoder = static_cast<Eigen::Index>(i),
                         .count = rig.encoders[i].count});
  }
}

std::span<const daq::JointState> MeasuredJoints::add(double time, const Eigen::VectorXd& readings,
                                                     const Plant& plant) {
  for (std::size_t j = 0; j < states_.size(); ++j) {
    const auto at = static_cast<Eigen::Index>(j);
    states_[j] = {plant.joint_coordinates()[at], plant.joint_speeds()[at], true};
  }
  for (MeasuredJoint& each : measured_) {
    double reading = readings[each.encoder];
    if (each.count > 0.0) reading = std::round(reading / each.count) * each.count;
    states_[each.joint] = {reading, each.tracker.add(time, reading), true};
  }
  return states_;
}

}  // namespace service
