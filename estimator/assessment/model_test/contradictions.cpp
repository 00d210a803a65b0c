#include "estimator/assessment/model_test/contradictions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "estimator/assessment/model_test/score_step.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {
namespace {

constexpr double kMatters = 1.0;  // least change of an estimate, in standard deviations
constexpr double kAlike = 0.8;    // relative decrease of an equal explanation

constexpr int kPointCount = 6;  // coordinates of a joint on its two bodies

/// Returns the indices of the fixed parameters to test.
std::vector<int> candidates(const Mechanism& mechanism) {
  std::vector<int> kept;
  const auto take = [&](int joint, JointQuantity quantity, bool is_described) {
    const int index = mechanism.index_of_joint(joint, quantity);
    if (is_described && is_fixed(mechanism, index)) kept.push_back(index);
  };
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const auto is_there = [&](JointQuantity quantity) {
      return mechanism.joint_parameter(j, quantity).value != 0.0;
    };
    for (int k = 0; k < kPointCount; ++k) {
      const auto point = static_cast<JointQuantity>(k);
      take(j, point, is_there(point));
    }
    take(j, JointQuantity::kMotorGain, is_there(JointQuantity::kMotorGain));
    const bool has_any_friction = has_friction(mechanism, j, [](const auto&) { return true; });
    for (int place = 0; place < FrictionLaws::kQuantityCount; ++place) {
      const FrictionQuantity& facts = kFrictionQuantities[static_cast<std::size_t>(place)];
      if (!facts.is_size || facts.is_loaded || facts.is_steep) continue;
      take(j, friction_quantity(place),
           facts.is_dry ? has_dry_law(mechanism, j) : has_any_friction);
    }
  }
  return kept;
}

/// Sets a plausible decay rate for Stribeck friction terms that the description fixes at zero.
void begin_excesses(const ShootingInput& input, Mechanism& mechanism) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (!is_fixed(mechanism, mechanism.index_of_joint(j, JointQuantity::kStribeckTorque)) ||
        mechanism.joint_parameter(j, JointQuantity::kStribeckTorque).value != 0.0 ||
        !(input.max_speed[j] > 0.0)) {
      continue;
    }
    mechanism.joint_parameter(j, JointQuantity::kStribeckRate).value =
        std::pow(kDecayShare * input.max_speed[j], -2);
  }
}

ShootingProblem with_freed(const ShootingProblem& fitted, const ShootingInput& input,
                           const ShootingGrid& grid, const std::vector<int>& indices) {
  Mechanism mechanism = fitted.mechanism();
  begin_excesses(input, mechanism);
  for (const int index : indices) mechanism.parameters[static_cast<std::size_t>(index)].free = true;
  return fitted.restated(mechanism, input.segments, grid, fitted.noise());
}

/// A score test that frees the fixed parameter values one at a time.
class ScoreTest {
 public:
  ScoreTest(const ShootingProblem& fitted, const ShootingProblem& problem,
            const ParameterInformation& information)
      : mechanism_(problem.mechanism()), free_(problem.mechanism()), information_(information) {
    const FreeParameters described(fitted.mechanism());
    for (const int index : described.indices()) {
      const int position = free_.position(index);
      if (information.at_bound[position] == 0) estimated_.push_back(position);
    }
  }

  /// Returns the contradicted parameters among these indices, the most significant first.
  std::vector<Contradiction> contradicted(const std::vector<int>& indices,
                                          const Eigen::MatrixXd& spread) const {
    std::vector<Contradiction> contradictions;
    const ScoreStep before = step_along(information_, spread, estimated_);
    for (const int index : indices) try_one(index, spread, before, contradictions);
    std::ranges::stable_sort(contradictions, std::ranges::greater(), &Contradiction::decrease);
    return contradictions;
  }

 private:
  void try_one(int index, const Eigen::MatrixXd& spread, const ScoreStep& before,
               std::vector<Contradiction>& contradictions) const {
    std::vector<int> taken = estimated_;
    taken.push_back(free_.position(index));
    const ScoreStep after = step_along(information_, spread, taken);
    if (after.rank <= before.rank) return;
    const auto kept = static_cast<Eigen::Index>(estimated_.size());
    const double change = after.change[kept], deviation = after.deviation[kept];
    if (!is_significant(change, deviation)) return;
    const Parameter& parameter = parameter_at(mechanism_, index);
    const double value = parameter.value + change;
    if (value < parameter.lower || value > parameter.upper) return;
    Eigen::Index moved = 0;
    double shift = 0.0;
    for (Eigen::Index i = 0; i < kept; ++i) {
      if (!(before.deviation[i] > 0.0)) continue;
      const double own = std::abs(after.change[i] - before.change[i]) / before.deviation[i];
      if (own > shift) {
        shift = own;
        moved = i;
      }
    }
    if (!(shift > kMatters)) return;
    const int moved_index =
        free_.indices()[static_cast<std::size_t>(estimated_[static_cast<std::size_t>(moved)])];
    contradictions.push_back({.name = parameter.name,
                              .unit = parameter.unit,
                              .kept = parameter.value,
                              .value = value,
                              .standard_deviation = deviation,
                              .decrease = after.decrease - before.decrease,
                              .moved = parameter_at(mechanism_, moved_index).name,
                              .shift = shift});
  }

  const Mechanism& mechanism_;
  FreeParameters free_;
  const ParameterInformation& information_;
  std::vector<int> estimated_;  // positions
};

}  // namespace

std::vector<Contradiction> find_contradictions(const ShootingProblem& fitted,
                                               const ShootingInput& input, const ShootingGrid& grid,
                                               const std::vector<QuantizedSensor>& counting,
                                               const Eigen::VectorXd& variances) {
  const std::vector<int> kept = candidates(fitted.mechanism());
  if (kept.empty()) return {};
  const ShootingProblem problem = with_freed(fitted, input, grid, kept);
  ParameterInformation information = compute_information(problem, {.effective_parameters = false});
  if (!information.valid) return {};
  const ScoreTest test(fitted, problem, information);
  const auto contradictions = test.contradicted(kept, score_covariance(information, variances));
  if (contradictions.empty() || counting.empty()) return contradictions;
  const QuantizationErrors errors =
      quantization_errors(problem, counting);  // expensive, rarely needed
  for (std::size_t i = 0; i < counting.size(); ++i) {
    information.group_schur[static_cast<std::size_t>(counting[i].sensor)] = errors.scatter[i];
  }
  return test.contradicted(kept, score_covariance(information, variances));
}

Message contradiction_note(const std::vector<Contradiction>& found) {
  const Contradiction& first = found.front();
  Message note(MessageCode::kContradiction,
               {{"parameter", first.name},
                {"fixed", Quantity{first.kept, first.unit}},
                {"estimate", Quantity{first.value, first.unit, first.standard_deviation}},
                {"moved", first.moved},
                {"shift", first.shift}});
  std::vector<std::string> alternatives;
  for (std::size_t i = 1; i < found.size(); ++i) {
    if (!(found[i].decrease > kAlike * first.decrease)) break;
    alternatives.push_back(found[i].name);
  }
  if (!alternatives.empty()) note.arguments.push_back({"alternatives", std::move(alternatives)});
  return note;
}

}  // namespace estimator
