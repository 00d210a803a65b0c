#include "service/report/sections/parameter_section.hpp"

#include <algorithm>
#include <cmath>

#include "service/report/charts/html_table.hpp"
#include "service/report/charts/svg_chart.hpp"
#include "service/report/charts/svg_interval.hpp"
#include "service/report/sections/quantity_table.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/rig/parameters/parameter_prior.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::ParameterEstimate;

std::string bounds_text(const ParameterEstimate& estimate, const TableNotation& notation) {
  const bool low = std::isfinite(estimate.lower);
  const bool high = std::isfinite(estimate.upper);
  if (low && high) return notation.number(estimate.lower) + " … " + notation.number(estimate.upper);
  if (low) return "≥ " + notation.number(estimate.lower);
  return high ? "≤ " + notation.number(estimate.upper) : "none";
}

HtmlCell interval_cell(const ParameterEstimate& estimate, const TableNotation& notation) {
  HtmlCell cell = interval_text(estimate, notation);
  if (estimate.at_bound || std::isinf(estimate.half_interval)) cell.with_class("warn");
  return cell;
}

std::string with_deviation(const TableNotation& notation) {
  return notation.value() + " ± " + notation.deviation();
}

std::string prior_text(const ParameterPrior& prior, const TableNotation& notation) {
  return prior.exists() ? with_deviation(notation.with(prior.mean, prior.standard_deviation)) : "";
}

/// Formats the estimate of a parameter from the data without priors.
std::string data_text(const ParameterEstimate& estimate, const TableNotation& notation) {
  if (std::isnan(estimate.data_deviation)) return "";
  if (std::isinf(estimate.data_deviation)) return "not identifiable";
  return with_deviation(notation.with(estimate.data_value, estimate.data_deviation));
}

/// Formats half the width of a parameter's 95 % confidence interval in percent of the estimate. If
/// the interval includes zero, the text says so.
std::string share_text(const ParameterEstimate& estimate) {
  if (estimate.at_bound || !(estimate.standard_deviation > 0.0)) return "";
  if (!std::isfinite(estimate.half_interval)) return "";
  if (!interval_excludes_zero(estimate)) return "includes 0";
  return format_percent(100.0 * estimate.half_interval / std::abs(estimate.value));
}

/// Returns the table cells of a parameter. @param remark  text after the parameter's name
std::vector<HtmlCell> cells_of(const ParameterEstimate& estimate, const TableNotation& notation,
                               const ParameterPrior& prior, const RelativeScale& scale,
                               const std::string& remark = "") {
  return {HtmlCell::of_html(escape_html(estimate.name) + " <span class=\"quiet\">[" +
                            escape_html(notation.unit()) + "]" + remark + "</span>"),
          notation.value(),
          notation.deviation(),
          interval_cell(estimate, notation),
          share_text(estimate),
          HtmlCell::of_html(svg_interval(estimate, prior, scale)),
          notation.number(estimate.initial),
          bounds_text(estimate, notation),
          prior_text(prior, notation),
          data_text(estimate, notation)};
}

std::vector<HtmlTable::Column> columns_of(const RelativeScale& scale, bool with_priors) {
  using enum CellAlign;
  std::vector<HtmlTable::Column> columns = {
      {"parameter"},          {"estimate", kRight},
      {"± sd", kRight},       {"95 % interval"},
      {"± relative", kRight}, {HtmlCell::of_html("deviation [%]<br>" + svg_interval_axis(scale))},
      {"start", kRight},      {"bounds", kRight}};
  if (with_priors) {
    columns.push_back({"prior", kRight});
    columns.push_back({"data without prior", kRight});
  }
  return columns;
}

std::string caption_of(bool with_priors) {
  return std::string(
             "All plots share one scale: deviation in percent of the estimate, logarithmic on both "
             "sides. Dot: estimate; bar: 95 % interval; ring: initial value, or an arrow toward "
             "it; vertical line: bound") +
         (with_priors ? "; band: 95 % of the prior" : "") +
         "; dashed: undetermined, or compatible with zero.";
}

}  // namespace

std::string parameter_section(const estimator::Calibration& calibration) {
  const auto prior_of = [&](const ParameterEstimate& estimate) {
    return find_prior(calibration.mechanism, estimate.name);
  };
  std::vector<ParameterEstimate> all = calibration.parameters;
  all.insert(all.end(), calibration.tied.begin(), calibration.tied.end());
  const bool with_priors = std::ranges::any_of(all, [&](const ParameterEstimate& estimate) {
    return prior_of(estimate).exists() || !std::isnan(estimate.data_deviation);
  });
  const RelativeScale scale(all);
  const std::vector<TableNotation> notations = notations_of(all);
  HtmlTable table(caption_of(with_priors), columns_of(scale, with_priors));
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::vector<HtmlCell> cells = cells_of(all[k], notations[k], prior_of(all[k]), scale,
                                           k < calibration.parameters.size() ? "" : " dependent");
    if (!with_priors) cells.resize(cells.size() - 2, "");
    table.add(cells);
  }
  const std::string why = describe_intervals(calibration);
  return "<section><h2>Parameters</h2>\n" + table.html() +
         (why.empty() ? "" : "<p>" + escape_html(why) + "</p>\n") + "</section>\n";
}

}  // namespace service
