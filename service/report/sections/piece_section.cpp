#include "service/report/sections/calibration_sections.hpp"

#include <cmath>

#include "estimator/assessment/part_consistency.hpp"
#include "service/report/charts/chart_figure.hpp"
#include "service/report/charts/page_parts.hpp"
#include "service/report/charts/result_pictures.hpp"
#include "service/report/charts/svg_chart.hpp"
#include "service/report/sections/label_texts.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/text/csv_row.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::Calibration;

constexpr int kLongestName = 15;  // [characters]; leaves room for times beside the plot

/// Returns the name of a piece of a recording with its time range, e.g. "run.csv 5 to 10 s".
std::vector<std::string> labels_of(const Calibration& calibration,
                                   const std::vector<std::string>& names) {
  std::vector<std::string> labels;
  for (std::size_t p = 0; p < names.size(); ++p) {
    const estimator::PartEstimate& piece = calibration.pieces[p];
    labels.push_back(names[p] + " " + format_number(piece.from, 3) + " to " +
                     format_number(piece.to, 3) + " s");
  }
  return labels;
}

std::string agreement_text(const Calibration& calibration) {
  const estimator::ConsistencyTest& agreement = calibration.agreement;
  if (std::isnan(agreement.statistic)) return "<p>There are no pieces to compare.</p>\n";
  const bool disagree = agreement.p_value < estimator::kConsistencyLevel;
  std::string text = "<p";
  if (disagree) text += " class=\"warn\"";
  text += ">Pieces " + std::string(disagree ? "disagree" : "agree") + ": Cochran's Q is " +
          format_number(agreement.statistic, 4) + " on " +
          format_number(agreement.degrees_of_freedom, 4) +
          " degrees of freedom (p = " + format_number(agreement.p_value, 2) + "). ";
  text += disagree ? "Standard deviations are the larger of those from noise and from the scatter "
                     "between pieces."
                   : "Standard deviations are those from noise.";
  return text + "</p>\n";
}

std::string pieces_csv(const Calibration& calibration, const std::vector<std::string>& labels) {
  std::string csv = csv_row({"piece", "parameter", "unit", "value", "standard deviation"});
  for (std::size_t p = 0; p < labels.size(); ++p) {
    const estimator::PartEstimate& piece = calibration.pieces[p];
    for (Eigen::Index i = 0; i < piece.values.size(); ++i) {
      const auto& estimate = calibration.parameters[static_cast<std::size_t>(i)];
      if (!std::isfinite(piece.standard_deviations[i])) continue;
      csv += csv_row({labels[p], estimate.name, estimate.unit, json_number(piece.values[i]),
                      json_number(piece.standard_deviations[i])});
    }
  }
  return csv;
}

std::string deviation_table(const Calibration& calibration) {
  using enum CellAlign;
  HtmlTable table("Standard deviations and their origin",
                  {{"parameter"},
                   {"± sd", kRight},
                   {"from noise", kRight},
                   {"from the scatter between pieces", kRight},
                   {"unit"}},
                  "narrow");
  const std::vector<TableNotation> notations = notations_of(calibration.parameters);
  for (std::size_t i = 0; i < notations.size(); ++i) {
    const estimator::ParameterEstimate& estimate = calibration.parameters[i];
    if (estimate.at_bound || !std::isfinite(estimate.standard_deviation)) continue;
    table.add({estimate.name, notations[i].deviation(),
               notations[i].deviation(estimate.noise_deviation),
               notations[i].deviation(estimate.scatter_deviation), notations[i].unit()});
  }
  return table.html();
}

}  // namespace

std::string piece_section(const Calibration& calibration) {
  if (calibration.pieces.empty()) return "";
  std::vector<std::size_t> seen;
  for (std::size_t i = 0; i < calibration.parameters.size(); ++i) {
    const estimator::ParameterEstimate& estimate = calibration.parameters[i];
    if (!estimate.at_bound && std::isfinite(estimate.standard_deviation)) seen.push_back(i);
  }
  std::string html = "<section><h2>Pieces</h2>\n" + agreement_text(calibration);
  std::vector<std::string> names;
  for (const estimator::PartEstimate& piece : calibration.pieces) {
    names.push_back(piece.recording.substr(piece.recording.rfind('/') + 1));
  }
  html += data_figure(
      svg_forest(calibration.pieces, labels_of(calibration, short_names(names, kLongestName)),
                 calibration.parameters, seen),
      "pieces", pieces_csv(calibration, labels_of(calibration, names)),
      "Estimates of each parameter from each piece of the recordings. Orange: estimate from one "
      "piece, with its own initial state and the 95 % interval from noise. Blue: estimate from all "
      "pieces; band: its 95 % interval. Empty: not identifiable from the piece.");
  return html + deviation_table(calibration) + "</section>\n";
}

}  // namespace service
