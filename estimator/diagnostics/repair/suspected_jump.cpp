#include "estimator/diagnostics/repair/suspected_jump.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "estimator/diagnostics/jumps/reading_series.hpp"
#include "estimator/diagnostics/misfit/misfit_trials.hpp"
#include "estimator/diagnostics/signal/finding_text.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {
namespace {

constexpr double kFurther[] = {2.0, 3.0};  // times the distance between nodes
constexpr int kParabola = 3;               // coefficients
constexpr int kIntervalRowsMin = 8;        // rows between two nodes
constexpr double kOwnLeast = 1e-9;         // relative squared norm of a jump outside the parabolas

/// The residuals and speeds of each sensor between two shooting nodes, in standard deviations of a
/// reading. A missing reading has residual NaN and speed 0.
struct NodeInterval {
  int segment, first;
  Eigen::MatrixXd left, speed;
};

NodeInterval residuals_between_nodes(const ShootingProblem& long_intervals, const Segment& data,
                                     int segment, int first, int count) {
  NodeInterval interval{segment, first, {}, {}};
  const Eigen::MatrixXd model = long_intervals.predicted_angles(segment).middleRows(first, count);
  interval.left.resize(count, model.cols());
  interval.speed.setZero(count, model.cols());
  for (Eigen::Index i = 0; i < model.cols(); ++i) {
    const Encoder& sensor = long_intervals.encoder(static_cast<int>(i));
    const double noise = long_intervals.noise().angle[i];
    for (int k = 0; k < count; ++k) {
      const double read = data.angles(first + k, i);
      interval.left(k, i) = sensor.reading_difference(read - model(k, i)) / noise;
      if (std::isnan(read)) continue;
      const int a = std::max(k - 1, 0), b = std::min(k + 1, count - 1);
      interval.speed(k, i) = (model(b, i) - model(a, i)) / (b - a) / noise;
    }
  }
  return interval;
}

/// Subtracts the best parabola in time from the residuals of one sensor.
/// @return rows × 3, orthonormal basis of the parabolas; zero for missing readings
Eigen::MatrixXd subtract_parabola(Eigen::Ref<Eigen::VectorXd> left) {
  const Eigen::Index rows = left.size();
  Eigen::MatrixXd basis = Eigen::MatrixXd::Zero(rows, kParabola);
  for (Eigen::Index k = 0; k < rows; ++k) {
    if (std::isnan(left[k])) {
      left[k] = 0.0;
      continue;
    }
    const double time = 2.0 * static_cast<double>(k) / static_cast<double>(rows - 1) - 1.0;
    basis.row(k) << 1.0, time, time * time;
  }
  for (int j = 0; j < kParabola; ++j) {
    for (int other = 0; other < j; ++other) {
      basis.col(j) -= basis.col(other).dot(basis.col(j)) * basis.col(other);
    }
    const double norm = basis.col(j).norm();
    if (norm > 0.0) basis.col(j) /= norm;
    left -= basis.col(j).dot(left) * basis.col(j);
  }
  return basis;
}

/// Scores a loss of time at each row between two shooting nodes, and keeps the best score.
void score(NodeInterval interval, std::optional<LostTimeScore>& best) {
  const Eigen::Index rows = interval.left.rows(), sensors = interval.left.cols();
  const auto readings = static_cast<double>(interval.left.array().isFinite().count());
  const double free = readings - static_cast<double>(kParabola * sensors) - 1.0;
  if (!(free > 0.0)) return;
  std::vector<Eigen::MatrixXd> parabolas;
  for (Eigen::Index i = 0; i < sensors; ++i) {
    parabolas.push_back(subtract_parabola(interval.left.col(i)));
  }
  const double all = interval.left.squaredNorm();
  // The jump at a row lasts to the last of these rows, so accumulate from the end.
  double along = 0.0, square = 0.0;
  Eigen::MatrixXd shared = Eigen::MatrixXd::Zero(kParabola, sensors);
  for (Eigen::Index k = rows - 1; k > 0; --k) {
    for (Eigen::Index i = 0; i < sensors; ++i) {
      const double speed = interval.speed(k, i);
      along += speed * interval.left(k, i);
      square += speed * speed;
      shared.col(i) += speed * parabolas[static_cast<std::size_t>(i)].row(k).transpose();
    }
    const double own = square - shared.squaredNorm();
    if (!(along > 0.0) || !(own > kOwnLeast * square)) continue;
    const double gain = along * along / own;
    const double relative = gain / std::max(1.0, (all - gain) / free);
    if (best && !(relative > best->gain)) continue;
    best = {interval.segment, interval.first + static_cast<int>(k), along / own, relative};
  }
}

/// A possible encoder slip that a fit did not include, and its predicted cost reduction.
struct SlipScore {
  int segment = 0, sensor = 0, row = 0;  ///< position of the first shifted reading
  double size = 0.0;                     ///< size with the largest gain [rad or m]
  double gain = 0.0;                     ///< reduction of the whitened cost after re-optimisation
};

/// Number of slips that one linearisation scores together, each as a parameter.
constexpr int kTogether = 48;
/// Spacing of the first slips scored, relative to the interval between shooting nodes. Within an
/// interval the motion cannot follow a slip.
constexpr double kApart = 0.25;
/// Largest number of first slips per sensor, since each requires computing time.
constexpr double kFirstMost = 16.0 * kTogether;
/// Relative squared norm that remains of a slip if states and parameters reproduce it completely.
constexpr double kUndone = 1e-9;

struct SlipPlace {
  int segment, sensor, row;
};

struct SlipScores {
  const ShootingProblem& fit;
  const std::vector<Segment>& segments;
  const std::vector<std::string>& sources;
  const ShootingGrid& grid;
  const ParameterInformation base;  ///< without slips

  /// Scores slips at the given rows and sensors, and keeps the best score in `best`.
  void score(const std::vector<SlipPlace>& places, std::optional<SlipScore>& best) const {
    for (std::size_t first = 0; first < places.size(); first += kTogether) {
      const std::size_t count = std::min<std::size_t>(kTogether, places.size() - first);
      score_chunk({places.data() + first, count}, best);
    }
  }

  void score_chunk(std::span<const SlipPlace> places, std::optional<SlipScore>& best) const {
    Mechanism mechanism = fit.mechanism();
    std::vector<Segment> slipped = segments;
    for (std::size_t i = 0; i < places.size(); ++i) {
      Parameter parameter;
      parameter.name = "slip " + std::to_string(i);
      parameter.free = true;
      mechanism.parameters.push_back(parameter);
      const int index = static_cast<int>(mechanism.parameters.size()) - 1;
      const auto own = static_cast<std::size_t>(places[i].segment);
      for (std::size_t s = own; s < slipped.size() && sources[s] == sources[own]; ++s) {
        slipped[s].shifts.push_back({places[i].sensor, s == own ? places[i].row : 0, index});
      }
    }
    const ShootingProblem with = fit.copy_with_changes(mechanism, slipped, grid, fit.noise());
    const ParameterInformation information =
        compute_information(with, {.effective_parameters = false});
    if (!information.valid) return;
    const Eigen::VectorXd score = compute_total_score(information);
    // Offsets are the last free parameters.
    const Eigen::Index n = base.inverse.rows();
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Eigen::Index at = n + static_cast<Eigen::Index>(i);
      const Eigen::VectorXd mixed = information.schur.col(at).head(n);
      const Eigen::VectorXd followed = base.inverse * mixed;
      const double square = information.schur(at, at) - mixed.dot(followed);
      const double along = score[at] - followed.dot(score.head(n));
      if (!(square > kUndone * information.scale[at])) continue;
      const double gain = along * along / square;
      if (best && !(gain > best->gain)) continue;
      best = {places[i].segment, places[i].sensor, places[i].row, along / square, gain};
    }
  }
};

/// Returns the encoder slip that would reduce the cost of a fit most, to first order, among all
/// rows of all encoders. Uses the score test [Rao48], which accounts for states and parameters that
/// have absorbed part of the slip. Let c be the derivative of the residuals r with respect to the
/// slip's size, and P the projection onto the complement of the states' and parameters' Jacobian.
/// The gain is (cᵀP r)²/(cᵀP c) at the size −cᵀP r/(cᵀP c).
/// @param fit       the fitted problem at its optimum
/// @param segments  the segments fitted
/// @param sources   recording of each segment; a slip lasts to the end of its recording
std::optional<SlipScore> find_likeliest_slip(const ShootingProblem& fit,
                                             const std::vector<Segment>& segments,
                                             const std::vector<std::string>& sources,
                                             const ShootingGrid& grid) {
  const SlipScores scores{fit, segments, sources, grid,
                          compute_information(fit, {.effective_parameters = false})};
  std::optional<SlipScore> best;
  if (!scores.base.valid) return best;
  double duration = 0.0;
  for (const Segment& segment : segments) duration += segment.duration();
  const double apart =
      std::max(std::min(kApart * grid.interval, duration / kTogether), duration / kFirstMost);
  const auto stride_in = [&](const Segment& segment) {
    return std::max(1, static_cast<int>(apart / segment.period));
  };
  std::vector<SlipPlace> places;
  for (int s = 0; s < fit.segment_count(); ++s) {
    const Segment& segment = segments[static_cast<std::size_t>(s)];
    for (int i = 0; i < fit.encoder_count(); ++i) {
      for (int row = stride_in(segment); row < segment.sample_count(); row += stride_in(segment)) {
        places.push_back({s, i, row});
      }
    }
  }
  scores.score(places, best);
  if (!best) return best;
  // Refine the spacing around the best, down to single rows.
  const Segment& segment = segments[static_cast<std::size_t>(best->segment)];
  for (int stride = stride_in(segment); stride > 1;) {
    const int finer = std::max(1, 2 * stride / kTogether);
    places.clear();
    for (int row = best->row - stride + 1; row < best->row + stride; row += finer) {
      if (row > 0 && row < segment.sample_count()) {
        places.push_back({best->segment, best->sensor, row});
      }
    }
    scores.score(places, best);
    stride = finer;
  }
  return best;
}

/// Whitened cost per reading up to which a simulation is considered to fit.
constexpr double kExplained = 1.5;

/// Returns the likeliest encoder slip. Uses the simulation over whole segments, which locates the
/// row best, if it would fit with this slip. Otherwise uses free states, which absorb part of the
/// slip.
std::optional<SlipScore> choose_likeliest_slip(const ShootingFit& fit, bool simulates) {
  const ShootingInput& input = fit.input();
  if (simulates) {
    ShootingGrid whole = input.grid;
    whole.interval = std::numeric_limits<double>::infinity();
    const std::optional<SlipScore> slip =
        find_likeliest_slip(fit.simulation_problem(), input.segments, input.sources, whole);
    const double most = kExplained * fit.simulation_problem().reading_count();
    if (slip && fit.simulation_problem().cost() - slip->gain < most) return slip;
  }
  return find_likeliest_slip(fit.joint_problem(), input.segments, input.sources, input.grid);
}

/// Largest ratio of residuals to noise of an accepted model on short excerpts.
constexpr double kExcerptErrorMost = 3.0;

Mechanism with_free_offsets(Mechanism mechanism) {
  for (const Encoder& sensor : used_encoders(mechanism)) {
    if (find_dependency(mechanism, sensor.offset) != nullptr) continue;
    mechanism.at(sensor.offset).free = true;
  }
  return mechanism;
}

/// Splits a recording at its middle row.
std::vector<Recording> halves_of(const Recording& recording) {
  int rows = 0;
  for (const Segment& segment : recording.segments) rows += segment.sample_count();
  std::vector<Recording> halves(2, {recording.name, {}});
  int left = rows / 2;
  for (const Segment& segment : recording.segments) {
    const int before = std::clamp(left, 0, segment.sample_count());
    const int behind = segment.sample_count() - before;
    left -= before;
    if (before > 0) halves[0].segments.push_back(segment_rows(segment, 0, before));
    if (behind > 0) halves[1].segments.push_back(segment_rows(segment, before, behind));
  }
  return halves;
}

bool is_explained(const Mechanism& mechanism, const Recording& half, const Eigen::VectorXd& noise,
                  const CalibrationMonitor& monitor) {
  const std::vector<Recording> excerpts = select_excerpts(mechanism, {half}, kMisfitExcerptLimits);
  if (excerpts.empty()) return true;
  const ExcerptFit fit(mechanism, excerpts, noise, monitor,
                       {.cost_per_reading = kExcerptErrorMost * kExcerptErrorMost});
  if (!std::isfinite(fit.cost())) return false;
  return (fit.rmse().array() <= kExcerptErrorMost * noise.array()).all();
}

}  // namespace

std::optional<LostTimeScore> find_likeliest_lost_time(const ShootingProblem& fit,
                                                      const std::vector<Segment>& segments,
                                                      const ShootingGrid& grid) {
  std::optional<LostTimeScore> best;
  for (const double further : kFurther) {
    ShootingGrid apart = grid;
    apart.interval *= further;
    const ShootingProblem long_intervals =
        fit.copy_with_changes(fit.mechanism(), segments, apart, fit.noise());
    for (int s = 0; s < long_intervals.segment_count(); ++s) {
      const Segment& data = segments[static_cast<std::size_t>(s)];
      const std::vector<double>& nodes = long_intervals.node_times(s);
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        const int first = data.first_sample_at_or_after(nodes[n] - kSampleTolerance * data.period);
        const int end =
            n + 1 < nodes.size()
                ? data.first_sample_at_or_after(nodes[n + 1] - kSampleTolerance * data.period)
                : data.sample_count();
        if (end - first < kIntervalRowsMin) continue;
        score(residuals_between_nodes(long_intervals, data, s, first, end - first), best);
      }
    }
  }
  return best;
}

SuspectedJump find_likeliest_jump(const Mechanism& estimate,
                                  const std::vector<Recording>& recordings,
                                  const CalibrationOptions& options,
                                  const CalibrationMonitor& monitor) {
  SuspectedJump out;
  ShootingFit fit(prepare_shooting_input(estimate, recordings, options), options,
                  {.threads = monitor.threads, .stop = monitor.stop});
  fit.shorten_node_intervals(estimate);
  fit.estimate_jointly(estimate);
  const bool simulates = fit.fit_simulation();
  if (fit.is_cancelled()) return out;
  const ShootingInput& input = fit.input();
  const double bound = normal_quantile(kFalseAlarm / fit.joint_problem().reading_count());
  const auto place_of_score = [&](const auto& score) {
    if (!score || !(score->gain > bound * bound)) return SegmentIndex{};
    const auto s = static_cast<std::size_t>(score->segment);
    const Segment& segment = input.segments[s];
    return find_segment(recordings, input.sources[s], segment.start, segment.sample_count());
  };
  const std::optional<LostTimeScore> lost =
      find_likeliest_lost_time(fit.joint_problem(), input.segments, input.grid);
  if (const SegmentIndex place = place_of_score(lost); place.recording >= 0) {
    out.lost_times.push_back({place.recording, place.segment, lost->row});
  }
  const std::optional<SlipScore> slip = choose_likeliest_slip(fit, simulates);
  const SegmentIndex place = place_of_score(slip);
  if (place.recording < 0) return out;
  const bool is_same = !out.lost_times.empty() && out.lost_times[0].recording == place.recording &&
                       out.lost_times[0].segment == place.segment &&
                       out.lost_times[0].row == slip->row;
  if (!is_same) out.lost_times.push_back({place.recording, place.segment, slip->row});
  const auto s = static_cast<std::size_t>(slip->segment);
  const std::vector<Encoder> sensors = used_encoders(estimate);
  const auto sensor = static_cast<std::size_t>(slip->sensor);
  out.slip.findings = {
      make_slip_finding(sensors[sensor], input.sources[s],
                        input.segments[s].start + input.segments[s].time(slip->row), slip->size,
                        std::abs(slip->size) / std::sqrt(slip->gain),
                        find_quantization_steps(sensors, recordings)[sensor])};
  out.slip.freed = {{place.recording, place.segment, slip->sensor, slip->row, slip->size, 0}};
  return out;
}

bool is_slip_confirmed(const Calibration& without, const Calibration& with,
                       const std::string& offset) {
  if (without.verdict.kind == VerdictKind::kAccepted ||
      with.verdict.kind != VerdictKind::kAccepted) {
    return false;
  }
  const auto estimate = std::ranges::find(with.parameters, offset, &ParameterEstimate::name);
  return estimate != with.parameters.end() &&
         is_significant(estimate->value, estimate->standard_deviation);
}

bool is_single_jump_plausible(const Mechanism& estimate, const std::vector<Recording>& recordings,
                              const CalibrationMonitor& monitor) {
  const Mechanism mechanism = with_free_offsets(estimate);
  const Eigen::VectorXd noise = estimate_reading_noise(mechanism, recordings);
  return std::ranges::all_of(recordings, [&](const Recording& recording) {
    return std::ranges::any_of(halves_of(recording), [&](const Recording& half) {
      return is_explained(mechanism, half, noise, monitor);
    });
  });
}

}  // namespace estimator
