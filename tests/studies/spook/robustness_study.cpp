#include <algorithm>
#include <cmath>
#include <map>

#include "proto/text/input_error.hpp"
#include "service/text/number_format.hpp"
#include "tests/studies/spook/model_fits.hpp"
#include "tests/studies/spook/robustness_starts.hpp"
#include "tests/studies/spook/sweep.hpp"

namespace service {
namespace {

/// Two estimates of a parameter are equal if they differ by less than the largest of these
/// tolerances.
constexpr double kDeviationShare = 0.1;  // of the standard deviation
constexpr double kRelativeShare = 1e-3;  // of the value
constexpr double kShareWanted = 0.99;
constexpr std::size_t kFailuresShown = 60;

/// Point of the grid of settings, with a run per set of initial values; the reference is first.
struct GridPoint {
  const LoadedSet* set = nullptr;
  std::string model;
  std::string method;
  bool physical = false;  ///< true: physical parameters, to which the swept settings do not apply
  StudySettings settings;
  std::vector<StudyRun> runs;
};

struct Verdict {
  bool same = false;
  std::string worst;        ///< parameter that differs most
  double difference = 0.0;  ///< difference of that parameter, in tolerances
};

Verdict compare(const StudyRun& run, const StudyRun& reference) {
  Verdict verdict;
  verdict.same = run.converged;
  for (const RunParameter& expected : reference.parameters) {
    const RunParameter* p = run.find(expected.name);
    if (p == nullptr) return {false, expected.name, INFINITY};
    // Unidentifiable parameters have no optimum to reach.
    if (!std::isfinite(expected.standard_deviation)) continue;
    const double tolerance = std::max({kDeviationShare * expected.standard_deviation,
                                       kRelativeShare * std::abs(expected.value), 1e-9});
    const double difference = std::abs(p->value - expected.value) / tolerance;
    if (difference <= verdict.difference) continue;
    verdict.difference = difference;
    verdict.worst = expected.name;
  }
  verdict.same = verdict.same && verdict.difference <= 1.0;
  return verdict;
}

/// Returns all combinations of the values of the swept settings.
std::vector<StudySettings> grid_of(const Study& study, const StudyMethod& method,
                                   const StudySettings& base) {
  std::vector<StudySettings> grid = {base};
  if (method.physical) return grid;
  for (const StudySweep& sweep : study.sweeps) {
    std::vector<StudySettings> wider;
    for (const StudySettings& settings : grid) {
      for (const double value : sweep.values) {
        wider.push_back(with_value(settings, sweep.axis, value));
      }
    }
    grid = std::move(wider);
  }
  return grid;
}

struct Plan {
  std::vector<GridPoint> points;
  std::vector<StudyTask> tasks;  ///< by grid point, and within it by initial values
  std::vector<std::size_t> counts;
};

Plan make_plan(const Study& study, const std::vector<LoadedSet>& sets) {
  Plan plan;
  for (const LoadedSet& set : sets) {
    const std::shared_ptr<const StudyData>& data = sweep_data(study, set);
    for (const StudyMethod& method : study.methods) {
      for (const StudyModel& model : set.set->models) {
        const std::vector<NamedStart> starts =
            make_starts(*set.set, mechanism_of(*set.set, model, *data), study.starts);
        for (const StudySettings& settings : grid_of(study, method, set.set->settings)) {
          plan.points.push_back({&set, model.name, method.name, method.physical, settings, {}});
          plan.counts.push_back(starts.size());
          for (const NamedStart& start : starts) {
            RunLabels place;
            place.stage = "robustness";
            place.set = set.set->name;
            place.model = model.name;
            place.method = method.name;
            place.start = start.name;
            plan.tasks.push_back(
                make_task(place, data, start.mechanism, make_options(method, settings)));
          }
        }
      }
    }
  }
  return plan;
}

std::string share_text(int reached, int total) {
  if (total == 0) return "-";
  return format_number(100.0 * reached / total, 4) + " % (" + std::to_string(reached) + "/" +
         std::to_string(total) + ")";
}

/// Numbers of runs over some grid points, without the reference runs.
struct Tally {
  int reached = 0;
  int total = 0;

  void add(const GridPoint& point) {
    for (std::size_t i = 1; i < point.runs.size(); ++i) {
      ++total;
      reached += compare(point.runs[i], point.runs.front()).same;
    }
  }
};

std::string title_of(const GridPoint& point) {
  return point.set->set->name + ", " + point.model + ", " + point.method;
}

/// Returns a table of shares of runs, with rows of time step h × compliance ε and columns of weight
/// κ.
StudyTable share_table(const std::string& title, const std::vector<const GridPoint*>& points) {
  StudyTable table;
  table.name = "shares-" + file_word(title);
  table.title = "Starts that reach the optimum: " + title;
  table.caption =
      "Share of the changed initial values from which the estimate equals that from the reference, "
      "every parameter within a tenth of its standard deviation or 0.1 %.";
  table.header = {"h [s]", "ε"};
  std::vector<double> weights;
  std::vector<std::pair<double, double>> rows;
  for (const GridPoint* point : points) {
    const std::pair<double, double> row{point->settings.step, point->settings.compliance};
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
    const double weight = point->settings.state_error_weight;
    if (std::find(weights.begin(), weights.end(), weight) == weights.end()) {
      weights.push_back(weight);
    }
  }
  std::sort(rows.begin(), rows.end());
  std::sort(weights.begin(), weights.end());
  for (const double weight : weights) table.header.push_back("κ = " + format_number(weight));
  for (const auto& [step, compliance] : rows) {
    std::vector<std::string> cells = {format_number(step), format_number(compliance)};
    for (const double weight : weights) {
      Tally tally;
      for (const GridPoint* point : points) {
        const StudySettings& s = point->settings;
        const bool here =
            s.step == step && s.compliance == compliance && s.state_error_weight == weight;
        if (here) tally.add(*point);
      }
      cells.push_back(std::to_string(tally.reached) + "/" + std::to_string(tally.total));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// Plots the share of runs against weight κ over all problems, with a panel per step and a line per
/// compliance.
Figure share_figure(const std::vector<GridPoint>& points) {
  std::map<double, std::map<double, std::map<double, Tally>>> shares;  // h, ε, κ
  for (const GridPoint& point : points) {
    if (point.physical) continue;
    const StudySettings& s = point.settings;
    shares[s.step][s.compliance][s.state_error_weight].add(point);
  }
  Figure figure;
  figure.name = "figure-shares";
  figure.title = "Starts that reach the optimum";
  figure.caption = "Over all problems; lines that coincide hide one another.";
  for (const auto& [step, lines] : shares) {
    Chart chart;
    chart.title = "h = " + format_number(step) + " s";
    chart.x_label = axis_label(SweepAxis::kStateErrorWeight);
    chart.y_label = "share reached [%]";
    chart.log_x = true;
    chart.series.push_back({"", "points", {1.0, 1.0}, {0.0, 100.0}});  // shows the full range
    for (const auto& [compliance, line] : lines) {
      const std::size_t index = chart.series.size() - 1;
      ChartSeries series{"ε = " + format_number(compliance), series_css_class(index), {}, {}, true,
                         series_marker_shape(index)};
      for (const auto& [weight, tally] : line) {
        series.x.push_back(weight);
        series.y.push_back(100.0 * tally.reached / std::max(tally.total, 1));
      }
      chart.series.push_back(std::move(series));
    }
    figure.panels.push_back(std::move(chart));
  }
  return figure;
}

/// Returns a table of the terminations of runs that did not reach the optimum.
StudyTable reason_table(const std::vector<GridPoint>& points) {
  StudyTable table;
  table.name = "reasons";
  table.title = "Terminations of the other runs";
  table.caption =
      "A run that reports convergence elsewhere fails silently; every other termination reports "
      "that the optimum was not reached.";
  table.header = {"ended by", "runs", "said so"};
  std::map<std::string, std::pair<int, bool>> reasons;
  for (const GridPoint& point : points) {
    for (std::size_t i = 1; i < point.runs.size(); ++i) {
      if (compare(point.runs[i], point.runs.front()).same) continue;
      const bool reference_failed = !point.runs.front().converged;
      std::pair<int, bool>& reason =
          reasons[reference_failed
                      ? "reference did not converge (" + point.runs.front().termination + ")"
                      : point.runs[i].termination];
      ++reason.first;
      reason.second = reference_failed || !point.runs[i].converged;
    }
  }
  for (const auto& [name, reason] : reasons) {
    table.rows.push_back({name, std::to_string(reason.first), reason.second ? "yes" : "no"});
  }
  return table;
}

StudyTable failure_table(const std::vector<GridPoint>& points) {
  StudyTable table;
  table.name = "failures";
  table.title = "Runs that did not reach the optimum";
  table.caption =
      "The first of these runs. Cost relative to the reference's; the parameter with the largest "
      "difference, in tolerances.";
  table.header = {"set",      "h [s]",      "ε",    "κ",     "start",
                  "ended by", "iterations", "cost", "worst", "by"};
  for (const GridPoint& point : points) {
    for (std::size_t i = 1; i < point.runs.size(); ++i) {
      const StudyRun& run = point.runs[i];
      const Verdict verdict = compare(run, point.runs.front());
      if (verdict.same || table.rows.size() >= kFailuresShown) continue;
      const auto setting = [&](double value) {
        return point.physical ? std::string("-") : format_number(value);
      };
      table.rows.push_back(
          {title_of(point), setting(point.settings.step), setting(point.settings.compliance),
           setting(point.settings.state_error_weight), run.place.start,
           run.error.empty() ? run.termination : run.error, std::to_string(run.iterations),
           format_number(run.cost / point.runs.front().cost, 5), verdict.worst,
           format_number(verdict.difference, 3)});
    }
  }
  return table;
}

}  // namespace

std::optional<StudyReport> study_robustness(const Study& study, const std::vector<LoadedSet>& sets,
                                            const TaskRunner& run) {
  const bool needs_grid = std::any_of(study.methods.begin(), study.methods.end(),
                                      [](const StudyMethod& method) { return !method.physical; });
  if (needs_grid && study.sweeps.empty()) {
    throw proto::InputError(study.path + ": has no sweep { }");
  }
  Plan plan = make_plan(study, sets);
  const std::optional<std::vector<StudyRun>> runs = run(plan.tasks);
  if (!runs) return std::nullopt;
  auto next = runs->begin();
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const auto end = next + static_cast<std::ptrdiff_t>(plan.counts[i]);
    plan.points[i].runs.assign(next, end);
    next = end;
  }

  StudyReport report;
  report.runs = *runs;
  Tally all;
  StudyTable overview;
  overview.name = "shares";
  overview.title = "Starts that reach the optimum";
  overview.caption = "Every combination of the grid's values.";
  overview.header = {"", "share"};
  std::vector<StudyTable> details;
  std::vector<std::string> titles;
  for (const GridPoint& point : plan.points) {
    all.add(point);
    const std::string title = title_of(point);
    if (std::find(titles.begin(), titles.end(), title) != titles.end()) continue;
    titles.push_back(title);
    std::vector<const GridPoint*> same;
    Tally tally;
    for (const GridPoint& other : plan.points) {
      if (title_of(other) != title) continue;
      same.push_back(&other);
      tally.add(other);
    }
    overview.rows.push_back({title, share_text(tally.reached, tally.total)});
    if (!point.physical) details.push_back(share_table(title, same));
  }
  overview.rows.push_back({"all", share_text(all.reached, all.total)});
  report.tables.push_back(std::move(overview));
  report.tables.insert(report.tables.end(), details.begin(), details.end());
  if (!details.empty()) report.figures.push_back(share_figure(plan.points));
  report.tables.push_back(reason_table(plan.points));
  report.tables.push_back(failure_table(plan.points));
  report.good = all.reached >= kShareWanted * all.total;
  report.outcome = share_text(all.reached, all.total) + " of the starts reach the optimum.";
  return report;
}

}  // namespace service
