#include "estimator/assessment/identifiability/inertia_results.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/inertia_parameterized_problem.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/optimize/box_step.hpp"

namespace estimator {
namespace {

constexpr double kNegligibleVariance = 1e-12;  // relative to a variance
constexpr double kWrongModel = 3.0;            // deviations beyond it that reject the model
constexpr double kNegligiblePart = 0.005;      // of a direction
constexpr int kCutsMax = 50;  // cutting planes of a cone: a dozen suffice for 0.1 %

const std::string& name_of(const Mechanism& mechanism, int body) {
  return mechanism.bodies[static_cast<std::size_t>(body)].name;
}

/// Returns the derivatives of vᵀ Σ w with respect to the moments of inertia, where Σ is the second
/// moment matrix.
Moments second_moment_slope(const Eigen::Vector3d& v, const Eigen::Vector3d& w) {
  Moments slope;
  for (int moment = 0; moment < 6; ++moment) {
    slope[moment] = v.dot(inertia_to_second_moments(inertia_matrix(Moments::Unit(moment))) * w);
  }
  return slope;
}

/// Converts a gradient with respect to the moments of inertia of a body to a gradient with respect
/// to the estimated parameters.
Eigen::VectorXd parameter_gradient(const Mechanism& mechanism, int body, const Moments& slope,
                                   const std::vector<int>& estimated) {
  Eigen::VectorXd along = Eigen::VectorXd::Zero(std::ssize(estimated));
  const auto indices = moment_of_inertia_indices(mechanism, body);
  for (int i = 0; i < 6; ++i) {
    const auto place = std::ranges::find(estimated, indices[static_cast<std::size_t>(i)]);
    if (place != estimated.end()) along[place - estimated.begin()] = slope[i];
  }
  return along;
}

/// Updates an inverse information matrix for fixed quantities, whose gradients are the columns of
/// `gradients`.
void fix_along(const Eigen::MatrixXd& gradients, Eigen::MatrixXd& inverse) {
  const Eigen::MatrixXd across = inverse * gradients;
  const Eigen::MatrixXd inner = gradients.transpose() * across;
  inverse -= across * pseudo_inverse(inner) * across.transpose();
  inverse = 0.5 * (inverse + inverse.transpose()).eval();
}

/// Returns the standard deviation of a quantity with the gradient `slope` with respect to the
/// moments of inertia, which may depend on other parameters.
double deviation_along(const Mechanism& mechanism, int body, const Moments& slope,
                       const std::vector<int>& requested, const ParameterUncertainty& uncertainty) {
  Eigen::VectorXd along = Eigen::VectorXd::Zero(std::ssize(requested));
  const auto indices = moment_of_inertia_indices(mechanism, body);
  for (int i = 0; i < 6; ++i) {
    const int index = indices[static_cast<std::size_t>(i)];
    const ParameterDependency* const tie = find_dependency(mechanism, index);
    for (const DependencyTerm& term :
         tie == nullptr ? std::vector<DependencyTerm>{{index, 1.0}} : tie->terms) {
      const auto place = std::ranges::find(requested, term.parameter);
      if (place != requested.end()) along[place - requested.begin()] += term.factor * slope[i];
    }
  }
  if (!is_identifiable(uncertainty, along)) return std::numeric_limits<double>::infinity();
  return std::sqrt(std::max(compute_combination_variance(uncertainty, along), 0.0));
}

/// Returns a note about a body at the boundary of physical consistency, thin along a direction.
Message boundary_note(const std::string& body, int thin, const Eigen::Vector3d& v) {
  Eigen::Index largest = 0;
  v.cwiseAbs().maxCoeff(&largest);
  const Eigen::Vector3d turned = v[largest] < 0.0 ? Eigen::Vector3d(-v) : v;
  const auto part = [](double x) { return std::abs(x) < kNegligiblePart ? 0.0 : x; };
  return {MessageCode::kAtFeasibilityBoundary,
          {{"body", body},
           {"flat", thin == 1},
           {"x", part(turned.x())},
           {"y", part(turned.y())},
           {"z", part(turned.z())}}};
}

}  // namespace

void require_consistent_initial_inertias(const Mechanism& mechanism) {
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const Body& own = mechanism.bodies[static_cast<std::size_t>(body)];
    if (std::isinf(own.cad_uncertainty)) continue;
    if (InertiaPrior(mechanism, body).residual(mechanism)) continue;
    throw std::invalid_argument(
        "body " + quoted(own.name) +
        ": the initial mass and moments of inertia are physically inconsistent; "
        "correct these values or omit cad_uncertainty_percent");
  }
}

std::vector<BodyAtFeasibilityBoundary> fix_inertias_at_feasibility_boundary(
    const Mechanism& mechanism, const std::vector<int>& estimated, const Eigen::VectorXd& variances,
    ParameterInformation& information) {
  std::vector<BodyAtFeasibilityBoundary> boundary_bodies;
  if (!information.valid) return boundary_bodies;
  const Eigen::MatrixXd inverse = information.inverse;
  const Eigen::MatrixXd covariance = compute_covariance(information, variances).covariance;
  const Eigen::VectorXd step = inverse * compute_total_score(information);
  for (int body = 0; body < mechanism.body_count(); ++body) {
    if (!has_inertia_parameterization(mechanism, body)) continue;
    const SymmetricEigen3 solved = symmetric_eigen3(
        inertia_to_second_moments(inertia_matrix(moments_of_inertia(mechanism, body))));
    const Eigen::Vector3d values = solved.values;
    const auto gradient = [&](int i, int k) {
      return parameter_gradient(mechanism, body,
                                second_moment_slope(solved.vectors.col(i), solved.vectors.col(k)),
                                estimated);
    };
    int thin = 0;
    while (thin < 2 && (is_at_feasibility_boundary(values[thin], values[2]) ||
                        values[thin] + gradient(thin, thin).dot(step) <= 0.0)) {
      ++thin;
    }
    if (thin == 0) continue;
    Eigen::MatrixXd gradients(inverse.rows(), thin == 1 ? 1 : 3);
    int column = 0;
    for (int i = 0; i < thin; ++i) {
      for (int k = 0; k <= i; ++k) gradients.col(column++) = gradient(i, k);
    }
    const Eigen::VectorXd along = gradients.col(0);
    const double deviation = std::sqrt(along.dot(covariance * along));
    const double unconstrained = values[0] + along.dot(step);
    Message note = boundary_note(name_of(mechanism, body), thin, solved.vectors.col(0));
    if (unconstrained < 0.0 && deviation > 0.0) {
      note.arguments.push_back({"excess", -unconstrained / deviation});
      note.arguments.push_back({"is_wrong", unconstrained < -kWrongModel * deviation});
    }
    boundary_bodies.push_back({body, std::move(note)});
    fix_along(gradients, information.inverse);
  }
  return boundary_bodies;
}

std::vector<PrincipalInertia> compute_principal_inertias(
    const Mechanism& mechanism, const std::vector<int>& requested,
    const ParameterUncertainty& uncertainty,
    const std::vector<BodyAtFeasibilityBoundary>& boundary_bodies) {
  std::vector<PrincipalInertia> result;
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const auto indices = moment_of_inertia_indices(mechanism, body);
    const bool free = std::ranges::any_of(indices, [&](int index) {
      return std::ranges::find(requested, index) != requested.end() ||
             is_changed_by_fit(mechanism, index);
    });
    if (!free || find_single_rotation_axis(mechanism, body)) continue;
    const SymmetricEigen3 solved =
        symmetric_eigen3(inertia_matrix(moments_of_inertia(mechanism, body)));
    PrincipalInertia inertia{.body = name_of(mechanism, body),
                             .moments = solved.values,
                             .deviations = Eigen::Vector3d::Zero(),
                             .axes = solved.vectors};
    inertia.at_feasibility_boundary =
        std::ranges::find(boundary_bodies, body, &BodyAtFeasibilityBoundary::body) !=
        boundary_bodies.end();
    for (int i = 0; i < 3; ++i) {
      const Eigen::Vector3d v = solved.vectors.col(i);
      Moments slope = moments_of_inertia(v * v.transpose());
      slope.tail<3>() *= 2.0;
      inertia.deviations[i] = deviation_along(mechanism, body, slope, requested, uncertainty);
    }
    result.push_back(inertia);
  }
  return result;
}

/// Approximates the condition that second moments are nonnegative in every direction by cutting
/// planes. Adds planes until the nearest point of the polyhedron satisfies the condition.
std::optional<NearestConsistentInertia> find_nearest_consistent_inertia(
    const Moments& moments, const Eigen::Matrix<double, 6, 6>& covariance) {
  NearestConsistentInertia nearest{moments, 0.0};
  const double least =
      kFlatnessLimit * symmetric_eigen3(inertia_to_second_moments(inertia_matrix(moments)))
                           .values.cwiseAbs()
                           .maxCoeff();
  Eigen::MatrixXd cuts(6, 0);
  for (int round = 0; round < kCutsMax; ++round) {
    const SymmetricEigen3 solved =
        symmetric_eigen3(inertia_to_second_moments(inertia_matrix(nearest.moments)));
    if (solved.values[0] >= 0.0) return nearest;
    cuts.conservativeResize(6, round + 1);
    cuts.col(round) = second_moment_slope(solved.vectors.col(0), solved.vectors.col(0));
    // min ½ δᵀC⁻¹δ with cutsᵀ(moments + δ) ≥ least: δ = C cuts μ, μ ≥ 0 solves the dual problem.
    const Eigen::MatrixXd inner = cuts.transpose() * covariance * cuts;
    if (!(inner(round, round) > 0.0)) return std::nullopt;
    const Eigen::VectorXd missing =
        Eigen::VectorXd::Constant(round + 1, least) - cuts.transpose() * moments;
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(round + 1);
    const Eigen::VectorXd mu =
        solve_bounded_step(inner, -missing, inner.diagonal(), zero,
                           Eigen::VectorXd::Constant(round + 1, std::numeric_limits<double>::max()))
            .step;
    nearest.moments = moments + covariance * (cuts * mu);
    nearest.cost = mu.dot(inner * mu);
  }
  return std::nullopt;
}

std::vector<Message> describe_inconsistent_inertias(const Mechanism& mechanism,
                                                    const std::vector<int>& estimated,
                                                    const ParameterInformation& information) {
  std::vector<Message> notes;
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const Moments moments = moments_of_inertia(mechanism, body);
    if (mechanism.bodies[static_cast<std::size_t>(body)].massless ||
        find_single_rotation_axis(mechanism, body) ||
        is_physically_consistent(inertia_matrix(moments))) {
      continue;
    }
    Eigen::Matrix<double, 6, 6> covariance;
    for (int i = 0; i < 6 && information.valid; ++i) {
      const Eigen::VectorXd row = parameter_gradient(mechanism, body, Moments::Unit(i), estimated);
      for (int k = 0; k < 6; ++k) {
        covariance(i, k) = row.dot(
            information.inverse * parameter_gradient(mechanism, body, Moments::Unit(k), estimated));
      }
    }
    const auto nearest =
        information.valid ? find_nearest_consistent_inertia(moments, covariance) : std::nullopt;
    if (!nearest) {
      notes.push_back({MessageCode::kInconsistentInertia, {{"body", name_of(mechanism, body)}}});
      continue;
    }
    std::vector<Message> nearest_moments;
    const auto indices = moment_of_inertia_indices(mechanism, body);
    for (int i = 0; i < 6; ++i) {
      if (covariance(i, i) <= kNegligibleVariance * covariance.maxCoeff()) continue;
      const Parameter& parameter = mechanism.at(indices[static_cast<std::size_t>(i)]);
      nearest_moments.push_back({MessageCode::kParameterValue,
                                 {{"parameter", parameter.name}, {"value", nearest->moments[i]}}});
    }
    notes.push_back({MessageCode::kNearestInertia,
                     {{"body", name_of(mechanism, body)},
                      {"moments", std::move(nearest_moments)},
                      {"cost", nearest->cost}}});
  }
  return notes;
}

}  // namespace estimator
