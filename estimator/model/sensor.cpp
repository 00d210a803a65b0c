#include "estimator/model/sensor.hpp"

#include <Eigen/Geometry>
#include <cmath>
#include <deque>
#include <map>

#include "estimator/math/decompositions.hpp"

namespace estimator {
namespace {

constexpr double kParallel = 1e-6;   // sine of the angle below which axes count as parallel
constexpr double kRankLimit = 1e-9;  // relative rank tolerance of a matrix of ones

/// A joint on the path from one body to another.
struct Crossing {
  int hinge;  ///< −1: a fixed joint
  int from, to;
  Eigen::Matrix3d from_frame, to_frame;  ///< rotations: joint frame → body
  double sign;                           ///< −1: passed from the child to the parent
};

template <typename Joint>
void add_crossings(const Joint& joint, int hinge, std::vector<Crossing>& all) {
  all.push_back({hinge, joint.body_a, joint.body_b, joint.frame_a, joint.frame_b, 1.0});
  all.push_back({hinge, joint.body_b, joint.body_a, joint.frame_b, joint.frame_a, -1.0});
}

/// The shortest path between two bodies, in order; empty if there is none.
std::vector<Crossing> way_between(const Mechanism& mechanism, int from, int to) {
  std::vector<Crossing> all;
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    add_crossings(mechanism.hinges[static_cast<std::size_t>(j)], j, all);
  }
  for (const Weld& weld : mechanism.welds) add_crossings(weld, -1, all);
  std::map<int, const Crossing*> reached = {{from, nullptr}};
  std::deque<int> open = {from};
  while (!open.empty() && reached.count(to) == 0) {
    const int body = open.front();
    open.pop_front();
    for (const Crossing& crossing : all) {
      if (crossing.from != body || !reached.emplace(crossing.to, &crossing).second) continue;
      open.push_back(crossing.to);
    }
  }
  std::vector<Crossing> way;
  if (reached.count(to) == 0) return way;
  for (int body = to; body != from; body = way.front().from) {
    way.insert(way.begin(), *reached[body]);
  }
  return way;
}

JointKind kind_of(const Mechanism& mechanism, const std::vector<Crossing>& way) {
  std::optional<JointKind> first;
  for (const Crossing& crossing : way) {
    if (crossing.hinge < 0) continue;
    const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(crossing.hinge)];
    if (hinge.traits().turns) return hinge.kind;
    if (!first) first = hinge.kind;
  }
  return first.value_or(JointKind{});
}

}  // namespace

JointKind kind_between(const Mechanism& mechanism, const BodyEncoder& encoder) {
  return kind_of(mechanism, way_between(mechanism, encoder.body_a, encoder.body_b));
}

/// Transforms the common axis of rotation or translation from body to body. A revolute joint leaves
/// its own axis unchanged, and all counted axes are parallel.
std::vector<Sensor::Term> terms_between(const Mechanism& mechanism, const BodyEncoder& encoder,
                                        std::string& fault) {
  const auto hinge_at = [&](int j) -> const Hinge& {
    return mechanism.hinges[static_cast<std::size_t>(j)];
  };
  const std::string who = "encoder \"" + encoder.name + "\": ";
  const std::vector<Crossing> way = way_between(mechanism, encoder.body_a, encoder.body_b);
  const JointKind kind = kind_of(mechanism, way);
  std::vector<Sensor::Term> terms;
  Eigen::Vector3d axis = Eigen::Vector3d::Zero();
  for (const Crossing& crossing : way) {
    const bool counts = crossing.hinge >= 0 && hinge_at(crossing.hinge).kind == kind;
    const Eigen::Vector3d own = crossing.from_frame.col(0);
    if (counts) {
      if (terms.empty()) axis = own;
      if (axis.cross(own).norm() > kParallel) {
        fault = who + "the axes of \"" + hinge_at(terms.back().hinge).name + "\" and \"" +
                hinge_at(crossing.hinge).name +
                "\" between its bodies are not parallel, so the angle between the bodies is "
                "undefined; attach it to a joint";
        return {};
      }
      terms.push_back({crossing.hinge, axis.dot(own) > 0.0 ? crossing.sign : -crossing.sign});
    }
    axis = crossing.to_frame * crossing.from_frame.transpose() * axis;
  }
  if (terms.empty())
    fault = who + "its bodies do not move relative to each other; give two that do";
  return terms;
}

std::vector<Sensor> all_sensors_of(const Mechanism& mechanism) {
  std::vector<Sensor> sensors;
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(j)];
    if (!hinge.measured) continue;
    sensors.push_back({hinge.name,
                       hinge.kind,
                       {{j, 1.0}},
                       mechanism.index_of_hinge(j, HingeQuantity::kEncoderOffset),
                       mechanism.index_of_hinge(j, HingeQuantity::kEncoderDelay)});
  }
  for (int i = 0; i < mechanism.body_encoder_count(); ++i) {
    const BodyEncoder& encoder = mechanism.body_encoders[static_cast<std::size_t>(i)];
    std::string fault;
    sensors.push_back({encoder.name, kind_between(mechanism, encoder),
                       terms_between(mechanism, encoder, fault),
                       mechanism.index_of_body_encoder(i, EncoderQuantity::kOffset),
                       mechanism.index_of_body_encoder(i, EncoderQuantity::kDelay)});
  }
  return sensors;
}

bool is_withheld(const Mechanism& mechanism, const std::string& name) {
  return std::ranges::count(mechanism.withheld, name) > 0;
}

std::vector<Sensor> sensors_of(const Mechanism& mechanism) {
  std::vector<Sensor> sensors = all_sensors_of(mechanism);
  std::erase_if(sensors, [&](const Sensor& sensor) { return is_withheld(mechanism, sensor.name); });
  return sensors;
}

bool is_of_sensor(const Mechanism& mechanism, int parameter) {
  if (parameter >= mechanism.index_of_body_encoder(0, {})) {
    return parameter < mechanism.index_of_inertial(mechanism.inertial_count(), {});
  }
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    if (parameter == mechanism.index_of_hinge(j, HingeQuantity::kEncoderOffset) ||
        parameter == mechanism.index_of_hinge(j, HingeQuantity::kEncoderDelay)) {
      return true;
    }
  }
  return false;
}

bool is_of_withheld(const Mechanism& mechanism, int parameter) {
  if (!is_of_sensor(mechanism, parameter)) return false;
  const std::string& name = parameter_at(mechanism, parameter).name;
  return is_withheld(mechanism, name.substr(0, name.rfind('.')));
}

bool acts_on_motion(const Mechanism& mechanism, int parameter) {
  if (!is_of_sensor(mechanism, parameter)) return true;
  return std::ranges::any_of(mechanism.ties, [&](const Tie& tie) {
    return !is_of_sensor(mechanism, tie.parameter) &&
           std::ranges::count(tie.terms, parameter, &TieTerm::parameter) > 0;
  });
}

bool is_late(const Mechanism& mechanism, const Sensor& sensor) {
  return parameter_at(mechanism, sensor.delay).value != 0.0 || varies(mechanism, sensor.delay);
}

std::optional<Sensor> first_late(const Mechanism& mechanism) {
  for (const Sensor& sensor : sensors_of(mechanism)) {
    if (is_late(mechanism, sensor)) return sensor;
  }
  return std::nullopt;
}

std::vector<JointKind> sensor_kinds(const Mechanism& mechanism) {
  std::vector<JointKind> kinds;
  for (const Sensor& sensor : sensors_of(mechanism)) kinds.push_back(sensor.kind);
  return kinds;
}

Eigen::VectorXd sensor_scales(const Mechanism& mechanism) {
  const std::vector<JointKind> kinds = sensor_kinds(mechanism);
  Eigen::VectorXd scales(static_cast<Eigen::Index>(kinds.size()));
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    scales[static_cast<Eigen::Index>(i)] = joint_units(kinds[i]).scale;
  }
  return scales;
}

JointReadings::JointReadings(const Mechanism& mechanism) : sensors_(sensors_of(mechanism)) {
  const auto rows = static_cast<Eigen::Index>(sensors_.size());
  const Eigen::Index joints = mechanism.hinge_count();
  matrix_.setZero(rows, joints);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (const Sensor::Term& term : sensors_[static_cast<std::size_t>(i)].terms) {
      matrix_(i, term.hinge) += term.sign;
    }
  }
  inverse_ = pseudo_inverse(matrix_, kRankLimit);
  const Eigen::MatrixXd resolution = inverse_ * matrix_;  // the identity if all joints are observed
  for (Eigen::Index j = 0; j < joints; ++j) {
    told_.push_back(std::abs(resolution(j, j) - 1.0) < kRankLimit);
  }
}

Eigen::VectorXd JointReadings::whole_turns(
    const Eigen::Ref<const Eigen::VectorXd>& readings) const {
  const Eigen::Index rows = matrix_.rows();
  Eigen::VectorXd turns = Eigen::VectorXd::Zero(rows);
  for (Eigen::Index i = 1; i < rows; ++i) {
    if (!sensors_[static_cast<std::size_t>(i)].traits().wraps) continue;
    // weights · earlier rows = this row, if the earlier readings determine this one
    const Eigen::MatrixXd before = matrix_.topRows(i).transpose();
    const Eigen::VectorXd weights = least_squares(before, matrix_.row(i).transpose());
    if ((before * weights - matrix_.row(i).transpose()).norm() > kRankLimit) continue;
    const double expected = weights.dot(readings.head(i) + turns.head(i));
    turns[i] = kWholeTurn * estimator::whole_turns(expected - readings[i]);
  }
  return turns;
}

}  // namespace estimator
