#include "tests/studies/spook/model_fits.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include "service/text/number_format.hpp"
#include "tests/studies/runs/study_figures.hpp"

namespace service {
namespace {

RunLabels place_of(const ModelFits& fits, const char* stage) {
  RunLabels place;
  place.stage = stage;
  place.set = fits.set->set->name;
  place.model = fits.model;
  place.method = fits.method;
  return place;
}

struct Choice {
  const StudyModel* model;
  const StudyMethod* method;
};

double mean(const std::vector<double>& values) {
  return values.empty() ? kNaN
                        : std::accumulate(values.begin(), values.end(), 0.0) /
                              static_cast<double>(values.size());
}

std::string measured_text(double value, double deviation) {
  if (std::isinf(deviation)) return format_number(value) + " (not seen)";
  return format_with_deviation(value, deviation);
}

std::string parameter_cell(const StudyRun& run, const std::string& name) {
  const RunParameter* p = run.find(name);
  if (p == nullptr) return "-";
  if (p->at_bound) return format_number(p->value) + " (bound)";
  return measured_text(p->value, p->standard_deviation);
}

std::vector<double> mean_squared_errors(const std::vector<StudyRun>& runs) {
  std::vector<double> errors;
  for (const StudyRun& run : runs) {
    if (run.error.empty()) errors.push_back(run.mean_squared_error());
  }
  return errors;
}

std::vector<double> cross_validations(const ModelFits& fits) {
  std::vector<double> values;
  for (std::size_t i = 0; i < fits.fits.size(); ++i) {
    const double value = fits.cross_validation(i);
    if (!std::isnan(value)) values.push_back(value);
  }
  return values;
}

void add_truth(const ModelFits& fits, StudyTable& table) {
  if (fits.set->set->truth.empty()) return;
  table.header.emplace_back("truth");
  for (std::vector<std::string>& row : table.rows) {
    std::string cell;
    for (const TrueValue& truth : fits.set->set->truth) {
      if (row.front().starts_with(truth.name + " ")) cell = format_number(truth.value);
    }
    row.push_back(cell);
  }
}

/// Returns the names and units of the parameters of all fits.
std::vector<std::pair<std::string, std::string>> parameters_of(const ModelFits& fits) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const StudyRun& run : fits.fits) {
    for (const RunParameter& p : run.parameters) {
      const std::pair<std::string, std::string> name{p.name, p.unit};
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

/// Calls `use` for every run with the parameters of another recording, row by row. Skips recordings
/// whose fit was rejected.
template <typename Fits, typename Use>
void for_each_prediction(Fits& fits, const Use& use) {
  for (std::size_t i = 0; i < fits.cross.size(); ++i) {
    if (!fits.fits[i].error.empty()) continue;
    for (std::size_t j = 0; j < fits.cross.size(); ++j) {
      if (j != i) use(fits.cross[i][j]);
    }
  }
}

std::string cost_cell(const StudyRun& run) {
  return run.error.empty() ? format_number(run.mean_squared_error(), 3) : "refused";
}

}  // namespace

double ModelFits::cross_validation(std::size_t i) const {
  if (!fits[i].error.empty()) return kNaN;
  std::vector<StudyRun> others;
  for (std::size_t j = 0; j < cross[i].size(); ++j) {
    if (j != i) others.push_back(cross[i][j]);
  }
  return mean(mean_squared_errors(others));
}

std::optional<std::vector<ModelFits>> fit_models(const Study& study,
                                                 const std::vector<LoadedSet>& sets,
                                                 const TaskRunner& run) {
  std::vector<ModelFits> all;
  std::vector<Choice> choices;
  std::vector<StudyTask> tasks;
  for (const LoadedSet& set : sets) {
    for (const StudyMethod& method : study.methods) {
      for (const StudyModel& model : set.set->models) {
        all.push_back({&set, model.name, method.name, {}, {}});
        choices.push_back({&model, &method});
        for (const std::shared_ptr<const StudyData>& data : set.data) {
          tasks.push_back(make_task(place_of(all.back(), "fit"), data,
                                    mechanism_of(*set.set, model, *data),
                                    make_options(method, set.set->settings), false, true));
        }
      }
    }
  }
  std::optional<std::vector<StudyRun>> fitted = run(tasks);
  if (!fitted) return std::nullopt;

  auto next = fitted->begin();
  tasks.clear();
  for (std::size_t m = 0; m < all.size(); ++m) {
    ModelFits& fits = all[m];
    const std::size_t count = fits.set->data.size();
    fits.fits.assign(next, next + static_cast<std::ptrdiff_t>(count));
    next += static_cast<std::ptrdiff_t>(count);
    for (std::size_t i = 0; i < count; ++i) {
      fits.cross.emplace_back(count, fits.fits[i]);
      if (!fits.fits[i].error.empty()) continue;
      const estimator::Mechanism trained = with_estimates(
          mechanism_of(*fits.set->set, *choices[m].model, *fits.set->data[i]), fits.fits[i]);
      for (std::size_t j = 0; j < count; ++j) {
        if (j == i) continue;
        RunLabels place = place_of(fits, "cross");
        place.trained_on = fits.set->data[i]->name;
        tasks.push_back(make_task(place, fits.set->data[j], trained,
                                  make_options(*choices[m].method, fits.set->set->settings), true));
      }
    }
  }
  const std::optional<std::vector<StudyRun>> crossed = run(tasks);
  if (!crossed) return std::nullopt;
  auto cross = crossed->begin();
  for (ModelFits& fits : all) {
    for_each_prediction(fits, [&](StudyRun& prediction) { prediction = *cross++; });
  }
  return all;
}

StudyTable parameter_table(const ModelFits& fits) {
  StudyTable table;
  table.name = "parameters-" + file_word(title_of(fits));
  table.title = "Parameters: " + title_of(fits);
  table.caption =
      "Cost and CV (cross-validation) are squared residuals over time steps. ± one estimated "
      "standard deviation.";
  table.header = {""};
  std::vector<std::string> cost = {"cost"};
  std::vector<std::string> cross = {"CV"};
  for (std::size_t i = 0; i < fits.fits.size(); ++i) {
    const StudyRun& run = fits.fits[i];
    table.header.push_back(run.place.recording);
    cost.push_back(cost_cell(run));
    cross.push_back(format_number(fits.cross_validation(i), 3));
  }
  table.header.emplace_back("mean");
  cost.push_back(format_number(mean(mean_squared_errors(fits.fits)), 3));
  cross.push_back(format_number(mean(cross_validations(fits)), 3));
  table.rows = {cost, cross};
  for (const auto& [name, unit] : parameters_of(fits)) {
    std::vector<std::string> row = {name + " [" + unit + "]"};
    for (const StudyRun& run : fits.fits) row.push_back(parameter_cell(run, name));
    row.emplace_back("");
    table.rows.push_back(std::move(row));
  }
  std::vector<std::string> ended = {"ended by"};
  for (const StudyRun& run : fits.fits) ended.push_back(run.termination);
  ended.emplace_back("");
  table.rows.push_back(std::move(ended));
  add_truth(fits, table);
  return table;
}

StudyTable cross_validation_table(const ModelFits& fits) {
  StudyTable table;
  table.name = "cross-validation-" + file_word(title_of(fits));
  table.title = "Cross-validation: " + title_of(fits);
  table.caption =
      "Squared residuals over time steps when only the states of a recording (column) are "
      "estimated, with the parameters from another (row). On the diagonal: the fit.";
  table.header = {"parameters from"};
  for (const StudyRun& run : fits.fits) table.header.push_back(run.place.recording);
  for (std::size_t i = 0; i < fits.fits.size(); ++i) {
    std::vector<std::string> row = {fits.fits[i].place.recording};
    for (const StudyRun& run : fits.cross[i]) row.push_back(cost_cell(run));
    table.rows.push_back(std::move(row));
  }
  return table;
}

StudyTable model_table(const std::vector<const ModelFits*>& models) {
  StudyTable table;
  const std::string set = models.front()->set->set->name;
  table.name = "models-" + file_word(set);
  table.title = "Models: " + set;
  table.caption =
      "Means over the recordings: squared residuals over time steps of the fits and of the "
      "cross-validation; open-loop error of the simulation from the estimated initial state.";
  table.header = {"model", "method", "cost", "CV"};
  for (const RunJoint& joint : models.front()->fits.front().joints) {
    table.header.push_back("open loop " + joint.name + " [" + joint_units(joint.kind).error + "]");
  }
  for (const ModelFits* fits : models) {
    std::vector<std::string> row = {fits->model, fits->method,
                                    format_number(mean(mean_squared_errors(fits->fits)), 3),
                                    format_number(mean(cross_validations(*fits)), 3)};
    for (std::size_t j = 0; j + 4 < table.header.size(); ++j) {
      std::vector<double> errors;
      for (const StudyRun& run : fits->fits) {
        if (j < run.joints.size()) errors.push_back(1e3 * run.joints[j].rmse);
      }
      row.push_back(format_number(mean(errors), 3));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Chart estimate_panel(const std::vector<const ModelFits*>& models, const RunParameter& parameter) {
  constexpr double kSpread = 0.12;  // distance of the models' points of one recording
  Chart chart;
  chart.title = parameter.name;
  chart.x_label = "recording";
  chart.integer_x = true;
  const std::size_t count = models.front()->fits.size();
  // An invisible series that makes room at both ends.
  chart.series.push_back({"", "points", {0.5, static_cast<double>(count) + 0.5}, {kNaN, kNaN}});
  for (const TrueValue& truth : models.front()->set->set->truth) {
    if (truth.name != parameter.name) continue;
    chart.series.push_back({"truth",
                            "reference",
                            {0.5, static_cast<double>(count) + 0.5},
                            {truth.value, truth.value}});
  }
  for (std::size_t m = 0; m < models.size(); ++m) {
    ChartSeries series;
    series.label = models[m]->model;
    if (models.front()->method != models.back()->method) series.label += ", " + models[m]->method;
    series.css_class = series_css_class(m) + " points";
    series.markers = true;
    series.shape = series_marker_shape(m);
    for (std::size_t i = 0; i < count; ++i) {
      const RunParameter* p = models[m]->fits[i].find(parameter.name);
      const double shift = static_cast<double>(m) - 0.5 * static_cast<double>(models.size() - 1);
      const bool seen = p != nullptr && std::isfinite(p->standard_deviation);
      series.x.push_back(static_cast<double>(i + 1) + kSpread * shift);
      series.y.push_back(seen ? p->value : kNaN);
      series.y_error.push_back(seen ? 2.0 * p->standard_deviation : 0.0);
    }
    chart.series.push_back(std::move(series));
  }
  scale_axis(chart, parameter.name, parameter.unit);
  return chart;
}

std::vector<StudyRun> runs_of(const std::vector<ModelFits>& fits) {
  std::vector<StudyRun> runs;
  for (const ModelFits& model : fits) {
    runs.insert(runs.end(), model.fits.begin(), model.fits.end());
    for_each_prediction(model, [&](const StudyRun& prediction) { runs.push_back(prediction); });
  }
  return runs;
}

std::string title_of(const ModelFits& fits) {
  return fits.set->set->name + ", " + fits.model + ", " + fits.method;
}

std::string file_word(const std::string& text) {
  std::string word;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!word.empty() && word.back() != '-') {
      word += '-';
    }
  }
  if (!word.empty() && word.back() == '-') word.pop_back();
  return word;
}

}  // namespace service
