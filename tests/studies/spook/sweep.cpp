#include "tests/studies/spook/sweep.hpp"

#include <algorithm>
#include <cmath>

#include "service/text/number_format.hpp"
#include "tests/studies/spook/model_fits.hpp"

namespace service {
namespace {

constexpr double kIntervalDeviations = 2.0;

std::vector<double> axis_values(const SweepRuns& sweep) {
  std::vector<double> values;
  for (const StudyRun& run : sweep.runs) values.push_back(value_of(run.place, sweep.axis));
  return values;
}

std::string name_of(SweepAxis axis) {
  switch (axis) {
    case SweepAxis::kStep:
      return "h [s]";
    case SweepAxis::kCompliance:
      return "ε";
    case SweepAxis::kStateErrorWeight:
      break;
  }
  return "κ";
}

ChartSeries truth_line(const std::vector<SweepRuns>& sweeps, double value) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const SweepRuns& sweep : sweeps) {
    for (const double x : axis_values(sweep)) {
      if (x <= 0.0) continue;
      low = std::min(low, x);
      high = std::max(high, x);
    }
  }
  return {"truth", "reference", {low, high}, {value, value}};
}

ChartSeries error_line(const SweepRuns& sweep, std::size_t index, double StudyRun::*error) {
  ChartSeries series;
  series.label = sweep.method;
  series.css_class = series_css_class(index);
  series.markers = true;
  series.shape = series_marker_shape(index);
  series.x = axis_values(sweep);
  for (const StudyRun& run : sweep.runs) {
    series.y.push_back(run.error.empty() && run.*error > 0.0 ? run.*error : kNaN);
  }
  return series;
}

std::vector<StudyTask> sweep_tasks(const LoadedSet& set, const StudyModel& model,
                                   const std::shared_ptr<const StudyData>& data,
                                   const StudyMethod& method, const StudySweep& sweep) {
  std::vector<StudyTask> tasks;
  const estimator::Mechanism mechanism = mechanism_of(*set.set, model, *data);
  for (const double value : sweep.values) {
    const StudySettings settings = with_value(set.set->settings, sweep.axis, value);
    if (method.residual == estimator::ResidualForm::kExplicit && settings.compliance == 0.0) {
      continue;
    }
    RunLabels place;
    place.stage = "sweep";
    place.set = set.set->name;
    place.model = model.name;
    place.method = method.name;
    tasks.push_back(make_task(place, data, mechanism, make_options(method, settings)));
  }
  return tasks;
}

}  // namespace

std::string axis_label(SweepAxis axis) {
  switch (axis) {
    case SweepAxis::kStep:
      return "time step h [s]";
    case SweepAxis::kCompliance:
      return "compliance ε [m/N, rad/(N·m)]";
    case SweepAxis::kStateErrorWeight:
      break;
  }
  return "state error weight κ";
}

std::string axis_word(SweepAxis axis) {
  switch (axis) {
    case SweepAxis::kStep:
      return "step";
    case SweepAxis::kCompliance:
      return "compliance";
    case SweepAxis::kStateErrorWeight:
      break;
  }
  return "state-error-weight";
}

std::string fixed_settings(const StudySettings& settings, SweepAxis varied) {
  std::string text;
  if (varied != SweepAxis::kStep) text += ", h = " + format_number(settings.step) + " s";
  if (varied != SweepAxis::kCompliance && settings.compliance >= 0.0) {
    text += ", ε = " + format_number(settings.compliance);
  }
  if (settings.damping_time >= 0.0) {
    text += ", τ = " + format_number(settings.damping_time) + " s";
  }
  if (varied != SweepAxis::kStateErrorWeight) {
    text += ", κ = " + format_number(settings.state_error_weight);
  }
  return text.substr(2);
}

std::vector<std::string> parameter_names(const std::vector<SweepRuns>& sweeps) {
  for (const SweepRuns& sweep : sweeps) {
    for (const StudyRun& run : sweep.runs) {
      std::vector<std::string> names;
      for (const RunParameter& parameter : run.parameters) names.push_back(parameter.name);
      if (!names.empty()) return names;
    }
  }
  return {};
}

StudySettings with_value(StudySettings settings, SweepAxis axis, double value) {
  switch (axis) {
    case SweepAxis::kStep:
      settings.step = value;
      break;
    case SweepAxis::kCompliance:
      settings.compliance = value;
      break;
    case SweepAxis::kStateErrorWeight:
      settings.state_error_weight = value;
      break;
  }
  return settings;
}

double value_of(const RunLabels& place, SweepAxis axis) {
  switch (axis) {
    case SweepAxis::kStep:
      return place.step;
    case SweepAxis::kCompliance:
      return place.compliance;
    case SweepAxis::kStateErrorWeight:
      break;
  }
  return place.state_error_weight;
}

const std::shared_ptr<const StudyData>& sweep_data(const Study& study, const LoadedSet& set) {
  for (const std::shared_ptr<const StudyData>& data : set.data) {
    if (data->name == study.sweep_recording) return data;
  }
  return set.data.front();
}

std::optional<std::vector<std::vector<SweepRuns>>> run_sweeps(
    const Study& study, const LoadedSet& set, const StudyModel& model,
    const std::shared_ptr<const StudyData>& data, const TaskRunner& run) {
  std::vector<StudyTask> tasks;
  std::vector<std::vector<SweepRuns>> sweeps;
  std::vector<std::size_t> counts;
  for (const StudySweep& sweep : study.sweeps) {
    sweeps.emplace_back();
    for (const StudyMethod& method : study.methods) {
      if (method.physical) continue;
      sweeps.back().push_back({sweep.axis, method.name, {}});
      const std::vector<StudyTask> more = sweep_tasks(set, model, data, method, sweep);
      tasks.insert(tasks.end(), more.begin(), more.end());
      counts.push_back(more.size());
    }
  }
  const std::optional<std::vector<StudyRun>> runs = run(tasks);
  if (!runs) return std::nullopt;
  auto next = runs->begin();
  auto count = counts.begin();
  for (std::vector<SweepRuns>& methods : sweeps) {
    for (SweepRuns& sweep : methods) {
      const auto end = next + static_cast<std::ptrdiff_t>(*count++);
      sweep.runs.assign(next, end);
      next = end;
    }
  }
  return sweeps;
}

Chart parameter_panel(const std::vector<SweepRuns>& sweeps, const std::string& parameter,
                      const std::vector<TrueValue>& truth) {
  Chart chart;
  chart.title = parameter;
  chart.x_label = axis_label(sweeps.front().axis);
  chart.log_x = true;
  std::string unit;
  for (const TrueValue& value : truth) {
    if (value.name == parameter) chart.series.push_back(truth_line(sweeps, value.value));
  }
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    ChartSeries series;
    series.label = sweeps[i].method;
    series.css_class = series_css_class(i);
    series.markers = true;
    series.shape = series_marker_shape(i);
    series.x = axis_values(sweeps[i]);
    for (const StudyRun& run : sweeps[i].runs) {
      const RunParameter* p = run.find(parameter);
      const bool seen = p != nullptr && std::isfinite(p->standard_deviation);
      series.y.push_back(seen ? p->value : kNaN);
      series.y_error.push_back(seen ? kIntervalDeviations * p->standard_deviation : 0.0);
      if (p != nullptr) unit = p->unit;
    }
    chart.series.push_back(std::move(series));
  }
  scale_axis(chart, parameter, unit);
  return chart;
}

std::vector<Chart> error_panels(const std::vector<SweepRuns>& sweeps) {
  Chart observation;
  observation.title = "observation error";
  observation.x_label = axis_label(sweeps.front().axis);
  const std::vector<RunJoint>& joints = sweeps.front().runs.front().joints;
  const bool slides = std::ranges::any_of(
      joints, [](const RunJoint& each) { return !joint_traits(each.kind).turns; });
  observation.y_label =
      slides ? "Σ‖Δy‖²/n [rad² or (" + format_number(estimator::kMetresPerRadian) + " m)²]"
             : "Σ‖Δy‖²/n [rad²]";
  observation.log_x = true;
  observation.log_y = true;
  Chart state = observation;
  state.title = "state error";
  state.y_label = "Σ‖Δp‖²/n";
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    observation.series.push_back(error_line(sweeps[i], i, &StudyRun::observation_error));
    state.series.push_back(error_line(sweeps[i], i, &StudyRun::state_error));
  }
  return {observation, state};
}

StudyTable sweep_table(const std::vector<SweepRuns>& sweeps,
                       const std::vector<std::string>& parameters,
                       const std::vector<TrueValue>& truth) {
  StudyTable table;
  table.header = {name_of(sweeps.front().axis), "method"};
  for (const std::string& name : parameters) table.header.push_back(name);
  for (const char* column : {"observation error", "state error", "iterations", "ended by"}) {
    table.header.emplace_back(column);
  }
  for (const SweepRuns& sweep : sweeps) {
    for (const StudyRun& run : sweep.runs) {
      std::vector<std::string> row = {format_number(value_of(run.place, sweep.axis)), sweep.method};
      for (const std::string& name : parameters) {
        const RunParameter* p = run.find(name);
        row.push_back(p == nullptr ? "-" : format_number(p->value, 4));
      }
      row.push_back(format_number(run.observation_error, 3));
      row.push_back(format_number(run.state_error, 3));
      row.push_back(std::to_string(run.iterations));
      row.push_back(run.termination);
      table.rows.push_back(std::move(row));
    }
  }
  if (truth.empty()) return table;
  std::vector<std::string> row(table.header.size());
  row[0] = "truth";
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    for (const TrueValue& value : truth) {
      if (value.name == parameters[i]) row[i + 2] = format_number(value.value, 4);
    }
  }
  table.rows.push_back(std::move(row));
  return table;
}

}  // namespace service
