#include "estimator/calibrate/friction_laws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "estimator/calibrate/held_out_sensors.hpp"
#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/model/joint_friction.hpp"

namespace estimator {
namespace {

constexpr double kLeastShare = 0.01;         // initial friction, of the unexplained torque
constexpr Eigen::Index kStatesLooked = 500;  // per segment
constexpr double kDifferenceTime = 0.02;     // time over which accelerations are differenced [s]

constexpr int kPlaces = FrictionLaws::kQuantityCount;

const FrictionQuantity& facts_at(int place) {
  return kFrictionQuantities[static_cast<std::size_t>(place)];
}

bool is_zero_without_friction(int place) {
  return facts_at(place).neutral == 0.0;  // decay rates are irrelevant without their term
}

/// Returns the mechanism with a load friction of 1 N·m per newton and no other friction, so that
/// the friction bound of the dynamics equals the bearing load.
Mechanism with_load_alone(Mechanism mechanism) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    for (int place = 0; place < kPlaces; ++place) {
      mechanism.joint_parameter(j, friction_quantity(place)).value = 0.0;
    }
    mechanism.joint_parameter(j, JointQuantity::kLoadFriction).value = 1.0;
  }
  return mechanism;
}

/// Sums over all states, with one element per joint.
struct Sums {
  Eigen::VectorXd work, squared_torque, squared_speed, load;
  double count = 0.0;
};

void add_segment(const Mechanism& mechanism, const Segment& segment, const Eigen::MatrixXd& states,
                 TreeInverseDynamics<double>& dynamics, Sums& sums) {
  const Eigen::Index n = mechanism.joint_count();
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
      if (mechanism.joints[static_cast<std::size_t>(j)].motorised) {
        control[j] = segment.controls(k, motor++);
      }
    }
    dynamics.torque_residual(angle, rate, acceleration, control, torque);
    for (Eigen::Index j = 0; j < n; ++j) {
      sums.work[j] -= torque[j] * rate[j];
      sums.squared_torque[j] += torque[j] * torque[j];
      sums.squared_speed[j] += rate[j] * rate[j];
      sums.load[j] += dynamics.dry_bound(static_cast<int>(j), 0.0);
    }
    sums.count += 1.0;
  }
}

/// Returns whether `term` has all joint parameters of the term `other`.
bool holds(const LawTerm& term, const LawTerm& other) {
  const auto all = std::span(term.quantities).first(static_cast<std::size_t>(term.count));
  return std::ranges::all_of(
      std::span(other.quantities).first(static_cast<std::size_t>(other.count)),
      [&](int quantity) { return std::ranges::find(all, quantity) != all.end(); });
}

}  // namespace

int FrictionLaw::parameter_count() const {
  int count = 0;
  for (const LawTerm* term : terms) count += term->count;
  return count;
}

std::string friction_words() {
  std::string words;
  for (const LawTerm& term : kFrictionTerms) {
    words.append(words.empty() ? "" : ", ").append(term.word);
  }
  return words;
}

std::vector<JointQuantity> quantities_of(const LawTerm& term) {
  std::vector<JointQuantity> quantities;
  for (int k = 0; k < term.count; ++k) {
    quantities.push_back(friction_quantity(term.quantities[static_cast<std::size_t>(k)]));
  }
  return quantities;
}

FrictionLaw parse_law(std::string_view name) {
  const auto fail = [&](std::string_view what) {
    std::string text = "\"";
    text.append(name).append("\": ").append(what).append("; a law is one of ");
    throw std::invalid_argument(text + friction_words() +
                                ", or several joined by +, such as viscous+dry");
  };
  FrictionLaw law{std::string(name), {}};
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const std::size_t end = std::min(name.find('+', begin), name.size());
    const std::string_view word = name.substr(begin, end - begin);
    const auto* const found = std::ranges::find(kFrictionTerms, word, &LawTerm::word);
    if (found == kFrictionTerms.end()) {
      fail(std::string("unknown friction term \"").append(word).append("\""));
    }
    for (const LawTerm* other : law.terms) {
      if (other == found) fail(std::string(word).append(" occurs twice"));
      for (const auto& [more, less] : {std::pair{found, other}, std::pair{other, found}}) {
        if (!holds(*more, *less)) continue;
        fail(std::string(more->word).append(" already includes ").append(less->word));
      }
    }
    law.terms.push_back(found);
    begin = end + 1;
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
      prepare_shooting(mechanism, split_held_out_sensors(mechanism, recordings), options);
  const Mechanism bare = with_load_alone(mechanism);
  TreeInverseDynamics<double> dynamics(bare, parameter_values(bare));
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(mechanism.joint_count());
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
    scale.fastest = input.max_speed[j];
    scale.load = sums.load[j] / count;
    scales.push_back(scale);
  }
  return scales;
}

std::vector<int> joints_with_friction(const Mechanism& mechanism) {
  std::vector<int> joints, all;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    all.push_back(j);
    bool any = false;
    for (int place = 0; place < kPlaces; ++place) {
      const int index = mechanism.index_of_joint(j, friction_quantity(place));
      any |= is_zero_without_friction(place) &&
             (changes_in_fit(mechanism, index) || parameter_at(mechanism, index).value != 0.0);
    }
    if (any) joints.push_back(j);
  }
  return joints.empty() ? all : joints;
}

Mechanism with_law(Mechanism mechanism, const FrictionLaw& law, const std::vector<int>& joints,
                   const std::vector<FrictionScale>& scales) {
  const auto terms = static_cast<double>(law.terms.size());
  for (const int j : joints) {
    const FrictionScale& scale = scales[static_cast<std::size_t>(j)];
    for (int place = 0; place < kPlaces; ++place) {
      const JointQuantity quantity = friction_quantity(place);
      Parameter& parameter = mechanism.joint_parameter(j, quantity);
      if (find_dependency(mechanism, mechanism.index_of_joint(j, quantity)) != nullptr) {
        throw std::invalid_argument(
            parameter.name +
            ": this parameter depends on others, and a comparison of friction laws would break the "
            "dependency; remove the dependency, or compare laws at other joints");
      }
      parameter.free = false;
      if (is_zero_without_friction(place)) parameter.value = 0.0;
      parameter.lower = 0.0;
      parameter.upper = std::numeric_limits<double>::infinity();
      parameter.prior_standard_deviation = std::numeric_limits<double>::infinity();
    }
    for (const LawTerm* term : law.terms) {
      for (const JointQuantity quantity : quantities_of(*term)) {
        const FrictionQuantity& facts = *friction_facts(quantity);
        Parameter& parameter = mechanism.joint_parameter(j, quantity);
        const double start = facts.start(scale.torque / terms, scale);
        parameter.value = std::isfinite(start) ? start : 0.0;
        parameter.free = true;
        if (facts.may_be_negative) parameter.lower = -std::numeric_limits<double>::infinity();
        if (facts.most != nullptr) parameter.upper = facts.most(scale);
      }
    }
  }
  return mechanism;
}

}  // namespace estimator
