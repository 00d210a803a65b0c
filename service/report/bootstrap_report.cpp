#include "service/report/bootstrap_report.hpp"

#include <algorithm>
#include <cmath>

#include "service/messages/interval_text.hpp"
#include "service/report/charts/chart_figure.hpp"
#include "service/report/charts/page_parts.hpp"
#include "service/report/charts/result_pictures.hpp"
#include "service/report/sections/recording_sections.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/text/csv_row.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

using estimator::BootstrapDistribution;
using estimator::BootstrapParameter;

/// Interval of one method for one parameter.
struct NamedInterval {
  std::string name;
  double lower, upper;
  double reference;  ///< half-width of the interval from sensor noise for the same data
};

bool uses(const BootstrapResult& result, estimator::BootstrapMethod method) {
  return std::ranges::count(result.settings.methods, method) > 0;
}

NamedInterval around(const std::string& name, double value, double half, double reference) {
  return {name, value - half, value + half, reference};
}

/// Returns the intervals of all used methods; NaN without draws.
std::vector<NamedInterval> intervals_of(const BootstrapResult& result,
                                        const BootstrapParameter& parameter) {
  std::vector<NamedInterval> intervals;
  const auto add = [&](const std::string& name, const BootstrapDistribution& draws,
                       double reference) {
    intervals.push_back({name + ", percentile", draws.lower, draws.upper, reference});
    intervals.push_back({name + ", BCa", draws.bca_lower, draws.bca_upper, reference});
  };
  const double whole = parameter.reported.half_interval, cut = parameter.blocks_half_interval;
  if (uses(result, estimator::BootstrapMethod::kNoise)) add("noise", parameter.noise, whole);
  if (result.blocks > 0) {
    intervals.push_back(around("all blocks", parameter.blocks_value, cut, whole));
  }
  if (uses(result, estimator::BootstrapMethod::kBlocks)) add("blocks", parameter.blocks, cut);
  if (uses(result, estimator::BootstrapMethod::kLeaveOut)) {
    const bool of_blocks = result.left_out == "block";
    intervals.push_back(around(
        "leave-out, jackknife", of_blocks ? parameter.blocks_value : parameter.reported.value,
        estimator::kNormalHalfWidth95 * parameter.jackknife_deviation, of_blocks ? cut : whole));
  }
  return intervals;
}

std::vector<estimator::ParameterEstimate> reported_estimates(const BootstrapResult& result) {
  std::vector<estimator::ParameterEstimate> estimates;
  for (const BootstrapParameter& parameter : result.bootstrap.parameters) {
    estimates.push_back(parameter.reported);
  }
  return estimates;
}

/// Returns the table of intervals. The first row is the heading.
std::vector<std::vector<std::string>> interval_rows(const BootstrapResult& result) {
  std::vector<std::vector<std::string>> rows = {
      {"parameter", "method", "95 % interval", "width", "coverage", "unit"}};
  const std::vector<TableNotation> notations = make_estimate_notations(reported_estimates(result));
  for (std::size_t i = 0; i < notations.size(); ++i) {
    const BootstrapParameter& parameter = result.bootstrap.parameters[i];
    const bool has_coverage = std::isfinite(parameter.coverage);
    rows.push_back({parameter.reported.name, "reported",
                    format_confidence_interval(parameter.reported, notations[i]), "1",
                    has_coverage ? format_percent(100.0 * parameter.coverage, 3) : "-",
                    notations[i].unit()});
    for (const NamedInterval& each : intervals_of(result, parameter)) {
      const double ratio = 0.5 * (each.upper - each.lower) / each.reference;
      const bool known = std::isfinite(ratio);
      rows.push_back({"", each.name,
                      known ? notations[i].interval_text(each.lower, each.upper) : "-",
                      known ? format_significant_digits(ratio, 3) : "-", "", ""});
    }
  }
  return rows;
}

/// Describes the draws of each method, e.g. "1000 draws of noise".
std::string describe_draws(const BootstrapResult& result) {
  return join_items(result.counts, [&](const BootstrapMethodCount& count) {
    const std::string number =
        fmt::format("{} draws of {:?}", count.draws, bootstrap_method_name(count.method));
    switch (count.method) {
      case estimator::BootstrapMethod::kNoise:
        return number;
      case estimator::BootstrapMethod::kBlocks:
        return fmt::format("{} with {} blocks", number, result.blocks);
      case estimator::BootstrapMethod::kLeaveOut:
        break;
    }
    return number + " without one " + result.left_out;
  });
}

std::string intervals_csv(const BootstrapResult& result) {
  std::string csv = format_csv_row({"parameter", "unit", "method", "lower", "upper"});
  for (const BootstrapParameter& parameter : result.bootstrap.parameters) {
    for (const NamedInterval& each : intervals_of(result, parameter)) {
      csv +=
          format_csv_row({parameter.reported.name, parameter.reported.unit, each.name,
                          notation::format_exact(each.lower), notation::format_exact(each.upper)});
    }
  }
  return csv;
}

/// Plots the intervals of each parameter below one another, with the reported one as a band.
std::string interval_figure(const BootstrapResult& result) {
  if (result.bootstrap.parameters.empty()) return "";
  const auto count = static_cast<Eigen::Index>(result.bootstrap.parameters.size());
  std::vector<estimator::RecordingPartEstimate> rows;
  std::vector<std::string> labels;
  std::vector<std::size_t> columns;
  for (const NamedInterval& each : intervals_of(result, result.bootstrap.parameters.front())) {
    labels.push_back(each.name);
    rows.push_back({.recording = each.name,
                    .values = Eigen::VectorXd(count),
                    .standard_deviations = Eigen::VectorXd(count)});
  }
  if (rows.empty()) return "";
  for (std::size_t i = 0; i < result.bootstrap.parameters.size(); ++i) {
    columns.push_back(i);
    const std::vector<NamedInterval> intervals =
        intervals_of(result, result.bootstrap.parameters[i]);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto column = static_cast<Eigen::Index>(i);
      rows[row].values[column] = 0.5 * (intervals[row].lower + intervals[row].upper);
      rows[row].standard_deviations[column] =
          0.5 * (intervals[row].upper - intervals[row].lower) / estimator::kNormalHalfWidth95;
    }
  }
  labels.emplace_back("reported");
  return render_data_figure(render_forest_plot(rows, labels, reported_estimates(result), columns),
                            "intervals", intervals_csv(result),
                            "95 % intervals of each parameter. "
                            "Orange: interval of the bootstrap, with a dot at its middle. "
                            "Blue: reported estimate; band: its reported interval.");
}

}  // namespace

bool are_intervals_confirmed(const BootstrapResult& result) {
  return result.bootstrap.verdict == estimator::IntervalVerdict::kHold;
}

std::string format_bootstrap(const BootstrapResult& result, double wall_time) {
  std::string text = format_sentence(describe_interval_verdict(result.bootstrap)) + "\n\n" +
                     format_table(interval_rows(result), {false, false, true, true, true, false}) +
                     "\n";
  for (const std::string& note : result.notes) text += "note: " + note + "\n";
  return text + fmt::format("{}; seed {}, {} s\n", describe_draws(result), result.settings.seed,
                            format_number(wall_time, 3));
}

std::string render_bootstrap_page(const BootstrapResult& result,
                                  const CalibrationMetadata& context) {
  using enum CellAlign;
  const HtmlTable table(
      "Width: relative to the reported interval; for blocks, relative to that of all blocks. "
      "Coverage: share of draws with "
      "simulated sensor errors whose reported interval contains the true value.",
      {kLeft, kLeft, kRight, kRight, kRight, kLeft}, interval_rows(result));
  std::vector<std::string> notes = result.notes;
  notes.push_back(describe_draws(result));
  return render_html_page(
      "Bootstrap of " + context.rig,
      render_report_heading("Bootstrap of " + context.rig, context, are_intervals_confirmed(result),
                            format_sentence(describe_interval_verdict(result.bootstrap))) +
          "<section><h2>Intervals</h2>\n" + interval_figure(result) + table.html() +
          "</section>\n" + render_list_section("Notes", notes) + render_input_section(context));
}

}  // namespace service
