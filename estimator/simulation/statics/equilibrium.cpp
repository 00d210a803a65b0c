#include "estimator/simulation/statics/equilibrium.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "estimator/math/decompositions.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/placement.hpp"

namespace estimator {
namespace {

// Central differences of an exact gradient: truncation and round-off are about equal here.
constexpr double kDifference = 1e-5;    // [rad], times the scale of a prismatic joint
constexpr double kNeutralShare = 1e-6;  // of the largest ω²; finite differences leave 1e-9 of it
constexpr double kNeutralRate = 1e-6;   // [1/s²]
constexpr double kMassless = 1e-12;     // of the largest pivot

constexpr int kRestRounds = 300;
constexpr double kRestStepMax = 0.3;    // of a joint per round, in its scale [rad]
constexpr double kRestSettled = 1e-9;   // step at convergence, likewise
constexpr double kSure = 1e-6;          // steps below this are not tested by V, which is rounded
constexpr double kKick = 0.2;           // displacement from an unstable equilibrium, likewise
constexpr double kSlowestShare = 1e-6;  // of the largest |ω²|: lower limit of curvatures
constexpr double kSlowest = 1e-9;       // [1/s²]
constexpr double kDescent = 1e-4;       // of the predicted decrease (Armijo)
constexpr int kAssemblies = 24;         // number of starts for closing loops
constexpr double kHigher = 1e-6;        // of the potential: smallest rise to a top

double scale_of(const Mechanism& mechanism, Eigen::Index joint) {
  return mechanism.joints[joint].units().scale;
}

/// Returns the largest component of a joint motion, in the joints' scales.
double size_of(const Mechanism& mechanism, const Eigen::VectorXd& motion) {
  double largest = 0.0;
  for (Eigen::Index j = 0; j < motion.size(); ++j) {
    largest = std::max(largest, std::abs(motion[j]) / scale_of(mechanism, j));
  }
  return largest;
}

/// Newton descent of the potential energy, or ascent with sign −1. It uses the absolute values of
/// the curvatures, so that it leaves unstable equilibria.
class Descent {
 public:
  Descent(const Mechanism& mechanism, double sign)
      : mechanism_(mechanism), statics_(mechanism), sign_(sign) {}

  StaticPotential& statics() { return statics_; }

  std::optional<Equilibrium> run(Eigen::VectorXd q) {
    for (int round = 0; round < kRestRounds; ++round) {
      const StaticPotential::EnergyDerivatives local = statics_.at(q);
      const std::vector<NormalMode> modes = normal_modes(mechanism_, local);
      const Eigen::VectorXd step = newton_step(local, !modes.empty());
      const double size = size_of(mechanism_, local.motions * step);
      if (!std::isfinite(size)) return std::nullopt;
      if (size > kRestSettled) {
        if (!go(q, local, step, size)) return std::nullopt;
        continue;
      }
      const NormalMode* const away = falling_mode(modes);
      if (away == nullptr) return Equilibrium{q, modes};
      const Eigen::VectorXd wanted = q + kKick * away->shape;
      q = wanted;
      if (!statics_.close(q, wanted)) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  /// Returns the fastest unstable mode of an equilibrium; nullptr if it is stable.
  const NormalMode* falling_mode(const std::vector<NormalMode>& modes) const {
    const NormalMode* found = nullptr;
    for (const NormalMode& mode : modes) {
      const bool falls = sign_ * mode.rate_squared < 0.0 && !is_neutral_mode(mode, modes);
      if (falls &&
          (found == nullptr || std::abs(mode.rate_squared) > std::abs(found->rate_squared))) {
        found = &mode;
      }
    }
    return found;
  }

  Eigen::VectorXd newton_step(const StaticPotential::EnergyDerivatives& local,
                              bool has_mass) const {
    const Eigen::Index n = local.gradient.size();
    if (n == 0) return local.gradient;  // loops without any freedom
    const Eigen::MatrixXd metric =
        has_mass ? local.mass : Eigen::MatrixXd(Eigen::MatrixXd::Identity(n, n));
    const SymmetricEigen solved = generalized_eigen(local.stiffness, metric);
    const Eigen::VectorXd rates = solved.values.cwiseAbs();
    const double least = std::max(kSlowest, kSlowestShare * rates.maxCoeff());
    const Eigen::VectorXd along = solved.vectors.transpose() * local.gradient;
    return -sign_ * (solved.vectors * along.cwiseQuotient(rates.cwiseMax(least)));
  }

  /// Takes the step, or a part of it that decreases the potential energy.
  bool go(Eigen::VectorXd& q, const StaticPotential::EnergyDerivatives& local, Eigen::VectorXd step,
          double size) {
    if (size > kRestStepMax) step *= kRestStepMax / size;
    const double before = sign_ * statics_.potential_energy(q);
    const double slope = sign_ * local.gradient.dot(step);
    for (double share = 1.0; share > 1e-6; share *= 0.5) {
      Eigen::VectorXd next = q;
      if (!statics_.move(next, share * step)) continue;
      const double after = sign_ * statics_.potential_energy(next);
      if (size * share < kSure || after <= before + kDescent * share * slope) {
        q = next;
        return true;
      }
    }
    return false;
  }

  const Mechanism& mechanism_;
  StaticPotential statics_;
  double sign_;
};

/// Returns the initial joint coordinates of a search: `assembly_guess` if given, else zero. Further
/// searches start at random values to find other assembly modes of loops.
Eigen::VectorXd start_of(const Mechanism& mechanism, int assembly, std::mt19937& random) {
  std::uniform_real_distribution<double> anywhere(-M_PI, M_PI);
  Eigen::VectorXd q(mechanism.joint_count());
  for (Eigen::Index j = 0; j < q.size(); ++j) {
    const double stated = mechanism.joints[j].assembly_guess;
    const double drawn = scale_of(mechanism, j) * anywhere(random);
    q[j] = std::isfinite(stated) ? stated : assembly == 0 ? 0.0 : drawn;
  }
  return q;
}

/// Returns the equilibrium with its angles wrapped to within half a turn of zero.
Equilibrium near_zero(const Mechanism& mechanism, Equilibrium pose) {
  for (Eigen::Index j = 0; j < pose.coordinates.size(); ++j) {
    if (!mechanism.joints[j].kind_traits().wraps) continue;
    double& angle = pose.coordinates[j];
    angle = wrap_angle_difference(angle);
    if (angle < -M_PI + 1e-6) angle += kWholeTurn;  // upright is π, not −π
  }
  return pose;
}

/// Returns a spring stiffness that exceeds all loads on a joint [N·m/rad].
double holding_stiffness(const Mechanism& mechanism) {
  constexpr double kOutweighs = 1e6;  // deflection below a microradian
  double most = 1.0;
  for (int i = 0; i < mechanism.body_count(); ++i) {
    most += mechanism.parameter(i, BodyParameter::kMass).value * gravity_vector(mechanism).norm();
  }
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    most += mechanism.joint_parameter(j, JointParameter::kStiffness).value;
  }
  return kOutweighs * most;
}

/// Returns the coordinate shifted by full turns to lie between a joint's two stops, if possible.
double turned_within(const std::vector<JointStop>& stops, const Mechanism& mechanism, int index,
                     double coordinate) {
  const Joint& joint = mechanism.joints[index];
  const bool has_both = joint.stops.lower && joint.stops.upper;
  if (!joint.kind_traits().wraps || !has_both) return coordinate;
  for (const double turned : {coordinate, coordinate + kWholeTurn, coordinate - kWholeTurn}) {
    const bool fits = std::ranges::all_of(stops, [&](const JointStop& stop) {
      return stop.joint != index || stop.distance_from_stop(turned) >= 0.0;
    });
    if (fits) return turned;
  }
  return coordinate;
}

}  // namespace

StaticPotential::StaticPotential(const Mechanism& mechanism)
    : mechanism_(mechanism),
      dynamics_(mechanism, parameter_values(mechanism)),
      closure_(mechanism),
      choice_(choose_all_coordinates(mechanism)) {}

double StaticPotential::potential_energy(const Eigen::VectorXd& coordinates) const {
  const Configuration poses = place_bodies(mechanism_, coordinates);
  const Eigen::Vector3d gravity = gravity_vector(mechanism_);
  double V = 0.0;
  for (int i = 0; i < mechanism_.body_count(); ++i) {
    if (mechanism_.bodies[i].massless) continue;
    V -= mechanism_.parameter(i, BodyParameter::kMass).value * gravity.dot(poses[i].r);
  }
  for (int j = 0; j < mechanism_.joint_count(); ++j) {
    const auto value = [&](JointParameter quantity) {
      return mechanism_.joint_parameter(j, quantity).value;
    };
    const Joint& joint = mechanism_.joints[j];
    const double x = coordinates[j];
    // Spring elongations are wrapped, as in the equations of motion.
    const double whole = joint.coordinate_difference(x - value(JointParameter::kRestAngle));
    const double stretch =
        std::max(0.0, std::abs(whole) - 0.5 * value(JointParameter::kSpringPlay));
    V += 0.5 * value(JointParameter::kStiffness) * stretch * stretch;
    V -= value(JointParameter::kConstantTorque) * x;
    if (const int order = joint.motor.cogging_order; order > 0) {
      V += (value(JointParameter::kCoggingSine) * std::cos(order * x) -
            value(JointParameter::kCoggingCosine) * std::sin(order * x)) /
           order;
    }
  }
  return V;
}

/// Returns the joint motions Z from J_i dz + J_d dq_d = 0, with equations that determine the
/// dependent joints.
Eigen::MatrixXd StaticPotential::admissible_displacements(const Eigen::VectorXd& coordinates) {
  const auto free = static_cast<Eigen::Index>(choice_.independent.size());
  Eigen::MatrixXd Z = Eigen::MatrixXd::Zero(coordinates.size(), free);
  for (Eigen::Index k = 0; k < free; ++k) {
    Z(choice_.independent[k], k) = 1.0;
  }
  if (choice_.dependent.empty()) return Z;
  const Eigen::MatrixXd J = closure_.closure_jacobian(coordinates);
  const auto& rows = choice_.rows;
  const Eigen::MatrixXd J_d = J(rows, choice_.dependent), J_i = J(rows, choice_.independent);
  const Eigen::MatrixXd follow = -solve_square_system(J_d, J_i);
  for (std::size_t k = 0; k < choice_.dependent.size(); ++k) {
    Z.row(choice_.dependent[k]) = follow.row(k);
  }
  return Z;
}

Eigen::VectorXd StaticPotential::energy_gradient(const Eigen::VectorXd& coordinates) {
  const JointVector<double> angle = coordinates;
  const JointVector<double> zero = JointVector<double>::Zero(coordinates.size());
  JointVector<double> torque;
  dynamics_.torque_residual(angle, zero, zero, zero, torque);
  return admissible_displacements(coordinates).transpose() * Eigen::VectorXd(torque);
}

bool StaticPotential::move(Eigen::VectorXd& coordinates, const Eigen::VectorXd& step) {
  Eigen::VectorXd wanted =
      Eigen::VectorXd::Constant(coordinates.size(), std::numeric_limits<double>::quiet_NaN());
  const Eigen::MatrixXd Z = admissible_displacements(coordinates);
  const Eigen::VectorXd moved = coordinates + Z * step;
  for (const int joint : choice_.independent) wanted[joint] = moved[joint];
  coordinates = moved;
  return !closure_.has_loops() || closure_.close(coordinates, wanted);
}

bool StaticPotential::close(Eigen::VectorXd& coordinates, const Eigen::VectorXd& wanted) {
  if (closure_.has_loops()) return closure_.close(coordinates, wanted);
  for (Eigen::Index j = 0; j < coordinates.size(); ++j) {
    if (!std::isnan(wanted[j])) coordinates[j] = wanted[j];
  }
  return true;
}

StaticPotential::EnergyDerivatives StaticPotential::at(const Eigen::VectorXd& coordinates) {
  if (closure_.has_loops()) choice_ = closure_.choose_coordinates({coordinates});
  EnergyDerivatives local;
  local.motions = admissible_displacements(coordinates);
  local.gradient = energy_gradient(coordinates);
  const Eigen::MatrixXd M = mass_matrix(dynamics_, coordinates);
  local.mass = local.motions.transpose() * M * local.motions;
  const Eigen::Index free = local.gradient.size();
  Eigen::MatrixXd K(free, free);
  for (Eigen::Index k = 0; k < free; ++k) {
    const int joint = choice_.independent[k];
    const double h = kDifference * mechanism_.joints[joint].units().scale;
    Eigen::VectorXd up = coordinates, down = coordinates;
    move(up, h * Eigen::VectorXd::Unit(free, k));
    move(down, -h * Eigen::VectorXd::Unit(free, k));
    K.col(k) = (energy_gradient(up) - energy_gradient(down)) / (2.0 * h);
  }
  local.stiffness = 0.5 * (K + K.transpose());
  return local;
}

bool is_neutral_mode(const NormalMode& mode, const std::vector<NormalMode>& all) {
  double largest = 0.0;
  for (const NormalMode& each : all) largest = std::max(largest, std::abs(each.rate_squared));
  return std::abs(mode.rate_squared) <= std::max(kNeutralRate, kNeutralShare * largest);
}

std::vector<NormalMode> normal_modes(const Mechanism& mechanism,
                                     const StaticPotential::EnergyDerivatives& local) {
  std::vector<NormalMode> modes;
  const Eigen::VectorXd pivots = SymmetricFactor(local.mass).pivots();
  if (pivots.size() == 0 || !(pivots.minCoeff() > kMassless * pivots.maxCoeff())) return modes;
  const SymmetricEigen solved = generalized_eigen(local.stiffness, local.mass);
  for (Eigen::Index k = 0; k < pivots.size(); ++k) {
    Eigen::VectorXd shape = local.motions * solved.vectors.col(k);
    double largest = 0.0;  // signed
    for (Eigen::Index j = 0; j < shape.size(); ++j) {
      const double part = shape[j] / mechanism.joints[j].units().scale;
      if (std::abs(part) > std::abs(largest) * (1.0 + 1e-9)) largest = part;
    }
    shape /= largest;
    modes.push_back({solved.values[k], shape});
  }
  return modes;
}

Eigen::VectorXd find_equilibrium_within_stops(const Mechanism& mechanism, const Equilibrium& rest) {
  const std::vector<JointStop> stops = joint_end_stops(mechanism);
  Eigen::VectorXd coordinates = rest.coordinates;
  if (stops.empty()) return coordinates;
  Mechanism held = mechanism;
  std::vector<const JointStop*> at;  // of each joint: the stop at which it rests
  at.resize(mechanism.joints.size(), nullptr);
  for (int round = 0; round < mechanism.joint_count(); ++round) {
    bool beyond = false;
    for (const JointStop& stop : stops) {
      coordinates[stop.joint] =
          turned_within(stops, mechanism, stop.joint, coordinates[stop.joint]);
      if (at[stop.joint] != nullptr || stop.distance_from_stop(coordinates[stop.joint]) >= 0.0)
        continue;
      at[stop.joint] = &stop;
      beyond = true;
      held.joints[stop.joint].assembly_guess = stop.position;
      held.joint_parameter(stop.joint, JointParameter::kStiffness).value =
          holding_stiffness(mechanism);
      held.joint_parameter(stop.joint, JointParameter::kRestAngle).value = stop.position;
    }
    if (!beyond) break;
    if (const auto found = find_stable_equilibrium(held)) coordinates = found->coordinates;
    for (const JointStop* stop : at) {
      if (stop != nullptr) coordinates[stop->joint] = stop->position;
    }
  }
  return coordinates;
}

std::optional<Equilibrium> find_stable_equilibrium(const Mechanism& mechanism) {
  if (mechanism.joint_count() > kTreeJointsMax) return std::nullopt;
  Descent descent(mechanism, 1.0);
  StaticPotential& statics = descent.statics();
  std::mt19937 random(1);
  std::optional<Equilibrium> best;
  double lowest = std::numeric_limits<double>::infinity();
  const int assemblies = statics.has_loops() ? kAssemblies : 1;
  for (int k = 0; k < assemblies; ++k) {
    Eigen::VectorXd q = start_of(mechanism, k, random);
    Eigen::VectorXd wanted = q;
    for (Eigen::Index j = 0; j < q.size(); ++j) {
      const double stated = mechanism.joints[j].assembly_guess;
      if (!std::isfinite(stated)) wanted[j] = std::numeric_limits<double>::quiet_NaN();
    }
    if (!statics.close(q, wanted)) continue;
    std::optional<Equilibrium> found;
    try {
      found = descent.run(q);
    } catch (const std::invalid_argument&) {
      continue;  // a change point on the path: another start may avoid it
    }
    if (!found) continue;
    const double V = statics.potential_energy(found->coordinates);
    if (!(V < lowest - 1e-9 * (1.0 + std::abs(V)))) continue;
    lowest = V;
    best = found;
  }
  if (best) best = near_zero(mechanism, *best);
  return best;
}

std::optional<Equilibrium> find_highest_equilibrium(const Mechanism& mechanism,
                                                    const Equilibrium& rest) {
  Descent ascent(mechanism, -1.0);
  std::optional<Equilibrium> top;
  try {
    top = ascent.run(rest.coordinates);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  if (!top) return top;
  const double low = ascent.statics().potential_energy(rest.coordinates);
  const double high = ascent.statics().potential_energy(top->coordinates);
  if (!(high - low > kHigher * (std::abs(low) + std::abs(high)))) return std::nullopt;
  return near_zero(mechanism, *top);
}

}  // namespace estimator
