#include <algorithm>
#include <cmath>
#include <iterator>

#include "service/report/sections/result_table.hpp"
#include "service/text/number_format.hpp"
#include "tests/studies/redundant/redundant.hpp"
#include "tests/studies/study_kinds.hpp"

namespace service {
namespace {

/// Norms of prior and estimation errors as printed in [Nori, section VII-A], with the study's goal.
struct Printed {
  double before, after, wanted;
};
constexpr Printed kAngle{1.37, 0.99, 0.1};
constexpr Printed kRate{3.44, 0.51, 0.1};
constexpr Printed kDynamics{928.07, 158.39, 16.0};
constexpr double kConvergedWanted = 0.95;  // share of the draws
constexpr double kBoundWanted = 1.05;      // root mean square of errors over the bound
constexpr double kRobotWanted = 5e-3;      // [rad]
constexpr double kRobotTimeWanted = 1e-3;  // [s]
constexpr double kAmbiguousLead = 9.0;     // FoundMotion::lead below which the optimum is ambiguous

struct Spread {
  double mean = 0.0, deviation = 0.0;
};

template <typename Items, typename Value>
Spread value_covariance(const Items& items, const Value& value) {
  Spread spread;
  double squares = 0.0;
  for (const auto& item : items) spread.mean += value(item);
  spread.mean /= static_cast<double>(std::size(items));
  for (const auto& item : items) squares += std::pow(value(item) - spread.mean, 2);
  spread.deviation = std::sqrt(squares / static_cast<double>(std::size(items)));
  return spread;
}

std::string text_of(const Spread& spread) {
  return format_with_deviation(spread.mean, spread.deviation);
}

std::string percent(double share) { return format_number(100.0 * share, 4) + " %"; }

template <typename Items, typename Test>
double share_of(const Items& items, const Test& test) {
  return static_cast<double>(std::ranges::count_if(items, test)) /
         static_cast<double>(std::size(items));
}

template <typename Items, typename Value>
double root_mean_square(const Items& items, const Value& value) {
  double squares = 0.0;
  for (const auto& item : items) squares += value(item) * value(item);
  return std::sqrt(squares / static_cast<double>(std::size(items)));
}

std::string noise_text(const StudyNoise& noise) {
  return "Noise: " + format_number(noise.gyroscope) + " rad/s, " +
         format_number(noise.accelerometer) + " m/s², " + format_number(noise.force) + " N, " +
         format_number(noise.moment) + " N·m, encoders " + format_number(noise.encoder) + " rad.";
}

struct Goals {
  bool good = true;
  std::string text;
  void add(bool holds, const std::string& what) {
    good &= holds;
    text += (text.empty() ? "" : "; ") + what + (holds ? "" : " (not reached)");
  }
};

/// Returns a table of errors at single instants, beside the paper's errors and the sensors' bounds.
StudyTable instant_table(const std::vector<ChainResult>& draws, const StudyNoise& noise,
                         Goals& goals) {
  StudyTable table;
  table.name = "table-instant";
  table.title = "A chain at an instant";
  table.caption =
      std::to_string(draws.size()) +
      " random chains. Mean and standard deviation of the norms of errors; over the "
      "bound: root of the mean over the draws of ‖e‖² divided by the bound of the "
      "sensors alone [Cramér, Rao], for draws in which the correct maximum was found. " +
      noise_text(noise);
  table.header = {"",      "before",        "before, paper", "after", "after, paper",
                  "bound", "over the bound"};
  std::vector<ChainResult> near_truth;
  std::ranges::copy_if(draws, std::back_inserter(near_truth), &ChainResult::near_truth);
  if (near_truth.empty()) near_truth = draws;
  const auto row = [&](const std::string& name, const Printed& printed, const auto& error,
                       const auto& bound) {
    const Spread after =
        value_covariance(draws, [&](const ChainResult& draw) { return error(draw.after); });
    const double share = root_mean_square(
        near_truth, [&](const ChainResult& draw) { return error(draw.after) / bound(draw); });
    table.rows.push_back({name,
                          text_of(value_covariance(
                              draws, [&](const ChainResult& draw) { return error(draw.before); })),
                          format_number(printed.before), text_of(after),
                          format_number(printed.after),
                          text_of(value_covariance(near_truth, bound)), format_number(share, 4)});
    goals.add(after.mean <= printed.wanted, name + " " + format_number(after.mean, 3) +
                                                " (wanted ≤ " + format_number(printed.wanted) +
                                                ")");
    goals.add(share <= kBoundWanted, "its RMSE " + format_number(share, 4) + " of the bound");
  };
  row(
      "‖e_q‖ [rad]", kAngle, [](const MotionErrors& errors) { return errors.angle.norm(); },
      [](const ChainResult& draw) { return draw.angle_bound; });
  row(
      "‖e_q̇‖ [rad/s]", kRate, [](const MotionErrors& errors) { return errors.rate.norm(); },
      [](const ChainResult& draw) { return draw.rate_bound; });
  row(
      "‖e_d‖", kDynamics, [](const MotionErrors& errors) { return errors.dynamics; },
      [](const ChainResult& draw) { return draw.dynamics_bound; });
  return table;
}

StudyTable convergence_table(const std::vector<ChainResult>& draws, Goals& goals) {
  StudyTable table;
  table.name = "table-convergence";
  table.title = "Convergence from the prior";
  table.caption =
      "Correct: every angle, rate and acceleration within six standard deviations of the truth. "
      "Reported as ambiguous: another motion costs at most nine more.";
  table.header = {"", "value"};
  const double near_truth = share_of(draws, &ChainResult::near_truth);
  goals.add(near_truth >= kConvergedWanted,
            percent(near_truth) + " of the draws converged to the truth");
  const auto add = [&](const std::string& name, const std::string& value) {
    table.rows.push_back({name, value});
  };
  add("converged", percent(share_of(draws, &ChainResult::converged)));
  add("correct", percent(near_truth));
  add("reported as ambiguous",
      percent(share_of(draws, [](const ChainResult& draw) { return draw.lead < kAmbiguousLead; })));
  add("wrong and not reported as ambiguous", percent(share_of(draws, [](const ChainResult& draw) {
        return !draw.near_truth && draw.lead >= kAmbiguousLead;
      })));
  add("iterations of a search", text_of(value_covariance(draws, [](const ChainResult& draw) {
        return static_cast<double>(draw.iterations);
      })));
  add("processor time of a search [ms]",
      text_of(value_covariance(draws, [](const ChainResult& draw) { return 1e3 * draw.seconds; })));
  add("processor time of an estimate from the found state [ms]",
      text_of(value_covariance(draws,
                               [](const ChainResult& draw) { return 1e3 * draw.repeat_seconds; })));
  return table;
}

/// Plots mean and standard deviation of each joint's error before and after estimation [Nori, Fig.
/// 2].
Figure error_figure(const std::vector<ChainResult>& draws) {
  Figure figure;
  figure.name = "figure-errors";
  figure.title = "Errors of angles and rates, before and after";
  figure.caption =
      "Mean and standard deviation over the draws, by joint, as in the paper's Fig. 2.";
  const auto panel = [&](const std::string& title, const std::string& unit, const auto& part) {
    Chart chart;
    chart.title = title;
    chart.x_label = "joint";
    chart.y_label = "error [" + unit + "]";
    chart.integer_x = true;
    for (const bool after : {false, true}) {
      ChartSeries series;
      series.label = after ? "after" : "before";
      series.css_class = series_css_class(after ? 0 : 1);
      series.shape = series_marker_shape(after ? 0 : 1);
      series.markers = true;
      const Eigen::Index joints = part(draws.front().before).size();
      for (Eigen::Index j = 0; j < joints; ++j) {
        const Spread spread = value_covariance(draws, [&](const ChainResult& draw) {
          return part(after ? draw.after : draw.before)[j];
        });
        series.x.push_back(static_cast<double>(j + 1));
        series.y.push_back(spread.mean);
        series.y_error.push_back(spread.deviation);
      }
      chart.series.push_back(std::move(series));
    }
    figure.panels.push_back(std::move(chart));
  };
  panel("angles", "rad",
        [](const MotionErrors& errors) -> const Eigen::VectorXd& { return errors.angle; });
  panel("rates", "rad/s",
        [](const MotionErrors& errors) -> const Eigen::VectorXd& { return errors.rate; });
  return figure;
}

StudyTable record_table(const std::vector<ChainRecord>& records, const RedundantChain& chain) {
  StudyTable table;
  table.name = "table-records";
  table.title = "Chains over time";
  table.caption =
      std::to_string(records.size()) + " records of " + format_number(chain.duration) + " s at " +
      format_number(1.0 / chain.period) +
      " Hz: root mean squares of the norms of errors. Bound: for an instant from the sensors "
      "alone, otherwise from the estimate's covariance; over the bound: root of the mean of "
      "squared errors of angles and rates over their variances. Filter: " +
      text_of(value_covariance(records, [](const ChainRecord& r) { return 1e3 * r.seconds; })) +
      " ms of processor time per instant.";
  table.header = {"", "e_q [rad]", "bound", "e_q̇ [rad/s]", "bound", "e_d", "over the bound"};
  const auto row = [&](const std::string& name, const RecordErrors ChainRecord::*part) {
    const auto mean = [&](const double RecordErrors::*field) {
      return format_number(
          root_mean_square(records, [&](const ChainRecord& r) { return r.*part.*field; }), 3);
    };
    const double normalised =
        value_covariance(records, [&](const ChainRecord& r) { return (r.*part).normalised; }).mean;
    table.rows.push_back({name, mean(&RecordErrors::angle), mean(&RecordErrors::angle_bound),
                          mean(&RecordErrors::rate), mean(&RecordErrors::rate_bound),
                          mean(&RecordErrors::dynamics), format_number(std::sqrt(normalised), 4)});
  };
  row("single instants", &ChainRecord::instant);
  row("filter (all readings so far)", &ChainRecord::causal);
  row("smoothed", &ChainRecord::smoothed);
  return table;
}

Figure record_figure(const ChainRecord& record) {
  Figure figure;
  figure.name = "figure-record";
  figure.title = "The first record";
  figure.caption = "Norm of the errors of all angles over time.";
  figure.columns = 1;
  Chart chart;
  chart.x_label = "time [s]";
  chart.y_label = "‖e_q‖ [rad]";
  chart.log_y = true;
  chart.series = {
      {"single instants", series_css_class(1), record.times, record.angle_instant},
      {"filter (all readings so far)", series_css_class(2), record.times, record.angle_causal},
      {"smoothed", series_css_class(0), record.times, record.angle_smoothed}};
  figure.panels.push_back(std::move(chart));
  return figure;
}

/// Returns the index of the first instant of a recording at which errors count.
Eigen::Index settled_at(const RobotRecord& record) {
  return std::ranges::lower_bound(record.times, record.settled) - record.times.begin();
}

double quantile(std::vector<double> values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

StudyTable robot_table(const RobotRecord& record, const StudyNoise& noise, Goals& goals) {
  StudyTable table;
  table.name = "table-robot";
  table.title = "A robot whose joints lack encoders";
  const double mean_time =
      value_covariance(record.seconds, [](double seconds) { return seconds; }).mean;
  const double slow_time = quantile(record.seconds, 0.99);
  table.caption =
      std::to_string(record.axes) + " axes per instant, encoders of " +
      std::to_string(record.joints.size()) + " joints held out, " +
      std::to_string(record.times.size()) + " instants; errors from " +
      format_number(record.settled) +
      " s on. Processor time of the filter per instant: " + format_number(1e3 * mean_time, 3) +
      " ms, 99 % of them at most " + format_number(1e3 * slow_time, 3) + " ms. " +
      noise_text(noise);
  const std::string units = error_unit_text(record.kinds);
  table.header = {"joint",
                  "largest error [" + units + "]",
                  "RMSE [" + units + "]",
                  "reported standard deviation [" + units + "]",
                  "single instants: largest [" + units + "]",
                  "RMSE [" + units + "]"};
  const Eigen::Index from = settled_at(record);
  const Eigen::Index count = record.causal.cols() - from;
  double largest = 0.0;
  for (Eigen::Index j = 0; j < record.causal.rows(); ++j) {
    const auto of = [&](const Eigen::MatrixXd& errors) { return errors.row(j).tail(count); };
    const auto rms = [&](const Eigen::MatrixXd& errors) {
      return std::sqrt(of(errors).cwiseAbs2().mean());
    };
    const double most = of(record.causal).cwiseAbs().maxCoeff();
    largest = std::max(largest, most);
    table.rows.push_back({record.joints[static_cast<std::size_t>(j)], format_number(1e3 * most, 3),
                          format_number(1e3 * rms(record.causal), 3),
                          format_number(1e3 * rms(record.deviation), 3),
                          format_number(1e3 * of(record.instant).cwiseAbs().maxCoeff(), 3),
                          format_number(1e3 * rms(record.instant), 3)});
  }
  goals.add(largest <= kRobotWanted, "robot: joints without encoder within " +
                                         format_number(1e3 * largest, 3) + " " + units +
                                         " (wanted ≤ 5, paper 100)");
  goals.add(mean_time <= kRobotTimeWanted,
            format_number(1e3 * mean_time, 3) + " ms per instant (wanted ≤ 1)");
  return table;
}

Figure robot_figure(const RobotRecord& record) {
  Figure figure;
  figure.name = "figure-robot";
  figure.title = "Joints without encoder";
  figure.caption = "Errors with all previous readings, and twice the reported standard deviation.";
  for (Eigen::Index j = 0; j < record.causal.rows(); ++j) {
    Chart chart;
    chart.title = record.joints[static_cast<std::size_t>(j)];
    chart.x_label = "time [s]";
    chart.y_label = "error [" + error_unit_text({record.kinds[static_cast<std::size_t>(j)]}) + "]";
    const Eigen::Index from = settled_at(record);
    const std::vector<double> times(record.times.begin() + from, record.times.end());
    const auto add = [&](const std::string& label, std::size_t style, const Eigen::RowVectorXd& y) {
      const Eigen::VectorXd part = 1e3 * y.tail(y.size() - from).transpose();
      chart.series.push_back(
          {label, series_css_class(style), times, std::vector<double>(part.begin(), part.end())});
    };
    add("error", 0, record.causal.row(j));
    add("± two deviations", 1, 2.0 * record.deviation.row(j));
    add("± two deviations", 1, -2.0 * record.deviation.row(j));
    figure.panels.push_back(std::move(chart));
  }
  return figure;
}

}  // namespace

std::optional<StudyReport> study_redundant(const Study& study, const std::vector<LoadedSet>&,
                                           const TaskRunner& run) {
  const auto is_stopped = [&] { return !run({}).has_value(); };
  const RedundantStudy& redundant = *study.redundant;
  StudyReport report;
  Goals goals;
  if (redundant.chain) {
    const RedundantChain& chain = *redundant.chain;
    std::vector<ChainResult> draws;
    StudyFile lines{"draws.jsonl", ""};
    for (int i = 0; i < chain.draws; ++i) {
      if (is_stopped()) return std::nullopt;
      draws.push_back(run_draw(chain, redundant.noise, static_cast<std::uint64_t>(i)));
      lines.text += draws.back().line;
    }
    report.files.push_back(std::move(lines));
    report.tables.push_back(instant_table(draws, redundant.noise, goals));
    report.tables.push_back(convergence_table(draws, goals));
    report.figures.push_back(error_figure(draws));
    std::vector<ChainRecord> records;
    for (int i = 0; i < chain.records; ++i) {
      if (is_stopped()) return std::nullopt;
      records.push_back(run_record(chain, redundant.noise, static_cast<std::uint64_t>(i)));
    }
    if (!records.empty()) {
      report.tables.push_back(record_table(records, chain));
      report.figures.push_back(record_figure(records.front()));
    }
  }
  if (redundant.robot && redundant.robot->mechanism) {
    if (is_stopped()) return std::nullopt;
    const RobotRecord record = run_robot(*redundant.robot, redundant.noise);
    report.tables.push_back(robot_table(record, redundant.noise, goals));
    report.figures.push_back(robot_figure(record));
  } else if (redundant.robot) {
    report.notes.push_back("the robot is omitted: " + redundant.robot->path +
                           " does not exist; scripts/compare_redundant.sh creates it");
  }
  report.good = goals.good;
  report.outcome = format_sentence(goals.text);
  return report;
}

}  // namespace service
