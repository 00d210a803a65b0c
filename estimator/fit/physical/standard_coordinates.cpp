#include "estimator/fit/physical/standard_coordinates.hpp"

#include <algorithm>

#include "estimator/math/decompositions.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "estimator/model/moments.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

// Order of the parameters of a body with standard parameters, and of its coordinates: mass; point
// of the parent joint, or first moments; moments of inertia; other points.
constexpr int kPoint = 1, kInertia = 4, kOtherPoints = 10;

Eigen::Vector3d point_value(const Mechanism& mechanism, int index) {
  return {mechanism.at(index).value, mechanism.at(index + 1).value, mechanism.at(index + 2).value};
}

/// Returns the moments of inertia of a point mass of 1 kg at a position about the origin.
Moments point_mass_moments(const Eigen::Vector3d& position) {
  return moments_of_inertia(second_moments_to_inertia(position * position.transpose()));
}

/// Returns the derivative of `point_mass_moments` by a coordinate of the position.
Moments point_mass_moment_derivative(const Eigen::Vector3d& position, int axis) {
  const Eigen::Matrix3d half = position * Eigen::RowVector3d::Unit(axis);
  return moments_of_inertia(second_moments_to_inertia(half + half.transpose()));
}

/// Returns the points on a body, its parent joint's first.
std::vector<int> points_on_body(const Mechanism& mechanism, const DirectedJoint& edge) {
  std::vector<int> points{edge.child.point};
  for_each_joint_point(mechanism, [&](int body, int point) {
    if (body == edge.child.body && point != points.front()) points.push_back(point);
  });
  if (has_air_drag(mechanism, edge.child.body)) {
    points.push_back(
        mechanism.air_drag_parameter_index(edge.child.body, AirDragParameter::kPointX));
  }
  for (int i = 0; i < mechanism.contact_count(); ++i) {
    if (mechanism.contacts[i].body != edge.child.body) continue;
    points.push_back(mechanism.contact_parameter_index(i, ContactParameter::kPointX));
  }
  return points;
}

std::vector<int> inertial_parameters(const Mechanism& mechanism, int body,
                                     const std::vector<int>& points) {
  std::vector<int> parameters{mechanism.index(body, BodyParameter::kMass)};
  const auto add_point = [&](int first) {
    for (int i = 0; i < 3; ++i) parameters.push_back(first + i);
  };
  add_point(points.front());
  for (const int index : moment_of_inertia_indices(mechanism, body)) parameters.push_back(index);
  for (std::size_t i = 1; i < points.size(); ++i) add_point(points[i]);
  return parameters;
}

}  // namespace

StandardCoordinates::StandardCoordinates(const Mechanism& mechanism) {
  const auto is_estimated = [&](int index) { return is_changed_by_fit(mechanism, index); };
  for (const DirectedJoint& edge : spanning_tree(mechanism)) {
    const int body = edge.child.body;
    if (mechanism.bodies[body].massless) continue;
    const std::vector<int> points = points_on_body(mechanism, edge);
    const std::vector<int> own = inertial_parameters(mechanism, body, points);
    if (std::ranges::none_of(own, is_estimated)) continue;
    bodies_.push_back({body, size(), points});
    parameters_.insert(parameters_.end(), own.begin(), own.end());
  }
  for (int index = 0; index < std::ssize(mechanism.parameters); ++index) {
    if (is_estimated(index) && std::ranges::count(parameters_, index) == 0) {
      parameters_.push_back(index);
    }
  }
}

Eigen::VectorXd StandardCoordinates::values(const Mechanism& mechanism) const {
  Eigen::VectorXd values(size());
  for (int i = 0; i < size(); ++i) values[i] = mechanism.at(parameters_[i]).value;
  for (const StandardBody& body : bodies_) {
    auto own = values.segment(body.first, body.size());
    const double mass = own[0];
    const Eigen::Vector3d joint = own.segment<3>(kPoint);
    own.segment<3>(kPoint) = -mass * joint;
    own.segment<6>(kInertia) += mass * point_mass_moments(joint);
    for (int i = kOtherPoints; i < own.size(); i += 3) own.segment<3>(i) -= joint;
  }
  return values;
}

/// Returns the derivatives of a body's coordinates by its parameters.
Eigen::MatrixXd StandardCoordinates::body_derivatives(const Mechanism& mechanism,
                                                      const StandardBody& body) const {
  const double mass = mechanism.parameter(body.body, BodyParameter::kMass).value;
  const Eigen::Vector3d joint = point_value(mechanism, body.points.front());
  Eigen::MatrixXd slopes = Eigen::MatrixXd::Identity(body.size(), body.size());
  slopes.block<3, 1>(kPoint, 0) = -joint;
  slopes.block<6, 1>(kInertia, 0) = point_mass_moments(joint);
  slopes.block<3, 3>(kPoint, kPoint) = -mass * Eigen::Matrix3d::Identity();
  for (int i = 0; i < 3; ++i) {
    slopes.block<6, 1>(kInertia, kPoint + i) = mass * point_mass_moment_derivative(joint, i);
  }
  for (int i = kOtherPoints; i < body.size(); i += 3) {
    slopes.block<3, 3>(i, kPoint) = -Eigen::Matrix3d::Identity();
  }
  return slopes;
}

Eigen::MatrixXd StandardCoordinates::derivatives(const Mechanism& mechanism,
                                                 const FreeParameters& free) const {
  Eigen::MatrixXd along = Eigen::MatrixXd::Zero(size(), free.size());
  for (int i = 0; i < size(); ++i) {
    for (const DependencyTerm& term : free_dependencies(mechanism, parameters_[i])) {
      along(i, free.find_position(term.parameter)) += term.factor;
    }
  }
  for (const StandardBody& body : bodies_) {
    auto own = along.middleRows(body.first, body.size());
    own = (body_derivatives(mechanism, body) * own).eval();
  }
  return along;
}

void StandardCoordinates::convert_derivatives(const Mechanism& at,
                                              Eigen::MatrixXd& derivatives) const {
  for (const StandardBody& body : bodies_) {
    auto own = derivatives.middleCols(body.first, body.size());
    own = solve_square_system(body_derivatives(at, body).transpose(), own.transpose()).transpose();
  }
}

Mechanism StandardCoordinates::with_positive_masses(Mechanism mechanism) const {
  for (const StandardBody& body : bodies_) {
    double& mass = mechanism.parameter(body.body, BodyParameter::kMass).value;
    if (!(mass > 0.0)) mass = 1.0;
  }
  return mechanism;
}

}  // namespace estimator
