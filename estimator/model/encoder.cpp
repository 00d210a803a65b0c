#include "estimator/model/encoder.hpp"

#include <Eigen/Geometry>
#include <cmath>
#include <deque>
#include <map>
#include <optional>

#include "estimator/math/decompositions.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

constexpr double kParallel = 1e-6;   // sine of the angle below which axes count as parallel
constexpr double kRankLimit = 1e-9;  // relative rank tolerance of a matrix of ones

/// Returns the shortest path of joints between two bodies, in order; empty if there is none.
std::vector<DirectedJoint> way_between(const Mechanism& mechanism, int from, int to) {
  std::vector<DirectedJoint> all;
  for (const DirectedJoint& edge : all_directed_joints(mechanism)) {
    all.push_back(edge);
    all.push_back(edge.reversed());
  }
  std::map<int, const DirectedJoint*> reached = {{from, nullptr}};
  std::deque<int> open = {from};
  while (!open.empty() && reached.count(to) == 0) {
    const int body = open.front();
    open.pop_front();
    for (const DirectedJoint& edge : all) {
      if (edge.parent.body != body || !reached.emplace(edge.child.body, &edge).second) continue;
      open.push_back(edge.child.body);
    }
  }
  std::vector<DirectedJoint> way;
  if (reached.count(to) == 0) return way;
  for (int body = to; body != from; body = way.front().parent.body) {
    way.insert(way.begin(), *reached[body]);
  }
  return way;
}

JointKind kind_of(const Mechanism& mechanism, const std::vector<DirectedJoint>& way) {
  std::optional<JointKind> first;
  for (const DirectedJoint& edge : way) {
    if (edge.weld) continue;
    const Joint& joint = mechanism.joints[edge.joint];
    if (joint.kind_traits().turns) return joint.kind;
    if (!first) first = joint.kind;
  }
  return first.value_or(JointKind{});
}

}  // namespace

JointKind encoder_joint_kind(const Mechanism& mechanism, const BodyEncoder& encoder) {
  return kind_of(mechanism, way_between(mechanism, encoder.body_a, encoder.body_b));
}

/// Transforms the common joint axis from body to body along the path. A revolute joint leaves its
/// own axis unchanged, and all counted axes are parallel.
std::vector<Encoder::JointTerm> encoder_joint_terms(const Mechanism& mechanism,
                                                    const BodyEncoder& encoder,
                                                    std::vector<Message>* errors) {
  const auto joint_at = [&](int j) -> const Joint& { return mechanism.joints[j]; };
  const auto refuse = [&](Message error) -> std::vector<Encoder::JointTerm> {
    if (errors != nullptr) errors->push_back(std::move(error));
    return {};
  };
  const std::vector<DirectedJoint> way = way_between(mechanism, encoder.body_a, encoder.body_b);
  const JointKind kind = kind_of(mechanism, way);
  std::vector<Encoder::JointTerm> terms;
  Eigen::Vector3d axis = Eigen::Vector3d::Zero();
  for (const DirectedJoint& edge : way) {
    if (!edge.weld && joint_at(edge.joint).is_compound()) {
      return refuse({MessageCode::kEncoderAcrossCompoundJoint,
                     {{"encoder", encoder.name}, {"joint", compound_name(joint_at(edge.joint))}}});
    }
    const Eigen::Vector3d own = edge.parent.frame.col(0);
    if (!edge.weld && joint_at(edge.joint).kind == kind) {
      if (terms.empty()) axis = own;
      if (axis.cross(own).norm() > kParallel) {
        return refuse({MessageCode::kNonparallelAxes,
                       {{"encoder", encoder.name},
                        {"first", joint_at(terms.back().joint).name},
                        {"second", joint_at(edge.joint).name}}});
      }
      terms.push_back({edge.joint, (axis.dot(own) > 0.0) == edge.forward ? 1.0 : -1.0});
    }
    axis = edge.child.frame * edge.parent.frame.transpose() * axis;
  }
  if (terms.empty()) return refuse({MessageCode::kNoRelativeMotion, {{"encoder", encoder.name}}});
  return terms;
}

std::vector<Encoder> all_encoders(const Mechanism& mechanism) {
  std::vector<Encoder> sensors;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const Joint& joint = mechanism.joints[j];
    if (!joint.measured) continue;
    sensors.push_back({joint.name,
                       joint.kind,
                       {{j, 1.0}},
                       mechanism.joint_parameter_index(j, JointParameter::kEncoderOffset),
                       mechanism.joint_parameter_index(j, JointParameter::kEncoderDelay),
                       mechanism.joint_parameter_index(j, JointParameter::kEncoderSine1)});
  }
  for (int i = 0; i < mechanism.count_encoders_between_bodies(); ++i) {
    const BodyEncoder& encoder = mechanism.body_encoders[i];
    sensors.push_back({encoder.name, encoder_joint_kind(mechanism, encoder),
                       encoder_joint_terms(mechanism, encoder),
                       mechanism.body_encoder_parameter_index(i, EncoderParameter::kOffset),
                       mechanism.body_encoder_parameter_index(i, EncoderParameter::kDelay),
                       mechanism.body_encoder_parameter_index(i, EncoderParameter::kSine1)});
  }
  return sensors;
}

bool is_held_out(const Mechanism& mechanism, const std::string& name) {
  return std::ranges::count(mechanism.held_out, name) > 0;
}

std::vector<Encoder> used_encoders(const Mechanism& mechanism) {
  std::vector<Encoder> sensors = all_encoders(mechanism);
  std::erase_if(sensors,
                [&](const Encoder& sensor) { return is_held_out(mechanism, sensor.name); });
  return sensors;
}

bool is_sensor_parameter(const Mechanism& mechanism, int parameter) {
  if (parameter >= mechanism.body_encoder_parameter_index(0, {})) {
    return parameter < mechanism.sensor_parameter_index(mechanism.sensor_count(), {});
  }
  const int of_joints = parameter - mechanism.joint_parameter_index(0, {});
  if (of_joints < 0 || of_joints >= mechanism.joint_count() * Mechanism::kJointParameters) {
    return false;
  }
  const auto quantity = static_cast<JointParameter>(of_joints % Mechanism::kJointParameters);
  return quantity >= JointParameter::kEncoderOffset && quantity <= JointParameter::kEncoderCosine2;
}

bool is_held_out_sensor_parameter(const Mechanism& mechanism, int parameter) {
  if (!is_sensor_parameter(mechanism, parameter)) return false;
  const std::string& name = mechanism.at(parameter).name;
  return is_held_out(mechanism, name.substr(0, name.rfind('.')));
}

bool affects_motion(const Mechanism& mechanism, int parameter) {
  if (!is_sensor_parameter(mechanism, parameter)) return true;
  return std::ranges::any_of(mechanism.dependencies, [&](const ParameterDependency& tie) {
    return !is_sensor_parameter(mechanism, tie.parameter) &&
           std::ranges::count(tie.terms, parameter, &DependencyTerm::parameter) > 0;
  });
}

bool has_delay(const Mechanism& mechanism, const Encoder& sensor) {
  return has_effect(mechanism, sensor.delay);
}

bool has_harmonics(const Mechanism& mechanism, const Encoder& sensor) {
  for (int i = 0; i < Encoder::kHarmonicAmplitudes; ++i) {
    if (has_effect(mechanism, sensor.harmonics + i)) return true;
  }
  return false;
}

std::vector<JointKind> encoder_joint_kinds(const Mechanism& mechanism) {
  std::vector<JointKind> kinds;
  for (const Encoder& sensor : used_encoders(mechanism)) kinds.push_back(sensor.kind);
  return kinds;
}

Eigen::VectorXd readings_per_radian(const Mechanism& mechanism) {
  const std::vector<JointKind> kinds = encoder_joint_kinds(mechanism);
  Eigen::VectorXd scales(static_cast<Eigen::Index>(kinds.size()));
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    scales[i] = joint_units(kinds[i]).scale;
  }
  return scales;
}

EncoderToJointMap::EncoderToJointMap(const Mechanism& mechanism)
    : sensors_(used_encoders(mechanism)) {
  const auto rows = static_cast<Eigen::Index>(sensors_.size());
  const Eigen::Index joints = mechanism.joint_count();
  matrix_.setZero(rows, joints);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (const Encoder::JointTerm& term : sensors_[i].terms) {
      matrix_(i, term.joint) += term.sign;
    }
  }
  inverse_ = pseudo_inverse(matrix_, kRankLimit);
  const Eigen::MatrixXd resolution = inverse_ * matrix_;  // the identity if all joints are observed
  for (Eigen::Index j = 0; j < joints; ++j) {
    observed_.push_back(std::abs(resolution(j, j) - 1.0) < kRankLimit);
  }
}

Eigen::VectorXd EncoderToJointMap::full_turn_corrections(
    const Eigen::Ref<const Eigen::VectorXd>& readings) const {
  const Eigen::Index rows = matrix_.rows();
  Eigen::VectorXd turns = Eigen::VectorXd::Zero(rows);
  for (Eigen::Index i = 1; i < rows; ++i) {
    if (!sensors_[i].kind_traits().wraps) continue;
    // weights · earlier rows = this row, if the earlier readings determine this one
    const Eigen::MatrixXd before = matrix_.topRows(i).transpose();
    const Eigen::VectorXd weights = least_squares(before, matrix_.row(i).transpose());
    if ((before * weights - matrix_.row(i).transpose()).norm() > kRankLimit) continue;
    const double expected = weights.dot(readings.head(i) + turns.head(i));
    turns[i] = kWholeTurn * estimator::removed_full_turns(expected - readings[i]);
  }
  return turns;
}

}  // namespace estimator
