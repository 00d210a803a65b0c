#include "estimator/fit/inertia_parameterized_problem.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/math/decompositions.hpp"

namespace estimator {
namespace {

constexpr double kFlatStart = 0.01;  // smallest initial second moment, relative to the largest
/// Factor on the feasibility boundary up to which an inertia counts as being at it. The boundary
/// depends on the largest moment at the start of a solve, which changes in the solve.
constexpr double kAtFeasibilityBoundary = 1.5;

bool has_free_moments(const Mechanism& mechanism, int body) {
  const auto indices = moment_of_inertia_indices(mechanism, body);
  return std::all_of(indices.begin(), indices.begin() + 3,
                     [&](int index) { return mechanism.at(index).free; });
}

/// Returns the reason why free moments of a body are estimated individually; nullopt if they are
/// not.
std::optional<Message> obstacle(const Mechanism& mechanism, int body) {
  const auto indices = moment_of_inertia_indices(mechanism, body);
  int free_products = 0, held_products = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Parameter& parameter = mechanism.at(indices[i]);
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
  return symmetric_eigen3(
      inertia_to_second_moments(inertia_matrix(moments_of_inertia(mechanism, body))));
}

constexpr double kRounding = 1e-9;  // relative, of moments converted to coordinates and back

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
    notes.push_back(
        {MessageCode::kSeparateMoments,
         {{"body", mechanism.bodies[body].name}, {"reason", std::vector<Message>{*reason}}}});
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
    const Moments moments = moments_of_inertia(second_moments_to_inertia(
        solved.vectors * values.asDiagonal() * solved.vectors.transpose()));
    const auto indices = moment_of_inertia_indices(mechanism, body);
    for (int i = 0; i < 6; ++i) {
      Parameter& parameter = mechanism.parameters[indices[i]];
      if (parameter.free) parameter.value = moments[i];
    }
  }
}

InertiaParameterizedProblem::InertiaParameterizedProblem(LeastSquaresProblem& problem,
                                                         const Mechanism& mechanism,
                                                         InertiaParameterization chart)
    : problem_(problem) {
  const FreeParameters free(mechanism);
  bool moved = false;
  for (int body = 0; body < mechanism.body_count(); ++body) {
    if (!has_inertia_parameterization(mechanism, body)) continue;
    const auto indices = moment_of_inertia_indices(mechanism, body);
    Eigen::Array<bool, 3, 1> products;
    std::vector<Eigen::Index> columns;
    std::vector<int> moments;
    for (int i = 0; i < 6; ++i) {
      const int column = free.find_position(indices[i]);
      if (i >= 3) products[i - 3] = column >= 0;
      if (column < 0) continue;
      columns.push_back(column);
      moments.push_back(i);
    }
    const SecondMomentParameterization laid(chart, products, moments_of_inertia(mechanism, body));
    bodies_.push_back({laid, columns, moments, {}});
    point_.coordinates.push_back(laid.start());
    const Moments own = moments_of_inertia(mechanism, body);
    moved |= (laid.moments_of_inertia(laid.start()) - own).norm() > kRounding * own.norm();
    const int mass = mechanism.index(body, BodyParameter::kMass);
    if (free.find_position(mass) < 0) continue;
    const double value = mechanism.parameter(body, BodyParameter::kMass).value;
    if (!(value > 0.0)) continue;
    masses_.push_back({free.find_position(mass), value});
    point_.masses.push_back(value);
  }
  candidate_ = saved_ = point_;
  // If the coordinates cannot represent the initial inertia exactly, the problem starts from the
  // nearest inertia that they can represent.
  const ProblemShape shape = problem.shape();
  const Eigen::Index unknowns = static_cast<Eigen::Index>(shape.node_count) * shape.node_size;
  Eigen::VectorXd values = problem.parameter_values();
  const Eigen::VectorXd before = values;
  set_parameter_values(values);
  if (moved) {
    const double cost =
        problem.evaluate_trial_step(Eigen::VectorXd::Zero(unknowns), values - before);
    if (std::isfinite(cost)) problem.accept_trial_step();
  }
  update_sensitivities();
}

/// Converts the inertia coordinates of the candidate to parameters in SI units.
void InertiaParameterizedProblem::set_parameter_values(Eigen::VectorXd& values) const {
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const Moments moments = bodies_[b].chart.moments_of_inertia(candidate_.coordinates[b]);
    for (std::size_t i = 0; i < bodies_[b].columns.size(); ++i) {
      values[bodies_[b].columns[i]] = moments[bodies_[b].moments[i]];
    }
  }
  for (std::size_t m = 0; m < masses_.size(); ++m) values[masses_[m].column] = candidate_.masses[m];
}

void InertiaParameterizedProblem::update_sensitivities() {
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    ParameterizedBody& body = bodies_[b];
    body.slopes = body.chart.moment_derivatives(point_.coordinates[b])(body.moments, Eigen::all);
  }
}

void InertiaParameterizedProblem::linearize(int index, ResidualBlock& out) const {
  problem_.linearize(index, out);
  auto jacobian = out.parameter_jacobian.topRows(out.rows);
  for (const ParameterizedBody& body : bodies_) {
    const std::size_t size = body.columns.size();
    for (Eigen::Index row = 0; row < out.rows; ++row) {
      double along[6] = {};
      for (std::size_t i = 0; i < size; ++i) along[i] = jacobian(row, body.columns[i]);
      for (std::size_t c = 0; c < size; ++c) {
        double sum = 0.0;
        for (std::size_t i = 0; i < size; ++i) {
          sum += along[i] * body.slopes(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(c));
        }
        jacobian(row, body.columns[c]) = sum;
      }
    }
  }
  for (std::size_t m = 0; m < masses_.size(); ++m) {
    jacobian.col(masses_[m].column) *= point_.masses[m];
  }
}

double InertiaParameterizedProblem::evaluate_trial_step(const Eigen::VectorXd& node_step,
                                                        const Eigen::VectorXd& parameter_step) {
  const Eigen::VectorXd before = problem_.parameter_values();
  Eigen::VectorXd values = before + parameter_step;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    candidate_.coordinates[b] =
        bodies_[b].chart.moved(point_.coordinates[b], parameter_step(bodies_[b].columns));
  }
  for (std::size_t m = 0; m < masses_.size(); ++m) {
    candidate_.masses[m] =
        apply_logarithm_step(point_.masses[m], parameter_step[masses_[m].column]);
  }
  set_parameter_values(values);
  return problem_.evaluate_trial_step(node_step, values - before);
}

void InertiaParameterizedProblem::accept_trial_step() {
  problem_.accept_trial_step();
  std::swap(point_, candidate_);
  update_sensitivities();
}

void InertiaParameterizedProblem::save_point() {
  problem_.save_point();
  saved_ = point_;
}

void InertiaParameterizedProblem::restore_point() {
  problem_.restore_point();
  point_ = saved_;
  update_sensitivities();
}

Eigen::VectorXd InertiaParameterizedProblem::parameter_values() const {
  Eigen::VectorXd values = problem_.parameter_values();
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    values(bodies_[b].columns) = point_.coordinates[b];
  }
  for (std::size_t m = 0; m < masses_.size(); ++m) {
    values[masses_[m].column] = std::log(point_.masses[m]);
  }
  return values;
}

Eigen::VectorXd InertiaParameterizedProblem::lower_bounds() const {
  Eigen::VectorXd lower = problem_.lower_bounds();
  for (const ParameterizedBody& body : bodies_) lower(body.columns) = body.chart.lower();
  for (const FreeMass& mass : masses_) {
    lower[mass.column] = std::log(std::max(lower[mass.column], kFlatnessLimit * mass.start));
  }
  return lower;
}

Eigen::VectorXd InertiaParameterizedProblem::upper_bounds() const {
  Eigen::VectorXd upper = problem_.upper_bounds();
  for (const ParameterizedBody& body : bodies_) upper(body.columns).setConstant(HUGE_VAL);
  for (const FreeMass& mass : masses_) upper[mass.column] = std::log(upper[mass.column]);
  return upper;
}

LmSummary solve_in_inertia_coordinates(LeastSquaresProblem& problem, const Mechanism& mechanism,
                                       InertiaParameterization chart, const LmOptions& options,
                                       const LmMonitor& monitor, const std::atomic<bool>* stop) {
  if (chart == InertiaParameterization::kEntries) return solve(problem, options, monitor, stop);
  InertiaParameterizedProblem charted(problem, mechanism, chart);
  std::vector<Eigen::VectorXd> values;
  LmSummary summary = solve(
      charted, options,
      [&](IterationRecord record) {
        values.push_back(problem.parameter_values());
        record.parameters = values.back();
        if (monitor) monitor(record);
      },
      stop);
  for (std::size_t i = 0; i < values.size(); ++i) summary.history[i].parameters = values[i];
  return summary;
}

}  // namespace estimator
