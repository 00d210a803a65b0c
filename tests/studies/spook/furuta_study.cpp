#include <algorithm>
#include <cmath>

#include "service/text/number_format.hpp"
#include "tests/studies/runs/study_figures.hpp"
#include "tests/studies/spook/model_fits.hpp"
#include "tests/studies/spook/sweep.hpp"

namespace service {
namespace {

/// Returns the recording with this name, or else the first recording.
const std::shared_ptr<const StudyData>& find_data(const LoadedSet& set, const std::string& name) {
  const auto found = std::find_if(set.data.begin(), set.data.end(),
                                  [&](const auto& data) { return data->name == name; });
  return found == set.data.end() ? set.data.front() : *found;
}

/// Returns the names of identifiable inertias that Figures 4 and 5 of the paper show.
std::vector<std::string> visible_inertias(const StudyRun& run) {
  std::vector<std::string> names;
  for (const RunParameter& p : run.parameters) {
    if (p.unit == "kg·m²" && std::isfinite(p.standard_deviation)) names.push_back(p.name);
  }
  return names;
}

const StudyRun* first_result(const std::vector<StudyRun>& runs) {
  const auto found =
      std::find_if(runs.begin(), runs.end(), [](const StudyRun& run) { return run.error.empty(); });
  return found == runs.end() ? nullptr : &*found;
}

Figure sweep_figure(const LoadedSet& set, const std::vector<SweepRuns>& sweeps,
                    const std::string& recording) {
  Figure figure;
  const std::string axis = axis_label(sweeps.front().axis);
  figure.name = "figure-" + axis_word(sweeps.front().axis);
  figure.title = "Inertias and errors against the " + axis;
  figure.caption = set.set->name + ", " + recording + ": " +
                   fixed_settings(set.set->settings, sweeps.front().axis) +
                   ". Bars: two estimated standard deviations. Dotted: the rig's values.";
  if (const StudyRun* run = first_result(sweeps.front().runs)) {
    for (const std::string& name : visible_inertias(*run)) {
      figure.panels.push_back(parameter_panel(sweeps, name, set.set->truth));
    }
  }
  for (Chart& panel : error_panels(sweeps)) figure.panels.push_back(std::move(panel));
  return figure;
}

StudyTable sweep_table_of(const LoadedSet& set, const std::vector<SweepRuns>& sweeps,
                          const std::string& recording) {
  StudyTable table = sweep_table(sweeps, parameter_names(sweeps), set.set->truth);
  table.name = "table-" + axis_word(sweeps.front().axis);
  table.title = "Estimates against the " + axis_label(sweeps.front().axis);
  table.caption = set.set->name + ", " + recording + ": " +
                  fixed_settings(set.set->settings, sweeps.front().axis) + ".";
  return table;
}

std::string weight_label(const StudyRun& run) {
  return "κ = " + format_number(run.place.state_error_weight, 6);
}

/// Returns a chart line of a run with the run's colour, and with its markers if requested.
ChartSeries trace_line(const StudyRun& run, std::size_t index, bool markers) {
  ChartSeries series;
  series.label = weight_label(run);
  series.css_class = series_css_class(index);
  series.markers = markers;
  series.shape = series_marker_shape(index);
  return series;
}

std::vector<double> times_of(const StudyRun& run, std::size_t count) {
  std::vector<double> times(count);
  for (std::size_t k = 0; k < count; ++k) {
    times[k] = run.start + static_cast<double>(k) * run.spacing;
  }
  return times;
}

Chart angle_panel(const std::vector<StudyRun>& runs, std::size_t joint) {
  Chart chart;
  const RunJoint& measured = runs.front().joints[joint];
  const estimator::JointUnits units = joint_units(measured.kind);
  chart.title = std::string(units.quantity) + " of joint " + measured.name;
  chart.x_label = "time [s]";
  chart.y_label = std::string(units.quantity) + " [" + units.coordinate + "]";
  chart.series.push_back({"measured", "measured", times_of(runs.front(), measured.measured.size()),
                          measured.measured});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ChartSeries series = trace_line(runs[i], i, false);
    series.y = runs[i].joints[joint].simulated;
    series.x = times_of(runs[i], series.y.size());
    chart.series.push_back(std::move(series));
  }
  return chart;
}

Chart control_panel(const StudyRun& run) {
  Chart chart;
  chart.title = "control signal";
  chart.x_label = "time [s]";
  chart.y_label = "control [unit of the rig file]";
  chart.series = {{"", "control", times_of(run, run.control.size()), run.control}};
  return chart;
}

Chart history_panel(const std::vector<StudyRun>& runs, const std::string& parameter,
                    const std::vector<TrueValue>& truth) {
  Chart chart;
  chart.title = parameter + " by iteration";
  chart.x_label = "iteration";
  chart.integer_x = true;
  double last = 0.0;
  std::string unit;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ChartSeries series = trace_line(runs[i], i, true);
    const RunParameter* p = runs[i].find(parameter);
    if (p == nullptr) continue;
    unit = p->unit;
    const auto at = static_cast<std::size_t>(p - runs[i].parameters.data());
    for (const RunIteration& iteration : runs[i].history) {
      series.x.push_back(iteration.iteration);
      series.y.push_back(iteration.values[at]);
    }
    last = std::max(last, series.x.back());
    chart.series.push_back(std::move(series));
  }
  for (const TrueValue& value : truth) {
    if (value.name != parameter) continue;
    chart.series.push_back({"rig", "reference", {0.0, last}, {value.value, value.value}});
  }
  scale_axis(chart, parameter, unit);
  return chart;
}

Chart cost_panel(const std::vector<StudyRun>& runs) {
  Chart chart;
  chart.title = "cost by iteration";
  chart.x_label = "iteration";
  chart.y_label = "cost over time steps";
  chart.integer_x = true;
  chart.log_y = true;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ChartSeries series = trace_line(runs[i], i, true);
    for (const RunIteration& iteration : runs[i].history) {
      series.x.push_back(iteration.iteration);
      series.y.push_back(iteration.cost / runs[i].nodes);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

/// Plots angles and control on the left, and two inertias and the cost by iteration on the right.
Figure trace_figure(const LoadedSet& set, const std::vector<StudyRun>& runs) {
  Figure figure;
  figure.name = "figure-trace";
  figure.title = "Simulations and histories for some state error weights κ";
  figure.caption = set.set->name + ", " + runs.front().place.recording + ": " +
                   fixed_settings(set.set->settings, SweepAxis::kStateErrorWeight) +
                   ". Left: open-loop simulations from the estimated initial state with the "
                   "recorded control. Right: values by solver iteration.";
  std::vector<Chart> left;
  for (std::size_t j = 0; j < runs.front().joints.size(); ++j) left.push_back(angle_panel(runs, j));
  if (!runs.front().control.empty()) left.push_back(control_panel(runs.front()));
  std::vector<Chart> right;
  std::vector<std::string> inertias = visible_inertias(runs.front());
  if (inertias.size() > 2) inertias = {inertias.front(), inertias.back()};
  for (const std::string& name : inertias) {
    right.push_back(history_panel(runs, name, set.set->truth));
  }
  right.push_back(cost_panel(runs));
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    if (i < left.size()) figure.panels.push_back(left[i]);
    if (i < right.size()) figure.panels.push_back(right[i]);
  }
  return figure;
}

StudyTable trace_table(const std::vector<StudyRun>& runs) {
  StudyTable table;
  table.name = "table-trace";
  table.title = "Open-loop simulations for some state error weights κ";
  table.caption =
      "Error of the simulation from the estimated initial state over the whole recording.";
  table.header = {"κ", "iterations", "ended by"};
  for (const RunJoint& joint : runs.front().joints) {
    table.header.push_back("RMSE " + joint.name + " [" + joint_units(joint.kind).coordinate + "]");
  }
  for (const StudyRun& run : runs) {
    std::vector<std::string> row = {format_number(run.place.state_error_weight, 6),
                                    std::to_string(run.iterations), run.termination};
    for (const RunJoint& joint : run.joints) row.push_back(format_number(joint.rmse, 3));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::optional<std::vector<StudyRun>> run_trace(const Study& study, const LoadedSet& set,
                                               const TaskRunner& run) {
  const std::shared_ptr<const StudyData>& data = find_data(set, study.trace.recording);
  const StudyModel& model = set.set->models.front();
  std::vector<StudyTask> tasks;
  for (const double weight : study.trace.state_error_weights) {
    RunLabels place;
    place.stage = "trace";
    place.set = set.set->name;
    place.model = model.name;
    place.method = study.methods.front().name;
    const StudySettings settings =
        with_value(set.set->settings, SweepAxis::kStateErrorWeight, weight);
    tasks.push_back(make_task(place, data, mechanism_of(*set.set, model, *data),
                              make_options(study.methods.front(), settings), false, true));
  }
  return run(tasks);
}

}  // namespace

std::optional<StudyReport> study_furuta(const Study& study, const std::vector<LoadedSet>& sets,
                                        const TaskRunner& run) {
  const std::optional<std::vector<ModelFits>> all = fit_models(study, sets, run);
  if (!all) return std::nullopt;
  const LoadedSet& set = sets.front();
  const std::shared_ptr<const StudyData>& data = sweep_data(study, set);
  const auto sweeps = run_sweeps(study, set, set.set->models.front(), data, run);
  if (!sweeps) return std::nullopt;
  std::optional<std::vector<StudyRun>> trace = run_trace(study, set, run);
  if (!trace) return std::nullopt;

  StudyReport report;
  report.runs = runs_of(*all);
  for (const ModelFits& fits : *all) {
    report.tables.push_back(parameter_table(fits));
    report.tables.push_back(cross_validation_table(fits));
  }
  for (const std::vector<SweepRuns>& methods : *sweeps) {
    report.tables.push_back(sweep_table_of(set, methods, data->name));
    report.figures.push_back(sweep_figure(set, methods, data->name));
    for (const SweepRuns& sweep : methods) {
      report.runs.insert(report.runs.end(), sweep.runs.begin(), sweep.runs.end());
    }
  }
  report.runs.insert(report.runs.end(), trace->begin(), trace->end());
  std::erase_if(*trace, [](const StudyRun& result) { return !result.error.empty(); });
  if (!trace->empty()) {
    report.tables.push_back(trace_table(*trace));
    report.figures.push_back(trace_figure(set, *trace));
  }
  return report;
}

}  // namespace service
