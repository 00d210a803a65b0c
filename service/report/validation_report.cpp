#include "service/report/validation_report.hpp"

#include <algorithm>

#include "proto/text/input_error.hpp"
#include "service/messages/message_text.hpp"
#include "service/recordings/recording_selection.hpp"
#include "service/report/charts/chart_figure.hpp"
#include "service/report/charts/page_parts.hpp"
#include "service/report/sections/recording_sections.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

using estimator::Validation;
using estimator::ValidationWindow;
using TableRows = std::vector<std::vector<std::string>>;

constexpr int kNameCharactersMax = 26;  // of a recording

std::string in_thousandths(double value) { return format_significant_digits(1e3 * value, 3); }

/// Returns the table of prediction errors. The first row is the heading.
TableRows error_rows(const Validation& validation) {
  const std::vector<RecordingPredictionErrors> errors = prediction_errors_by_recording(validation);
  std::vector<std::string> names;
  for (const RecordingPredictionErrors& row : errors) {
    if (!row.recording.empty()) names.push_back(row.recording);
  }
  names = shorten_names(remove_common_folders(names), kNameCharactersMax);
  names.emplace_back("all");
  TableRows rows = {{"recording", "sensor", "windows", "RMSE", "median", "worst", "largest",
                     "noise", "RMSE/noise", "unit"}};
  for (std::size_t r = 0; r < errors.size(); ++r) {
    for (std::size_t i = 0; i < validation.sensors.size(); ++i) {
      const SensorPredictionErrors& own = errors[r].sensors[i];
      const double noise = validation.noise[i];
      rows.push_back({names[r], validation.sensors[i], std::to_string(errors[r].windows),
                      in_thousandths(own.all.rmse()), in_thousandths(own.median_window),
                      in_thousandths(own.worst_window), in_thousandths(own.all.largest),
                      in_thousandths(noise),
                      noise > 0.0 ? format_significant_digits(own.all.rmse() / noise, 3) : "-",
                      estimator::joint_units(validation.kinds[i]).error});
    }
  }
  return rows;
}

std::string table_section(const Validation& validation) {
  using enum CellAlign;
  const HtmlTable table(
      "Open-loop errors. Median and worst: root mean squares of windows; largest: "
      "largest error of a single reading; noise: "
      "sensor noise, estimated from differences of readings.",
      {kWords, kLeft, kRight, kRight, kRight, kRight, kRight, kRight, kRight, kLeft},
      error_rows(validation));
  return "<section><h2>Errors</h2>\n" + table.html() + "</section>\n";
}

/// Plots the root mean square error of every prediction window of a recording over time.
std::string window_chart(const Validation& validation, const std::string& recording) {
  Chart chart;
  chart.title = recording;
  chart.x_label = "start of the window [s]";
  chart.y_label = "RMSE [" + error_unit_text(validation.kinds) + "]";
  chart.log_y = true;
  for (std::size_t i = 0; i < validation.sensors.size(); ++i) {
    ChartSeries series;
    series.label = validation.sensors[i];
    series.css_class = series_css_class(i);
    series.markers = true;
    series.shape = series_marker_shape(i);
    for (const ValidationWindow& window : validation.windows) {
      if (window.recording != recording) continue;
      series.x.push_back(window.start);
      series.y.push_back(1e3 * window.errors[i].rmse());
    }
    chart.series.push_back(std::move(series));
  }
  if (chart.series.front().x.size() < 2) return "";
  const std::string file = recording.substr(recording.rfind('/') + 1);
  return render_chart_figure(
      {.name = file + "-windows",
       .caption = fmt::format("{}: open-loop error of each window, at its start time.", recording),
       .charts = {std::move(chart)}});
}

std::string window_charts(const Validation& validation) {
  std::string html, done;
  for (const ValidationWindow& window : validation.windows) {
    if (window.recording == done) continue;
    done = window.recording;
    html += window_chart(validation, done);
  }
  return html.empty() ? "" : "<section><h2>Windows</h2>\n" + html + "</section>\n";
}

std::string outcome(const Validation& validation, const ValidationSettings& choice) {
  const std::size_t count = validation.windows.size();
  return "Fixed parameters: " +
         (choice.parameters_file.empty() ? "those of the rig file" : choice.parameters_file) +
         "; " + std::to_string(count) + (choice.window > 0.0 ? " window" : " whole segment") +
         (count == 1 ? "" : "s") +
         (choice.window > 0.0 ? " of " + format_number(choice.window) + " s" : "");
}

}  // namespace

bool has_fitted_initial_states(const Validation& validation) {
  return std::ranges::all_of(validation.windows, &ValidationWindow::fitted);
}

std::vector<std::string> make_validation_notes(const Validation& validation,
                                               const ValidationSettings& choice) {
  std::vector<std::string> notes;
  notes.push_back(
      validation.start_window > 0.0
          ? fmt::format("the initial state of each window is estimated from its first {} s. "
                        "Errors are evaluated after that; "
                        "they include the uncertainty of this initial state",
                        format_number(validation.start_window))
          : "the initial state of each window is fitted to the evaluated readings. "
            "For chaotic motion the errors are therefore too small; "
            "--start-window evaluates only later readings");
  const auto unfitted = std::ranges::count(validation.windows, false, &ValidationWindow::fitted);
  if (unfitted > 0) {
    proto::add_note(
        notes,
        "warning: in {} of {} windows the fit of the initial state failed, so the estimated state "
        "is used: the motion is not predictable for this long, or not with these parameters; {}",
        unfitted, validation.windows.size(),
        choice.window > 0.0 ? "give a shorter --window" : "give --window S");
  }
  if (validation.still > 0) {
    proto::add_note(notes, "nothing moves in {} windows; they are not evaluated", validation.still);
  }
  const std::vector<std::string> others = format_notes(validation.notes);
  notes.insert(notes.end(), others.begin(), others.end());
  return notes;
}

std::string format_validation(const Validation& validation, const ValidationSettings& choice,
                              double wall_time) {
  std::string text = outcome(validation, choice) + "; open-loop errors:\n\n" +
                     format_table(error_rows(validation),
                                  {false, false, true, true, true, true, true, true, true, false}) +
                     "\nNotes:\n";
  for (const std::string& note : make_validation_notes(validation, choice))
    text += "  " + note + "\n";
  return text + "\nDone in " + format_number(wall_time, 3) + " s\n";
}

std::string render_validation_page(const Validation& validation, const ValidationSettings& choice,
                                   const CalibrationMetadata& context) {
  const std::string title = "Validation of " + context.rig;
  return render_html_page(
      title, render_report_heading(title, context, has_fitted_initial_states(validation),
                                   outcome(validation, choice)) +
                 table_section(validation) +
                 render_list_section("Notes", make_validation_notes(validation, choice)) +
                 window_charts(validation) + "<h2>Trajectories</h2>\n" +
                 render_trajectory_sections(
                     validation.trajectories,
                     {validation.sensors, validation.kinds, context.controls, {}, context.held}) +
                 render_folded_section("Data and files", render_data_section(context) +
                                                             render_input_section(context)));
}

}  // namespace service
