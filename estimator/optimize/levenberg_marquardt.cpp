#include "estimator/optimize/levenberg_marquardt.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "estimator/optimize/arrow_factor.hpp"
#include "estimator/optimize/box_step.hpp"

namespace estimator {
namespace {

// Share of the predicted decrease below which the damping does not shorten the step. It is 0.5
// when the damping alone determines the step; a small step then says nothing about the optimum.
constexpr double kNegligibleDampingShare = 0.1;

// A step must achieve this part of the predicted decrease. Smaller than any step worth keeping,
// and large enough that rounding of the cost is not taken for progress.
constexpr double kMinGainRatio = 1e-4;

// Largest reduction of the damping after one step.
constexpr double kMaxDampingReduction = 0.01;

// Increase of the damping after a factorisation that failed. Such a failure is one of rounding,
// of a damping below what the condition of H allows.
constexpr double kDampingIncreaseOnFailure = 100.0;

// Moves `step` by units in the last place until value + step lies in the box. That takes one or
// two: a step much smaller than the value is exact, and the sum of exact terms rounds into the box.
double round_into_box(double value, double step, double lower, double upper) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  while (value + step < lower) step = std::nextafter(step, kInfinity);
  while (value + step > upper) step = std::nextafter(step, -kInfinity);
  return step;
}

class LevenbergMarquardt {
 public:
  LevenbergMarquardt(LeastSquaresProblem& problem, const LmOptions& options,
                     const LmMonitor& monitor, const std::atomic<bool>* stop)
      : problem_(problem),
        options_(options),
        monitor_(monitor),
        stop_(stop),
        factor_(problem.layout(), problem.max_block_rows()),
        lower_(problem.arrow_lower()),
        upper_(problem.arrow_upper()),
        damping_(options.initial_damping) {}

  LmSummary run();

 private:
  // A step, and what the linear model says of it.
  struct Step {
    Eigen::VectorXd nodes;
    Eigen::VectorXd arrow;
    double predicted = 0.0;      // decrease of the cost
    double damping_share = 0.0;  // α δᵀDδ / predicted
    double norm = 0.0;           // √(δᵀDδ)
  };

  bool start();
  std::optional<Termination> iterate(int iteration);
  bool stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }
  bool raise_damping(double factor);
  double gradient_norm() const;
  void compute_step();
  bool step_is_small() const;
  void accept(double cost, IterationRecord record);

  LeastSquaresProblem& problem_;
  const LmOptions& options_;
  const LmMonitor& monitor_;
  const std::atomic<bool>* stop_;
  ArrowFactor factor_;
  const Eigen::VectorXd lower_;
  const Eigen::VectorXd upper_;
  Eigen::VectorXd arrow_;        // χ at the current point
  double cost_ = 0.0;            // at the current point
  double damping_;               // α
  double damping_growth_ = 2.0;  // ν of [Nie99]
  Step step_;
  LmSummary summary_;
};

LmSummary LevenbergMarquardt::run() {
  summary_.termination = Termination::kNumericalFailure;
  if (start()) {
    summary_.termination = Termination::kMaxIterations;
    for (int iteration = 1; iteration <= options_.max_iterations; ++iteration) {
      if (const std::optional<Termination> end = iterate(iteration)) {
        summary_.termination = *end;
        break;
      }
    }
  }
  summary_.cost = cost_;
  return std::move(summary_);
}

// Puts the start into the box; false if the model is undefined there.
bool LevenbergMarquardt::start() {
  arrow_ = problem_.arrow();
  cost_ = problem_.cost();
  assert(arrow_.size() == lower_.size() && arrow_.size() == upper_.size());
  assert((lower_.array() <= upper_.array()).all());
  if (arrow_.allFinite() &&
      ((arrow_.array() < lower_.array()) || (arrow_.array() > upper_.array())).any()) {
    Eigen::VectorXd correction = arrow_.cwiseMax(lower_).cwiseMin(upper_) - arrow_;
    for (int i = 0; i < arrow_.size(); ++i) {
      correction[i] = round_into_box(arrow_[i], correction[i], lower_[i], upper_[i]);
    }
    const ArrowLayout layout = problem_.layout();
    const Eigen::Index node_unknowns =
        static_cast<Eigen::Index>(layout.node_count) * layout.node_size;
    cost_ = problem_.evaluate_candidate(Eigen::VectorXd::Zero(node_unknowns), correction);
    if (std::isfinite(cost_)) {
      problem_.accept_candidate();
      arrow_ = problem_.arrow();
    }
  }
  summary_.initial_cost = cost_;
  if (!std::isfinite(cost_) || !arrow_.allFinite()) return false;
  IterationRecord record;
  record.damping = damping_;
  accept(cost_, std::move(record));
  return true;
}

// One accepted step, after as many rejected ones as it takes. Returns why to stop, if so.
std::optional<Termination> LevenbergMarquardt::iterate(int iteration) {
  for (int rejected = 0;; ++rejected) {
    if (stopped()) return Termination::kCancelled;
    if (!factor_.factorize(problem_, damping_)) {
      if (!raise_damping(kDampingIncreaseOnFailure)) return Termination::kNumericalFailure;
      continue;
    }
    const double gradient = gradient_norm();
    if (gradient <= options_.gradient_tolerance) return Termination::kGradientTolerance;
    compute_step();

    const bool free_of_damping = step_.damping_share <= kNegligibleDampingShare;
    const bool small_decrease = step_.predicted <= options_.cost_tolerance * cost_;
    const bool negligible_decrease = step_.predicted <= options_.negligible_decrease * cost_;
    const bool small_step = step_is_small();
    const double used_damping = damping_;
    const double cost = problem_.evaluate_candidate(step_.nodes, step_.arrow);
    const double gain_ratio = (cost_ - cost) / step_.predicted;
    if (std::isfinite(cost) && cost < cost_ && gain_ratio > kMinGainRatio) {
      const bool small_actual_decrease = cost_ - cost <= options_.cost_tolerance * cost_;
      problem_.accept_candidate();
      const double excess = 2.0 * gain_ratio - 1.0;
      damping_ *= std::max(kMaxDampingReduction, 1.0 - excess * excess * excess);
      damping_ = std::clamp(damping_, options_.min_damping, options_.max_damping);
      damping_growth_ = 2.0;
      IterationRecord record;
      record.iteration = iteration;
      record.step_norm = step_.norm;
      record.gradient_norm = gradient;
      record.damping = used_damping;
      record.rejected = rejected;
      accept(cost, std::move(record));
      if (free_of_damping && small_step) return Termination::kStepTolerance;
      if (free_of_damping && small_decrease && small_actual_decrease) {
        return Termination::kCostTolerance;
      }
      if (rejected > 0 && negligible_decrease) return Termination::kNoFurtherDecrease;
      return std::nullopt;
    }
    // Next to the optimum the decrease drowns in the rounding of the cost: nothing left to gain.
    const bool trusted = free_of_damping || damping_ <= options_.initial_damping;
    if (trusted && small_step) return Termination::kStepTolerance;
    if (trusted && small_decrease) return Termination::kCostTolerance;
    if (negligible_decrease) return Termination::kNoFurtherDecrease;
    if (!raise_damping(damping_growth_)) return Termination::kNumericalFailure;
    damping_growth_ *= 2.0;
  }
}

bool LevenbergMarquardt::raise_damping(double factor) {
  if (damping_ >= options_.max_damping) return false;
  damping_ = std::min(factor * std::max(damping_, options_.min_damping), options_.max_damping);
  return true;
}

// max |g_i| / (√D_ii ‖r‖) over unknowns that are not held by a bound.
double LevenbergMarquardt::gradient_norm() const {
  if (cost_ <= 0.0) return 0.0;
  const Eigen::ArrayXd node_norms =
      factor_.node_gradient().array().abs() / factor_.node_scale().array().sqrt();
  double norm = node_norms.size() > 0 ? node_norms.maxCoeff() : 0.0;
  for (int i = 0; i < arrow_.size(); ++i) {
    const double g = factor_.arrow_gradient()[i];
    const bool held = (arrow_[i] <= lower_[i] && g > 0.0) || (arrow_[i] >= upper_[i] && g < 0.0);
    if (!held) norm = std::max(norm, std::abs(g) / std::sqrt(factor_.arrow_scale()[i]));
  }
  return norm / std::sqrt(cost_);
}

// The predicted decrease is −2gᵀδ − δᵀHδ, which holds with active bounds too. It follows from the
// reduced quadratic, whose value at δ_χ is that of (g, Ĥ) minimised over the nodes.
void LevenbergMarquardt::compute_step() {
  const Eigen::MatrixXd& S = factor_.schur();
  const Eigen::VectorXd& s = factor_.schur_gradient();
  step_.arrow = solve_box_step(S, s, factor_.arrow_scale(), lower_ - arrow_, upper_ - arrow_).step;
  for (int i = 0; i < arrow_.size(); ++i) {
    step_.arrow[i] = round_into_box(arrow_[i], step_.arrow[i], lower_[i], upper_[i]);
  }
  factor_.solve_nodes(step_.arrow, step_.nodes);

  const double squared_norm = step_.nodes.cwiseAbs2().dot(factor_.node_scale()) +
                              step_.arrow.cwiseAbs2().dot(factor_.arrow_scale());
  const double damped_decrease =
      factor_.node_decrease() - 2.0 * s.dot(step_.arrow) - step_.arrow.dot(S * step_.arrow);
  step_.predicted = damped_decrease + damping_ * squared_norm;
  step_.damping_share = damping_ * squared_norm / step_.predicted;
  step_.norm = std::sqrt(squared_norm);
}

bool LevenbergMarquardt::step_is_small() const {
  const double tolerance = options_.step_tolerance;
  const double node_step = step_.nodes.size() > 0 ? step_.nodes.cwiseAbs().maxCoeff() : 0.0;
  const double arrow_step = step_.arrow.cwiseAbs2().dot(factor_.arrow_scale());
  const double arrow = arrow_.cwiseAbs2().dot(factor_.arrow_scale());
  return node_step <= tolerance && arrow_step <= tolerance * tolerance * arrow;
}

// Books the point the problem now stands at.
void LevenbergMarquardt::accept(double cost, IterationRecord record) {
  cost_ = cost;
  arrow_ = problem_.arrow();
  record.cost = cost;
  record.arrow = arrow_;
  summary_.iterations = record.iteration;
  if (monitor_) monitor_(record);
  summary_.history.push_back(std::move(record));
}

}  // namespace

LmSummary solve(LeastSquaresProblem& problem, const LmOptions& options, const LmMonitor& monitor,
                const std::atomic<bool>* stop) {
  return LevenbergMarquardt(problem, options, monitor, stop).run();
}

}  // namespace estimator
