#include "estimator/optimize/levenberg_marquardt.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>
#include <utility>

#include "estimator/optimize/arrow_factor.hpp"
#include "estimator/optimize/box_step.hpp"

namespace estimator {

std::string_view to_string(Termination termination) {
  switch (termination) {
    case Termination::kGradientTolerance:
      return "gradient tolerance";
    case Termination::kStepTolerance:
      return "step tolerance";
    case Termination::kCostTolerance:
      return "cost tolerance";
    case Termination::kNoFurtherDecrease:
      return "no further decrease";
    case Termination::kMaxIterations:
      return "iteration limit";
    case Termination::kCancelled:
      return "cancelled";
    case Termination::kNumericalFailure:
      return "numerical failure";
  }
  return "unknown";
}

bool is_converged(Termination termination) {
  return termination == Termination::kGradientTolerance ||
         termination == Termination::kStepTolerance || termination == Termination::kCostTolerance ||
         termination == Termination::kNoFurtherDecrease;
}

namespace {

// Fraction of the predicted decrease up to which the damping does not shorten the step. It is 0.5
// if the damping alone determines the step; a small step is then no sign of an optimum.
constexpr double kNegligibleDampingShare = 0.1;

// Smallest fraction of the predicted decrease that a step must achieve. It is smaller than for any
// useful step, but large enough that round-off of the cost does not count as progress.
constexpr double kMinGainRatio = 1e-4;

// Number of steps that may raise the cost before a step must reduce it below the saved cost, and
// the required relative reduction. A single step is enough to follow a curved valley.
constexpr int kMaxRelaxedSteps = 2;
constexpr double kLeastRelaxedGain = 1e-4;

// Limits the pause after failed relaxations to 2³ − 1 iterations. At kinks, relaxations always
// fail.
constexpr int kMaxFailedRelaxations = 3;

constexpr int kStagnantSteps = 3;  // see LmOptions::stagnant_gain

// Predicted decrease, relative to the cost, up to which a point counts as an optimum at a kink if
// no damping achieves a decrease.
constexpr double kNegligiblePromise = 1e-2;

// Changes `step` by units in the last place until value + step is within the bounds. This takes at
// most two: a step much smaller than the value is exact, and the sum of exact terms rounds into the
// box.
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
        factor_(problem.shape(), problem.max_block_rows()),
        lower_(problem.lower_bounds()),
        upper_(problem.upper_bounds()),
        growth_(problem.step_factor_limits()),
        damping_(options) {}

  LmSummary run() {
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

 private:
  // Step of the solver and its prediction by the linear model.
  struct Step {
    Eigen::VectorXd nodes;
    Eigen::VectorXd parameters;
    double predicted = 0.0;      // decrease of the cost
    double damping_share = 0.0;  // α δᵀDδ / predicted
    double norm = 0.0;           // √(δᵀDδ)
  };

  // Result of a trial step.
  struct Trial {
    double cost = 0.0;
    bool finite = false;
    bool lowers_cost = false;      // sufficiently since the iteration's start
    double gain_ratio = 0.0;       // actual over predicted decrease
    bool free_of_damping = false;  // the damping did not shorten the step
    bool small_step = false;
    bool small_promise = false;  // predicted decrease below the tolerance
    bool small_gain = false;     // actual decrease below the tolerance too
    bool negligible = false;     // predicted decrease is useless after a rejection
  };

  // Projects the initial parameters onto their bounds; returns false if the model is undefined
  // there.
  bool start() {
    parameters_ = problem_.parameter_values();
    cost_ = problem_.cost();
    assert(parameters_.size() == lower_.size() && parameters_.size() == upper_.size());
    assert((lower_.array() <= upper_.array()).all());
    if (parameters_.allFinite() &&
        ((parameters_.array() < lower_.array()) || (parameters_.array() > upper_.array())).any()) {
      Eigen::VectorXd correction = parameters_.cwiseMax(lower_).cwiseMin(upper_) - parameters_;
      for (int i = 0; i < parameters_.size(); ++i) {
        correction[i] = round_into_box(parameters_[i], correction[i], lower_[i], upper_[i]);
      }
      const ProblemShape shape = problem_.shape();
      const Eigen::Index node_unknowns =
          static_cast<Eigen::Index>(shape.node_count) * shape.node_size;
      cost_ = problem_.evaluate_trial_step(Eigen::VectorXd::Zero(node_unknowns), correction);
      if (std::isfinite(cost_)) {
        problem_.accept_trial_step();
        parameters_ = problem_.parameter_values();
      }
    }
    summary_.initial_cost = cost_;
    if (!std::isfinite(cost_) || !parameters_.allFinite()) return false;
    IterationRecord record;
    record.damping = damping_.value();
    accept(cost_, std::move(record));
    return true;
  }

  // Makes an accepted step, after any number of trials. Returns the reason to stop, if any.
  std::optional<Termination> iterate(int iteration) {
    bool may_relax = relaxation_pause_ == 0;
    double promise = 0.0;
    for (int rejected = 0;; ++rejected) {
      if (stopped()) {
        end_relaxation();
        return Termination::kCancelled;
      }
      if (!factorize(rejected)) {
        end_relaxation();
        if (!damping_.raise_after_failed_factorization()) return Termination::kNumericalFailure;
        continue;
      }
      const double gradient = gradient_norm();
      if (!is_relaxed() && gradient <= options_.gradient_tolerance) {
        return Termination::kGradientTolerance;
      }
      compute_step();
      if (rejected == 0) promise = step_.predicted;
      const Trial trial = try_step();
      if (trial.lowers_cost) {
        IterationRecord record;
        record.iteration = iteration;
        record.gradient_norm = gradient;
        record.rejected = rejected;
        return accept_trial(trial, std::move(record));
      }
      if (is_relaxed()) {
        if (trial.finite && relaxed_steps_ < kMaxRelaxedSteps) {
          relax(trial.cost);
          continue;
        }
        end_relaxation();
      } else {
        // Near the optimum the decrease is below the round-off of the cost: stop.
        const bool trusted = trial.free_of_damping || damping_.value() <= options_.initial_damping;
        if (trusted && trial.small_step) return Termination::kStepTolerance;
        if (trusted && trial.small_promise) return Termination::kCostTolerance;
        if (trial.negligible) return Termination::kNoFurtherDecrease;
        if (may_relax && trial.finite) {
          may_relax = false;
          relax(trial.cost);
          continue;
        }
        if (rejected == 0) relaxation_pause_ = std::max(relaxation_pause_ - 1, 0);
      }
      if (!damping_.raise()) {
        return promise <= kNegligiblePromise * cost_ ? Termination::kNoFurtherDecrease
                                                     : Termination::kNumericalFailure;
      }
    }
  }

  // Factorizes the damped normal equations at the current point. Keeps the linearization where
  // several dampings are probable: after a rejected step, or if the last iteration rejected one.
  bool factorize(int rejected) {
    if (has_linearization_) return factor_.factorize_again(damping_.value());
    const bool keep = (rejected > 0 || last_rejected_ > 0) && !is_relaxed();
    const bool success = factor_.factorize(problem_, damping_.value(), keep);
    has_linearization_ = keep && factor_.has_kept_blocks();
    return success;
  }

  std::optional<Termination> accept_trial(const Trial& trial, IterationRecord record) {
    problem_.accept_trial_step();
    has_linearization_ = false;
    last_rejected_ = record.rejected;
    if (is_relaxed()) failed_relaxations_ = 0;
    relaxed_steps_ = 0;
    record.step_norm = step_.norm;
    record.damping = damping_.value();
    record.gain_ratio = trial.gain_ratio;
    const int rejected = record.rejected;
    damping_.lower(trial.gain_ratio);
    accept(trial.cost, std::move(record));
    if (trial.free_of_damping && trial.small_step) return Termination::kStepTolerance;
    if (trial.free_of_damping && trial.small_promise && trial.small_gain) {
      return Termination::kCostTolerance;
    }
    const bool negligible = rejected > 0 && trial.negligible;
    if (negligible || is_stagnant()) return Termination::kNoFurtherDecrease;
    return std::nullopt;
  }

  bool stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }
  bool is_relaxed() const { return relaxed_steps_ > 0; }

  // Accepts a step that raises the cost, and saves the point before the first such step.
  void relax(double cost) {
    if (!is_relaxed()) {
      problem_.save_point();
      saved_cost_ = cost_;
    }
    problem_.accept_trial_step();
    has_linearization_ = false;
    cost_ = cost;
    parameters_ = problem_.parameter_values();
    ++relaxed_steps_;
  }

  void end_relaxation() {
    if (!is_relaxed()) return;
    problem_.restore_point();
    cost_ = saved_cost_;
    parameters_ = problem_.parameter_values();
    relaxed_steps_ = 0;
    failed_relaxations_ = std::min(failed_relaxations_ + 1, kMaxFailedRelaxations);
    relaxation_pause_ = (1 << failed_relaxations_) - 1;
  }

  // Returns max |g_i| / (√D_ii ‖r‖) over the unknowns that are not at a bound.
  double gradient_norm() const {
    if (cost_ <= 0.0) return 0.0;
    const Eigen::ArrayXd node_norms =
        factor_.node_gradient().array().abs() / factor_.node_diagonal().array().sqrt();
    double norm = node_norms.size() > 0 ? node_norms.maxCoeff() : 0.0;
    for (int i = 0; i < parameters_.size(); ++i) {
      const double g = factor_.parameter_gradient()[i];
      const bool held =
          (parameters_[i] <= lower_[i] && g > 0.0) || (parameters_[i] >= upper_[i] && g < 0.0);
      if (!held) norm = std::max(norm, std::abs(g) / std::sqrt(factor_.parameter_diagonal()[i]));
    }
    return norm / std::sqrt(cost_);
  }

  // Returns the largest change of each parameter in one step towards a bound.
  Eigen::VectorXd reach(const Eigen::VectorXd& bound, bool up) const {
    Eigen::VectorXd reach = bound - parameters_;
    for (Eigen::Index i = 0; i < growth_.size(); ++i) {
      if (!(parameters_[i] > 0.0) || std::isinf(growth_[i])) continue;
      reach[i] = up ? std::min(reach[i], (growth_[i] - 1.0) * parameters_[i])
                    : std::max(reach[i], (1.0 / growth_[i] - 1.0) * parameters_[i]);
    }
    return reach;
  }

  // Computes a step. Its predicted decrease is −2gᵀδ − δᵀHδ, also with active bounds, from the
  // reduced quadratic, whose value at δ_χ is that of (g, Ĥ) minimized over the nodes.
  void compute_step() {
    const Eigen::MatrixXd& S = factor_.schur();
    const Eigen::VectorXd& s = factor_.reduced_gradient();
    step_.parameters = solve_bounded_step(S, s, factor_.parameter_diagonal(), reach(lower_, false),
                                          reach(upper_, true))
                           .step;
    for (int i = 0; i < parameters_.size(); ++i) {
      step_.parameters[i] =
          round_into_box(parameters_[i], step_.parameters[i], lower_[i], upper_[i]);
    }
    factor_.compute_node_step(step_.parameters, step_.nodes);

    const double squared_norm = step_.nodes.cwiseAbs2().dot(factor_.node_diagonal()) +
                                step_.parameters.cwiseAbs2().dot(factor_.parameter_diagonal());
    const double damped_decrease = factor_.predicted_node_decrease() -
                                   2.0 * s.dot(step_.parameters) -
                                   step_.parameters.dot(S * step_.parameters);
    step_.predicted = damped_decrease + damping_.value() * squared_norm;
    step_.damping_share = damping_.value() * squared_norm / step_.predicted;
    step_.norm = std::sqrt(squared_norm);
  }

  Trial try_step() {
    Trial trial;
    trial.cost = problem_.evaluate_trial_step(step_.nodes, step_.parameters);
    trial.finite = std::isfinite(trial.cost);
    trial.gain_ratio = (cost_ - trial.cost) / step_.predicted;
    const double gain = (is_relaxed() ? saved_cost_ : cost_) - trial.cost;
    trial.lowers_cost =
        trial.finite && (is_relaxed() ? gain > kLeastRelaxedGain * saved_cost_
                                      : gain > 0.0 && trial.gain_ratio > kMinGainRatio);
    trial.free_of_damping = step_.damping_share <= kNegligibleDampingShare;
    trial.small_step = step_is_small();
    trial.small_promise = step_.predicted <= options_.cost_tolerance * cost_;
    trial.negligible = step_.predicted <= options_.negligible_decrease * cost_;
    trial.small_gain = gain <= options_.cost_tolerance * cost_;
    return trial;
  }

  bool step_is_small() const {
    const double tolerance = options_.step_tolerance;
    const double node_step = step_.nodes.size() > 0 ? step_.nodes.cwiseAbs().maxCoeff() : 0.0;
    const double parameter_step = step_.parameters.cwiseAbs2().dot(factor_.parameter_diagonal());
    const double parameter_norm = parameters_.cwiseAbs2().dot(factor_.parameter_diagonal());
    return node_step <= tolerance && parameter_step <= tolerance * tolerance * parameter_norm;
  }

  bool is_stagnant() const {
    const auto steps = static_cast<int>(summary_.history.size()) - 1;
    if (steps < kStagnantSteps) return false;
    const auto before = static_cast<std::size_t>(steps - kStagnantSteps);
    const double least = cost_ > options_.far_cost ? options_.far_gain : options_.stagnant_gain;
    return summary_.history[before].cost - cost_ <= least * cost_;
  }

  // Records the problem's new current point.
  void accept(double cost, IterationRecord record) {
    cost_ = cost;
    parameters_ = problem_.parameter_values();
    record.cost = cost;
    record.parameters = parameters_;
    summary_.iterations = record.iteration;
    if (monitor_) monitor_(record);
    summary_.history.push_back(std::move(record));
  }

  LeastSquaresProblem& problem_;
  const LmOptions& options_;
  const LmMonitor& monitor_;
  const std::atomic<bool>* stop_;
  ArrowheadFactorization factor_;
  const Eigen::VectorXd lower_;
  const Eigen::VectorXd upper_;
  const Eigen::VectorXd growth_;
  Eigen::VectorXd parameters_;  // χ at the current point
  double cost_ = 0.0;           // at the current point
  Damping damping_;
  bool has_linearization_ = false;  // whether factor_ has the linearized blocks of this point
  int last_rejected_ = 0;           // steps of the last iteration
  int failed_relaxations_ = 0;      // in succession
  int relaxation_pause_ = 0;        // iterations with rejected steps until the next relaxation
  int relaxed_steps_ = 0;           // taken since the saved point
  double saved_cost_ = 0.0;         // at the saved point
  Step step_;
  LmSummary summary_;
};

constexpr double kMaxReduction = 0.01;
constexpr double kMinReduction = 1.0 / 3.0;
constexpr double kFirstGrowth = 2.0;
constexpr double kIncreaseOnFailure = 100.0;

}  // namespace

LmSummary solve(LeastSquaresProblem& problem, const LmOptions& options, const LmMonitor& monitor,
                const std::atomic<bool>* stop) {
  return LevenbergMarquardt(problem, options, monitor, stop).run();
}

Damping::Damping(const LmOptions& options)
    : min_(options.min_damping),
      max_(options.max_damping),
      value_(std::clamp(options.first_damping, options.initial_damping, options.max_damping)),
      growth_(kFirstGrowth) {}

void Damping::lower(double gain_ratio) {
  const double excess = 2.0 * gain_ratio - 1.0;
  value_ *= std::clamp(1.0 - excess * excess * excess, kMaxReduction, kMinReduction);
  value_ = std::clamp(value_, min_, max_);
  growth_ = kFirstGrowth;
}

bool Damping::raise() {
  if (!multiply_damping(growth_)) return false;
  growth_ *= 2.0;
  return true;
}

bool Damping::raise_after_failed_factorization() { return multiply_damping(kIncreaseOnFailure); }

bool Damping::multiply_damping(double factor) {
  if (value_ >= max_) return false;
  value_ = std::min(factor * std::max(value_, min_), max_);
  return true;
}

}  // namespace estimator
