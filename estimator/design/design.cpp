#include "estimator/design/design.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "estimator/design/cma_es.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/math/parallel_jobs.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {
namespace {

constexpr std::uint64_t kSeed = 20261123;

/// Safety margin of plans at either end of a joint range and at the speed limit, relative to the
/// limit. Allows for other parameter values and for quantization errors of speeds.
constexpr double kMargin = 0.1;

/// Sensitivity to the initial state above which a motion is unpredictable. An error of one encoder
/// count then becomes a tenth of a radian.
constexpr double kGrowthMax = 100.0;
constexpr std::size_t kPredicted = 30;  // draws tested for predictability
constexpr int kUnpredictableMax = 3;    // number of them

/// Initial step size of the search around the best random plan, relative to its mean amplitude.
constexpr double kSpread = 0.3;

constexpr double kUnseen = 1e9;        // ratio to the target if it is not identifiable
constexpr double kLimitPenalty = 1e6;  // penalty, added to a plan's excess
constexpr double kStillExcess = 1.0;   // excess of a plan in which nothing moves
constexpr double kCountsMoved = 3.0;   // smallest motion, in counts or standard deviations of noise
constexpr double kRidge = 1e-13;       // regularisation of a unit diagonal
constexpr double kQuietest = 0.003;    // of the largest command, least random amplitude

/// Returns how far a motion exceeds its limits, relative to the limits; 0 if it satisfies them.
/// @param margin  relative safety margin
double limit_excess(const MotionExtremes& motion, const std::vector<SensorLimits>& limits,
                    double margin) {
  double worst = 0.0;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    const double low = motion.lowest[at], high = motion.highest[at], speed = motion.fastest[at];
    if (!std::isfinite(low + high + speed)) return std::numeric_limits<double>::infinity();
    const SensorLimits& own = limits[i];
    if (own.highest > own.lowest) {
      const double range = own.highest - own.lowest;
      worst = std::max({worst, (own.lowest - low) / range + 0.5 * margin,
                        (high - own.highest) / range + 0.5 * margin});
    }
    if (own.fastest > 0.0) worst = std::max(worst, speed / own.fastest - 1.0 + margin);
  }
  return worst;
}

/// Returns whether a plan moves a joint. Commands below dry friction do not.
bool has_motion(const MotionExtremes& motion, const PlanSettings& facts) {
  const Eigen::VectorXd least = kCountsMoved * facts.quantum.cwiseMax(facts.noise);
  return ((motion.highest - motion.lowest).array() > least.array()).any();
}

/// Returns the largest ratio of a parameter's standard deviation to its target; kUnseen if a target
/// is not identifiable. The covariance is S⁻¹ `scatter` S⁻¹ for the information matrix S.
/// @param information  information matrix S
double worst_of(const Eigen::MatrixXd& information, const Eigen::MatrixXd& scatter,
                const std::vector<DesignTarget>& targets) {
  const Eigen::VectorXd unit = information.diagonal().cwiseSqrt().cwiseInverse();
  const auto n = information.rows();
  std::vector<Eigen::Index> seen;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (std::isfinite(unit[i])) seen.push_back(i);
  }
  const Eigen::VectorXd scale = unit(seen);
  Eigen::MatrixXd scaled = scale.asDiagonal() * information(seen, seen) * scale.asDiagonal();
  scaled.diagonal().array() += kRidge;
  const Eigen::MatrixXd inverse = SymmetricFactor(scaled).inverse();
  Eigen::MatrixXd scatter_scaled = scale.asDiagonal() * scatter(seen, seen) * scale.asDiagonal();
  scatter_scaled.diagonal().array() += kRidge;
  double worst = 0.0;
  for (const DesignTarget& target : targets) {
    const auto place = std::ranges::find(seen, target.place);
    if (place == seen.end()) return kUnseen;
    const Eigen::Index at = place - seen.begin();
    const double variance = inverse.row(at) * scatter_scaled * inverse.col(at);
    if (!(variance > 0.0)) return kUnseen;
    worst = std::max(worst, scale[at] * std::sqrt(variance) / target.wanted);
  }
  return worst;
}

/// Evaluates plans of a design search in batches.
class Search {
 public:
  Search(const DesignTask& task, int threads)
      : task_(task), threads_(threads), bench_(task.mechanism, task.facts, 1) {
    values_.push_back(task.mechanism);
    std::mt19937_64 random(kSeed);
    for (int k = 1; k < kValuesOfPlan; ++k)
      values_.push_back(draw_parameters(task.mechanism, task.knowledge, random));
    const int n = FreeParameters(task.mechanism).size();
    seen_.group_schur.assign(1, task.knowledge.information);
    seen_.scale = task.knowledge.information.diagonal();
    seen_.at_bound = Eigen::VectorXi::Zero(n);
  }

  /// Returns the cost of each plan, with a penalty for exceeded limits.
  /// @param plans  one per column
  std::vector<double> judge(const Eigen::MatrixXd& plans) {
    std::vector<PlanMotion> motions(values_.size());
    run_parallel_jobs(threads_, values_.size(), [&](std::size_t v) {
      motions[v] =
          bench_.move(values_[v], compute_limited_commands(task_, bench_, values_[v], plans));
    });
    const auto count = static_cast<std::size_t>(plans.cols());
    std::vector<double> costs(count, 0.0);
    for (std::size_t k = 0; k < count; ++k) {
      for (const PlanMotion& motion : motions) {
        costs[k] =
            std::max(costs[k], limit_excess(motion.excursions[k], task_.limits.sensors, kMargin));
      }
      const bool moves = has_motion(motions.front().excursions[k], task_.facts);
      if (!moves) costs[k] = std::max(costs[k], kStillExcess);
    }
    std::vector<std::size_t> allowed;
    for (std::size_t k = 0; k < count; ++k) {
      if (costs[k] == 0.0) {
        allowed.push_back(k);
      } else {
        costs[k] += kLimitPenalty;
      }
    }
    predict_information(motions, allowed, costs);
    return costs;
  }

  static bool is_allowed(double cost) { return cost < kLimitPenalty; }

  ParameterUncertainty seen() const {
    ParameterInformation all = seen_;
    all.valid = true;
    all.null_eigenvalue = InformationOptions{}.null_eigenvalue;
    recompute_information(all);
    const std::vector<int> free = FreeParameters(task_.mechanism).parameter_indices();
    return compute_parameter_uncertainty(task_.mechanism, free, free, all,
                                         Eigen::VectorXd::Ones(1));
  }

 private:
  void predict_information(const std::vector<PlanMotion>& motions,
                           const std::vector<std::size_t>& allowed, std::vector<double>& costs) {
    if (allowed.empty()) return;
    std::vector<std::vector<PlanInformation>> looks(values_.size());
    run_parallel_jobs(threads_, values_.size(), [&](std::size_t v) {
      looks[v] = bench_.predict_information(values_[v], motions[v], allowed);
    });
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      double sum = 0.0, initial_state_sensitivity = 0.0;
      for (const std::vector<PlanInformation>& own : looks) {
        initial_state_sensitivity =
            std::max(initial_state_sensitivity, own[i].initial_state_sensitivity);
        if (!(initial_state_sensitivity <= kGrowthMax)) break;
        sum += std::log(worst_of(own[i].information + task_.knowledge.information,
                                 own[i].scatter + task_.knowledge.information, task_.targets));
        seen_.group_schur.front() += own[i].information;
        seen_.scale += own[i].scale;
      }
      costs[allowed[i]] = initial_state_sensitivity <= kGrowthMax
                              ? sum / static_cast<double>(looks.size())
                              : kLimitPenalty + std::log(initial_state_sensitivity / kGrowthMax);
    }
  }

  const DesignTask& task_;
  int threads_;
  PlanEvaluator bench_;
  std::vector<Mechanism> values_;  // the estimate, then draws
  ParameterInformation seen_;
};

/// Returns the gains of the feedback law in a plan; empty without a law.
Eigen::VectorXd gains_of(const DesignTask& task, const Eigen::VectorXd& plan) {
  return plan.tail(plan.size() - task.signals.cols());
}

/// Returns the sum of a plan's signals, one value per sample.
Eigen::VectorXd sum_of_signals(const DesignTask& task, const Eigen::VectorXd& plan) {
  return task.signals * plan.head(task.signals.cols());
}

/// Returns a plan with its sum of signals scaled down to the limit that the law leaves.
Eigen::VectorXd limit_peak(const DesignTask& task, Eigen::VectorXd plan) {
  if (task.signals.cols() == 0) return plan;
  const double most =
      task.limits.command_max - (task.law ? task.law->command_max(gains_of(task, plan)) : 0.0);
  const double peak = sum_of_signals(task, plan).cwiseAbs().maxCoeff();
  if (peak > most) plan.head(task.signals.cols()) *= most / peak;
  return plan;
}

/// Returns random plans of various amplitudes, spectra and gains.
Eigen::MatrixXd random_plans(const DesignTask& task, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const double most = std::isfinite(task.limits.command_max) ? task.limits.command_max : 1.0;
  const Eigen::Index signals = task.signals.cols();
  Eigen::MatrixXd plans;
  for (Eigen::Index k = 0; k < kPlansOfBatch; ++k) {
    Eigen::VectorXd plan(signals);
    for (double& amplitude : plan) amplitude = normal(random) * std::exp(normal(random));
    if (signals > 0) {
      const double peak = sum_of_signals(task, plan).cwiseAbs().maxCoeff();
      plan *= most * std::pow(kQuietest, uniform(random)) / peak;
    }
    const Eigen::VectorXd gains = task.law ? task.law->draw(random) : Eigen::VectorXd();
    plans.conservativeResize(signals + gains.size(), kPlansOfBatch);
    plans.col(k) << plan, gains;
  }
  return plans;
}

}  // namespace

Eigen::MatrixXd compute_limited_commands(const DesignTask& task, const PlanEvaluator& bench,
                                         const Mechanism& values, const Eigen::MatrixXd& plans) {
  const double slew = task.limits.command_slew_per_s_max * task.facts.period;
  const double most = task.limits.command_max;
  Eigen::VectorXd last = Eigen::VectorXd::Zero(plans.cols());
  const auto limited = [&](Eigen::Index k, double command) {
    return last[k] = std::clamp(std::clamp(command, -most, most), last[k] - slew, last[k] + slew);
  };
  Eigen::MatrixXd commands(task.signals.rows(), plans.cols());
  std::vector<Eigen::VectorXd> gains;
  for (Eigen::Index k = 0; k < plans.cols(); ++k) {
    commands.col(k) = sum_of_signals(task, limit_peak(task, plans.col(k)));
    gains.push_back(gains_of(task, plans.col(k)));
    if (task.law) continue;
    for (double& each : commands.col(k)) each = limited(k, each);
  }
  if (!task.law) return commands;
  return bench.simulate_feedback_law(
      values, commands.rows(), plans.cols(),
      [&](Eigen::Index k, Eigen::Index sample, const Eigen::VectorXd& joints,
          const Eigen::VectorXd& rates) {
        const double time = static_cast<double>(sample) * task.facts.period;
        const Eigen::VectorXd& own = gains[static_cast<std::size_t>(k)];
        return limited(k, commands(sample, k) + task.law->command(own, time, joints, rates));
      });
}

ExperimentDesign optimize_experiment_plan(const DesignTask& task,
                                          const DesignComputingLimits& effort) {
  Search search(task, effort.threads);
  std::mt19937_64 random(kSeed);
  ExperimentDesign design;
  Eigen::VectorXd nearest;  // plan of the smallest cost, from which the search starts
  double least = std::numeric_limits<double>::infinity(), least_excess = least;
  const auto is_over = [&] {
    return std::exp(least) <= effort.enough || (effort.over && effort.over());
  };
  const auto take = [&](const Eigen::MatrixXd& plans, const std::vector<double>& costs) {
    const auto best = std::ranges::min_element(costs);
    if (*best < least_excess) {
      least_excess = *best;
      nearest = plans.col(best - costs.begin());
    }
    if (!Search::is_allowed(*best) || !(*best < least)) return;
    least = *best;
    design.plan = limit_peak(task, plans.col(best - costs.begin()));
  };
  for (int k = 0; k < effort.screens && !(k > 0 && is_over()); ++k) {
    const Eigen::MatrixXd plans = random_plans(task, random);
    take(plans, search.judge(plans));
  }
  if (design.plan.size() > 0) nearest = design.plan;
  if (nearest.size() > 0) {
    const double mean = nearest.norm() / std::sqrt(static_cast<double>(nearest.size()));
    CmaEs evolution(nearest, kSpread * mean, kPlansOfBatch, kSeed);
    for (int k = 0; k < effort.rounds && !is_over(); ++k) {
      const Eigen::MatrixXd plans = evolution.ask();
      const std::vector<double> costs = search.judge(plans);
      evolution.update_distribution(costs);
      take(plans, costs);
    }
  }
  design.worst = std::exp(least);
  design.seen = search.seen();
  return design;
}

bool is_reliable_plan(const DesignTask& task, const Eigen::VectorXd& plan, int draws, int threads) {
  const PlanEvaluator bench(task.mechanism, task.facts, 1);
  std::mt19937_64 random(kSeed + 1);  // draws that differ from the search's
  std::vector<Mechanism> values;
  for (int k = 0; k < draws; ++k)
    values.push_back(draw_parameters(task.mechanism, task.knowledge, random));
  std::atomic<int> unpredictable{0};
  std::atomic<bool> is_useless{false};
  const auto is_refused = [&] { return is_useless || unpredictable > kUnpredictableMax; };
  run_parallel_jobs(threads, values.size(), [&](std::size_t k) {
    if (is_refused()) return;
    const PlanMotion motion =
        bench.move(values[k], compute_limited_commands(task, bench, values[k], plan));
    const MotionExtremes& extremes = motion.excursions.front();
    if (limit_excess(extremes, task.limits.sensors, 0.0) > 0.0 ||
        !has_motion(extremes, task.facts)) {
      is_useless = true;
    } else if (k < kPredicted &&
               !(bench.predict_information(values[k], motion, {0})[0].initial_state_sensitivity <=
                 kGrowthMax)) {
      ++unpredictable;
    }
  });
  return !is_refused();
}

}  // namespace estimator
