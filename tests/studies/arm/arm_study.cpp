#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "service/text/number_format.hpp"
#include "tests/studies/arm/arm.hpp"
#include "tests/studies/arm/arm_judgement.hpp"
#include "tests/studies/arm/arm_tasks.hpp"
#include "tests/studies/study_kinds.hpp"

namespace service {
namespace {

/// Errors printed in [MTM, Table II], in percent.
struct PrintedErrors {
  double noise, torque, energy, estimate;
};
constexpr PrintedErrors kPrinted[] = {
    {0.0, 3.5, 6.5, 2.0}, {0.005, 9.5, 8.0, 2.3}, {0.01, 22.0, 12.5, 2.8}, {0.1, 95.0, 38.0, 6.0}};

constexpr double kExactWanted = 1e-4;  // median relative error without noise
constexpr double kNoisyWanted = 0.06;  // at the largest noise
constexpr double kCoverLow = 0.93, kCoverHigh = 0.97;
constexpr double kTieTolerance = 1.02;               // deviations are evaluated at two estimates
constexpr int kExported = 10;                        // draws per noise level, for other programs
constexpr double kTimedShares[] = {0.25, 0.5, 1.0};  // of a recording

double quantile_of(std::vector<double> values, double share) {
  if (values.empty()) return std::nan("");
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Collects a number, or a list of numbers, from every item into a single list.
template <typename Items, typename Get>
std::vector<double> gathered(const Items& items, const Get& get) {
  std::vector<double> all;
  for (const auto& item : items) {
    if constexpr (requires { get(item).begin(); }) {
      const auto& list = get(item);
      all.insert(all.end(), list.begin(), list.end());
    } else {
      all.push_back(static_cast<double>(get(item)));
    }
  }
  return all;
}

std::string percent_of(double share) { return format_number(100.0 * share, 3) + " %"; }

struct ArmGoals {
  bool good = true;
  std::string text;
  void add(bool holds, const std::string& what) {
    good &= holds;
    text += (text.empty() ? "" : "; ") + what + (holds ? "" : " (not reached)");
  }
};

std::string printed_beside(double noise, double PrintedErrors::*column) {
  for (const PrintedErrors& each : kPrinted) {
    if (each.noise == noise) return format_number(each.*column, 3) + " %";
  }
  return "–";
}

/// Adds a row with errors to the study's version of [MTM, Table II].
void add_errors(const std::vector<ArmResult>& draws, StudyTable& table) {
  const double noise = draws.front().noise;
  const auto median = [&](std::vector<double> ArmResult::*list) {
    return percent_of(
        quantile_of(gathered(
                        draws, [&](const ArmResult& d) -> const auto& { return d.*list; }),
                    0.5));
  };
  std::vector<double> worse = gathered(
      draws, [](const ArmResult& d) -> const auto& { return d.errors; });
  table.rows.push_back(
      {format_number(noise), std::to_string(draws.size()), median(&ArmResult::torque_errors),
       printed_beside(noise, &PrintedErrors::torque), median(&ArmResult::energy_errors),
       printed_beside(noise, &PrintedErrors::energy), median(&ArmResult::errors),
       printed_beside(noise, &PrintedErrors::estimate), percent_of(quantile_of(worse, 0.9))});
}

/// Adds a row on convergence, coverage and physical consistency to a table.
void add_trust(const std::vector<ArmResult>& draws, StudyTable& table) {
  int covering_intervals = 0, intervals = 0, fits_noise = 0;
  for (const ArmResult& draw : draws) {
    fits_noise += draw.fits_noise ? 1 : 0;
    if (!draw.fits_noise) continue;
    covering_intervals += draw.covering_intervals;
    intervals += draw.intervals;
  }
  const auto has_consistent_inertias =
      std::ranges::count_if(draws, &ArmResult::has_consistent_inertias);
  const std::vector<double> ties = gathered(
      draws, [](const ArmResult& d) -> const auto& { return d.tied_ratios; });
  const double noise = draws.front().noise;
  table.rows.push_back(
      {format_number(noise), std::to_string(fits_noise) + " of " + std::to_string(draws.size()),
       noise > 0.0 ? percent_of(static_cast<double>(covering_intervals) / std::max(intervals, 1))
                   : "–",
       std::to_string(has_consistent_inertias) + " of " + std::to_string(draws.size()),
       ties.empty() ? "–" : format_number(quantile_of(ties, 0.5), 3),
       ties.empty() ? "–" : format_number(quantile_of(ties, 1.0), 3),
       format_number(mean_of(gathered(draws, [](const ArmResult& d) { return d.seconds; })), 3),
       format_number(mean_of(gathered(draws, [](const ArmResult& d) { return d.iterations; })),
                     3)});
}

void judge(const StudyArm& arm, const std::vector<std::vector<ArmResult>>& all, ArmGoals& wishes) {
  int covering_intervals = 0, intervals = 0;
  bool has_consistent_inertias = true;
  std::vector<double> ties;
  const std::string name = std::to_string(arm.links) + " links: ";
  for (const std::vector<ArmResult>& draws : all) {
    const double noise = draws.front().noise;
    const double median =
        quantile_of(gathered(
                        draws, [](const ArmResult& d) -> const auto& { return d.errors; }),
                    0.5);
    if (noise == 0.0)
      wishes.add(median <= kExactWanted, name + percent_of(median) + " without noise");
    if (noise == 0.1) wishes.add(median <= kNoisyWanted, name + percent_of(median) + " at 0.1");
    for (const ArmResult& draw : draws) {
      has_consistent_inertias &= draw.has_consistent_inertias;
      ties.insert(ties.end(), draw.tied_ratios.begin(), draw.tied_ratios.end());
      if (noise == 0.0 || !draw.fits_noise) continue;
      covering_intervals += draw.covering_intervals;
      intervals += draw.intervals;
    }
  }
  wishes.add(has_consistent_inertias, name + "every inertia physically consistent");
  if (intervals > 0) {
    const double cover = static_cast<double>(covering_intervals) / intervals;
    wishes.add(cover >= kCoverLow && cover <= kCoverHigh,
               name + "intervals hold in " + percent_of(cover));
  }
  if (!ties.empty()) {
    wishes.add(quantile_of(ties, 1.0) <= kTieTolerance,
               name + "dependent friction does not increase deviations");
  }
}

StudyTable errors_table(const StudyArm& arm) {
  StudyTable table;
  table.name = "table-errors-" + std::to_string(arm.links);
  table.title = "Errors, " + std::to_string(arm.links) + " links";
  table.caption =
      "Medians over draws and parameters of the relative error of base parameters, friction and "
      "gains; " +
      format_number(arm.duration) + " s at " + format_number(1.0 / arm.period) +
      " Hz, noise on angles [rad] and controls [N·m], initial values " +
      percent_of(arm.initial_error) +
      " off. Regressions use the window with the smallest true error. Last column: 90 % quantile "
      "of the errors. Paper: [MTM, Table II].";
  table.header = {"noise", "repetitions", "torques", "paper",       "energy",
                  "paper", "rigcal",      "paper",   "rigcal, 90 %"};
  return table;
}

StudyTable trust_table(const StudyArm& arm) {
  StudyTable table;
  table.name = "table-trust-" + std::to_string(arm.links);
  table.title = "Reliability of the estimates, " + std::to_string(arm.links) + " links";
  table.caption =
      "Found: residuals at noise level. Intervals: coverage over found draws. Dependent: friction "
      "of "
      "all joints proportional to the first joint's; standard deviations of base parameters "
      "relative to those without. Time on one core, with parallel jobs.";
  table.header = {"noise",
                  "found",
                  "95 % intervals hold",
                  "possible bodies",
                  "dependent, median",
                  "dependent, largest",
                  "time [s]",
                  "iterations"};
  return table;
}

StudyTable time_table(const std::vector<ArmTime>& times) {
  StudyTable table;
  table.name = "table-time";
  table.title = "Time of a calibration";
  table.caption = "Noise 0.01; time on one core, with parallel jobs.";
  table.header = {"links", "duration [s]", "time [s]", "iterations",
                  "per iteration and second [ms]"};
  for (const ArmTime& time : times) {
    table.rows.push_back({std::to_string(time.links), format_number(time.duration),
                          format_number(time.seconds, 3), std::to_string(time.iterations),
                          format_number(1e3 * time.seconds / time.iterations / time.duration, 3)});
  }
  return table;
}

/// Returns the study's version of [MTM, Table I].
StudyTable energy_table(const StudyArm& arm, const std::vector<EnergyRuns>& runs) {
  StudyTable table;
  table.name = "table-energy-" + std::to_string(arm.links);
  table.title = "Energy observations, " + std::to_string(arm.links) + " links";
  table.caption = "One recording of " + format_number(arm.energy_duration) + " s with noise " +
                  format_number(arm.energy_noise) + ", " + std::to_string(runs.size()) +
                  " initial values; medians. Loose: control noise inflated by 30. Normalized: root "
                  "mean square of friction's errors over their standard deviations; ideally 1.";
  table.header = {"",         "found",    "iterations", "cost", "angles, largest error [rad]",
                  "inertias", "friction", "normalized"};
  const auto row = [&](const std::string& name, EnergyRun EnergyRuns::*part) {
    const auto median = [&](const auto& field) {
      return quantile_of(gathered(runs, [&](const EnergyRuns& r) { return (r.*part).*field; }),
                         0.5);
    };
    const auto fits_noise =
        std::ranges::count_if(runs, [&](const EnergyRuns& r) { return (r.*part).fits_noise; });
    table.rows.push_back(
        {name, std::to_string(fits_noise), format_number(median(&EnergyRun::iterations)),
         format_number(median(&EnergyRun::cost), 4),
         format_number(median(&EnergyRun::trajectory), 3), percent_of(median(&EnergyRun::inertia)),
         percent_of(median(&EnergyRun::friction)), format_number(median(&EnergyRun::reported), 3)});
  };
  row("without, correct weights", &EnergyRuns::without);
  row("with, correct weights", &EnergyRuns::with);
  row("without, loose", &EnergyRuns::inflated_without);
  row("with, loose", &EnergyRuns::inflated_with);
  return table;
}

/// Results for all random arms of a kind.
struct ArmRuns {
  std::vector<std::vector<ArmResult>> draws;  ///< by noise level
  std::vector<ArmTime> times;
  std::vector<EnergyRuns> energy;
};

/// List of tasks that are run together; results are in the order of the tasks.
class TaskList {
 public:
  void add(StudyTask task) { tasks_.push_back(std::move(task)); }
  bool compute(const TaskRunner& run) {
    std::optional<std::vector<StudyRun>> runs = run(tasks_);
    if (runs) runs_ = *std::move(runs);
    return runs.has_value();
  }
  const StudyRun& next() { return runs_[next_++]; }
  void rewind() { next_ = 0; }
  const std::vector<StudyRun>& runs() const { return runs_; }

 private:
  std::vector<StudyTask> tasks_;
  std::vector<StudyRun> runs_;
  std::size_t next_ = 0;
};

bool is_tied_parameter(const StudyArm& arm, double noise, int draw) {
  return noise > 0.0 && draw < arm.tied;
}

/// Calls visit(noise, draw) for each recording of the study.
template <typename Visit>
void for_each_draw(const StudyArm& arm, const Visit& visit) {
  for (const double noise : arm.noise) {
    for (int draw = 0; draw < arm.draws; ++draw) visit(noise, draw);
  }
}

/// Returns the tasks that do not depend on results of other tasks.
TaskList first_tasks(const std::vector<StudyArm>& arms) {
  TaskList tasks;
  for (const StudyArm& arm : arms) {
    for_each_draw(arm, [&](double noise, int draw) {
      tasks.add(arm_fit_task(arm, noise, static_cast<std::uint64_t>(draw)));
      tasks.add(arm_regression_task(arm, noise, static_cast<std::uint64_t>(draw)));
    });
    for (const double share : kTimedShares) tasks.add(arm_time_task(arm, share * arm.duration));
    for (int i = 0; i < arm.energy_starts; ++i) {
      tasks.add(arm_energy_task(arm, static_cast<std::uint64_t>(i)));
    }
  }
  return tasks;
}

/// Returns the calibrations with dependent friction, which start from results of other
/// calibrations.
TaskList tied_tasks(const std::vector<StudyArm>& arms, TaskList& first) {
  TaskList tasks;
  for (const StudyArm& arm : arms) {
    for_each_draw(arm, [&](double noise, int draw) {
      const StudyRun& fit = first.next();
      first.next();
      if (is_tied_parameter(arm, noise, draw)) {
        tasks.add(arm_tied_task(arm, noise, static_cast<std::uint64_t>(draw), fit));
      }
    });
    for (int i = 0; i < static_cast<int>(std::size(kTimedShares)) + arm.energy_starts; ++i) {
      first.next();
    }
  }
  first.rewind();
  return tasks;
}

/// Collects the results for a kind of arm, in the order of the task lists.
ArmRuns take_runs(const StudyArm& arm, TaskList& first, TaskList& tied) {
  ArmRuns runs;
  for_each_draw(arm, [&](double noise, int draw) {
    if (draw == 0) runs.draws.emplace_back();
    const StudyRun& fit = first.next();
    const StudyRun& regressions = first.next();
    const StudyRun* of_tie = is_tied_parameter(arm, noise, draw) ? &tied.next() : nullptr;
    runs.draws.back().push_back(
        evaluate_arm(arm, noise, static_cast<std::uint64_t>(draw), fit, regressions, of_tie));
  });
  for (const double share : kTimedShares) {
    const StudyRun& run = first.next();
    runs.times.push_back({arm.links, share * arm.duration, run.wall_time, run.iterations});
  }
  for (int i = 0; i < arm.energy_starts; ++i) runs.energy.push_back(energy_runs_of(first.next()));
  return runs;
}

}  // namespace

std::optional<StudyReport> study_arm(const Study& study, const std::vector<LoadedSet>&,
                                     const TaskRunner& run) {
  TaskList first = first_tasks(study.arms);
  if (!first.compute(run)) return std::nullopt;
  TaskList tied = tied_tasks(study.arms, first);
  if (!tied.compute(run)) return std::nullopt;
  StudyReport report;
  ArmGoals wishes;
  StudyFile lines{"draws.jsonl", ""};
  std::vector<ArmTime> times;
  for (const StudyArm& arm : study.arms) {
    const ArmRuns runs = take_runs(arm, first, tied);
    StudyTable errors = errors_table(arm), trust = trust_table(arm);
    for (const std::vector<ArmResult>& draws : runs.draws) {
      add_errors(draws, errors);
      add_trust(draws, trust);
    }
    judge(arm, runs.draws, wishes);
    report.tables.push_back(std::move(errors));
    report.tables.push_back(std::move(trust));
    if (!runs.energy.empty()) report.tables.push_back(energy_table(arm, runs.energy));
    times.insert(times.end(), runs.times.begin(), runs.times.end());
    for_each_draw(arm, [&](double noise, int draw) {
      if (draw < kExported) lines.text += arm_line(arm, noise, static_cast<std::uint64_t>(draw));
    });
  }
  report.tables.push_back(time_table(times));
  report.files.push_back(std::move(lines));
  report.good = wishes.good;
  report.outcome = format_sentence(wishes.text);
  report.runs = first.runs();
  report.runs.insert(report.runs.end(), tied.runs().begin(), tied.runs().end());
  return report;
}

}  // namespace service
