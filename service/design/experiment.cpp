#include "service/design/experiment.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/design/plan_prediction.hpp"
#include "estimator/design/start_pose.hpp"
#include "estimator/tree/rest_pose.hpp"
#include "proto/text/input_error.hpp"
#include "service/simulation/scenario_file.hpp"
#include "service/simulation/simulation.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kPeriodMax = 0.004;  // of the commands that are tried [s]
constexpr double kCoast_s = 10.0;     // after a run, within the limits all the while
constexpr double kSearch_s = 15.0;    // longest that the search takes, of all kinds together
constexpr int kScreens = 2;           // batches of plans that show what can be seen at all
constexpr int kDraws = 200;           // that must stay within the limits
constexpr double kCalmer = 0.93;      // factor on a plan of which a draw does not
constexpr int kCalmerMax = 25;
/// Of the largest command: between samples a sum of sines is a little higher than at them.
constexpr double kPeakShare = 0.99;

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

/// The hinge that is driven.
int find_motor(const Rig& rig, const std::string& name) {
  std::vector<std::string> names;
  int found = -1;
  for (int j = 0; j < rig.mechanism.hinge_count(); ++j) {
    const estimator::Hinge& hinge = rig.mechanism.hinges[static_cast<std::size_t>(j)];
    if (!hinge.motorised) continue;
    names.push_back(hinge.name);
    if (name.empty() || name == hinge.name) found = j;
  }
  if (names.empty()) {
    throw proto::InputError(rig.path +
                            ": has no motor, so there is no command to design; record a release "
                            "(configs/scenario-release.textproto)");
  }
  if (found < 0) {
    throw proto::InputError("--motor " + name + ": the rig has no such motor; write one of " +
                            list_of(names));
  }
  if (name.empty() && names.size() > 1) {
    throw proto::InputError("the rig has " + std::to_string(names.size()) +
                            " motors and a run commands one; write --motor with one of " +
                            list_of(names));
  }
  return found;
}

/// Where joints are placed; NaN where nothing is said.
Eigen::VectorXd read_places(const std::vector<std::string>& texts,
                            const estimator::Mechanism& mechanism) {
  Eigen::VectorXd placed =
      Eigen::VectorXd::Constant(mechanism.hinge_count(), std::numeric_limits<double>::quiet_NaN());
  for (const std::string& text : texts) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, equals);
    const auto hinge = std::ranges::find(mechanism.hinges, name, &estimator::Hinge::name);
    if (hinge == mechanism.hinges.end()) {
      throw proto::InputError("--at " + text + ": the rig has no joint '" + name +
                              "'; write JOINT=VALUE");
    }
    double value = 0.0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + std::min(equals + 1, text.size()), end, value);
    if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value)) {
      throw proto::InputError("--at " + text + ": is no number; write " + name + "=VALUE in " +
                              hinge->units().coordinate);
    }
    placed[hinge - mechanism.hinges.begin()] = value;
  }
  return placed;
}

/// One design from its input to its text.
class Designer {
 public:
  Designer(const Today& today, const ExperimentRequest& request, std::string where)
      : today_(today),
        request_(request),
        where_(std::move(where)),
        motor_(find_motor(today.rig, request.motor)),
        precisions_(request.targets.empty() ? usual_precisions(today.rig.mechanism)
                                            : request.targets) {
    if (precisions_.empty()) {
      throw proto::InputError(
          "no free parameter is one of which a share means something; say what the experiment is "
          "for with --for NAME:PRECISION");
    }
    task_.mechanism = today.rig.mechanism;
    task_.knowledge = today.knowledge;
    set_limits();
    set_facts();
    set_margins();
  }

  Experiment run() {
    result_.notes.insert(result_.notes.begin(), today_.notes.begin(), today_.notes.end());
    if (!today_.is_estimated) {
      result_.notes.push_back(
          "no result is given, so free parameters without a prior are taken to lie within " +
          format_number(100.0 * estimator::kUnknownShare) +
          " % of their values (one standard deviation); give --after RESULT.json once "
          "there is one");
    }
    search();
    if (is_stopped()) {
      result_.cancelled = true;
      return result_;
    }
    calm_down();
    result_.scenario = scenario_text();
    predict();
    return result_;
  }

 private:
  bool is_stopped() const { return request_.stop != nullptr && request_.stop->load(); }

  std::string motor_name() const {
    return task_.mechanism.hinges[static_cast<std::size_t>(motor_)].name;
  }

  void set_limits() {
    const HingeFacts& facts = today_.rig.hinge_facts[static_cast<std::size_t>(motor_)];
    daq::CommandLimits of_rig;
    if (facts.control_max > 0.0) of_rig.command_max = facts.control_max;
    if (const auto& safety = today_.rig.safety) {
      of_rig = daq::rig_command_limits(
          safety->command_max > 0.0 ? safety->command_max : of_rig.command_max,
          safety->command_slew_per_s_max);
    }
    if (request_.command_max > of_rig.command_max) {
      throw proto::InputError("--command-max " + format_number(request_.command_max) +
                              ": the rig file allows " + format_number(of_rig.command_max) + " " +
                              facts.control_unit + "; lower it or leave it out");
    }
    if (request_.command_max > 0.0) of_rig.command_max = request_.command_max;
    if (!std::isfinite(of_rig.command_max)) {
      throw proto::InputError(today_.rig.path +
                              ": tells no largest command; write control_max in the motor or "
                              "safety { command_max: ... }, or give --command-max");
    }
    task_.limits.command_max = kPeakShare * of_rig.command_max;
    task_.limits.command_slew_per_s_max = of_rig.command_slew_per_s_max;
  }

  void set_facts() {
    int column = 0;
    for (int j = 0; j < motor_; ++j) {
      column += task_.mechanism.hinges[static_cast<std::size_t>(j)].motorised ? 1 : 0;
    }
    const double samples = std::max(1.0, std::floor(kPeriodMax * request_.rate));
    task_.facts = {.period = samples / request_.rate,
                   .rate = request_.rate,
                   .motor = column,
                   .start = estimator::resting_start(task_.mechanism,
                                                     read_places(request_.at, task_.mechanism)),
                   .noise = today_.noise,
                   .coast = kCoast_s};
  }

  /// The limits of the motion, or a part of them about the start.
  void set_margins() {
    const std::vector<estimator::Sensor> sensors = estimator::sensors_of(task_.mechanism);
    bool any = false;
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      estimator::SensorLimits limits = today_.rig.encoders[i].limits;
      any |= limits.highest > limits.lowest || limits.fastest > 0.0;
      const double start = sensors[i].sum([&](int hinge) { return task_.facts.start[hinge]; });
      if (limits.highest > limits.lowest) {
        if (!(start > limits.lowest && start < limits.highest)) {
          throw proto::InputError("encoder " + sensors[i].name + " stands at " +
                                  format_number(start) + " " + sensors[i].units().coordinate +
                                  " before the run, outside its limits (" + today_.rig.path +
                                  ", safety); move it there, and say where it stands with --at");
        }
        limits.lowest = start + request_.caution * (limits.lowest - start);
        limits.highest = start + request_.caution * (limits.highest - start);
      }
      limits.fastest *= request_.caution;
      task_.limits.sensors.push_back(limits);
    }
    if (!any) {
      result_.notes.push_back(today_.rig.path +
                              ": limits no motion (safety { hinge { } }), so only the command is "
                              "limited");
    }
  }

  double fastest_mode() const {
    double fastest = 0.0;
    if (const auto rest = estimator::find_rest(task_.mechanism)) {
      for (const estimator::NormalMode& mode : rest->modes) {
        fastest = std::max(fastest, std::sqrt(std::max(mode.rate_squared, 0.0)));
      }
    }
    return fastest / (2.0 * std::numbers::pi);
  }

  /// The best plan of all kinds.
  void search() {
    std::vector<PlanKind> kinds = {PlanKind::kMultisine, PlanKind::kPulses};
    if (request_.kind) kinds = {*request_.kind};
    const double mode_hz = fastest_mode();
    const auto begin = Clock::now();
    double worst = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < kinds.size() && !is_stopped(); ++k) {
      const double share = static_cast<double>(k + 1) / static_cast<double>(kinds.size());
      const auto end = begin + std::chrono::duration<double>(share * kSearch_s);
      const PlanShape shape = shape_of(kinds[k], request_.duration, mode_hz, request_.rate);
      task_.signals = signals_of(shape, task_.facts.period);
      const estimator::DesignEffort effort{
          .threads = request_.threads, .over = [&] { return is_stopped() || Clock::now() > end; }};
      const estimator::Design design = design_for(effort);
      if (design.amplitudes.size() == 0 || !(design.worst < worst)) continue;
      worst = design.worst;
      shape_ = shape;
      amplitudes_ = design.amplitudes;
    }
    if (is_stopped()) return;
    if (amplitudes_.size() == 0) {
      throw proto::InputError(
          "no plan stays within the rig's limits (" + today_.rig.path +
          ", safety) for the values that the parameters may have; widen the limits, give a shorter "
          "--duration, or calibrate first and give --after");
    }
    task_.signals = signals_of(shape_, task_.facts.period);
  }

  /// Without targets that no command can tell, where those were not asked for.
  estimator::Design design_for(const estimator::DesignEffort& effort) {
    task_.targets = targets_of(precisions_, task_.mechanism);
    estimator::DesignEffort first = effort;
    first.screens = kScreens;
    first.rounds = 0;
    if (!drop_unseen(estimator::design_plan(task_, first).seen)) {
      return {};  // nothing that moves is within the limits
    }
    return estimator::design_plan(task_, effort);
  }

  /// @return false where no plan was within the limits
  bool drop_unseen(const estimator::Uncertainty& seen) {
    const estimator::FreeParameters free(task_.mechanism);
    if (seen.standard_deviation.array().isInf().all()) return false;
    std::vector<Precision> told;
    for (const Precision& precision : precisions_) {
      const Eigen::Index place = free.position(precision.index);
      if (!std::isinf(seen.standard_deviation[place])) {
        told.push_back(precision);
        continue;
      }
      const std::string sentence = tell_unseen(precision, place, seen);
      if (!request_.targets.empty()) throw proto::InputError("--for " + sentence);
      result_.notes.push_back(sentence);
    }
    if (told.empty()) {
      throw proto::InputError("no command of motor " + motor_name() +
                              " tells any of the free parameters; " + result_.notes.back());
    }
    precisions_ = told;
    task_.targets = targets_of(precisions_, task_.mechanism);
    return true;
  }

  std::string tell_unseen(const Precision& precision, Eigen::Index place,
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
    return precision.name + ": no command of motor " + motor_name() + " tells it" +
           (others.empty() ? "" : " apart from " + list_of(others)) +
           "; keep it at a value measured otherwise (free: false), or give it a prior";
  }

  /// Until no draw leaves the limits.
  void calm_down() {
    result_.draws = kDraws;
    for (int k = 0; k < kCalmerMax && !is_stopped(); ++k) {
      const Eigen::VectorXd command = estimator::limited_command(task_, amplitudes_);
      if (estimator::count_trips(task_, command, kDraws, request_.threads) == 0) return;
      amplitudes_ *= kCalmer;
    }
    throw proto::InputError(
        "what is known of the parameters leaves open whether any plan stays within the rig's "
        "limits (" +
        today_.rig.path + ", safety); calibrate a small run first and give --after");
  }

  std::string scenario_text() const {
    std::string text =
        "# proto-file: proto/scenario.proto\n"
        "# proto-message: rigcal.v1.Scenario\n"
        "#\n"
        "# Designed by rigcal design for ";
    std::vector<std::string> names;
    for (const Precision& precision : precisions_) names.push_back(precision.name);
    text += list_of(names) + ".\n";
    text += "name: \"designed-" + name_of(shape_.kind) + "\"\n";
    text += "duration_s: " + format_number(request_.duration, 9) + "\n";
    if (request_.rate != 1000.0) text += "rate_hz: " + format_number(request_.rate, 9) + "\n";
    text += start_text();
    text += excitation_text(shape_, motor_name(), amplitudes_);
    if (request_.command_max > 0.0) {
      text += "limits { command_max: " + format_number(request_.command_max, 9) + " }\n";
    }
    return text;
  }

  /// Where a simulation starts.
  std::string start_text() const {
    std::string text;
    for (int j = 0; j < task_.mechanism.hinge_count(); ++j) {
      const estimator::Hinge& hinge = task_.mechanism.hinges[static_cast<std::size_t>(j)];
      if (task_.facts.start[j] == 0.0) continue;
      text += "initial { hinge: \"" + hinge.name + "\" " + hinge.traits().coordinate_field + ": " +
              format_number(task_.facts.start[j], 6) + " }\n";
    }
    return text;
  }

  /// From the scenario itself, sample by sample as a run has it.
  void predict() {
    result_.kind = shape_.kind;
    const Scenario scenario = parse_scenario(where_, result_.scenario, today_.rig);
    const SimulatedRun run =
        simulate(today_.rig, scenario, 1.0 / request_.rate, request_.stop, Integrator::kPhysical);
    result_.cancelled = run.cancelled;
    if (run.cancelled) return;
    estimator::Segment segment;
    segment.period = run.period;
    segment.angles = run.angles;
    segment.controls = run.controls;
    const bool stands_in = today_.is_estimated && today_.recordings.empty();
    const estimator::Uncertainty uncertainty = estimator::predict_plan(
        task_.mechanism, today_.recordings, segment, today_.noise, today_.quantum,
        stands_in ? today_.knowledge.information : Eigen::MatrixXd(), request_.threads);
    const std::vector<int> free = estimator::FreeParameters(task_.mechanism).indices();
    for (std::size_t i = 0; i < free.size(); ++i) {
      const estimator::Parameter& parameter =
          task_.mechanism.parameters[static_cast<std::size_t>(free[i])];
      const auto at = static_cast<Eigen::Index>(i);
      const auto target = std::ranges::find(precisions_, free[i], &Precision::index);
      result_.parameters.push_back(
          {.name = parameter.name,
           .unit = parameter.unit,
           .value = parameter.value,
           .before = today_.deviations[at],
           .after = uncertainty.standard_deviation[at],
           .is_target = target != precisions_.end(),
           .asked = target != precisions_.end() ? target->deviation : 0.0});
    }
  }

  const Today& today_;
  const ExperimentRequest& request_;
  std::string where_;
  int motor_;
  std::vector<Precision> precisions_;
  estimator::DesignTask task_;
  PlanShape shape_;
  Eigen::VectorXd amplitudes_;
  Experiment result_;
};

}  // namespace

bool Experiment::reaches() const {
  return std::ranges::all_of(parameters, [](const PlannedParameter& parameter) {
    return parameter.asked == 0.0 || parameter.after <= parameter.asked;
  });
}

Experiment design_experiment(const Today& today, const ExperimentRequest& request,
                             const std::string& where) {
  return Designer(today, request, where).run();
}

}  // namespace service
