#include "service/report/sections/calibration_sections.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "estimator/assessment/part_consistency.hpp"
#include "proto/text/input_error.hpp"
#include "service/report/charts/chart_figure.hpp"
#include "service/report/charts/page_parts.hpp"
#include "service/report/charts/result_pictures.hpp"
#include "service/report/charts/svg_chart.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/rig/drawing/rig_picture.hpp"
#include "service/rig/rig_file.hpp"
#include "service/text/csv_row.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::Calibration;
using estimator::ParameterEstimate;

constexpr double kDrawingWidth = 200.0;  // [px]
constexpr double kMiddle = 10.0;         // [px], of a height of 20
constexpr double kArrowMargin = 10.0;    // [px], for an arrow at either end
constexpr int kDecadesMin = 3;           // on each side
constexpr int kDecadesMax = 7;

double to_x(double axis_position) {
  return 0.5 * kDrawingWidth + axis_position * (0.5 * kDrawingWidth - kArrowMargin);
}

/// Checks whether the 95 % confidence interval of a parameter excludes zero. If it includes zero, a
/// deviation in percent of the estimate is meaningless.
bool interval_excludes_zero(const ParameterEstimate& estimate) {
  return !estimate.at_bound && std::isfinite(estimate.standard_deviation) &&
         estimate.standard_deviation > 0.0 && estimate.half_interval < std::abs(estimate.value);
}

/// Returns the number of decades on each side of the common axis of the confidence intervals in a
/// table. The axis shows the deviation from the estimate in percent, logarithmically on both sides,
/// so that accuracies of 0.01 % and 30 % can be compared. It ends at 100 %, and its first tick is
/// one decade below the narrowest interval.
int decades_of(const std::vector<ParameterEstimate>& estimates) {
  double sharpest = 1.0;
  for (const ParameterEstimate& estimate : estimates) {
    if (!interval_excludes_zero(estimate)) continue;
    sharpest = std::min(sharpest, estimate.half_interval / std::abs(estimate.value));
  }
  const int decades = 1 + static_cast<int>(std::ceil(-std::log10(std::max(sharpest, 1e-12))));
  return std::clamp(decades, kDecadesMin, kDecadesMax);
}

/// Map from values of a parameter to pixels on the common axis of the intervals. Values beyond the
/// ends of the axis are clamped.
class IntervalAxis {
 public:
  IntervalAxis(const ParameterEstimate& estimate, int decades)
      : value_(estimate.value), decades_(decades) {}

  double share(double value) const { return (value - value_) / std::abs(value_); }
  bool holds(double value) const { return std::abs(share(value)) <= 1.0; }
  double at(double value) const {
    const double deviation = share(value);
    const double position = std::clamp(1.0 + std::log10(std::abs(deviation)) / decades_, 0.0, 1.0);
    return to_x(deviation < 0.0 ? -position : position);
  }

 private:
  double value_;
  int decades_;
};

std::string start_mark(const IntervalAxis& axis, double start) {
  if (!std::isfinite(start) || std::isnan(axis.share(start))) return "";
  if (axis.holds(start)) return svg_circle(axis.at(start), kMiddle, 4.0, "ring");
  const bool left = axis.share(start) < 0.0;
  const double tip = left ? 1.0 : kDrawingWidth - 1.0;
  const double base = left ? 8.0 : kDrawingWidth - 8.0;
  return fmt::format("<path d=\"M{:.1f} 10L{:.1f} 6L{:.1f} 14Z\" class=\"ring\"/>", tip, base,
                     base);
}

std::string bound_mark(const IntervalAxis& axis, double bound) {
  if (!std::isfinite(bound) || !axis.holds(bound)) return "";
  return svg_line(axis.at(bound), 2.0, axis.at(bound), 18.0, "bound");
}

std::string prior_band(const IntervalAxis& axis, const ParameterPrior& prior) {
  const double half = estimator::kNormalHalfWidth95 * prior.standard_deviation;
  const double left = axis.at(prior.mean - half), right = axis.at(prior.mean + half);
  if (!prior.is_given() || !(right >= left)) return "";
  return svg_rect(left, 3.0, right - left, 14.0, "prior");
}

/// Returns grid lines at the estimate and at deviations of 1 %, 10 % and so on.
std::string grid(int decades) {
  std::string svg;
  for (int k = -decades; k <= decades; ++k) {
    const double x = to_x(static_cast<double>(k) / decades);
    svg += svg_line(x, 0.0, x, 20.0, "axis");
  }
  return svg;
}

const char* kOpen = "<svg viewBox=\"0 0 200 20\" class=\"interval\" aria-hidden=\"true\">";

/// Returns the SVG picture of one parameter. It shows the 95 % confidence interval as a bar, the
/// estimate as a dot, the 95 % interval of the prior as a band, and bounds on the axis as ticks.
/// The initial value is a ring, or an arrow if it is beyond 100 %. A dashed line marks a parameter
/// that is undetermined or compatible with zero. A parameter at a bound has no bar.
std::string svg_interval(const ParameterEstimate& estimate, const ParameterPrior& prior,
                         int decades) {
  if (!std::isfinite(estimate.value)) return "";
  const IntervalAxis axis(estimate, decades);
  std::string svg = kOpen + grid(decades);
  const bool relative = interval_excludes_zero(estimate);
  if (relative) svg += prior_band(axis, prior);
  const bool unseen = !relative && !estimate.at_bound && estimate.standard_deviation > 0.0;
  svg += svg_line(kArrowMargin, kMiddle, kDrawingWidth - kArrowMargin, kMiddle,
                  unseen ? "line simulated dashed" : "axis");
  if (estimate.value != 0.0)
    svg += bound_mark(axis, estimate.lower) + bound_mark(axis, estimate.upper);
  if (relative) {
    const double half = estimate.half_interval;
    svg += svg_line(axis.at(estimate.value - half), kMiddle, axis.at(estimate.value + half),
                    kMiddle, "line simulated thick");
  }
  if (estimate.value != 0.0) svg += start_mark(axis, estimate.initial);
  svg += svg_circle(to_x(0.0), kMiddle, 4.0, "dot simulated");
  return svg + "</svg>";
}

std::string svg_interval_axis(int decades) {
  std::string svg = kOpen;
  const int stride = decades > 4 ? 2 : 1;  // as many as fit
  for (int k = decades; k > 0; k -= stride) {
    const std::string text = format_number(100.0 * std::pow(10.0, k - decades), 1);
    for (const double side : {-1.0, 1.0}) {
      svg += svg_text(to_x(side * k / decades), 14.0, "middle", "cell", text);
    }
  }
  return svg + "</svg>";
}

std::string bounds_text(const ParameterEstimate& estimate, const TableNotation& notation) {
  const bool low = std::isfinite(estimate.lower);
  const bool high = std::isfinite(estimate.upper);
  if (low && high)
    return fmt::format("{} … {}", notation.number_text(estimate.lower),
                       notation.number_text(estimate.upper));
  if (low) return "≥ " + notation.number_text(estimate.lower);
  return high ? "≤ " + notation.number_text(estimate.upper) : "none";
}

HtmlCell interval_cell(const ParameterEstimate& estimate, const TableNotation& notation) {
  HtmlCell cell = format_confidence_interval(estimate, notation);
  if (estimate.at_bound || std::isinf(estimate.half_interval)) cell.set_css_class("warn");
  return cell;
}

std::string with_deviation(const TableNotation& notation) {
  return notation.value() + " ± " + notation.deviation_text();
}

std::string prior_text(const ParameterPrior& prior, const TableNotation& notation) {
  return prior.is_given() ? with_deviation(notation.with(prior.mean, prior.standard_deviation))
                          : "";
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
std::vector<HtmlCell> cells_of(const estimator::Mechanism& mechanism,
                               const ParameterEstimate& estimate, const TableNotation& notation,
                               int decades, const std::string& remark) {
  const ParameterPrior prior = find_parameter_prior(mechanism, estimate.name);
  return {HtmlCell::from_html(render_parameter_name(mechanism, estimate.name) +
                              " <span class=\"quiet\">[" + escape_html(notation.unit()) + "]" +
                              remark + "</span>"),
          notation.value(),
          notation.deviation_text(),
          interval_cell(estimate, notation),
          share_text(estimate),
          HtmlCell::from_html(svg_interval(estimate, prior, decades)),
          notation.number_text(estimate.initial),
          bounds_text(estimate, notation),
          prior_text(prior, notation),
          data_text(estimate, notation)};
}

std::vector<HtmlTable::TableColumn> make_columns(int decades, bool with_priors) {
  using enum CellAlign;
  std::vector<HtmlTable::TableColumn> columns = {
      {"parameter"},
      {"estimate", kRight},
      {"± sd", kRight},
      {"95 % interval"},
      {"± relative", kRight},
      {HtmlCell::from_html("deviation [%]<br>" + svg_interval_axis(decades))},
      {"initial", kRight},
      {"bounds", kRight}};
  if (with_priors) {
    columns.push_back({"prior", kRight});
    columns.push_back({"data without prior", kRight});
  }
  return columns;
}

std::string caption_of(bool with_priors) {
  return std::string(
             "All plots share one scale: "
             "deviation in percent of the estimate, logarithmic on both sides. Dot: estimate; bar: "
             "95 % interval; ring: initial value, or an arrow toward it; vertical line: bound") +
         (with_priors ? "; band: 95 % of the prior" : "") +
         "; dashed: undetermined, or compatible with zero.";
}

constexpr int kLongestName = 15;  // [characters]; leaves room for times beside the plot

/// Returns the name of each part of the recordings with its time range, e.g. "run.csv 5 to 10 s".
std::vector<std::string> labels_of(const Calibration& calibration,
                                   const std::vector<std::string>& names) {
  std::vector<std::string> labels;
  for (std::size_t p = 0; p < names.size(); ++p) {
    const estimator::RecordingPartEstimate& part = calibration.parts[p];
    labels.push_back(names[p] + " " + format_number(part.from, 3) + " to " +
                     format_number(part.to, 3) + " s");
  }
  return labels;
}

std::string agreement_text(const Calibration& calibration) {
  const estimator::ConsistencyTest& agreement = calibration.agreement;
  if (std::isnan(agreement.statistic)) return "<p>There are no parts to compare.</p>\n";
  const bool disagree = agreement.p_value < estimator::kConsistencyLevel;
  return fmt::format("<p{}>Parts {}: Cochran's Q is {} on {} degrees of freedom (p = {}). {}</p>\n",
                     disagree ? " class=\"warn\"" : "", disagree ? "disagree" : "agree",
                     format_number(agreement.statistic, 4),
                     format_number(agreement.degrees_of_freedom, 4),
                     format_number(agreement.p_value, 2),
                     disagree ? "Standard deviations are computed from noise and from the scatter "
                                "between parts. The larger of the two is reported."
                              : "Standard deviations are computed from noise.");
}

std::string parts_csv(const Calibration& calibration, const std::vector<std::string>& labels) {
  std::string csv = format_csv_row({"part", "parameter", "unit", "value", "standard deviation"});
  for (std::size_t p = 0; p < labels.size(); ++p) {
    const estimator::RecordingPartEstimate& part = calibration.parts[p];
    for (Eigen::Index i = 0; i < part.values.size(); ++i) {
      const auto& estimate = calibration.parameters[static_cast<std::size_t>(i)];
      if (!std::isfinite(part.standard_deviations[i])) continue;
      csv += format_csv_row({labels[p], estimate.name, estimate.unit,
                             format_json_number(part.values[i]),
                             format_json_number(part.standard_deviations[i])});
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
                   {"from the scatter between parts", kRight},
                   {"unit"}},
                  "narrow");
  const std::vector<TableNotation> notations = make_estimate_notations(calibration.parameters);
  for (std::size_t i = 0; i < notations.size(); ++i) {
    const estimator::ParameterEstimate& estimate = calibration.parameters[i];
    if (estimate.at_bound || !std::isfinite(estimate.standard_deviation)) continue;
    table.add({HtmlCell::from_html(render_parameter_name(calibration.mechanism, estimate.name)),
               notations[i].deviation_text(), notations[i].deviation_text(estimate.noise_deviation),
               notations[i].deviation_text(estimate.scatter_deviation), notations[i].unit()});
  }
  return table.html();
}

/// Returns the estimates of the free parameters, followed by those of the dependent ones.
std::vector<ParameterEstimate> all_estimates(const Calibration& calibration) {
  std::vector<ParameterEstimate> all = calibration.parameters;
  all.insert(all.end(), calibration.dependent.begin(), calibration.dependent.end());
  return all;
}

/// Returns the drawing of a rig as an HTML image; empty if the text is no rig file. The drawing is
/// a separate document, because its styles would apply to the page.
std::string render_drawing(const CalibrationRequest& request) {
  try {
    const Rig rig = parse_rig(request.rig_name, request.rig_text);
    return "<img alt=\"Drawing of the rig at rest\" src=\"data:image/svg+xml;base64," +
           encode_base64(RigPicture(rig, {}).svg(PictureSize::kReport)) + "\">\n";
  } catch (const proto::InputError&) {
    return "";
  }
}

}  // namespace

std::string render_rig_section(const Calibration& calibration, const CalibrationMetadata& context) {
  constexpr std::size_t kBesideMax = 16;  // more names do not fit beside the drawing
  std::vector<std::string> names;
  for (const ParameterEstimate& each : all_estimates(calibration)) names.push_back(each.name);
  const std::string drawing = render_drawing(context.request);
  const std::string legend = render_name_legend(calibration.mechanism, names);
  if (drawing.empty() && legend.empty()) return "";
  const bool beside = !drawing.empty() && names.size() <= kBesideMax;
  return "<section><h2>Rig and parameter names</h2>\n<div class=\"rig" +
         std::string(beside ? " beside" : "") + "\">\n" + drawing + legend + "</div>\n</section>\n";
}

std::string render_parameter_section(const estimator::Calibration& calibration) {
  const std::vector<ParameterEstimate> all = all_estimates(calibration);
  const bool with_priors = std::ranges::any_of(all, [&](const ParameterEstimate& estimate) {
    return find_parameter_prior(calibration.mechanism, estimate.name).is_given() ||
           !std::isnan(estimate.data_deviation);
  });
  const int decades = decades_of(all);
  const std::vector<TableNotation> notations = make_estimate_notations(all);
  HtmlTable table(caption_of(with_priors), make_columns(decades, with_priors));
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::vector<HtmlCell> cells = cells_of(calibration.mechanism, all[k], notations[k], decades,
                                           k < calibration.parameters.size() ? "" : " dependent");
    if (!with_priors) cells.resize(cells.size() - 2, "");
    table.add(cells);
  }
  std::string explanations;
  for (const std::string& each :
       {explain_wide_intervals(calibration), explain_exact_values(calibration)}) {
    explanations += each.empty() ? "" : "<p>" + escape_html(each) + "</p>\n";
  }
  return "<section><h2>Parameters</h2>\n" + table.html() + explanations + "</section>\n";
}

std::string render_part_comparison(const Calibration& calibration) {
  if (calibration.parts.empty()) return "";
  std::vector<std::size_t> seen;
  for (std::size_t i = 0; i < calibration.parameters.size(); ++i) {
    const estimator::ParameterEstimate& estimate = calibration.parameters[i];
    if (!estimate.at_bound && std::isfinite(estimate.standard_deviation)) seen.push_back(i);
  }
  std::string html = "<section><h2>Parts</h2>\n" + agreement_text(calibration);
  std::vector<std::string> names;
  for (const estimator::RecordingPartEstimate& part : calibration.parts) {
    names.push_back(part.recording.substr(part.recording.rfind('/') + 1));
  }
  html += render_data_figure(
      render_forest_plot(calibration.parts,
                         labels_of(calibration, shorten_names(names, kLongestName)),
                         calibration.parameters, seen),
      "parts", parts_csv(calibration, labels_of(calibration, names)),
      "Estimates of each parameter from each part of the recordings. Orange: estimate from one "
      "part, with its own initial state and the 95 % interval from noise. Blue: estimate from all "
      "parts; band: its 95 % interval. Empty: not identifiable from the part.");
  return html + deviation_table(calibration) + "</section>\n";
}

}  // namespace service
