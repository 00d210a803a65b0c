#include "estimator/assessment/model_test/part_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimator/assessment/quantization.hpp"
#include "estimator/fit/physical/shooting/integration_steps.hpp"
#include "estimator/math/distributions.hpp"

namespace estimator {
namespace {

constexpr double kParts = 8.0;       // their scatter is known to ± 27 %
constexpr double kFullShare = 0.65;  // of 1/kParts of the motion, at which a part is complete
constexpr int kNodesMin = 3;         // per window; more than its own states' worth
constexpr int kSamplesMin = 50;      // per window

/// An interval of a segment that is simulated from its own initial state.
struct Window {
  int segment = 0;
  int node = 0;        ///< first shooting node of the joint estimation
  int first = 0;       ///< index of the first sample
  int end = 0;         ///< one past the last sample
  double share = 0.0;  ///< share of the total encoder travel
};

/// The intervals of one recording that form one part.
using RecordingPart = std::vector<Window>;

/// Returns the travel of the encoders from the start of a segment to each sample, summed over
/// encoders. The travel of each encoder is divided by its total over all segments.
std::vector<double> path_of(const Segment& segment, const Eigen::VectorXd& totals) {
  std::vector<double> path(static_cast<std::size_t>(segment.sample_count()), 0.0);
  for (Eigen::Index sensor = 0; sensor < segment.angles.cols(); ++sensor) {
    double sum = 0.0, last = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t k = 0; k < path.size(); ++k) {
      const double angle = segment.angles(static_cast<Eigen::Index>(k), sensor);
      if (std::isfinite(last) && std::isfinite(angle)) sum += std::abs(angle - last);
      if (std::isfinite(angle)) last = angle;
      if (totals[sensor] > 0.0) path[k] += sum / totals[sensor];
    }
  }
  return path;
}

Eigen::VectorXd total_paths(const std::vector<Segment>& segments) {
  Eigen::VectorXd totals = Eigen::VectorXd::Zero(segments.front().angles.cols());
  for (const Segment& segment : segments) {
    for (Eigen::Index sensor = 0; sensor < totals.size(); ++sensor) {
      const Eigen::VectorXd unit = Eigen::VectorXd::Unit(totals.size(), sensor);
      totals[sensor] += path_of(segment, unit).back();
    }
  }
  return totals;
}

/// Cuts one segment at shooting nodes into windows of equal encoder travel.
void add_windows(const ShootingProblem& joint, const Segment& segment, int index,
                 const std::vector<double>& path, double whole, std::vector<Window>& windows) {
  const auto nodes = static_cast<int>(joint.node_states(index).cols());
  const int samples = segment.sample_count();
  const int most = std::max(1, std::min(nodes / kNodesMin, samples / kSamplesMin));
  const int count =
      std::clamp(static_cast<int>(std::lround(kParts * path.back() / whole)), 1, most);
  const auto sample_at = [&](int node) {
    const double time = joint.node_times(index)[static_cast<std::size_t>(node)];
    return segment.first_sample_at_or_after(time - 0.5 * segment.period);
  };
  const auto path_at = [&](int node) {
    return path[static_cast<std::size_t>(std::min(sample_at(node), samples - 1))];
  };
  int node = 0;
  for (int i = 0; i < count; ++i) {
    const int later = count - 1 - i;  // windows, which need nodes too
    int next = nodes;
    if (later > 0) {
      next = node + kNodesMin;
      while (next < nodes - later * kNodesMin && path_at(next) < (i + 1) * path.back() / count) {
        ++next;
      }
    }
    Window window{.segment = index, .node = node};
    window.first = sample_at(node);
    window.end = later > 0 ? sample_at(next) : samples;
    const auto at = [&](int sample) { return path[static_cast<std::size_t>(sample)]; };
    window.share = (at(window.end - 1) - at(window.first)) / whole;
    windows.push_back(window);
    node = next;
  }
}

/// Divides the segments of a fit into parts with about the same encoder travel: about eight parts
/// in all, at least one per recording. Cuts long segments at shooting nodes of the joint
/// estimation, and merges short segments.
std::vector<RecordingPart> divide_into_parts(const ShootingProblem& joint,
                                             const ShootingInput& input) {
  const Eigen::VectorXd totals = total_paths(input.segments);
  std::vector<std::vector<double>> paths;
  double whole = 0.0;
  for (const Segment& segment : input.segments) {
    paths.push_back(path_of(segment, totals));
    whole += paths.back().back();
  }
  std::vector<RecordingPart> parts;
  std::vector<Window> windows;
  for (std::size_t s = 0; s < input.segments.size(); ++s) {
    add_windows(joint, input.segments[s], static_cast<int>(s), paths[s], whole, windows);
  }
  const auto recording_of = [&](const Window& window) -> const std::string& {
    return input.sources[static_cast<std::size_t>(window.segment)];
  };
  double share = 0.0;
  bool open = false;
  for (const Window& window : windows) {
    if (!open || recording_of(parts.back().back()) != recording_of(window)) {
      parts.emplace_back();
      share = 0.0;
    }
    parts.back().push_back(window);
    share += window.share;
    open = share < kFullShare / kParts;
  }
  return parts;
}

constexpr int kStateIterations = 5;     // from the states of the joint estimation
constexpr double kStateDecrease = 0.1;  // of the whitened cost: a third of a state's deviation
constexpr double kPartnersMin = 1.5;    // least effective number of parts for a scatter

/// A least-squares problem with separate noise groups for each part of the recordings.
class GroupedByPart final : public LeastSquaresProblem {
 public:
  GroupedByPart(ShootingProblem& problem, std::vector<int> part_of_segment, int parts)
      : problem_(problem), parts_(parts) {
    for (int s = 0; s < problem.segment_count(); ++s) {
      piece_of_node_.insert(piece_of_node_.end(),
                            static_cast<std::size_t>(problem.node_states(s).cols()),
                            part_of_segment[static_cast<std::size_t>(s)]);
    }
  }

  int group(int part, int group) const { return part * problem_.noise_group_count() + group; }
  int prior_noise_group() const { return parts_ * problem_.noise_group_count(); }

  ProblemShape shape() const override { return problem_.shape(); }
  int block_count() const override { return problem_.block_count(); }
  int max_block_rows() const override { return problem_.max_block_rows(); }
  int noise_group_count() const override { return prior_noise_group() + 1; }
  int thread_count() const override { return problem_.thread_count(); }
  void linearize(int index, ResidualBlock& out) const override {
    problem_.linearize(index, out);
    out.group = out.node_span == 0
                    ? prior_noise_group()
                    : group(piece_of_node_[static_cast<std::size_t>(out.first_node)], out.group);
  }
  double cost() const override { return problem_.cost(); }
  double evaluate_trial_step(const Eigen::VectorXd& nodes, const Eigen::VectorXd& arrow) override {
    return problem_.evaluate_trial_step(nodes, arrow);
  }
  void accept_trial_step() override { problem_.accept_trial_step(); }
  void save_point() override { problem_.save_point(); }
  void restore_point() override { problem_.restore_point(); }
  Eigen::VectorXd parameter_values() const override { return problem_.parameter_values(); }
  Eigen::VectorXd lower_bounds() const override { return problem_.lower_bounds(); }
  Eigen::VectorXd upper_bounds() const override { return problem_.upper_bounds(); }

 private:
  ShootingProblem& problem_;
  int parts_;
  std::vector<int> piece_of_node_;
};

/// The intervals (windows) of all parts of the recordings, as segments of one problem.
struct WindowedInput {
  std::vector<Segment> segments;
  std::vector<int> part;          ///< index of the part that each window belongs to
  std::vector<int> window_count;  ///< number of windows cut from the segment of each window
  std::vector<Eigen::MatrixXd> states;
  std::vector<double> spacing;
  ShootingGrid grid;
};

WindowedInput cut_windows(const ShootingFit& fit, const std::vector<RecordingPart>& parts,
                          bool refined) {
  WindowedInput input;
  input.grid = fit.input().grid;
  input.grid.local_steps.clear();
  if (refined) input.grid.interval = std::numeric_limits<double>::infinity();
  std::vector<int> window_count(fit.input().segments.size(), 0);
  for (const RecordingPart& part : parts) {
    for (const Window& window : part) ++window_count[static_cast<std::size_t>(window.segment)];
  }
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (const Window& window : parts[p]) {
      const auto s = static_cast<std::size_t>(window.segment);
      const Segment& segment = fit.input().segments[s];
      const Eigen::MatrixXd states = fit.joint_problem().node_states(window.segment);
      input.segments.push_back(segment_rows(segment, window.first, window.end - window.first));
      input.part.push_back(static_cast<int>(p));
      input.window_count.push_back(window_count[s]);
      input.states.push_back(states.rightCols(states.cols() - window.node));
      input.spacing.push_back(fit.joint_problem().node_spacing(window.segment));
      const auto& steps = fit.input().grid.local_steps;
      if (!steps.empty()) {
        input.grid.local_steps.push_back(
            select_local_steps_after(steps[s], segment.time(window.first)));
      }
    }
  }
  return input;
}

Mechanism with_free(Mechanism mechanism, const std::vector<int>& free) {
  for (Parameter& parameter : mechanism.parameters) parameter.free = false;
  for (const int index : free) mechanism.at(index).free = true;
  return mechanism;
}

std::vector<int> off_bounds(const Mechanism& mechanism) {
  std::vector<int> indices = FreeParameters(mechanism).parameter_indices();
  std::erase_if(indices, [&](int index) {
    const Parameter& parameter = mechanism.at(index);
    return parameter.value <= parameter.lower || parameter.value >= parameter.upper;
  });
  return indices;
}

/// Fits the states of all windows with the parameters fixed.
void fit_states(const Mechanism& mechanism, const ShootingNoise& noise,
                const CalibrationMonitor& monitor, WindowedInput& input) {
  ShootingProblem problem(with_free(mechanism, {}), input.segments, input.states, input.spacing,
                          input.grid, noise, monitor.threads);
  LmOptions options;
  options.max_iterations = kStateIterations;
  options.cost_tolerance = kStateDecrease / problem.reading_count();
  solve(problem, options, {}, monitor.stop);
  for (int s = 0; s < problem.segment_count(); ++s) {
    input.states[static_cast<std::size_t>(s)] = problem.node_states(s);
    input.spacing[static_cast<std::size_t>(s)] = problem.node_spacing(s);
  }
}

/// Returns the variance of the whitened residuals of each sensor in a fitted open-loop simulation,
/// inflated by their autocorrelation; 1 for quantized sensors.
Eigen::VectorXd reading_variances(const ShootingProblem& problem,
                                  const std::vector<std::vector<Eigen::VectorXd>>& errors) {
  const ProblemShape shape = problem.shape();
  const double unknowns = shape.node_count * shape.node_size + shape.parameter_count;
  const double redundancy = std::max(1.0 - unknowns / problem.reading_count(), 0.5);
  Eigen::VectorXd variances = Eigen::VectorXd::Ones(problem.noise_group_count());
  for (int i = 0; i < problem.encoder_count(); ++i) {
    const auto& own = errors[static_cast<std::size_t>(i)];
    if (own.empty()) continue;
    variances[i] = problem.squared_error(i) / std::pow(problem.noise().angle[i], 2) /
                   (problem.reading_count(i) * redundancy) * compute_autocorrelation_inflation(own);
  }
  return variances;
}

std::vector<RecordingPartScore> scores_of(ShootingProblem& problem, const WindowedInput& input,
                                          int parts, bool refined, RecordingPartScore& prior) {
  const GroupedByPart grouped(problem, input.part, parts);
  const ParameterInformation information =
      compute_information(grouped, {.effective_parameters = false});
  if (!information.valid) return {};
  Eigen::VectorXd variances = Eigen::VectorXd::Ones(problem.noise_group_count());
  QuantizationErrors counting;
  if (refined) {
    auto errors = compute_reading_errors(problem, input.segments);
    const auto sensors = find_quantized_sensors(problem, input.segments, errors);
    variances = reading_variances(problem, errors);
    if (!sensors.empty()) counting = compute_quantization_errors(problem, sensors);
  }
  const auto take = [&](int group) {
    const auto at = static_cast<std::size_t>(group);
    return RecordingPartScore{information.group_score[at], information.group_schur[at], {}};
  };
  prior = take(grouped.prior_noise_group());
  std::vector<RecordingPartScore> scores;
  for (int p = 0; p < parts; ++p) {
    RecordingPartScore score = take(grouped.group(p, 0));
    score.noise = variances[0] * score.information;
    for (int g = 1; g < problem.noise_group_count(); ++g) {
      const RecordingPartScore part = take(grouped.group(p, g));
      score.score += part.score;
      score.information += part.information;
      score.noise += variances[g] * part.information;
    }
    for (std::size_t i = 0; i < counting.sensors.size(); ++i) {
      score.noise -= take(grouped.group(p, counting.sensors[i].sensor)).information;
      for (std::size_t s = 0; s < input.part.size(); ++s) {
        // Windows of one segment share the phase of the quantization grid. In the worst case their
        // errors are equal, and a quadratic form of n of them is n times as large.
        if (input.part[s] == p)
          score.noise += input.window_count[s] * counting.segment_scatter[i][s];
      }
    }
    scores.push_back(std::move(score));
  }
  return scores;
}

/// Marks offsets by encoder slips as not identifiable in parts that lie entirely before or after
/// the slip. Such a part does not identify the slip's size separately from the encoder's zero.
void leave_out_slips_elsewhere(const WindowedInput& input, int part,
                               const std::vector<int>& parameters, Eigen::VectorXd& deviations) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    bool is_slip = false, before = false, after = false;
    for (std::size_t s = 0; s < input.segments.size(); ++s) {
      const std::vector<EncoderShift>& shifts = input.segments[s].shifts;
      const auto shift = std::ranges::find(shifts, parameters[i], &EncoderShift::parameter);
      is_slip |= shift != shifts.end();
      if (input.part[s] != part) continue;
      before |= shift == shifts.end() || shift->sample > 0;
      after |= shift != shifts.end();
    }
    if (!is_slip || (before && after)) continue;
    deviations[static_cast<Eigen::Index>(i)] = std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace

std::optional<RecordingPartEstimates> compare_recording_parts(const ShootingFit& fit, bool refined,
                                                              const CalibrationMonitor& monitor) {
  const ShootingProblem& fitted = refined ? fit.simulation_problem() : fit.joint_problem();
  RecordingPartEstimates result;
  result.parameters = off_bounds(fitted.mechanism());
  const std::vector<RecordingPart> parts = divide_into_parts(fit.joint_problem(), fit.input());
  if (parts.size() < 2 || result.parameters.empty()) return std::nullopt;
  if (monitor.on_stage) monitor.on_stage({EstimationStage::kPartComparison}, fitted.mechanism());
  WindowedInput input = cut_windows(fit, parts, refined);
  fit_states(fitted.mechanism(), fitted.noise(), monitor, input);
  if (fit.is_cancelled()) return std::nullopt;
  ShootingProblem problem(with_free(fitted.mechanism(), result.parameters), input.segments,
                          input.states, input.spacing, input.grid, fitted.noise(), monitor.threads);
  RecordingPartScore prior;
  const std::vector<RecordingPartScore> scores =
      scores_of(problem, input, static_cast<int>(parts.size()), refined, prior);
  if (scores.empty()) return std::nullopt;
  const bool cut = input.segments.size() > fit.input().segments.size();
  result.comparison = compare_part_scores(scores, prior.information, prior.score, cut);
  const Eigen::VectorXd at = problem.parameter_values();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const auto segment_of = [&](const Window& window) -> const Segment& {
      return fit.input().segments[static_cast<std::size_t>(window.segment)];
    };
    const Window &first = parts[p].front(), &last = parts[p].back();
    RecordingPartEstimate estimate;
    estimate.recording = fit.input().sources[static_cast<std::size_t>(first.segment)];
    estimate.from = segment_of(first).start + segment_of(first).time(first.first);
    estimate.to = segment_of(last).start + segment_of(last).time(last.end - 1);
    estimate.standard_deviations = result.comparison.deviations[p];
    leave_out_slips_elsewhere(input, static_cast<int>(p), result.parameters,
                              estimate.standard_deviations);
    estimate.values = estimate.standard_deviations.array().isNaN().select(
        estimate.standard_deviations, at + result.comparison.estimates[p]);
    result.part_estimates.push_back(std::move(estimate));
  }
  return result;
}

void inflate_uncertainty_for_scatter(const RecordingPartEstimates& parts,
                                     const std::vector<int>& requested,
                                     ParameterUncertainty& uncertainty) {
  const RecordingPartComparison& comparison = parts.comparison;
  const bool disagree = comparison.agreement.p_value < kConsistencyLevel;
  const auto count = static_cast<Eigen::Index>(requested.size());
  uncertainty.disagree = disagree;
  uncertainty.scatter.setZero(count, count);
  std::vector<Eigen::Index> where;
  for (const int index : parts.parameters) {
    where.push_back(std::ranges::find(requested, index) - requested.begin());
  }
  Eigen::VectorXd factor = Eigen::VectorXd::Ones(count);
  for (std::size_t i = 0; i < where.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const double effective_part_count = comparison.effective_part_count[row];
    if (!(effective_part_count > kPartnersMin)) continue;
    double& deviation = uncertainty.standard_deviation[where[i]];
    const double scatter = std::sqrt(comparison.scatter(row, row));
    uncertainty.scatter_deviation[where[i]] = scatter;
    for (std::size_t k = 0; k < where.size(); ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      if (comparison.effective_part_count[column] > kPartnersMin) {
        uncertainty.scatter(where[i], where[k]) = comparison.scatter(row, column);
      }
    }
    if (!disagree || !std::isfinite(deviation)) continue;
    if (scatter > deviation) {
      factor[where[i]] = scatter / deviation;
      deviation = scatter;
    }
    const double student = student_t_half_width_95(std::max(effective_part_count - 1.0, 1.0));
    double& half = uncertainty.half_interval[where[i]];
    half = std::max(half, student * scatter);
  }
  uncertainty.covariance = factor.asDiagonal() * uncertainty.covariance * factor.asDiagonal();
}

std::vector<RecordingPartEstimate> list_estimates_by_part(const RecordingPartEstimates& parts,
                                                          const std::vector<int>& requested) {
  std::vector<RecordingPartEstimate> all = parts.part_estimates;
  for (RecordingPartEstimate& part : all) {
    const Eigen::VectorXd values = part.values, deviations = part.standard_deviations;
    part.values.setConstant(std::ssize(requested), std::numeric_limits<double>::quiet_NaN());
    part.standard_deviations = part.values;
    for (std::size_t i = 0; i < parts.parameters.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      const auto at = std::ranges::find(requested, parts.parameters[i]) - requested.begin();
      part.values[at] = values[row];
      part.standard_deviations[at] = deviations[row];
    }
  }
  return all;
}

}  // namespace estimator
