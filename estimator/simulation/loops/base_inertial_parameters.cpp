#include "estimator/simulation/loops/base_inertial_parameters.hpp"

#include <Eigen/QR>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"

namespace estimator {
namespace {

constexpr int kSpareMotions = 10;     // in addition to twice as many equations as unknowns
constexpr int kTriesMax = 200;        // to close the loops, per motion
constexpr double kAcceleration = 10;  // [rad/s², m/s²], comparable to gravity
constexpr double kTurn = 3.0;         // range of a joint in either direction [rad]
constexpr double kSlide = 0.3;        // [m]
constexpr double kUnseen = 1e-10;     // of the largest column
constexpr double kDependent = 1e-8;   // relative norm of a column's part orthogonal to the others
constexpr double kNoPart = 1e-8;      // of the largest contribution to a grouped parameter

const char* const kAxes[] = {"x", "y", "z"};
const char* const kMoments[] = {"xx", "yy", "zz", "xy", "xz", "yz"};

/// A body with its joint points, of which the first belongs to its parent joint.
struct Carried {
  int body = 0;
  std::vector<int> points;  ///< indices of their first coordinates
};

/// Returns the bodies with mass, in the order of the spanning tree.
std::vector<Carried> carried_bodies(const Mechanism& mechanism) {
  std::vector<Carried> bodies;
  for (const DirectedJoint& edge : spanning_tree(mechanism)) {
    if (mechanism.bodies[edge.child.body].massless) continue;
    bodies.push_back({edge.child.body, {edge.child.point}});
  }
  for (Carried& carried : bodies) {
    const auto add = [&](int body, int point) {
      if (body == carried.body && point != carried.points.front()) carried.points.push_back(point);
    };
    for_each_joint_point(mechanism, add);
  }
  return bodies;
}

Eigen::Vector3d point_at(const std::vector<double>& values, int index) {
  return Eigen::Vector3d::Map(&values[index]);
}

/// A motion with zero rates at one instant.
struct Instant {
  Eigen::VectorXd angles, accelerations;
};

/// Computes regressor columns: joint torques due to one set of inertias at all instants. They are
/// projected onto the motions that keep the loops closed, and those of bodies of 1 kg are
/// subtracted.
class Columns {
 public:
  Columns(const Mechanism& mechanism, const std::vector<Instant>& instants,
          const std::vector<Eigen::MatrixXd>& motions)
      : mechanism_(mechanism),
        instants_(instants),
        motions_(motions),
        bare_(parameter_values(mechanism)) {
    const auto clear = [&](int index) { bare_[index] = 0.0; };
    for (int body = 0; body < mechanism.body_count(); ++body) {
      for (int i = 0; i < Mechanism::kBodyParameters; ++i) {
        clear(mechanism.index(body, static_cast<BodyParameter>(i)));
      }
      // Bodies fixed to one another share a centre of mass, so none may have zero mass.
      if (mechanism.bodies[body].massless) continue;
      bare_[mechanism.index(body, BodyParameter::kMass)] = 1.0;
    }
    for (int j = 0; j < mechanism.joint_count(); ++j) {
      for (int i = Mechanism::kFixedJointParameters; i < Mechanism::kJointParameters; ++i) {
        clear(mechanism.joint_parameter_index(j, static_cast<JointParameter>(i)));
      }
    }
  }

  /// Returns the columns of all standard parameters, in order.
  Eigen::MatrixXd all() const {
    std::vector<Eigen::VectorXd> columns;
    for (const Carried& carried : carried_bodies(mechanism_)) {
      const Eigen::Vector3d joint = Eigen::Vector3d::Zero();
      const Eigen::VectorXd point = of_body(carried, 1.0, joint, Moments::Zero());
      std::array<Eigen::VectorXd, 6> moments;
      for (int i = 0; i < 6; ++i) {
        moments[i] = of_body(carried, 1.0, joint, Moments::Unit(i)) - point;
        columns.push_back(moments[i]);
      }
      // A point mass of 1 kg at 1 m along an axis has the moment 1 kg·m² about the other axes.
      for (int axis = 0; axis < 3; ++axis) {
        Eigen::VectorXd first =
            of_body(carried, 1.0, Eigen::Vector3d::Unit(axis), Moments::Zero()) - point;
        for (int other = 0; other < 3; ++other) {
          if (other != axis) first -= moments[other];
        }
        columns.push_back(first);
      }
      columns.push_back(of_body(carried, 2.0, joint, Moments::Zero()) - point);
    }
    for (const int j : joints_with_motor(mechanism_)) {
      std::vector<double> values = bare_;
      values[mechanism_.joint_parameter_index(j, JointParameter::kShaftInertia)] = 1.0;
      columns.push_back(torques(values) - torques(bare_));
    }
    Eigen::MatrixXd matrix(columns.empty() ? 0 : columns.front().size(), std::ssize(columns));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      matrix.col(i) = columns[i];
    }
    return matrix;
  }

 private:
  /// @param centre   from the body's parent joint [m]
  /// @param moments  about the centre
  Eigen::VectorXd of_body(const Carried& carried, double mass, const Eigen::Vector3d& centre,
                          const Moments& moments) const {
    std::vector<double> values = bare_;
    values[mechanism_.index(carried.body, BodyParameter::kMass)] = mass;
    for (int i = 0; i < 6; ++i) {
      values[mechanism_.index(carried.body, BodyParameter::kJxx) + i] = moments[i];
    }
    const Eigen::Vector3d joint = point_at(bare_, carried.points.front());
    for (const int point : carried.points) {
      const Eigen::Vector3d moved = point_at(bare_, point) - joint - centre;
      for (int i = 0; i < 3; ++i) values[point + i] = moved[i];
    }
    return torques(values);
  }

  Eigen::VectorXd torques(const std::vector<double>& values) const {
    TreeInverseDynamics<double> dynamics(mechanism_, values);
    const int n = mechanism_.joint_count();
    const JointVector<double> rest = JointVector<double>::Zero(n);
    JointVector<double> torque_residual;
    Eigen::VectorXd column(0);
    for (std::size_t k = 0; k < instants_.size(); ++k) {
      // With loops, `imbalance` has additional rows for links outside the tree. Motors have no
      // gain, and prescribed joints have the accelerations of their controls.
      const JointVector<double> accelerations = instants_[k].accelerations;
      dynamics.torque_residual(instants_[k].angles, rest, accelerations, accelerations,
                               torque_residual);
      const Eigen::VectorXd own = motions_[k].transpose() * torque_residual.head(n);
      column.conservativeResize(column.size() + own.size());
      column.tail(own.size()) = own;
    }
    return column;
  }

  const Mechanism& mechanism_;
  const std::vector<Instant>& instants_;
  const std::vector<Eigen::MatrixXd>& motions_;
  std::vector<double> bare_;
};

/// Draws random instants with motions that keep the loops closed, until they give `count`
/// equations.
void draw(const Mechanism& mechanism, std::size_t count, unsigned seed,
          std::vector<Instant>& instants, std::vector<Eigen::MatrixXd>& motions) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> even(-1.0, 1.0);
  LoopClosure closure(mechanism);
  const int n = mechanism.joint_count();
  const Eigen::VectorXd unwanted =
      Eigen::VectorXd::Constant(n, std::numeric_limits<double>::quiet_NaN());
  std::size_t equations = 0;
  for (std::size_t tries = 0; equations < count; ++tries) {
    if (tries > kTriesMax * count) {
      throw std::invalid_argument(
          "the loops cannot be closed with the given joint points; "
          "check joint points, signs and encoder zeros");
    }
    Eigen::VectorXd angles(n);
    for (int j = 0; j < n; ++j) {
      const Joint& joint = mechanism.joints[j];
      angles[j] = (joint.kind_traits().turns ? kTurn : kSlide) * even(random);
    }
    Eigen::MatrixXd motion = Eigen::MatrixXd::Identity(n, n);
    if (closure.has_loops()) {
      if (!closure.close(angles, unwanted)) continue;
      motion = null_space(closure.closure_jacobian(angles), 1e-7);
    }
    const Eigen::VectorXd along =
        Eigen::VectorXd::NullaryExpr(motion.cols(), [&] { return kAcceleration * even(random); });
    instants.push_back({angles, motion * along});
    motions.push_back(motion);
    equations += static_cast<std::size_t>(motion.cols());
  }
}

std::vector<StandardInertialParameter> standard_parameters(const Mechanism& mechanism) {
  std::vector<StandardInertialParameter> parameters;
  for (const Carried& carried : carried_bodies(mechanism)) {
    const std::string& name = mechanism.bodies[carried.body].name;
    for (const char* const moment : kMoments) {
      parameters.push_back({name + ".I_" + moment, "kg·m²"});
    }
    for (const char* const axis : kAxes) parameters.push_back({name + ".mc_" + axis, "kg·m"});
    parameters.push_back({name + ".m", "kg"});
  }
  for (const int j : joints_with_motor(mechanism)) {
    const Parameter& shaft = mechanism.joint_parameter(j, JointParameter::kShaftInertia);
    parameters.push_back({shaft.name, shaft.unit});
  }
  return parameters;
}

}  // namespace

Eigen::VectorXd standard_parameter_values(const Mechanism& mechanism) {
  std::vector<double> values;
  const std::vector<double> parameters = parameter_values(mechanism);
  for (const Carried& carried : carried_bodies(mechanism)) {
    const auto value = [&](BodyParameter quantity) {
      return mechanism.parameter(carried.body, quantity).value;
    };
    Moments moments;
    for (int i = 0; i < 6; ++i) {
      moments[i] = value(static_cast<BodyParameter>(static_cast<int>(BodyParameter::kJxx) + i));
    }
    const double mass = value(BodyParameter::kMass);
    const Eigen::Vector3d centre = -point_at(parameters, carried.points.front());
    moments += moments_of_inertia(second_moments_to_inertia(mass * centre * centre.transpose()));
    values.insert(values.end(), moments.begin(), moments.end());
    for (const double coordinate : centre) values.push_back(mass * coordinate);
    values.push_back(mass);
  }
  for (const int j : joints_with_motor(mechanism)) {
    values.push_back(mechanism.joint_parameter(j, JointParameter::kShaftInertia).value);
  }
  return Eigen::VectorXd::Map(values.data(), std::ssize(values));
}

double BaseParameter::value(const Eigen::VectorXd& standard) const {
  double sum = 0.0;
  for (const WeightedParameter& term : terms) sum += term.factor * standard[term.parameter];
  return sum;
}

BaseInertialParameters find_base_inertial_parameters(const Mechanism& mechanism, unsigned seed) {
  if (mechanism.joint_count() > kTreeJointsMax) {
    throw std::invalid_argument("base parameters support at most " +
                                std::to_string(kTreeJointsMax) + " joints");
  }
  BaseInertialParameters result;
  result.standard = standard_parameters(mechanism);
  std::vector<Instant> instants;
  std::vector<Eigen::MatrixXd> motions;
  draw(mechanism, 2 * result.standard.size() + kSpareMotions, seed, instants, motions);
  const Eigen::MatrixXd W = Columns(mechanism, instants, motions).all();
  const double largest = W.colwise().norm().maxCoeff();

  // Keeps every column that is linearly independent of the previous ones.
  std::vector<int> kept, grouped;
  Eigen::MatrixXd Q(W.rows(), 0);
  for (int i = 0; i < W.cols(); ++i) {
    const double length = W.col(i).norm();
    if (!(length > kUnseen * largest)) {
      result.without_effect.push_back(i);
      continue;
    }
    Eigen::VectorXd across = W.col(i);
    for (int twice = 0; twice < 2; ++twice) across -= Q * (Q.transpose() * across);
    if (!(across.norm() > kDependent * length)) {
      grouped.push_back(i);
      continue;
    }
    kept.push_back(i);
    Q.conservativeResize(W.rows(), Q.cols() + 1);
    Q.rightCols(1) = across.normalized();
  }
  Eigen::MatrixXd shares(std::ssize(kept), 0);
  if (!grouped.empty()) {  // Eigen would solve for zero columns through a null pointer
    shares =
        Eigen::MatrixXd(W(Eigen::all, kept)).colPivHouseholderQr().solve(W(Eigen::all, grouped));
  }
  const Eigen::VectorXd lengths = W(Eigen::all, kept).colwise().norm();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    BaseParameter combination{{{kept[i], 1.0}}};
    const auto row = static_cast<Eigen::Index>(i);
    for (std::size_t k = 0; k < grouped.size(); ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      const double part = std::abs(shares(row, column)) * lengths[row];
      if (part <= kNoPart * W.col(grouped[k]).norm()) continue;
      combination.terms.push_back({grouped[k], shares(row, column)});
    }
    result.base.push_back(combination);
  }
  return result;
}

}  // namespace estimator
