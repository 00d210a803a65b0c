#include "estimator/calibrate/friction_laws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "estimator/calibrate/shooting_fit.hpp"
#include "estimator/calibrate/withheld_sensors.hpp"
#include "estimator/dynamics/tree_inverse_dynamics.hpp"

namespace estimator {
namespace {

constexpr std::pair<std::string_view, FrictionTerm> kTerms[] = {
    {"viscous", FrictionTerm::kViscous}, {"dry", FrictionTerm::kDry},
    {"drag", FrictionTerm::kDrag},       {"stribeck", FrictionTerm::kStribeck},
    {"load", FrictionTerm::kLoad},       {"smooth", FrictionTerm::kSmooth},
    {"makkar", FrictionTerm::kMakkar}};

// From viscous on, all that friction is made of.
constexpr HingeQuantity kFrictionQuantities[] = {HingeQuantity::kViscous,
                                                 HingeQuantity::kQuadraticDrag,
                                                 HingeQuantity::kCoulombTorque,
                                                 HingeQuantity::kStribeckTorque,
                                                 HingeQuantity::kStribeckRate,
                                                 HingeQuantity::kLoadFriction,
                                                 HingeQuantity::kLoadFrictionAngular,
                                                 HingeQuantity::kSmoothExcess,
                                                 HingeQuantity::kSmoothRise,
                                                 HingeQuantity::kSmoothDecay,
                                                 HingeQuantity::kSmoothCoulomb,
                                                 HingeQuantity::kSmoothSlope};

constexpr double kExcessShare = 0.1;         // of the kinetic torque, to begin with
constexpr double kDecayShare = 0.1;          // of the fastest speed, over which an excess decays
constexpr double kRiseShare = 0.2;           // of the mean speed, over which smooth friction rises
constexpr double kSteepestShare = 0.01;      // of it, least: a steeper rise is as good as a jump
constexpr double kLeastShare = 0.01;         // friction to begin with, of what is unexplained
constexpr Eigen::Index kStatesLooked = 500;  // in a segment
constexpr double kDifferenceTime = 0.02;     // over which accelerations are differenced [s]

bool is_zero_without_friction(HingeQuantity quantity) {
  return quantity != HingeQuantity::kStribeckRate;  // a decay of nothing is nothing
}

/// Without any friction but a dry one of one newton metre a newton of load, by which the dynamics
/// tell the load.
Mechanism with_load_alone(Mechanism mechanism) {
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    for (const HingeQuantity quantity : kFrictionQuantities) {
      mechanism.hinge_parameter(j, quantity).value = 0.0;
    }
    mechanism.hinge_parameter(j, HingeQuantity::kLoadFriction).value = 1.0;
  }
  return mechanism;
}

/// Sums over states, one a joint.
struct Sums {
  Eigen::VectorXd work, squared_torque, squared_speed, load;
  double count = 0.0;
};

void add_segment(const Mechanism& mechanism, const Segment& segment, const Eigen::MatrixXd& states,
                 TreeInverseDynamics<double>& dynamics, Sums& sums) {
  const Eigen::Index n = mechanism.hinge_count();
  const Eigen::Index reach =
      std::max<Eigen::Index>(1, std::lround(0.5 * kDifferenceTime / segment.period));
  const Eigen::Index stride = std::max<Eigen::Index>(1, states.cols() / kStatesLooked);
  JointVector<double> control = JointVector<double>::Zero(n), torque(n);
  for (Eigen::Index k = reach; k + reach < states.cols(); k += stride) {
    const JointVector<double> angle = states.col(k).head(n), rate = states.col(k).tail(n);
    const JointVector<double> acceleration =
        (states.col(k + reach).tail(n) - states.col(k - reach).tail(n)) /
        (segment.time(k + reach) - segment.time(k - reach));
    Eigen::Index motor = 0;
    for (Eigen::Index j = 0; j < n; ++j) {
      if (mechanism.hinges[static_cast<std::size_t>(j)].motorised) {
        control[j] = segment.controls(k, motor++);
      }
    }
    dynamics.imbalance(angle, rate, acceleration, control, torque);
    for (Eigen::Index j = 0; j < n; ++j) {
      sums.work[j] -= torque[j] * rate[j];
      sums.squared_torque[j] += torque[j] * torque[j];
      sums.squared_speed[j] += rate[j] * rate[j];
      sums.load[j] += dynamics.dry_bound(static_cast<int>(j), 0.0);
    }
    sums.count += 1.0;
  }
}

bool has(const FrictionLaw& law, FrictionTerm term) {
  return std::ranges::count(law.terms, term) > 0;
}

/// Where a quantity begins, when the term is to make up `torque` at the joint.
double start_of(HingeQuantity quantity, double torque, const FrictionScale& scale) {
  switch (quantity) {
    case HingeQuantity::kViscous:
      return torque / scale.speed;
    case HingeQuantity::kQuadraticDrag:
      return torque / (scale.speed * scale.speed);
    case HingeQuantity::kStribeckTorque:
    case HingeQuantity::kSmoothExcess:
      return kExcessShare * torque;
    case HingeQuantity::kStribeckRate:
      return std::pow(kDecayShare * scale.fastest, -2);
    case HingeQuantity::kLoadFriction:
      return torque / scale.load;
    case HingeQuantity::kSmoothRise:
    case HingeQuantity::kSmoothSlope:
      return 1.0 / (kRiseShare * scale.speed);
    case HingeQuantity::kSmoothDecay:
      return 1.0 / (kDecayShare * scale.fastest);
    default:
      return torque;
  }
}

}  // namespace

int FrictionLaw::parameter_count() const {
  std::size_t count = 0;
  for (const FrictionTerm term : terms) count += quantities_of(term).size();
  return static_cast<int>(count);
}

std::vector<HingeQuantity> quantities_of(FrictionTerm term) {
  switch (term) {
    case FrictionTerm::kViscous:
      return {HingeQuantity::kViscous};
    case FrictionTerm::kDry:
      return {HingeQuantity::kCoulombTorque};
    case FrictionTerm::kDrag:
      return {HingeQuantity::kQuadraticDrag};
    case FrictionTerm::kStribeck:
      return {HingeQuantity::kCoulombTorque, HingeQuantity::kStribeckTorque,
              HingeQuantity::kStribeckRate};
    case FrictionTerm::kLoad:
      return {HingeQuantity::kLoadFriction};
    case FrictionTerm::kSmooth:
      return {HingeQuantity::kSmoothCoulomb, HingeQuantity::kSmoothSlope};
    case FrictionTerm::kMakkar:
      return {HingeQuantity::kSmoothCoulomb, HingeQuantity::kSmoothSlope,
              HingeQuantity::kSmoothExcess, HingeQuantity::kSmoothRise,
              HingeQuantity::kSmoothDecay};
  }
  return {};
}

FrictionLaw parse_law(std::string_view name) {
  const auto fail = [&](std::string_view what) {
    std::string text = "'";
    text.append(name).append("': ").append(what).append("; a law is one of ");
    for (const auto& [word, term] : kTerms) text.append(word).append(", ");
    throw std::invalid_argument(text + "or several with + between them, such as viscous+dry");
  };
  FrictionLaw law{std::string(name), {}};
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const std::size_t end = std::min(name.find('+', begin), name.size());
    const std::string_view word = name.substr(begin, end - begin);
    const auto* const found =
        std::ranges::find(kTerms, word, [](const auto& entry) { return entry.first; });
    if (found == std::end(kTerms)) {
      fail(std::string("there is no friction '").append(word).append("'"));
    }
    if (has(law, found->second)) fail(std::string(word).append(" is there twice"));
    law.terms.push_back(found->second);
    begin = end + 1;
  }
  if (has(law, FrictionTerm::kDry) && has(law, FrictionTerm::kStribeck)) {
    fail("stribeck holds dry already");
  }
  if (has(law, FrictionTerm::kSmooth) && has(law, FrictionTerm::kMakkar)) {
    fail("makkar holds smooth already");
  }
  return law;
}

std::vector<FrictionLaw> usual_laws() {
  std::vector<FrictionLaw> laws;
  for (const char* name : {"viscous", "dry", "load", "viscous+dry", "viscous+drag", "viscous+load",
                           "viscous+dry+drag", "viscous+smooth", "viscous+stribeck"}) {
    laws.push_back(parse_law(name));
  }
  return laws;
}

std::vector<FrictionScale> friction_scales(const Mechanism& mechanism,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationOptions& options) {
  const ShootingInput input =
      prepare_shooting(mechanism, set_withheld_aside(mechanism, recordings), options);
  const Mechanism bare = with_load_alone(mechanism);
  TreeInverseDynamics<double> dynamics(bare, values_of(bare));
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(mechanism.hinge_count());
  Sums sums{zero, zero, zero, zero};
  for (std::size_t s = 0; s < input.segments.size(); ++s) {
    add_segment(mechanism, input.segments[s], input.states[s], dynamics, sums);
  }
  std::vector<FrictionScale> scales;
  constexpr double kTiny = std::numeric_limits<double>::min();
  for (Eigen::Index j = 0; j < zero.size(); ++j) {
    const double count = std::max(sums.count, 1.0);
    FrictionScale scale;
    scale.speed = std::sqrt(sums.squared_speed[j] / count);
    const double unexplained = std::sqrt(sums.squared_torque[j] / count);
    scale.torque =
        std::max(sums.work[j] / count / std::max(scale.speed, kTiny), kLeastShare * unexplained);
    scale.fastest = input.fastest[j];
    scale.load = sums.load[j] / count;
    scales.push_back(scale);
  }
  return scales;
}

std::vector<int> joints_with_friction(const Mechanism& mechanism) {
  std::vector<int> joints, all;
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    all.push_back(j);
    const bool any = std::ranges::any_of(kFrictionQuantities, [&](HingeQuantity quantity) {
      return is_zero_without_friction(quantity) &&
             (varies(mechanism, mechanism.index_of_hinge(j, quantity)) ||
              mechanism.hinge_parameter(j, quantity).value != 0.0);
    });
    if (any) joints.push_back(j);
  }
  return joints.empty() ? all : joints;
}

Mechanism with_law(Mechanism mechanism, const FrictionLaw& law, const std::vector<int>& joints,
                   const std::vector<FrictionScale>& scales) {
  const auto terms = static_cast<double>(law.terms.size());
  for (const int j : joints) {
    const FrictionScale& scale = scales[static_cast<std::size_t>(j)];
    for (const HingeQuantity quantity : kFrictionQuantities) {
      Parameter& parameter = mechanism.hinge_parameter(j, quantity);
      if (find_tie(mechanism, mechanism.index_of_hinge(j, quantity)) != nullptr) {
        throw std::invalid_argument(parameter.name +
                                    ": is tied to other parameters, and a comparison of friction "
                                    "laws would break the tie; remove it, or compare at other "
                                    "joints");
      }
      parameter.free = false;
      if (is_zero_without_friction(quantity)) parameter.value = 0.0;
      parameter.lower = 0.0;
      parameter.upper = std::numeric_limits<double>::infinity();
      parameter.prior_standard_deviation = std::numeric_limits<double>::infinity();
    }
    for (const FrictionTerm term : law.terms) {
      for (const HingeQuantity quantity : quantities_of(term)) {
        Parameter& parameter = mechanism.hinge_parameter(j, quantity);
        const double start = start_of(quantity, scale.torque / terms, scale);
        parameter.value = std::isfinite(start) ? start : 0.0;
        parameter.free = true;
        if (quantity == HingeQuantity::kStribeckTorque) {
          parameter.lower = -std::numeric_limits<double>::infinity();
        }
        if (quantity == HingeQuantity::kSmoothSlope || quantity == HingeQuantity::kSmoothRise) {
          parameter.upper = 1.0 / (kSteepestShare * scale.speed);
        }
      }
    }
  }
  return mechanism;
}

}  // namespace estimator
