#include "service/report/parameter_section.hpp"

#include <algorithm>
#include <cmath>

#include "service/import/parameter_prior.hpp"
#include "service/report/page_parts.hpp"
#include "service/report/svg_chart.hpp"
#include "service/report/svg_interval.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::ParameterEstimate;

std::string bounds_text(const ParameterEstimate& estimate) {
  const bool low = std::isfinite(estimate.lower);
  const bool high = std::isfinite(estimate.upper);
  if (low && high) {
    return format_quantity(estimate.lower) + " … " + format_quantity(estimate.upper);
  }
  if (low) return "≥ " + format_quantity(estimate.lower);
  return high ? "≤ " + format_quantity(estimate.upper) : "none";
}

std::string interval_cell(const ParameterEstimate& estimate) {
  const double sd = estimate.standard_deviation;
  if (estimate.at_bound) return "<td class=\"number warn\">at bound</td>";
  if (std::isinf(sd)) return "<td class=\"number warn\">not seen</td>";
  if (!(sd > 0.0)) return number_cell("-");
  return number_cell(format_measured(estimate.value - estimate.half_interval, sd).value + " … " +
                     format_measured(estimate.value + estimate.half_interval, sd).value);
}

std::string prior_text(const ParameterPrior& prior) {
  if (!prior.exists()) return "";
  return format_quantity(prior.mean) + " ± " + format_quantity(prior.standard_deviation, 2);
}

/// @param remark  behind the name
std::string row(const ParameterEstimate& estimate, const ParameterPrior& prior, bool with_priors,
                const std::string& remark = "") {
  const Measured number = format_measured(estimate.value, estimate.standard_deviation);
  return "<tr><td>" + escape_html(estimate.name) + " <span class=\"quiet\">[" +
         escape_html(estimate.unit) + "]" + remark + "</span></td>" + number_cell(number.value) +
         number_cell(number.standard_deviation) + interval_cell(estimate) + "<td>" +
         svg_interval(estimate, prior) + "</td>" + number_cell(format_quantity(estimate.initial)) +
         number_cell(bounds_text(estimate)) + (with_priors ? number_cell(prior_text(prior)) : "") +
         "</tr>\n";
}

}  // namespace

std::string parameter_section(const estimator::Calibration& calibration) {
  const auto prior_of = [&](const ParameterEstimate& estimate) {
    return find_prior(calibration.mechanism, estimate.name);
  };
  const auto has_prior = [&](const ParameterEstimate& estimate) {
    return prior_of(estimate).exists();
  };
  const bool with_priors = std::ranges::any_of(calibration.parameters, has_prior) ||
                           std::ranges::any_of(calibration.tied, has_prior);
  std::string html =
      "<section><h2>Parameters</h2>\n<div class=\"wide\"><table>\n"
      "<tr><th>parameter</th><th class=\"number\">estimate</th><th class=\"number\">± sd</th>"
      "<th class=\"number\">95 % interval</th><th></th>"
      "<th class=\"number\">start</th><th class=\"number\">bounds</th>";
  if (with_priors) html += "<th class=\"number\">prior</th>";
  html += "</tr>\n";
  for (const ParameterEstimate& estimate : calibration.parameters) {
    html += row(estimate, prior_of(estimate), with_priors);
  }
  for (const ParameterEstimate& estimate : calibration.tied) {
    html += row(estimate, prior_of(estimate), with_priors, " tied");
  }
  html +=
      "</table></div>\n<p class=\"quiet\">Each drawing has a scale of its own. Dot: estimate; "
      "bar: 95 % interval; ring: start, or an arrow to it; upright line: bound";
  if (with_priors) html += "; band: 95 % of the prior";
  return html + ".</p></section>\n";
}

}  // namespace service
