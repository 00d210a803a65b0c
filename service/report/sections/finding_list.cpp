#include "service/report/sections/finding_list.hpp"

#include <algorithm>
#include <cmath>

#include "proto/text/printable.hpp"
#include "service/messages/message_text.hpp"
#include "service/report/charts/page_parts.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

using estimator::Finding;
using estimator::Message;

/// Limit below which the probability of a finding is printed.
constexpr double kPrintedProbabilityMax = 0.99;

bool is_warning(const Message& note) {
  return estimator::severity_of(note) == estimator::Severity::kWarning;
}

std::vector<Finding> worst_first(std::vector<Finding> findings) {
  std::ranges::stable_sort(findings, std::greater<>(), &Finding::severity);
  return findings;
}

std::string what_of(const Finding& finding) {
  std::string text = finding.recording.empty() ? "" : finding.recording + ": ";
  text += describe_finding(finding).what;
  if (finding.confidence < kPrintedProbabilityMax) {
    text += fmt::format(" (probability {})", format_number(finding.confidence, 2));
  }
  return text;
}

/// Describes whether a rate error of the recording's clock is identifiable.
std::string format_clock(const estimator::PredictedClockPrecision& clock) {
  const std::string deviation = format_percent(100.0 * clock.deviation);
  if (clock.deviation < estimator::kDetectableClockDeviation) {
    return fmt::format("  clock: a rate error is identifiable, ± {}\n", deviation);
  }
  return fmt::format("  clock: a rate error is not identifiable{}{}{}\n",
                     std::isfinite(clock.deviation) ? fmt::format(" (± {})", deviation) : "",
                     clock.absorbed_by.empty() ? "" : ": it would bias ",
                     join_items(clock.absorbed_by));
}

}  // namespace

std::string format_findings(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : worst_first(findings)) {
    const auto add_line = [&](const std::string& label, const std::string& line) {
      if (line.empty()) return;
      text += fmt::format("  {}: {}\n", label, proto::escape_for_terminal(line));
    };
    const FindingText described = describe_finding(finding);
    add_line(severity_name(finding.severity), what_of(finding));
    add_line("    to do", described.advice);
    add_line("    rigcal", described.treatment);
  }
  return text.empty() ? text : "Findings:\n" + text;
}

std::vector<Finding> add_warnings_as_findings(std::vector<Finding> findings,
                                              const std::vector<Message>& notes) {
  for (const Message& note : notes) {
    if (is_warning(note)) findings.push_back(estimator::make_finding(note));
  }
  return findings;
}

std::vector<std::string> notes_without_warnings(std::vector<Message> notes) {
  std::erase_if(notes, is_warning);
  return format_notes(notes);
}

std::string render_finding_section(const std::vector<Finding>& findings) {
  if (findings.empty()) return "";
  using enum CellAlign;
  const bool treated = std::ranges::any_of(findings, [](const Finding& finding) {
    return !describe_finding(finding).treatment.empty();
  });
  std::vector<HtmlTable::TableColumn> columns = {{"kind"}, {"what", kWords}, {"to do", kWords}};
  if (treated) columns.push_back({"done automatically", kWords});
  HtmlTable table(
      "Findings with a time are shaded in the plots below, notes in grey; "
      "the plots show faulty samples as points. --as-is disables repairs.",
      columns);
  for (const Finding& finding : worst_first(findings)) {
    const bool harmless = finding.severity == estimator::Severity::kNote;
    HtmlCell severity = severity_name(finding.severity);
    if (!harmless) severity.set_css_class("warn");
    std::vector<HtmlCell> cells = {severity, what_of(finding), describe_finding(finding).advice};
    if (treated) cells.emplace_back(describe_finding(finding).treatment);
    table.add(cells);
  }
  return "<section><h2>Findings</h2>\n" + table.html() + "</section>\n";
}

std::vector<std::vector<std::string>> identifiability_table_rows(
    const estimator::PredictedPrecision& excitation) {
  std::vector<std::vector<std::string>> rows = {
      {"free parameter", "start", "predicted sd", "unit", "relative sd"}};
  std::vector<TableQuantity> quantities;
  for (const estimator::PredictedParameterPrecision& each : excitation.parameters) {
    quantities.push_back({each.start, each.deviation, each.unit});
  }
  const std::vector<TableNotation> notations = make_table_notations(quantities);
  for (std::size_t i = 0; i < notations.size(); ++i) {
    const estimator::PredictedParameterPrecision& parameter = excitation.parameters[i];
    std::string share = "not identifiable";
    if (std::isfinite(parameter.deviation)) {
      share = parameter.start == 0.0
                  ? ""
                  : format_percent(100.0 * parameter.deviation / std::abs(parameter.start));
    }
    rows.push_back({parameter.name, notations[i].number_text(parameter.start),
                    notations[i].deviation_text(), notations[i].unit(), share});
  }
  return rows;
}

std::string format_identifiability(const estimator::PredictedPrecision& excitation) {
  if (excitation.parameters.empty()) return "";
  std::string text =
      "Predicted standard deviations, from the noise of the readings:\n" +
      format_table(identifiability_table_rows(excitation), {false, true, true, false, true});
  for (const estimator::NullDirection& direction : excitation.null_directions) {
    text += fmt::format("  not identifiable: {}\n", format_message(direction.description));
  }
  return text + format_clock(excitation.clock);
}

}  // namespace service
