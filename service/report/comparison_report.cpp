#include "service/report/comparison_report.hpp"

#include <algorithm>
#include <cmath>

#include "service/recordings/recording_selection.hpp"
#include "service/report/charts/chart_figure.hpp"
#include "service/report/charts/page_parts.hpp"
#include "service/report/charts/svg_chart.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/text/number_format.hpp"
#include "service/text/svg_elements.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

using TableRows = std::vector<std::vector<std::string>>;

constexpr int kBarWidth = 41;  // of a control chart on the terminal [characters]

std::string signed_text(double value, const std::string& text) {
  return (value > 0.0 && !text.starts_with('<') ? "+" : "") + text;
}

std::vector<TableNotation> notations_of(const ResultComparison& comparison) {
  std::vector<TableQuantity> quantities;
  for (const ParameterComparison& each : comparison.parameters) {
    quantities.push_back({each.mean, each.mean_deviation, each.unit});
  }
  return make_table_notations(quantities);
}

std::string probability_text(double probability) {
  return probability < 1e-4 ? "< 0.0001" : fmt::format("{:.2g}", probability);
}

bool is_pair(const ResultComparison& comparison) { return comparison.sources.size() == 2; }

bool agree(const ResultComparison& comparison) {
  return comparison.probability() >= kAgreementProbability;
}

/// Returns whether a control chart shows a change: the estimates scatter more than their standard
/// deviations allow, one of them is beyond the limits, or there is a drift.
bool changes(const ParameterComparison& parameter) {
  if (parameter.degrees_of_freedom == 0) return false;
  if (parameter.probability() < kAgreementProbability) return true;
  if (std::abs(parameter.drift_per_day) > kControlLimit * parameter.drift_deviation) return true;
  for (std::size_t k = 0; k < parameter.estimates.size(); ++k) {
    if (std::abs(parameter.deviation_from_mean(k)) > kControlLimit) return true;
  }
  return false;
}

std::string describe_outcome(const ResultComparison& comparison) {
  const std::size_t count = comparison.sources.size();
  if (comparison.degrees_of_freedom == 0) {
    return fmt::format("{} results have no parameter that all of them identify.", count);
  }
  std::string text = fmt::format(
      "{} results {}: joint chi-square {} with {} degrees of freedom, p {}{}, including the "
      "correlations of the estimates.",
      count, agree(comparison) ? "agree" : "do NOT agree", format_number(comparison.chi_square, 3),
      comparison.degrees_of_freedom, comparison.probability() < 1e-4 ? "" : "= ",
      probability_text(comparison.probability()));
  if (comparison.have_common_recordings) {
    text +=
        " The results have recordings in common. Therefore their errors are not independent, and "
        "intervals and chi-square are not accurate.";
  }
  return text;
}

/// Returns why a difference has no interval; empty if it has one.
std::string missing_interval_reason(const ParameterComparison& parameter) {
  for (const ComparedEstimate& each : parameter.estimates) {
    if (!each.exists) return "not estimated";
    if (each.at_bound) return "at a bound";
    if (!each.is_comparable()) return "not identifiable";
  }
  return "";
}

TableRows difference_rows(const ResultComparison& comparison) {
  TableRows rows = {
      {"parameter", "first", "second", "difference", "± sd", "unit", "95 % interval", ""}};
  std::vector<TableQuantity> quantities;
  for (const ParameterComparison& each : comparison.parameters) {
    quantities.push_back({each.estimates[0].value, each.difference_deviation(1), each.unit});
  }
  const std::vector<TableNotation> notations = make_table_notations(quantities);
  for (std::size_t i = 0; i < notations.size(); ++i) {
    const ParameterComparison& each = comparison.parameters[i];
    const TableNotation& notation = notations[i];
    const double difference = each.difference(1), half = each.difference_half_interval(1);
    const std::string missing = missing_interval_reason(each);
    rows.push_back(
        {each.name, notation.value(), notation.rounded_text(each.estimates[1].value),
         signed_text(difference, notation.rounded_text(difference)), notation.deviation_text(),
         notation.unit(),
         missing.empty() ? notation.interval_text(difference - half, difference + half) : missing,
         each.differs(1) ? "differs" : ""});
  }
  return rows;
}

std::string remark(const ParameterComparison& parameter) {
  if (parameter.degrees_of_freedom == 0) return "not comparable";
  std::vector<std::string> beyond;
  for (std::size_t k = 0; k < parameter.estimates.size(); ++k) {
    if (std::abs(parameter.deviation_from_mean(k)) > kControlLimit) {
      beyond.push_back(std::to_string(k + 1));
    }
  }
  std::vector<std::string> remarks;
  if (std::abs(parameter.drift_per_day) > kControlLimit * parameter.drift_deviation) {
    remarks.emplace_back("drifts");
  }
  if (!beyond.empty()) remarks.push_back("beyond the limits: " + join_items(beyond));
  if (remarks.empty() && changes(parameter)) remarks.emplace_back("scatters");
  return join_items(remarks);
}

TableRows mean_rows(const ResultComparison& comparison) {
  TableRows rows = {{"parameter", "mean", "± sd", "unit", "chi²/dof", "p", "drift per day", ""}};
  const std::vector<TableNotation> notations = notations_of(comparison);
  for (std::size_t i = 0; i < notations.size(); ++i) {
    const ParameterComparison& each = comparison.parameters[i];
    const TableNotation drift = notations[i].with(each.drift_per_day, each.drift_deviation);
    const bool has_test = each.degrees_of_freedom > 0;
    rows.push_back(
        {each.name, notations[i].value(), notations[i].deviation_text(), notations[i].unit(),
         has_test ? format_number(each.chi_square / each.degrees_of_freedom, 3) : "-",
         has_test ? probability_text(each.probability()) : "-",
         std::isnan(each.drift_per_day)
             ? "-"
             : signed_text(each.drift_per_day, drift.value()) + " ± " + drift.deviation_text(),
         remark(each)});
  }
  return rows;
}

std::string source_time(const ResultComparison::Source& source) {
  return source.recorded_at.empty() ? "-" : source.recorded_at;
}

std::vector<std::string> source_files(const ResultComparison& comparison) {
  std::vector<std::string> files;
  for (const auto& source : comparison.sources) files.push_back(source.file);
  return is_pair(comparison) ? files : remove_common_folders(files);
}

TableRows source_rows(const ResultComparison& comparison) {
  TableRows rows = {{"", "result", "rig", "recorded", "calibrated"}};
  const std::vector<std::string> files = source_files(comparison);
  for (std::size_t k = 0; k < files.size(); ++k) {
    const ResultComparison::Source& source = comparison.sources[k];
    rows.push_back({std::to_string(k + 1), files[k], source.rig, source_time(source), source.date});
  }
  return rows;
}

std::vector<std::string> change_lines(const ResultComparison& comparison) {
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < comparison.sources.size(); ++k) {
    for (const std::string& change : comparison.sources[k].changes) {
      lines.push_back(is_pair(comparison) ? change : fmt::format("result {}: {}", k + 1, change));
    }
  }
  return lines;
}

/// Returns a control chart of characters: one line per result with the distance from the mean of
/// all, from −6 to 6 standard deviations, and bars at the limits.
std::string format_control_chart(const ParameterComparison& parameter,
                                 const TableNotation& notation) {
  static constexpr double kRange = 2.0 * kControlLimit;
  const auto column = [](double deviations) {
    const double share = (std::clamp(deviations, -kRange, kRange) + kRange) / (2.0 * kRange);
    return static_cast<std::size_t>(std::lround(share * (kBarWidth - 1)));
  };
  const std::string unit = notation.unit().empty() ? "" : " [" + notation.unit() + "]";
  TableRows rows = {{"", "estimate", "from the mean of all; limits at 3 sd", ""}};
  for (std::size_t k = 0; k < parameter.estimates.size(); ++k) {
    const ComparedEstimate& each = parameter.estimates[k];
    const double deviations = parameter.deviation_from_mean(k);
    std::string bar(kBarWidth, '-');
    bar[column(-kControlLimit)] = bar[column(kControlLimit)] = '|';
    bar[column(0.0)] = '+';
    if (!std::isnan(deviations)) {
      bar[column(deviations)] = deviations < -kRange ? '<' : deviations > kRange ? '>' : 'o';
    }
    const TableNotation own = notation.with(each.value, each.standard_deviation);
    rows.push_back({std::to_string(k + 1),
                    each.exists ? own.value() + " ± " + own.deviation_text() : "-", bar,
                    std::abs(deviations) > kControlLimit ? "beyond the limits" : ""});
  }
  return "\n" + parameter.name + unit + "\n" + format_table(rows, {true, true, false, false});
}

/// Returns the control chart of one parameter: estimates with 95 % error bars, the mean of all, and
/// the limits of each estimate's distance from the mean.
Chart control_chart(const ResultComparison& comparison, const ParameterComparison& parameter,
                    const TableNotation& notation) {
  const bool has_times = !comparison.days.empty();
  const auto in_unit = [&](double value) { return notation.in_unit(value); };
  Chart chart;
  chart.title = parameter.name;
  chart.x_label = has_times ? "time since the first recording [day]" : "result";
  chart.y_label = notation.unit();
  chart.integer_x = !has_times;
  chart.height = 180;
  ChartSeries points{.label = "estimate, 95 % interval",
                     .css_class = series_css_class(0) + " points",
                     .x = {},
                     .y = {},
                     .markers = true,
                     .column = parameter.name};
  std::vector<double> x, low, high, mean;
  for (std::size_t k = 0; k < parameter.estimates.size(); ++k) {
    const ComparedEstimate& each = parameter.estimates[k];
    if (!each.is_comparable()) continue;
    x.push_back(has_times ? comparison.days[k] : static_cast<double>(k + 1));
    points.y.push_back(in_unit(each.value));
    points.y_error.push_back(in_unit(each.half_interval));
    const double variance = each.standard_deviation * each.standard_deviation -
                            parameter.mean_deviation * parameter.mean_deviation;
    const double limit = kControlLimit * std::sqrt(std::max(variance, 0.0));
    mean.push_back(in_unit(parameter.mean));
    low.push_back(in_unit(parameter.mean - limit));
    high.push_back(in_unit(parameter.mean + limit));
  }
  points.x = x;
  chart.series.push_back(make_line_series("mean", series_css_class(1), x, mean, "mean"));
  chart.series.push_back(make_line_series("lower limit, 3 standard deviations", series_css_class(2),
                                          x, low, "lower limit"));
  chart.series.push_back(
      make_line_series("upper limit", series_css_class(2), x, high, "upper limit"));
  chart.series.push_back(std::move(points));
  return chart;
}

std::vector<Chart> control_charts(const ResultComparison& comparison) {
  std::vector<Chart> charts;
  const std::vector<TableNotation> notations = notations_of(comparison);
  for (std::size_t i = 0; i < notations.size(); ++i) {
    const ParameterComparison& parameter = comparison.parameters[i];
    if (parameter.degrees_of_freedom == 0) continue;
    charts.push_back(control_chart(comparison, parameter, notations[i]));
  }
  return charts;
}

std::string title_of(const ResultComparison& comparison) {
  return fmt::format("{} results of {}", comparison.sources.size(), comparison.sources[0].rig);
}

}  // namespace

std::string format_result_comparison(const ResultComparison& comparison) {
  std::string text = format_table(source_rows(comparison), {true, false, false, false, false}) +
                     "\n" + describe_outcome(comparison) + "\n\n";
  if (is_pair(comparison)) {
    const auto& all = comparison.parameters;
    text += fmt::format(
        "{} of {} estimates differ: the 95 % interval of their difference excludes zero. "
        "If the results agree, this is expected for one estimate of 20.\n\n",
        std::ranges::count_if(all, [](const auto& each) { return each.differs(1); }), all.size());
    text += format_table(difference_rows(comparison),
                         {false, true, true, true, true, false, false, false});
  } else {
    text +=
        format_table(mean_rows(comparison), {false, true, true, false, true, true, true, false});
    const std::vector<TableNotation> notations = notations_of(comparison);
    for (std::size_t i = 0; i < notations.size(); ++i) {
      const ParameterComparison& parameter = comparison.parameters[i];
      if (changes(parameter)) text += format_control_chart(parameter, notations[i]);
    }
  }
  const std::vector<std::string> lines = change_lines(comparison);
  text += lines.empty() ? "\nRig file and options are equal.\n"
                        : "\nChanges of rig file and options:\n";
  for (const std::string& line : lines) text += "  " + line + "\n";
  for (const std::string& omission : comparison.omissions) text += omission + "\n";
  return text;
}

std::string render_result_comparison_page(const ResultComparison& comparison) {
  using enum CellAlign;
  const std::string title = title_of(comparison);
  std::string html =
      render_report_heading(title, "", agree(comparison), describe_outcome(comparison));
  if (is_pair(comparison)) {
    html += "<section><h2>Differences</h2>\n" +
            HtmlTable(
                "Second minus first. An estimate differs if the 95 % interval of its "
                "difference excludes zero.",
                {kLeft, kRight, kRight, kRight, kRight, kLeft, kLeft, kLeft},
                difference_rows(comparison))
                .html() +
            "</section>\n";
  } else {
    html +=
        "<section><h2>Parameters</h2>\n" +
        HtmlTable(
            "Mean: weighted by the inverse variances. p: probability of this scatter if "
            "the parameter has not changed.",
            {kLeft, kRight, kRight, kLeft, kRight, kRight, kRight, kWords}, mean_rows(comparison))
            .html() +
        "</section>\n";
  }
  html += "<section><h2>Control charts</h2>\n" +
          render_chart_figure(
              {.name = "control-charts",
               .caption = "Estimates of each parameter. Without a change, an estimate is outside "
                          "its limits once in 370.",
               .charts = control_charts(comparison)}) +
          "</section>\n";
  html += render_list_section("Changes of rig file and options", change_lines(comparison));
  html += "<section><h2>Results</h2>\n" +
          HtmlTable("", {kRight, kWords, kLeft, kLeft, kLeft}, source_rows(comparison)).html() +
          "</section>\n";
  html += render_list_section("Not compared", comparison.omissions);
  return render_html_page(title, html);
}

std::string render_control_charts(const ResultComparison& comparison) {
  return render_chart_file(title_of(comparison), control_charts(comparison));
}

}  // namespace service
