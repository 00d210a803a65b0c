#include "estimator/fit/parameterized_bodies.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "estimator/math/decompositions.hpp"
#include "estimator/model/inertia/consistent_inertia.hpp"

namespace estimator {
namespace {

constexpr double kFlatStart = 0.01;  // smallest initial second moment, relative to the largest
/// Factor on the feasibility boundary up to which an inertia counts as being at it. The boundary
/// depends on the largest moment at the start of a solve, which changes in the solve.
constexpr double kAtFeasibilityBoundary = 1.5;

bool has_free_moments(const Mechanism& mechanism, int body) {
  const auto indices = moment_indices(mechanism, body);
  return std::all_of(indices.begin(), indices.begin() + 3,
                     [&](int index) { return parameter_at(mechanism, index).free; });
}

/// Returns the reason why free moments of a body are estimated individually; nullopt if they are
/// not.
std::optional<Message> obstacle(const Mechanism& mechanism, int body) {
  const auto indices = moment_indices(mechanism, body);
  int free_products = 0, held_products = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Parameter& parameter = parameter_at(mechanism, indices[i]);
    const auto reason = [&](MessageCode code) {
      return Message(code, {{"parameter", parameter.name}});
    };
    if (find_dependency(mechanism, indices[i]) != nullptr) {
      return reason(MessageCode::kDependentMoment);
    }
    if (i >= 3) ++(parameter.free ? free_products : held_products);
    if (!parameter.free) {
      if (parameter.value == 0.0) continue;
      return reason(MessageCode::kFixedMoment);
    }
    const double least = i < 3 ? 2.0 * kLeastSecondMoment : -HUGE_VAL;
    if (parameter.lower > least || parameter.upper < HUGE_VAL) {
      return reason(MessageCode::kBoundedMoment);
    }
  }
  if (free_products == 2 && held_products == 1) return Message(MessageCode::kFixedProduct);
  return {};
}

SymmetricEigen3 principal(const Mechanism& mechanism, int body) {
  return symmetric_eigen3(second_moments(inertia_matrix(moments_of(mechanism, body))));
}

}  // namespace

bool has_inertia_parameterization(const Mechanism& mechanism, int body) {
  return has_free_moments(mechanism, body) && !obstacle(mechanism, body) &&
         principal(mechanism, body).values[2] > 0.0;
}

std::vector<Message> describe_unparameterized_inertias(const Mechanism& mechanism) {
  std::vector<Message> notes;
  for (int body = 0; body < mechanism.body_count(); ++body) {
    if (!has_free_moments(mechanism, body)) continue;
    const std::optional<Message> reason = obstacle(mechanism, body);
    if (!reason) continue;
    notes.push_back({MessageCode::kSeparateMoments,
                     {{"body", mechanism.bodies[static_cast<std::size_t>(body)].name},
                      {"reason", std::vector<Message>{*reason}}}});
  }
  return notes;
}

bool is_at_feasibility_boundary(const Mechanism& mechanism, int body) {
  const Eigen::Vector3d values = principal(mechanism, body).values;
  return is_at_feasibility_boundary(values[0], values[2]);
}

bool is_at_feasibility_boundary(double least, double largest) {
  return least <= kAtFeasibilityBoundary * feasibility_boundary(largest);
}

void move_off_feasibility_boundary(Mechanism& mechanism) {
  for (int body = 0; body < mechanism.body_count(); ++body) {
    if (!has_inertia_parameterization(mechanism, body) ||
        !is_at_feasibility_boundary(mechanism, body))
      continue;
    const auto solved = principal(mechanism, body);
    const Eigen::Vector3d values = solved.values.cwiseMax(kFlatStart * solved.values[2]);
    const Moments moments =
        moments_of(inertia_from(solved.vectors * values.asDiagonal() * solved.vectors.transpose()));
    const auto indices = moment_indices(mechanism, body);
    for (int i = 0; i < 6; ++i) {
      Parameter& parameter =
          mechanism.parameters[static_cast<std::size_t>(indices[static_cast<std::size_t>(i)])];
      if (parameter.free) parameter.value = moments[i];
    }
  }
}

}  // namespace estimator
