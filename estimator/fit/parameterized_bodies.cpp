#include "estimator/fit/parameterized_bodies.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/fit/number_text.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/model/consistent_inertia.hpp"

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

/// Returns the reason why free moments of a body are estimated individually; empty if they are not.
std::string obstacle(const Mechanism& mechanism, int body) {
  const auto indices = moment_indices(mechanism, body);
  int free_products = 0, held_products = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Parameter& parameter = parameter_at(mechanism, indices[i]);
    if (find_dependency(mechanism, indices[i]) != nullptr) return parameter.name + " is dependent";
    if (i >= 3) ++(parameter.free ? free_products : held_products);
    if (!parameter.free) {
      if (parameter.value == 0.0) continue;
      return parameter.name + " is fixed at a nonzero value";
    }
    const double least = i < 3 ? 2.0 * kLeastSecondMoment : -HUGE_VAL;
    if (parameter.lower > least || parameter.upper < HUGE_VAL) {
      return parameter.name + " has its own bounds";
    }
  }
  if (free_products == 2 && held_products == 1) return "one product of inertia is fixed";
  return "";
}

SymmetricEigen3 principal(const Mechanism& mechanism, int body) {
  return symmetric_eigen3(second_moments(inertia_matrix(moments_of(mechanism, body))));
}

}  // namespace

bool has_inertia_parameterization(const Mechanism& mechanism, int body) {
  return has_free_moments(mechanism, body) && obstacle(mechanism, body).empty() &&
         principal(mechanism, body).values[2] > 0.0;
}

std::vector<std::string> describe_unparameterized_inertias(const Mechanism& mechanism) {
  std::vector<std::string> sentences;
  for (int body = 0; body < mechanism.body_count(); ++body) {
    if (!has_free_moments(mechanism, body)) continue;
    const std::string why = obstacle(mechanism, body);
    if (why.empty()) continue;
    sentences.push_back("body " + quoted(mechanism.bodies[static_cast<std::size_t>(body)].name) +
                        ": its moments of inertia are estimated one by one, because " + why +
                        "; the result may not be physically consistent, which is then reported");
  }
  return sentences;
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
