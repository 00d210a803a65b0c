#include "service/design/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "daq/scenario/joint_tracker.hpp"
#include "estimator/design/design.hpp"
#include "estimator/design/plan_evaluator.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "estimator/simulation/statics/equilibrium.hpp"
#include "proto/text/input_error.hpp"
#include "service/design/driven_motor.hpp"
#include "service/rig/parameters/parameter_edits.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

constexpr double kPeriodMax = 0.004;  // sampling period of candidate commands [s]
constexpr double kCoast_s = 10.0;     // time after a run during which the limits must hold, too

/// Usable share of the largest command. It is below 1 because a sum of sines sampled within the
/// limits can slightly exceed them between its samples.
constexpr double kPeakShare = 0.99;

estimator::PlanSettings facts_of(const DesignInput& input, const ExperimentRequest& request,
                                 int motor) {
  const estimator::Mechanism& mechanism = input.rig.mechanism;
  const auto before = mechanism.joints.begin() + motor;
  const double samples = std::max(1.0, std::floor(kPeriodMax * request.rate));
  return {
      .period = samples / request.rate,
      .rate = request.rate,
      .motor = static_cast<int>(std::count_if(mechanism.joints.begin(), before,
                                              [](const auto& each) { return each.motor.present; })),
      .start = estimator::compute_resting_coordinates(
          mechanism, read_initial_coordinates(request.at, mechanism)),
      .noise = input.noise,
      .coast = kCoast_s,
      .rate_window = daq::JointTracker::kWindow / request.rate,
      .quantum = input.quantum};
}

/// Returns the limits of the motion. Position limits are moved toward the initial readings, and
/// speed limits are reduced, by the factor `limit_share`.
std::vector<estimator::SensorLimits> motion_limits(const Rig& rig, const Eigen::VectorXd& start,
                                                   double limit_share) {
  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(rig.mechanism);
  std::vector<estimator::SensorLimits> all;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    estimator::SensorLimits limits = rig.encoders[i].limits;
    if (limits.highest > limits.lowest) {
      const double reading = sensors[i].sum([&](int joint) { return start[joint]; });
      if (!(reading > limits.lowest && reading < limits.highest)) {
        throw proto::InputError(
            "encoder {:?} reads {} {} before the run, outside its limits ({}, safety). "
            "Move the joint within its limits and give its position with --at",
            sensors[i].name, format_number(reading), sensors[i].units().coordinate, rig.path);
      }
      limits.lowest = reading + limit_share * (limits.lowest - reading);
      limits.highest = reading + limit_share * (limits.highest - reading);
    }
    limits.fastest *= limit_share;
    all.push_back(limits);
  }
  return all;
}

constexpr int kBatchesMax = 46;              // batches of plans for one kind of plan
constexpr int kScreensOfSignals = 6;         // batches of random plans before the search
constexpr int kScreensOfGains = 3;           // fewer, since a plan has few gains
constexpr int kScreens = 2;                  // batches of plans used to find unidentifiable targets
constexpr int kDraws = 200;                  // parameter samples that must stay within the limits
/// Ratio of all predicted standard deviations to requested targets at which the search ends.
/// Standard deviations obtained with a run may be several times those predicted.
constexpr double kEnough = 0.25;
constexpr double kCalmer = 0.93;             // factor on a plan if a sample leaves the limits
constexpr int kCalmerMax = 25;

/// Best plan that was found for a kind of plan.
struct Candidate {
  CommandShape shape;
  Eigen::VectorXd plan = {};
};

/// Design of one experiment.
class Designer {
 public:
  Designer(const DesignInput& input, const ExperimentRequest& request, std::string where)
      : input_(input),
        request_(request),
        where_(std::move(where)),
        motor_(find_driven_joint(input.rig, request.motor)),
        task_{.mechanism = input.rig.mechanism, .knowledge = input.knowledge},
        precisions_(request.targets.empty() ? default_target_precisions(input.rig.mechanism)
                                            : request.targets) {
    const daq::CommandLimits command = find_command_limits(input.rig, motor_, request.command_max);
    task_.facts = facts_of(input, request, motor_);
    task_.limits = {.command_max = kPeakShare * command.command_max,
                    .command_slew_per_s_max = command.command_slew_per_s_max,
                    .sensors = motion_limits(input.rig, task_.facts.start, request.limit_share)};
    const bool any = std::ranges::any_of(task_.limits.sensors, [](const auto& limits) {
      return limits.highest > limits.lowest || limits.fastest > 0.0;
    });
    if (!any) {
      proto::add_note(
          result_.notes,
          "{}: has no motion limits (safety {{ joint {{ }} }}); only the command is limited",
          input.rig.path);
    }
    if (precisions_.empty()) {
      throw proto::InputError(
          "all free parameters are angles, offsets, zero or at a bound: "
          "a precision in percent is meaningless. "
          "Give the parameters to estimate with --for NAME:PRECISION");
    }
  }

  DesignedExperiment run() {
    result_.notes.insert(result_.notes.begin(), input_.notes.begin(), input_.notes.end());
    if (!input_.is_estimated) {
      proto::add_note(
          result_.notes,
          "free parameters without a prior are assumed to have a standard deviation of {} % of "
          "their values, because no calibration result is given. "
          "After the first calibration, add {} RESULT.json",
          format_number(100.0 * estimator::kUnknownRelativeDeviation), request_.result_option);
    }
    search();
    choose();
    result_.cancelled = is_stopped();
    if (!result_.cancelled && result_.scenario.empty()) {
      throw UncertainExperiment(
          "the parameters are too uncertain: "
          "no command is certain to keep the rig within its limits ({}, safety) "
          "and to move the rig as predicted. {}",
          input_.rig.path, remedy());
    }
    if (!result_.cancelled) check_precision();
    result_.draws = kDraws;
    return result_;
  }

 private:
  bool is_stopped() const { return request_.stop != nullptr && request_.stop->load(); }

  std::string motor_name() const {
    return task_.mechanism.joints[static_cast<std::size_t>(motor_)].name;
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

  /// Returns the properties of the driven joint for position feedback; nullopt if the joint has no
  /// encoder of its own.
  std::optional<FeedbackProperties> feedback_properties() const {
    const std::vector<estimator::Encoder> encoders = estimator::used_encoders(task_.mechanism);
    for (std::size_t i = 0; i < encoders.size(); ++i) {
      if (!measures_only(encoders[i], motor_)) continue;
      const estimator::Joint& joint = task_.mechanism.joints[static_cast<std::size_t>(motor_)];
      const double start = task_.facts.start[motor_];
      const estimator::SensorLimits& limits = task_.limits.sensors[i];
      const bool is_limited = limits.highest > limits.lowest;
      return FeedbackProperties{
          .setpoint = start,
          .offset = task_.mechanism.at(encoders[i].offset).value,
          .reach = is_limited ? std::min(limits.highest - start, start - limits.lowest)
                              : joint.units().scale,
          .direction = std::copysign(
              1.0, task_.mechanism.joint_parameter(motor_, estimator::JointParameter::kMotorGain)
                       .value),
          .command_max = task_.limits.command_max,
          .slides = !joint.kind_traits().turns};
    }
    return std::nullopt;
  }

  /// Returns whether a precision was requested for each target.
  bool has_requested_precisions() const {
    return !request_.targets.empty() &&
           std::ranges::all_of(request_.targets, [](const TargetPrecision& target) {
             return target.deviation > 0.0;
           });
  }

  /// Searches the best plan of each kind, or a plan that is certain to reach the requested
  /// precisions.
  void search() {
    std::vector<CommandKind> kinds = {CommandKind::kMultisine, CommandKind::kPulses};
    const std::optional<SwingUpProperties> swing_up =
        find_swing_up_joint(task_.mechanism, motor_, task_.limits.command_max);
    if (swing_up) kinds.push_back(CommandKind::kSwingUp);
    if (request_.kind) kinds = {*request_.kind};
    if (kinds.front() == CommandKind::kSwingUp && !swing_up) {
      throw proto::InputError(
          "--kind swing-up: the rig has no pendulum to swing up. "
          "A pendulum is a revolute joint with an encoder, without a motor, that hangs at zero. "
          "Leave out --kind");
    }
    const double mode_hz = fastest_mode();
    for (const CommandKind kind : kinds) {
      Candidate candidate{.shape =
                              make_command_shape(kind, request_.duration, mode_hz, request_.rate,
                                                 swing_up.value_or(SwingUpProperties{}))};
      candidate.shape.feedback = feedback_properties();
      candidate.shape.motor = motor_;
      set_task_signals(candidate.shape, task_);
      const int batches = batches_of_kind(kinds.size());
      const int screens = std::min(
          kind == CommandKind::kSwingUp ? kScreensOfGains : kScreensOfSignals, batches / 2);
      int batch = 0;
      const estimator::DesignComputingLimits effort{
          .screens = screens,
          .rounds = batches - screens,
          .threads = request_.threads,
          .over =
              [&] {
                report_progress(fmt::format("searching for the best {}, {} %",
                                            command_kind_name(kind),
                                            10 * std::min(9, 10 * batch++ / batches)));
                return is_stopped();
              },
          .enough = has_requested_precisions() ? kEnough : 0.0};
      const estimator::ExperimentDesign design = design_for(effort);
      candidate.plan = design.plan;
      if (candidate.plan.size() == 0) continue;
      candidates_.push_back(candidate);
      if (!(design.worst <= effort.enough)) continue;
      proto::add_note(
          result_.notes,
          "the search ended early: the predicted standard deviations are at most {} of the "
          "targets",
          format_percent(100.0 * kEnough));
      break;
    }
    if (candidates_.empty() && !is_stopped()) {
      const std::string weak = weak_motor();
      if (!weak.empty()) {
        throw InfeasibleExperiment("no run within the command limit moves the rig. {}{}", weak,
                                   list_motion_remedies(input_.rig));
      }
      throw UncertainExperiment(
          "no command keeps the rig within its limits ({}, safety) for all likely parameter "
          "values. {}",
          input_.rig.path, remedy());
    }
  }

  /// Returns the number of batches of plans for one of several kinds, from the budget of simulated
  /// motion. At least two: random plans and an iteration of the search.
  int batches_of_kind(std::size_t kinds) const {
    const double batch_s = estimator::kPlansOfBatch * estimator::kValuesOfPlan *
                           (request_.duration + kCoast_s) * task_.mechanism.joint_count();
    const double batches = request_.search_motion / (batch_s * static_cast<double>(kinds));
    return static_cast<int>(std::clamp<double>(batches, 2.0, kBatchesMax));
  }

  std::string remedy() const {
    return fmt::format(
        "Widen the limits, shorten --duration, or calibrate with a recording of small motion and "
        "add {} RESULT.json",
        request_.result_option);
  }

  std::string weak_motor() const {
    return describe_weak_motor(input_.rig, motor_, task_.limits.command_max / kPeakShare);
  }

  /// Returns whether the predicted standard deviation of a target is above the target's value. A
  /// share of the value is meaningless for angles, at a bound, and if the requested deviation is
  /// larger.
  static bool is_useless(const ExperimentPrecision& target) {
    const double useful = std::abs(target.value);  // largest standard deviation of use
    return target.is_target && !target.is_at_bound && target.unit != "rad" &&
           target.asked < useful && target.after > useful;
  }

  /// Adds a note for each target whose predicted standard deviation is above its value.
  /// @throws InfeasibleExperiment if such a target was requested, or if no target is below
  void check_precision() {
    std::vector<std::string> useless;
    for (const ExperimentPrecision& target : result_.parameters) {
      if (!is_useless(target)) continue;
      useless.push_back(
          std::isinf(target.after)
              ? fmt::format("{} would stay unknown", target.name)
              : fmt::format("{} would have a standard deviation of {} of its value", target.name,
                            format_percent(100.0 * target.after / std::abs(target.value))));
    }
    if (useless.empty()) return;
    if (request_.targets.empty() && useless.size() < precisions_.size()) {
      result_.notes.insert(result_.notes.end(), useless.begin(), useless.end());
      return;
    }
    throw InfeasibleExperiment("no run of {} s within the limits measures the parameters: {}. {}{}",
                               format_number(request_.duration), join_items(useless), weak_motor(),
                               list_motion_remedies(input_.rig));
  }

  void report_progress(const std::string& text) {
    if (!request_.progress || text == last_progress_) return;
    last_progress_ = text;
    request_.progress(text);
  }

  /// Searches a plan for the current targets. Before the first search, removes default targets that
  /// no command makes identifiable. The first kind of plan that stays within the limits determines
  /// these targets for all kinds.
  estimator::ExperimentDesign design_for(const estimator::DesignComputingLimits& effort) {
    task_.targets = make_design_targets(precisions_, task_.mechanism);
    if (!is_screened_) {
      estimator::DesignComputingLimits first = effort;
      first.screens = kScreens;
      first.rounds = 0;
      drop_unidentifiable(estimator::optimize_experiment_plan(task_, first).seen, first);
    }
    return is_screened_ ? estimator::optimize_experiment_plan(task_, effort)
                        : estimator::ExperimentDesign{};
  }

  void drop_unidentifiable(const estimator::ParameterUncertainty& seen,
                           const estimator::DesignComputingLimits& effort) {
    const estimator::FreeParameters free(task_.mechanism);
    is_screened_ = !seen.standard_deviation.array().isInf().all();
    if (!is_screened_) return;  // no plan with motion stays within the limits
    std::vector<TargetPrecision> reported;
    for (const TargetPrecision& precision : precisions_) {
      const Eigen::Index place = free.find_position(precision.index);
      if (!std::isinf(seen.standard_deviation[place])) {
        reported.push_back(precision);
        continue;
      }
      const bool is_limited = is_identifiable_beyond_limits(place, effort);
      const std::string sentence =
          is_limited ? describe_uncertain_target(precision, input_.rig.path)
                     : describe_unidentifiable(precision, motor_name(), seen, task_.mechanism);
      const std::string refusal = request_.target_option + " " + sentence;
      if (!request_.targets.empty()) {
        if (is_limited) throw UncertainExperiment("{}. {}", refusal, remedy());
        throw InfeasibleExperiment(refusal);
      }
      result_.notes.push_back(sentence);
    }
    if (reported.empty()) {
      throw InfeasibleExperiment(
          "no command of motor {:?} makes any free parameter identifiable; {}", motor_name(),
          result_.notes.back());
    }
    precisions_ = reported;
    task_.targets = make_design_targets(precisions_, task_.mechanism);
  }

  /// Returns whether some plan makes a parameter identifiable if motion limits are ignored.
  bool is_identifiable_beyond_limits(Eigen::Index place,
                                     estimator::DesignComputingLimits effort) const {
    estimator::DesignTask task = task_;
    for (estimator::SensorLimits& limits : task.limits.sensors) limits = {};
    const estimator::ParameterUncertainty seen =
        estimator::optimize_experiment_plan(task, effort).seen;
    return !std::isinf(seen.standard_deviation[place]);
  }

  /// Weakens a plan until all parameter samples stay within the limits with predictable motion.
  /// @return false if no weakened plan does
  bool calm_down(Candidate& candidate) {
    for (int k = 0; k < kCalmerMax && !is_stopped(); ++k) {
      if (estimator::is_reliable_plan(task_, candidate.plan, kDraws, request_.threads)) return true;
      candidate.plan = reduce_plan_commands(candidate.shape, candidate.plan, kCalmer);
    }
    return false;
  }

  /// Chooses the kind of plan whose best plan has the smallest predicted standard deviations.
  void choose() {
    double least = std::numeric_limits<double>::infinity();
    for (Candidate& candidate : candidates_) {
      set_task_signals(candidate.shape, task_);
      report_progress(fmt::format("simulating {} parameter samples with the best {}", kDraws,
                                  command_kind_name(candidate.shape.kind)));
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
    std::string text = fmt::format(
        "# proto-file: proto/scenario.proto\n"
        "# proto-message: rigcal.v1.Scenario\n"
        "#\n"
        "# Designed by rigcal design for {}.\n"
        "name: \"designed-{}\"\n"
        "duration_s: {}\n",
        join_items(precisions_, &TargetPrecision::name), command_kind_name(candidate.shape.kind),
        format_number(request_.duration, 9));
    if (request_.rate != 1000.0) {
      text += fmt::format("rate_hz: {}\n", format_number(request_.rate, 9));
    }
    text += start_text();
    text += format_scenario_excitation(candidate.shape, motor_name(), candidate.plan);
    if (request_.command_max > 0.0) {
      text += fmt::format("limits {{ command_max: {} }}\n", format_number(request_.command_max, 9));
    }
    return text;
  }

  /// Returns the initial joint coordinates in the format of a scenario file.
  std::string start_text() const {
    std::string text;
    for (int j = 0; j < task_.mechanism.joint_count(); ++j) {
      const estimator::Joint& joint = task_.mechanism.joints[static_cast<std::size_t>(j)];
      if (task_.facts.start[j] == 0.0) continue;
      text +=
          fmt::format("initial {{ joint: {:?} {}: {} }}\n", joint.name,
                      joint.kind_traits().coordinate_field, format_number(task_.facts.start[j], 6));
    }
    return text;
  }

  /// Predicts the standard deviations of the free parameters by simulating the scenario as a run
  /// executes it.
  /// @return nullopt if the design was stopped
  std::optional<Eigen::VectorXd> predict(const std::string& text) const {
    require_valid_mechanism(task_.mechanism);
    const SimulatedRun run = simulate(input_.rig, parse_scenario(where_, text, input_.rig),
                                      1.0 / request_.rate, request_.stop, Integrator::kPhysical);
    if (run.cancelled) return std::nullopt;
    estimator::Segment segment;
    segment.period = run.period;
    segment.angles = run.angles;
    segment.controls = run.controls;
    const bool stands_in = input_.is_estimated && input_.recordings.empty();
    return estimator::predict_plan_uncertainty(
               task_.mechanism, input_.recordings, segment, input_.noise, input_.quantum,
               stands_in ? input_.knowledge.information : Eigen::MatrixXd(), request_.threads)
        .standard_deviation;
  }

  std::vector<ExperimentPrecision> planned_parameters(const Eigen::VectorXd& after) const {
    std::vector<ExperimentPrecision> reported;
    const std::vector<int> free = estimator::FreeParameters(task_.mechanism).parameter_indices();
    for (std::size_t i = 0; i < free.size(); ++i) {
      const estimator::Parameter& parameter =
          task_.mechanism.parameters[static_cast<std::size_t>(free[i])];
      const auto at = static_cast<Eigen::Index>(i);
      const auto target = std::ranges::find(precisions_, free[i], &TargetPrecision::index);
      reported.push_back({.name = parameter.name,
                          .unit = parameter.unit,
                          .value = parameter.value,
                          .before = input_.deviations[at],
                          .after = after[at],
                          .is_at_bound = is_at_bound(parameter),
                          .is_target = target != precisions_.end(),
                          .asked = target != precisions_.end() ? target->deviation : 0.0});
    }
    return reported;
  }

  const DesignInput& input_;
  const ExperimentRequest& request_;
  std::string where_;
  int motor_;  // index of the driven joint
  estimator::DesignTask task_;
  std::vector<TargetPrecision> precisions_;
  bool is_screened_ = false;  // unidentifiable targets have been removed
  std::vector<Candidate> candidates_;
  std::string last_progress_;
  DesignedExperiment result_;
};

}  // namespace

DesignedExperiment design_experiment(const DesignInput& input, const ExperimentRequest& request,
                                     const std::string& where) {
  return Designer(input, request, where).run();
}

}  // namespace service
