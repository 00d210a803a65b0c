
#include <algorithm>
#include <cmath>
#include <vector>

#include "estimator/math/decompositions.hpp"
#include "service/messages/message_text.hpp"
#include "service/report/charts/chart_figure.hpp"
#include "service/report/charts/page_parts.hpp"
#include "service/report/charts/result_pictures.hpp"
#include "service/report/charts/svg_chart.hpp"
#include "service/report/sections/calibration_sections.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/text/csv_row.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::Calibration;
using estimator::ParameterEstimate;

// Relative standard deviation above which a parameter counts as poorly identified.
constexpr double kPoorRelativeDeviation = 1.0 / 3.0;

// Weaker correlations are not reported.
constexpr double kNotableCorrelation = 0.5;

// Coefficients below this share of the largest in a direction are not reported.
constexpr double kCoefficientShare = 1e-3;

/// Identifiable parameter, and how the uncertainty of other parameters affects it.
struct IdentifiableParameter {
  Eigen::Index index = 0;        ///< index among all parameters
  double deviation_alone = 0.0;  ///< standard deviation if all other parameters were known
  double inflation = 1.0;        ///< true standard deviation / deviation_alone
  Eigen::Index partner = -1;     ///< index of the most strongly correlated parameter
};

std::vector<IdentifiableParameter> find_identifiable(const Calibration& calibration) {
  std::vector<IdentifiableParameter> seen;
  for (std::size_t k = 0; k < calibration.parameters.size(); ++k) {
    const ParameterEstimate& estimate = calibration.parameters[k];
    const auto index = static_cast<Eigen::Index>(k);
    if (estimate.at_bound || !(estimate.standard_deviation > 0.0) ||
        !std::isfinite(estimate.standard_deviation) ||
        !std::isfinite(calibration.correlation(index, index))) {
      continue;
    }
    seen.push_back({.index = index});
  }
  return seen;
}

/// Computes the standard deviation of each parameter if all other parameters were known. It is
/// sd_i / √((R⁻¹)_ii), where R is the correlation matrix of the identifiable parameters.
void measure(const Calibration& calibration, std::vector<IdentifiableParameter>& seen) {
  const auto n = static_cast<Eigen::Index>(seen.size());
  Eigen::MatrixXd R(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      R(i, j) = calibration.correlation(seen[static_cast<std::size_t>(i)].index,
                                        seen[static_cast<std::size_t>(j)].index);
    }
  }
  const Eigen::MatrixXd inverse =
      estimator::solve_square_system(R, Eigen::MatrixXd::Identity(n, n));
  for (Eigen::Index i = 0; i < n; ++i) {
    IdentifiableParameter& one = seen[static_cast<std::size_t>(i)];
    const double deviation =
        calibration.parameters[static_cast<std::size_t>(one.index)].standard_deviation;
    one.inflation = std::sqrt(std::max(inverse(i, i), 1.0));
    one.deviation_alone = deviation / one.inflation;
    for (Eigen::Index j = 0; j < n; ++j) {
      if (j == i) continue;
      const Eigen::Index other = seen[static_cast<std::size_t>(j)].index;
      if (one.partner < 0 ||
          std::abs(R(i, j)) > std::abs(calibration.correlation(one.index, one.partner))) {
        one.partner = other;
      }
    }
  }
}

std::string partner_text(const Calibration& calibration, const IdentifiableParameter& one) {
  const double correlation = calibration.correlation(one.index, one.partner);
  if (std::abs(correlation) < kNotableCorrelation) return "";
  return calibration.parameters[static_cast<std::size_t>(one.partner)].name + " (" +
         format_number(correlation, 2) + ")";
}

std::string dependence_table(const Calibration& calibration) {
  std::vector<IdentifiableParameter> seen = find_identifiable(calibration);
  if (seen.size() < 2) return "";
  measure(calibration, seen);
  using enum CellAlign;
  HtmlTable table(
      "Factor far above 1: the recordings identify only a combination with other parameters. "
      "Measuring one of these, for example by weighing, reduces the standard deviation.",
      {{"parameter"},
       {"± sd", kRight},
       {"± sd, others known", kRight},
       {"unit"},
       {"factor", kRight},
       {"correlated with"}},
      "narrow");
  const std::vector<TableNotation> notations = make_estimate_notations(calibration.parameters);
  for (const IdentifiableParameter& one : seen) {
    const ParameterEstimate& estimate = calibration.parameters[static_cast<std::size_t>(one.index)];
    const TableNotation& notation = notations[static_cast<std::size_t>(one.index)];
    table.add({estimate.name, notation.deviation_text(),
               notation.deviation_text(one.deviation_alone), notation.unit(),
               format_number(one.inflation, 2), partner_text(calibration, one)});
  }
  return "<h3>Uncertainty due to other parameters</h3>\n" + table.html();
}

/// Formats the parameter changes along an unidentifiable direction; empty if only one changes.
std::string coefficients(const Calibration& calibration, const Eigen::VectorXd& direction) {
  const double largest = direction.size() == 0 ? 0.0 : direction.cwiseAbs().maxCoeff();
  if ((direction.array().abs() > kCoefficientShare * largest).count() < 2) return "";
  std::string text;
  for (Eigen::Index k = 0; k < direction.size(); ++k) {
    if (!(std::abs(direction(k)) > kCoefficientShare * largest)) continue;
    const ParameterEstimate& estimate = calibration.parameters[static_cast<std::size_t>(k)];
    if (!text.empty()) text += ", ";
    text += "Δ" + estimate.name + " = " + format_number(direction(k), 3);
    if (!estimate.unit.empty()) text += " " + estimate.unit;
  }
  return text;
}

std::string null_directions(const Calibration& calibration) {
  if (calibration.null_directions.empty()) return "";
  std::string html = "<h3>Not identifiable</h3>\n<ul>\n";
  for (const estimator::NullDirection& direction : calibration.null_directions) {
    const std::string changes = coefficients(calibration, direction.coefficients);
    html += fmt::format(
        "<li><b>{}</b>{}.</li>\n", escape_html(format_message(direction.description)),
        changes.empty() ? ""
                        : fmt::format(": any multiple of {} leaves all simulated angles unchanged",
                                      escape_html(changes)));
  }
  return html + "</ul>\n";
}

std::string initial_directions(const Calibration& calibration) {
  if (calibration.initial_null_directions.empty()) return "";
  const bool same = std::equal(
      calibration.null_directions.begin(), calibration.null_directions.end(),
      calibration.initial_null_directions.begin(), calibration.initial_null_directions.end(),
      [](const auto& a, const auto& b) { return a.description == b.description; });
  if (same) return "<p>The same directions were unidentifiable at the initial values.</p>\n";
  std::string html = "<h3>Not identifiable at the initial values</h3>\n<ul>\n";
  for (const estimator::NullDirection& direction : calibration.initial_null_directions) {
    html += fmt::format("<li>{}</li>\n", escape_html(format_message(direction.description)));
  }
  return html + "</ul>\n";
}

std::string poor_parameters(const Calibration& calibration) {
  std::string items;
  for (const ParameterEstimate& estimate : calibration.parameters) {
    const double half = estimate.half_interval;
    if (estimate.at_bound) {
      items += fmt::format(
          "<li>{} ended at its bound: the best value lies beyond it, or the recordings do not "
          "identify it.</li>\n",
          escape_html(estimate.name));
    } else if (std::isfinite(half) && half >= std::abs(estimate.value)) {
      items +=
          fmt::format("<li>{} is compatible with zero: its 95 % interval includes zero.</li>\n",
                      escape_html(estimate.name));
    } else if (std::isfinite(half) && half > kPoorRelativeDeviation * std::abs(estimate.value)) {
      items += fmt::format("<li>{} is known only to ±{} (95 %).</li>\n", escape_html(estimate.name),
                           format_percent(100.0 * half / std::abs(estimate.value)));
    }
  }
  return items.empty() ? "" : "<h3>Poorly identified</h3>\n<ul>\n" + items + "</ul>\n";
}

/// Formats the tables of quantities besides the parameters.
std::string quantities(const Calibration& calibration) {
  std::string html;
  for (const QuantityTable& each : make_quantity_tables(calibration)) {
    using enum CellAlign;
    const HtmlTable table(each.caption, {kWords, kRight, kRight, kLeft, kLeft}, each.rows,
                          "narrow");
    html += fmt::format("<h3>{}</h3>\n{}", capitalise_first_letter(each.title), table.html());
  }
  return html;
}

std::string correlation(const Calibration& calibration) {
  const std::vector<IdentifiableParameter> seen = find_identifiable(calibration);
  if (seen.size() < 2) return "";
  std::vector<std::string> names;
  std::vector<Eigen::Index> indices;
  for (const IdentifiableParameter& one : seen) {
    names.push_back(calibration.parameters[static_cast<std::size_t>(one.index)].name);
    indices.push_back(one.index);
  }
  std::vector<std::string> row = {"parameter"};
  row.insert(row.end(), names.begin(), names.end());
  std::string csv = format_csv_row(row);
  for (std::size_t i = 0; i < names.size(); ++i) {
    row = {names[i]};
    for (const Eigen::Index j : indices) {
      row.push_back(format_json_number(calibration.correlation(indices[i], j)));
    }
    csv += format_csv_row(row);
  }
  return "<h3>Correlation of the estimates</h3>\n" +
         render_data_figure(
             render_correlation_heat_map(calibration.correlation(indices, indices), names),
             "correlation", csv,
             "Correlation between the errors of two estimates, from −1 (blue) to 1 (orange).");
}

}  // namespace

std::string render_identifiability_section(const Calibration& calibration) {
  const std::string unseen = null_directions(calibration) + poor_parameters(calibration);
  std::string html = "<section><h2>Identifiability</h2>\n";
  html += unseen.empty() ? "<p>Every free parameter is identifiable from the recordings.</p>\n"
                         : unseen;
  html += initial_directions(calibration) + quantities(calibration);
  const auto n = static_cast<Eigen::Index>(calibration.parameters.size());
  if (calibration.correlation.rows() == n && calibration.correlation.cols() == n) {
    html += dependence_table(calibration) + "</section>\n<section>" + correlation(calibration);
  }
  return html + "</section>\n";
}

}  // namespace service
