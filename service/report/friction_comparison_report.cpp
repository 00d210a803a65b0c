#include "service/report/friction_comparison_report.hpp"

#include <cmath>

#include "service/recordings/recording_selection.hpp"
#include "service/report/charts/page_parts.hpp"
#include "service/report/charts/svg_chart.hpp"
#include "service/report/sections/recording_sections.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::FrictionLawComparison;
using estimator::FrictionLawScore;
using TableRows = std::vector<std::vector<std::string>>;

/// Formats the ratio of two errors, e.g. "+12 ± 4 %", or "2.3 times" if it is large.
std::string excess(const FrictionLawScore& score) {
  const double ratio = std::exp(score.log_ratio.value);
  if (score.log_ratio.value == 0.0 && score.log_ratio.deviation == 0.0) return "";
  if (ratio >= 2.0) {
    return format_number(ratio, 2) + " ×/÷ " +
           format_number(std::exp(score.log_ratio.deviation), 2) + " times";
  }
  return "+" +
         format_with_deviation(100.0 * (ratio - 1.0), 100.0 * ratio * score.log_ratio.deviation) +
         " %";
}

std::string remark(const FrictionLawComparison& comparison, std::size_t index) {
  const FrictionLawScore& score = comparison.laws[index];
  if (!score.has_result()) return "no result: " + score.failure;
  std::vector<std::string> remarks;
  if (static_cast<int>(index) == comparison.recommended) remarks.emplace_back("recommended");
  if (!score.converged) remarks.emplace_back("NOT CONVERGED");
  if (!score.reduces_to.empty()) {
    remarks.push_back(fmt::format("{} ends at 0: the law reduces to {}", join_items(score.at_zero),
                                  score.reduces_to));
  } else if (!score.at_zero.empty()) {
    remarks.push_back(fmt::format("{} ends at 0", join_items(score.at_zero)));
  }
  return join_items(remarks);
}

TableRows law_rows(const FrictionLawComparison& comparison) {
  const std::string unit = fmt::format(" [{}]", pooled_error_unit_text(comparison.kinds));
  TableRows rows = {
      {"law", "parameters", "held out" + unit, "± %", "fit" + unit, "relative to the best", ""}};
  for (std::size_t i = 0; i < comparison.laws.size(); ++i) {
    const FrictionLawScore& score = comparison.laws[i];
    if (!score.has_result()) {
      rows.push_back({score.law.name, std::to_string(score.parameters), "-", "-", "-", "-",
                      remark(comparison, i)});
      continue;
    }
    rows.push_back({score.law.name, std::to_string(score.parameters),
                    format_significant_digits(1e3 * std::exp(score.log_error.value), 4),
                    format_significant_digits(100.0 * score.log_error.deviation, 2),
                    format_significant_digits(1e3 * score.fit_error, 4), excess(score),
                    remark(comparison, i)});
  }
  return rows;
}

std::string law_table(const FrictionLawComparison& comparison) {
  using enum CellAlign;
  TableRows rows = law_rows(comparison);
  rows.front().back() = "remark";
  const HtmlTable table(
      "Held out: geometric mean of the open-loop errors of the held-out parts. "
      "±: standard error of this mean, from the scatter of the errors. "
      "Relative to the best: ratio of the errors on the same parts.",
      {kLeft, kRight, kRight, kRight, kRight, kRight, kWords}, rows);
  return "<section><h2>Laws</h2>\n" + table.html() + "</section>\n";
}

/// Formats a table of errors with a row per friction law and a column per held-out part.
std::string part_table(const FrictionLawComparison& comparison) {
  std::string html = "<section><h2>Parts</h2><ol>\n";
  std::vector<std::string> titles = {"law"};
  for (const std::string& part : remove_common_folders(comparison.parts)) {
    html += "<li>" + escape_html(part) + "</li>\n";
    titles.push_back(std::to_string(titles.size()));
  }
  HtmlTable table(
      "Error of each part while it was held out [" + pooled_error_unit_text(comparison.kinds) + "]",
      make_text_and_number_columns(titles, 1), "narrow");
  for (const FrictionLawScore& score : comparison.laws) {
    if (!score.has_result()) continue;
    std::vector<HtmlCell> cells = {score.law.name};
    for (const double error : score.errors)
      cells.emplace_back(format_significant_digits(1e3 * error, 3));
    table.add(cells);
  }
  return html + "</ol>\n" + table.html() + "</section>\n";
}

std::string estimate_table(const FrictionLawComparison& comparison) {
  using enum CellAlign;
  HtmlTable table("Estimates of each law in the first fold, which holds out the first parts",
                  {{"law"}, {"parameter"}, {"value", kRight}, {"± sd", kRight}, {"unit"}});
  for (const FrictionLawScore& score : comparison.laws) {
    const std::vector<TableNotation> notations = make_estimate_notations(score.estimates);
    for (std::size_t i = 0; i < notations.size(); ++i) {
      table.add({score.law.name, score.estimates[i].name, notations[i].value(),
                 notations[i].deviation_text(), notations[i].unit()});
    }
  }
  return "<section><h2>Estimates of the first fold</h2>\n" + table.html() + "</section>\n";
}

}  // namespace

std::string format_friction_comparison(const FrictionLawComparison& comparison, double wall_time) {
  return fmt::format(
      "Friction of {}; {} parts in {} folds. The motion of each part is predicted open loop by "
      "a fit to all other folds:\n\n"
      "{}\n"
      "{}\n\n"
      "Done in {} s\n",
      join_items(comparison.joints), comparison.parts.size(), comparison.folds,
      format_table(law_rows(comparison), {false, true, true, true, true, true, false}),
      format_sentence(describe_recommended_law(comparison)), format_number(wall_time, 3));
}

std::string render_friction_comparison_page(const FrictionLawComparison& comparison,
                                            const CalibrationMetadata& context) {
  const std::string title = "Friction laws of " + context.rig;
  return render_html_page(
      title, render_report_heading(title, context, comparison.recommended >= 0,
                                   format_sentence(describe_recommended_law(comparison))) +
                 law_table(comparison) + part_table(comparison) + estimate_table(comparison) +
                 render_folded_section("Data and files", render_data_section(context) +
                                                             render_input_section(context)));
}

}  // namespace service
