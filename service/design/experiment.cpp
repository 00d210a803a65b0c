#include "service/design/experiment.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>

#include "estimator/design/plan_evaluator.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "estimator/simulation/statics/equilibrium.hpp"
#include "proto/text/input_error.hpp"
#include "service/design/design_setup.hpp"
#include "service/rig/parameters/parameter_edits.hpp"
#include "service/simulation/scenario_file.hpp"
#include "service/simulation/simulation.hpp"
#include "service/text/comma_list.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSearch_s = 18.0;           // longest search time, all kinds of plan together
constexpr double kProgressInterval_s = 3.0;  // time between progress messages
constexpr int kScreensOfSignals = 6;         // batches of random plans before the search
constexpr int kScreensOfGains = 3;           // fewer, since a plan has few gains
constexpr int kScreens = 2;                  // batches of plans used to find unidentifiable targets
constexpr int kDraws = 200;                  // parameter samples that must stay within the limits
constexpr double kCalmer = 0.93;             // factor on a plan if a sample leaves the limits
constexpr int kCalmerMax = 25;

/// Best plan that was found for a kind of plan.
struct Candidate {
  PlanShape shape;
  Eigen::VectorXd plan = {};
};

/// Design of one experiment.
class Designer {
 public:
  Designer(const PriorState& today, const ExperimentRequest& request, std::string where)
      : today_(today),
        request_(request),
        where_(std::move(where)),
        posed_(make_design_setup(today, request)),
        task_(posed_.task),
        precisions_(request.targets.empty() ? default_precisions(today.rig.mechanism)
                                            : request.targets) {
    if (precisions_.empty()) {
      throw proto::InputError(
          "no free parameter has a meaningful relative precision. Name the parameters to estimate "
          "with --for NAME:PRECISION");
    }
    result_.notes = posed_.notes;
  }

  Experiment run() {
    result_.notes.insert(result_.notes.begin(), today_.notes.begin(), today_.notes.end());
    if (!today_.is_estimated) {
      result_.notes.push_back(
          "without a result, free parameters without a prior are assumed to have a standard "
          "deviation of " +
          format_number(100.0 * estimator::kUnknownShare) +
          " % of their values. Give --after RESULT.json once there is one");
    }
    search();
    choose();
    result_.cancelled = is_stopped();
    if (!result_.cancelled && result_.scenario.empty()) {
      throw proto::InputError(
          "the parameters are too uncertain: no plan is sure to stay within the rig's limits (" +
          today_.rig.path +
          ", safety) and to move the rig as predicted. Calibrate with a small run first and give "
          "--after");
    }
    result_.draws = kDraws;
    return result_;
  }

 private:
  bool is_stopped() const { return request_.stop != nullptr && request_.stop->load(); }

  std::string motor_name() const {
    return task_.mechanism.joints[static_cast<std::size_t>(posed_.motor)].name;
  }

  double fastest_mode() const {
    double fastest = 0.0;
    if (const auto rest = estimator::find_stable_equilibrium(task_.mechanism)) {
      for (const estimator::NormalMode& mode : rest->modes) {
        fastest = std::max(fastest, std::sqrt(std::max(mode.rate_squared, 0.0)));
      }
    }
    return fastest / (2.0 * std::numbers::pi);
  }

  /// Searches the best plan of each kind.
  void search() {
    std::vector<PlanKind> kinds = {PlanKind::kMultisine, PlanKind::kPulses};
    const std::optional<SwingUpRig> swing_up =
        find_swing_up(task_.mechanism, posed_.motor, task_.limits.command_max);
    if (swing_up) kinds.push_back(PlanKind::kSwingUp);
    if (request_.kind) kinds = {*request_.kind};
    if (kinds.front() == PlanKind::kSwingUp && !swing_up) {
      throw proto::InputError(
          "--kind swing-up: the rig has no pendulum to swing up (a rotary joint without a motor "
          "that hangs at zero and has its own encoder). Leave out --kind");
    }
    const double mode_hz = fastest_mode();
    const auto begin = Clock::now();
    for (std::size_t k = 0; k < kinds.size() && !is_stopped(); ++k) {
      const double share = static_cast<double>(k + 1) / static_cast<double>(kinds.size());
      const auto end = begin + std::chrono::duration<double>(share * kSearch_s);
      Candidate candidate{.shape = make_plan_shape(kinds[k], request_.duration, mode_hz,
                                                   request_.rate, swing_up.value_or(SwingUpRig{}))};
      shape_task(candidate.shape, task_);
      const std::string name = name_of(kinds[k]);
      const estimator::DesignEffort effort{
          .screens = kinds[k] == PlanKind::kSwingUp ? kScreensOfGains : kScreensOfSignals,
          .threads = request_.threads,
          .over = [&] {
            report_time(name, begin);
            return is_stopped() || Clock::now() > end;
          }};
      candidate.plan = design_for(effort).plan;
      if (candidate.plan.size() > 0) candidates_.push_back(candidate);
    }
    if (candidates_.empty() && !is_stopped()) {
      throw proto::InputError("no plan stays within the rig's limits (" + today_.rig.path +
                              ", safety) for all likely parameter values. Widen the limits, "
                              "shorten --duration, or calibrate first and give --after");
    }
  }

  /// Reports the elapsed search time every few seconds.
  void report_time(const std::string& kind, Clock::time_point begin) {
    const std::chrono::duration<double> passed = Clock::now() - begin;
    const double reported = kProgressInterval_s * std::floor(passed.count() / kProgressInterval_s);
    report_progress("searching for the best " + kind + ", " + format_number(reported) +
                    " of at most " + format_number(kSearch_s) + " s");
  }

  void report_progress(const std::string& text) {
    if (!request_.progress || text == last_progress_) return;
    last_progress_ = text;
    request_.progress(text);
  }

  /// Searches a plan for the current targets. Before the first search, removes default targets that
  /// no command makes identifiable. The first kind of plan that stays within the limits determines
  /// these targets for all kinds.
  estimator::Design design_for(const estimator::DesignEffort& effort) {
    task_.targets = design_targets(precisions_, task_.mechanism);
    if (!is_screened_) {
      estimator::DesignEffort first = effort;
      first.screens = kScreens;
      first.rounds = 0;
      drop_unidentifiable(estimator::design_plan(task_, first).seen);
    }
    return is_screened_ ? estimator::design_plan(task_, effort) : estimator::Design{};
  }

  void drop_unidentifiable(const estimator::Uncertainty& seen) {
    const estimator::FreeParameters free(task_.mechanism);
    is_screened_ = !seen.standard_deviation.array().isInf().all();
    if (!is_screened_) return;  // no plan with motion stays within the limits
    std::vector<Precision> reported;
    for (const Precision& precision : precisions_) {
      const Eigen::Index place = free.position(precision.index);
      if (!std::isinf(seen.standard_deviation[place])) {
        reported.push_back(precision);
        continue;
      }
      const std::string sentence = describe_unidentifiable(precision, place, seen);
      if (!request_.targets.empty()) throw proto::InputError("--for " + sentence);
      result_.notes.push_back(sentence);
    }
    if (reported.empty()) {
      throw proto::InputError("no command of motor " + motor_name() +
                              " makes any free parameter identifiable; " + result_.notes.back());
    }
    precisions_ = reported;
    task_.targets = design_targets(precisions_, task_.mechanism);
  }

  std::string describe_unidentifiable(const Precision& precision, Eigen::Index place,
                                      const estimator::Uncertainty& seen) const {
    const std::vector<int> free = estimator::FreeParameters(task_.mechanism).indices();
    std::vector<std::string> others;
    for (const estimator::NullDirection& direction : seen.null_directions) {
      if (direction.coefficients[place] == 0.0) continue;
      for (Eigen::Index i = 0; i < direction.coefficients.size(); ++i) {
        const std::string& name =
            task_.mechanism.parameters[static_cast<std::size_t>(free[static_cast<std::size_t>(i)])]
                .name;
        if (i == place || direction.coefficients[i] == 0.0 ||
            std::ranges::find(others, name) != others.end()) {
          continue;
        }
        others.push_back(name);
      }
    }
    return precision.name + ": no command of motor " + motor_name() + " makes it identifiable" +
           (others.empty() ? "" : " separately from " + comma_list(others)) +
           ". Fix it at a value measured in another way (free: false), or give it a prior";
  }

  /// Weakens a plan until all parameter samples stay within the limits with predictable motion.
  /// @return false if no weakened plan does
  bool calm_down(Candidate& candidate) {
    for (int k = 0; k < kCalmerMax && !is_stopped(); ++k) {
      if (estimator::is_reliable(task_, candidate.plan, kDraws, request_.threads)) return true;
      candidate.plan = weakened_plan(candidate.shape, candidate.plan, kCalmer);
    }
    return false;
  }

  /// Chooses the kind of plan whose best plan has the smallest predicted standard deviations.
  void choose() {
    double least = std::numeric_limits<double>::infinity();
    for (Candidate& candidate : candidates_) {
      shape_task(candidate.shape, task_);
      report_progress("simulating " + std::to_string(kDraws) + " parameter samples with the best " +
                      name_of(candidate.shape.kind));
      if (!calm_down(candidate)) continue;
      const std::string scenario = scenario_text(candidate);
      const std::optional<Eigen::VectorXd> after = predict(scenario);
      if (!after) return;
      double worst = 0.0;
      for (const estimator::DesignTarget& target : task_.targets) {
        worst = std::max(worst, (*after)[target.place] / target.wanted);
      }
      if (!result_.scenario.empty() && !(worst < least)) continue;
      least = worst;
      result_.kind = candidate.shape.kind;
      result_.scenario = scenario;
      result_.parameters = planned_parameters(*after);
    }
  }

  std::string scenario_text(const Candidate& candidate) const {
    std::string text =
        "# proto-file: proto/scenario.proto\n"
        "# proto-message: rigcal.v1.Scenario\n"
        "#\n"
        "# Designed by rigcal design for ";
    std::vector<std::string> names;
    for (const Precision& precision : precisions_) names.push_back(precision.name);
    text += comma_list(names) + ".\n";
    text += "name: \"designed-" + name_of(candidate.shape.kind) + "\"\n";
    text += "duration_s: " + format_number(request_.duration, 9) + "\n";
    if (request_.rate != 1000.0) text += "rate_hz: " + format_number(request_.rate, 9) + "\n";
    text += start_text();
    text += excitation_text(candidate.shape, motor_name(), candidate.plan);
    if (request_.command_max > 0.0) {
      text += "limits { command_max: " + format_number(request_.command_max, 9) + " }\n";
    }
    return text;
  }

  /// Returns the initial joint coordinates in the format of a scenario file.
  std::string start_text() const {
    std::string text;
    for (int j = 0; j < task_.mechanism.joint_count(); ++j) {
      const estimator::Joint& joint = task_.mechanism.joints[static_cast<std::size_t>(j)];
      if (task_.facts.start[j] == 0.0) continue;
      text += "initial { joint: \"" + joint.name + "\" " + joint.traits().coordinate_field + ": " +
              format_number(task_.facts.start[j], 6) + " }\n";
    }
    return text;
  }

  /// Predicts the standard deviations of the free parameters by simulating the scenario as a run
  /// executes it.
  /// @return nullopt if the design was stopped
  std::optional<Eigen::VectorXd> predict(const std::string& text) const {
    require_valid(task_.mechanism);
    const SimulatedRun run = simulate(today_.rig, parse_scenario(where_, text, today_.rig),
                                      1.0 / request_.rate, request_.stop, Integrator::kPhysical);
    if (run.cancelled) return std::nullopt;
    estimator::Segment segment;
    segment.period = run.period;
    segment.angles = run.angles;
    segment.controls = run.controls;
    const bool stands_in = today_.is_estimated && today_.recordings.empty();
    return estimator::predict_plan(
               task_.mechanism, today_.recordings, segment, today_.noise, today_.quantum,
               stands_in ? today_.knowledge.information : Eigen::MatrixXd(), request_.threads)
        .standard_deviation;
  }

  std::vector<PlannedParameter> planned_parameters(const Eigen::VectorXd& after) const {
    std::vector<PlannedParameter> reported;
    const std::vector<int> free = estimator::FreeParameters(task_.mechanism).indices();
    for (std::size_t i = 0; i < free.size(); ++i) {
      const estimator::Parameter& parameter =
          task_.mechanism.parameters[static_cast<std::size_t>(free[i])];
      const auto at = static_cast<Eigen::Index>(i);
      const auto target = std::ranges::find(precisions_, free[i], &Precision::index);
      reported.push_back({.name = parameter.name,
                          .unit = parameter.unit,
                          .value = parameter.value,
                          .before = today_.deviations[at],
                          .after = after[at],
                          .is_target = target != precisions_.end(),
                          .asked = target != precisions_.end() ? target->deviation : 0.0});
    }
    return reported;
  }

  const PriorState& today_;
  const ExperimentRequest& request_;
  std::string where_;
  DesignSetup posed_;
  estimator::DesignTask& task_;
  std::vector<Precision> precisions_;
  bool is_screened_ = false;  // unidentifiable targets have been removed
  std::vector<Candidate> candidates_;
  std::string last_progress_;
  Experiment result_;
};

}  // namespace

bool Experiment::reaches_targets() const {
  return std::ranges::all_of(parameters, [](const PlannedParameter& parameter) {
    return parameter.asked == 0.0 || parameter.after <= parameter.asked;
  });
}

Experiment design_experiment(const PriorState& today, const ExperimentRequest& request,
                             const std::string& where) {
  return Designer(today, request, where).run();
}

}  // namespace service
