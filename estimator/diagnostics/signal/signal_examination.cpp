#include "estimator/diagnostics/signal/signal_examination.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "estimator/diagnostics/jumps/jump_cause.hpp"
#include "estimator/diagnostics/jumps/outliers_and_steps.hpp"
#include "estimator/diagnostics/signal/channels.hpp"
#include "estimator/diagnostics/signal/finding_text.hpp"
#include "estimator/fit/input_checks.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/model/parameter_dependencies.hpp"

namespace estimator {
namespace {

/// A segment of a recording with its modelled readings and residuals.
struct SegmentResiduals {
  int index;  ///< index within its recording
  const Segment* segment;
  const Eigen::MatrixXd* model;  ///< modelled readings, samples × sensors; empty without a model
  Eigen::MatrixXd left;          ///< residuals of the readings, or the readings without a model
};

/// Smallest significant step in residuals, relative to their root mean square over the recording.
/// An unmodelled slip leaves half of its size on either side; smaller steps belong to other misfit.
constexpr double kResidualStep = 0.5;

/// Returns the segments that have a model, of the recording with index `wanted`.
std::vector<SegmentResiduals> modelled_segments(const Calibration& calibration,
                                                const std::vector<Encoder>& sensors,
                                                const std::vector<Recording>& recordings,
                                                int wanted) {
  std::vector<SegmentResiduals> modelled;
  for (const SegmentTrajectory& trajectory : calibration.trajectories) {
    const SegmentIndex place = find_segment(recordings, trajectory.recording, trajectory.start,
                                            trajectory.measured.rows());
    if (place.recording != wanted) continue;
    const Segment& segment = recordings[static_cast<std::size_t>(wanted)]
                                 .segments[static_cast<std::size_t>(place.segment)];
    const Eigen::MatrixXd& model =
        calibration.refined ? trajectory.simulated : trajectory.estimated;
    Eigen::MatrixXd left = segment.angles - model;
    for (Eigen::Index i = 0; i < left.cols(); ++i) {
      for (double& error : left.col(i)) {
        error = sensors[static_cast<std::size_t>(i)].reading_difference(error);
      }
    }
    modelled.push_back({place.segment, &segment, &model, std::move(left)});
  }
  return modelled;
}

/// Returns the root-mean-square residual of each sensor.
std::vector<double> root_mean_squares(const std::vector<SegmentResiduals>& modelled,
                                      std::size_t sensors) {
  std::vector<double> squares(sensors, 0.0), counts(sensors, 0.0);
  for (const SegmentResiduals& each : modelled) {
    for (Eigen::Index i = 0; i < each.left.cols(); ++i) {
      for (const double error : each.left.col(i)) {
        if (std::isnan(error)) continue;
        squares[static_cast<std::size_t>(i)] += error * error;
        counts[static_cast<std::size_t>(i)] += 1.0;
      }
    }
  }
  for (std::size_t i = 0; i < sensors; ++i) {
    squares[i] = std::sqrt(squares[i] / std::max(counts[i], 1.0));
  }
  return squares;
}

/// Returns by how much a modelled reading, and thus its residual, jumps at a row where the state
/// estimate restarts.
double model_jump(const Eigen::MatrixXd& model, int row, int sensor) {
  if (row < 2 || row + 1 >= model.rows()) return 0.0;
  const auto change = [&](int k) { return model(k, sensor) - model(k - 1, sensor); };
  return change(row) - 0.5 * (change(row - 1) + change(row + 1));
}

constexpr std::size_t kResidualJumps = 3;  // most jumps of a segment with an accepted model
constexpr int kSameRows = 2;               // largest distance between simultaneous jumps

/// Longest horizon of predicted motions whose errors a step must exceed [s]. Noise of the controls
/// moves a joint within this time, which looks like a step.
constexpr double kStepHorizon = 0.5;
constexpr double kExplainedStep = 3.0;  // standard deviations

/// Simultaneous jumps of one or more sensors.
struct Jump {
  int row;                      ///< first row after the jump
  std::vector<int> sensors;     ///< sensors that jump
  std::vector<double> sizes;    ///< jumps of these sensors
  std::vector<double> ratings;  ///< sizes over their standard deviations
};

/// Returns the rates of modelled angles [rad/s], by finite differences.
Eigen::MatrixXd rates_of(const Eigen::MatrixXd& angles, const Segment& segment) {
  Eigen::MatrixXd rates(angles.rows(), angles.cols());
  for (Eigen::Index k = 0; k < angles.rows(); ++k) {
    const Eigen::Index a = std::max<Eigen::Index>(k - 1, 0);
    const Eigen::Index b = std::min(k + 1, angles.rows() - 1);
    rates.row(k) = (angles.row(b) - angles.row(a)) / (segment.time(b) - segment.time(a));
  }
  return rates;
}

/// Examines one segment of a recording for outliers and jumps.
class SegmentExamination {
 public:
  /// @param left  root-mean-square residual of the recording, one per sensor
  SegmentExamination(const std::vector<Encoder>& sensors, SegmentResiduals data,
                     const std::vector<double>& quanta, const std::vector<double>& left)
      : sensors_(sensors),
        segment_(*data.segment),
        readings_(std::move(data.left)),
        model_(*data.model),
        rates_(rates_of(model_, segment_)),
        quanta_(quanta),
        left_(left) {}

  /// Finds the outliers of one sensor and removes them from the readings.
  std::vector<Outlier> remove_outliers(int sensor, OutlierStatistics& count) {
    const ReadingSeries series = series_of(sensor);
    const NoiseScale scale(series, quantum(sensor));
    std::vector<Outlier> outliers = find_outliers(series, scale, kind());
    count.readings += static_cast<int>(series.size());
    if (kind() == SeriesKind::kResidual) {
      const auto values = Eigen::VectorXd::Map(series.values.data(), std::ssize(series.values));
      count.left = std::hypot(count.left, values.norm());
    }
    for (Outlier& outlier : outliers) {
      const double time = segment_.start + series.times[outlier.position];
      if (count.count++ == 0) count.first = time;
      count.last = time;
      if (std::abs(outlier.size) > std::abs(count.largest)) count.largest = outlier.size;
      count.noise = std::max(count.noise, scale.noise(outlier.position));
      outlier.position = static_cast<std::size_t>(series.rows[outlier.position]);
      readings_(static_cast<Eigen::Index>(outlier.position), sensor) =
          std::numeric_limits<double>::quiet_NaN();
    }
    return outliers;
  }

  std::vector<Jump> find_jumps() {
    std::vector<Jump> jumps;
    series_.clear();
    scales_.clear();
    for (int i = 0; i < std::ssize(sensors_); ++i) series_.push_back(series_of(i));
    for (int i = 0; i < std::ssize(sensors_); ++i) {
      const ReadingSeries& series = series_[static_cast<std::size_t>(i)];
      scales_.emplace_back(series, quantum(i));
      for (const ReadingStep& step : find_reading_steps(series, scales_.back(), kind(), unit(i))) {
        const int row = series.rows[step.position];
        if (std::abs(model_jump(model_, row, i)) > 0.5 * std::abs(step.size) || is_freed(row, i))
          continue;
        if (!is_reportable(i, step.size)) continue;
        const auto same = std::ranges::find_if(
            jumps, [&](const Jump& jump) { return std::abs(jump.row - row) <= kSameRows; });
        Jump& jump = same == jumps.end() ? jumps.emplace_back(Jump{row, {}, {}, {}}) : *same;
        jump.sensors.push_back(i);
        jump.sizes.push_back(step.size);
        jump.ratings.push_back(std::abs(step.size) / step.deviation);
      }
    }
    std::ranges::sort(jumps, {}, &Jump::row);
    return jumps;
  }

  /// Returns whether a step in a sensor's readings exceeds the residuals around it.
  bool is_reportable(int sensor, double step) const {
    return kind() == SeriesKind::kMotion ||
           std::abs(step) > kResidualStep * left_[static_cast<std::size_t>(sensor)];
  }

  /// Returns the likeliest cause of a jump. Call after `find_jumps`.
  JumpExplanation explain(const Jump& jump) const {
    std::vector<ReadingsAroundJump> views;
    std::vector<std::vector<double>> rates(sensors_.size());
    for (int i = 0; i < std::ssize(sensors_); ++i) {
      const auto at = static_cast<std::size_t>(i);
      ReadingsAroundJump view{.series = &series_[at],
                              .position = series_[at].index_at_row(jump.row)};
      if (rates_.size() > 0) {
        for (const int row : series_[at].rows) rates[at].push_back(rates_(row, i));
        view.rates = &rates[at];
      }
      const std::size_t position = std::min(view.position, series_[at].size());
      constexpr double kFinest = 1e-7;  // [rad]; rounding error of perfect readings
      view.noise =
          std::max({scales_[at].noise(position), quantum(i) / std::sqrt(12.0), kFinest * unit(i)});
      view.jumps = std::ranges::count(jump.sensors, i) > 0;
      views.push_back(view);
    }
    JumpExplanation explanation = classify_jump(views);
    // Speeds of a model that has adapted to the fault are not those of the motion, but two encoders
    // do not slip at the same instant.
    if (kind() == SeriesKind::kResidual && jump.sensors.size() > 1 &&
        explanation.cause == JumpCause::kSlip) {
      explanation.cause = JumpCause::kAmbiguous;
    }
    for (std::size_t n = 0; n < jump.sensors.size(); ++n) {
      double& size = explanation.sizes[static_cast<std::size_t>(jump.sensors[n])];
      if (size == 0.0) size = jump.sizes[n];  // too near an end for a fit
    }
    return explanation;
  }

 private:
  /// Returns whether an encoder's offset is already free from about this row on.
  bool is_freed(int row, int sensor) const {
    constexpr int kBeside = 12;
    return std::ranges::any_of(segment_.shifts, [&](const EncoderShift& shift) {
      return shift.sensor == sensor && std::abs(shift.sample - row) <= kBeside;
    });
  }

  ReadingSeries series_of(int sensor) const {
    return collect_observed_readings(
        segment_, readings_.col(sensor),
        sensors_[static_cast<std::size_t>(sensor)].kind_traits().wraps);
  }
  SeriesKind kind() const {
    return model_.size() > 0 ? SeriesKind::kResidual : SeriesKind::kMotion;
  }
  double quantum(int sensor) const { return quanta_[static_cast<std::size_t>(sensor)]; }
  double unit(int sensor) const { return sensors_[static_cast<std::size_t>(sensor)].units().scale; }

  const std::vector<Encoder>& sensors_;
  const Segment& segment_;
  Eigen::MatrixXd readings_;
  const Eigen::MatrixXd& model_;
  Eigen::MatrixXd rates_;
  const std::vector<double>& quanta_;
  const std::vector<double>& left_;
  std::vector<ReadingSeries> series_;
  std::vector<NoiseScale> scales_;
};

/// Returns whether the model's residuals exceed the outliers, which are then ignored.
bool is_below_residuals(const OutlierStatistics& outliers) {
  return std::abs(outliers.largest) * std::sqrt(static_cast<double>(outliers.readings)) <
         outliers.left;
}

/// Examines the segments of one recording, or their residuals.
struct RecordingExamination {
  const std::vector<Encoder>& sensors;
  const std::vector<double>& quanta;
  const std::string& name;
  int recording;  ///< index
  SignalExamination& out;

  /// @param explained  for each sensor, the standard deviation of motions that noise of the
  /// controls
  ///                   explains
  void run(std::vector<SegmentResiduals> segments, SeriesKind kind,
           const std::vector<double>& explained) {
    std::vector<double> left = root_mean_squares(segments, sensors.size());
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      left[i] = std::max(left[i], kExplainedStep / kResidualStep * explained[i]);
    }
    std::vector<OutlierStatistics> outliers(sensors.size());
    std::vector<std::vector<RejectedReading>> held(sensors.size());
    for (SegmentResiduals& each : segments) {
      const int index = each.index;
      const Segment& segment = *each.segment;
      SegmentExamination examination(sensors, std::move(each), quanta, left);
      for (int i = 0; i < std::ssize(sensors); ++i) {
        const auto at = static_cast<std::size_t>(i);
        for (const Outlier& outlier : examination.remove_outliers(i, outliers[at])) {
          held[at].push_back({recording, index, i, static_cast<int>(outlier.position)});
        }
      }
      const std::vector<Jump> jumps = examination.find_jumps();
      // A rejected model leaves kinks wherever the motion turns.
      if (kind == SeriesKind::kResidual && jumps.size() > kResidualJumps) continue;
      for (const Jump& jump : jumps) {
        const JumpExplanation explanation = examination.explain(jump);
        if (kind == SeriesKind::kResidual && explanation.cause == JumpCause::kBreak) continue;
        const bool is_reportable = std::ranges::any_of(jump.sensors, [&](int sensor) {
          return examination.is_reportable(sensor,
                                           explanation.sizes[static_cast<std::size_t>(sensor)]);
        });
        if (is_reportable)
          store_jump(index, segment.start + segment.time(jump.row), jump, explanation);
      }
    }
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      if (outliers[i].count == 0 || is_below_residuals(outliers[i])) continue;
      out.findings.push_back(make_outlier_finding(sensors[i], name, outliers[i], kind));
      if (!out.findings.back().treated) continue;
      out.rejected.insert(out.rejected.end(), held[i].begin(), held[i].end());
    }
  }

  void store_jump(int segment, double time, const Jump& jump, const JumpExplanation& explanation) {
    const auto largest =
        static_cast<std::size_t>(std::ranges::max_element(jump.ratings) - jump.ratings.begin());
    if (explanation.cause != JumpCause::kSlip) {
      const int sensor = jump.sensors[largest];
      out.findings.push_back(make_cut_finding(sensors, sensor, name, time, explanation,
                                              quanta[static_cast<std::size_t>(sensor)]));
      out.cuts.push_back({recording, segment, jump.row});
      if (explanation.cause != JumpCause::kAmbiguous) return;
    }
    for (const int sensor : jump.sensors) {
      const auto at = static_cast<std::size_t>(sensor);
      if (explanation.cause == JumpCause::kSlip) {
        out.findings.push_back(make_slip_finding(sensors[at], name, time, explanation.sizes[at],
                                                 explanation.deviations[at], quanta[at]));
        out.findings.back().confidence = explanation.confidence;
      }
      out.freed.push_back({recording, segment, sensor, jump.row, explanation.sizes[at],
                           static_cast<int>(out.findings.size()) - 1});
    }
  }
};

/// Adds a free parameter for the offset of an encoder's readings after a slip.
int add_offset(const Encoder& sensor, const std::string& recording, double time, double size,
               bool name_recording, Mechanism& mechanism) {
  Parameter parameter;
  parameter.name = sensor.name + " slip at " + number_text(time, 6) + " s";
  if (name_recording) parameter.name += " of " + recording;
  const std::string plain = parameter.name;
  for (int copy = 2; mechanism.find_parameter(parameter.name) >= 0; ++copy) {
    parameter.name = plain + " (" + std::to_string(copy) + ")";
  }
  parameter.unit = sensor.units().coordinate;
  parameter.value = size;
  parameter.free = true;
  mechanism.parameters.push_back(parameter);
  return static_cast<int>(mechanism.parameters.size()) - 1;
}

}  // namespace

Recording without_rejected(Recording recording, int index,
                           const std::vector<RejectedReading>& rejected) {
  for (const RejectedReading& reading : rejected) {
    if (reading.recording != index) continue;
    recording.segments[static_cast<std::size_t>(reading.segment)].angles(
        reading.row, reading.sensor) = std::numeric_limits<double>::quiet_NaN();
  }
  return recording;
}

SegmentIndex find_segment(const std::vector<Recording>& recordings, const std::string& name,
                          double start, Eigen::Index rows) {
  for (int r = 0; r < std::ssize(recordings); ++r) {
    const Recording& recording = recordings[static_cast<std::size_t>(r)];
    if (recording.name != name) continue;
    const auto found = std::ranges::find_if(recording.segments, [&](const Segment& each) {
      return each.start == start && each.sample_count() == rows;
    });
    if (found != recording.segments.end()) {
      return {r, static_cast<int>(found - recording.segments.begin())};
    }
  }
  return {};
}

std::vector<double> find_quantization_steps(const std::vector<Encoder>& sensors,
                                            const std::vector<Recording>& recordings) {
  std::vector<double> quanta;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    std::vector<ReadingSeries> series;
    for (const Recording& recording : recordings) {
      for (const Segment& segment : recording.segments) {
        series.push_back(collect_observed_readings(segment,
                                                   segment.angles.col(static_cast<Eigen::Index>(i)),
                                                   sensors[i].kind_traits().wraps));
      }
    }
    quanta.push_back(find_robust_quantization_step(series, sensors[i].units().scale));
  }
  return quanta;
}

SignalExamination examine_signals(const Mechanism& mechanism,
                                  const std::vector<Recording>& recordings,
                                  const SensorDescription& facts) {
  SignalExamination out;
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  const std::vector<double> quanta = find_quantization_steps(sensors, recordings);
  const Eigen::MatrixXd no_model;
  std::vector<Recording> all_used;
  for (std::size_t r = 0; r < recordings.size(); ++r) {
    find_repeated_readings(sensors, quanta, recordings[r], static_cast<int>(r), out);
    const Recording recording = without_rejected(recordings[r], static_cast<int>(r), out.rejected);
    std::vector<SegmentResiduals> segments;
    for (int s = 0; s < std::ssize(recording.segments); ++s) {
      const Segment& segment = recording.segments[static_cast<std::size_t>(s)];
      segments.push_back({s, &segment, &no_model, segment.angles});
    }
    RecordingExamination{sensors, quanta, recording.name, static_cast<int>(r), out}.run(
        std::move(segments), SeriesKind::kMotion, std::vector<double>(sensors.size(), 0.0));
    find_clipped_readings(mechanism, quanta, recording, static_cast<int>(r), out);
    find_dead_channels(mechanism, recording, out);
    find_copied_sensors(mechanism, recordings[r], out);
    // Outliers do not end a rest.
    const Recording calm = without_rejected(recording, static_cast<int>(r), out.rejected);
    find_held_rig(mechanism, calm, out);
    for (int i = 0; i < std::ssize(sensors); ++i) {
      const auto at = static_cast<std::size_t>(i);
      find_rest_intervals(sensors[at], i, quanta[at], calm, static_cast<int>(r), out);
    }
    const Recording used = without_rejected(recording, static_cast<int>(r), out.rejected);
    find_undescribed_stops(mechanism, quanta, used, out);
    find_limit_violations(mechanism, quanta, used, facts, out);
    find_readings_beyond_stops(mechanism, quanta, used, out);
    all_used.push_back(used);
  }
  find_initial_stops(mechanism, quanta, all_used, out);
  if (!has_motion(recordings)) {
    for (Finding& finding : out.findings) {
      if (finding.message.code == MessageCode::kDeadChannel) finding.severity = Severity::kFault;
    }
  }
  find_limits_beyond_stops(mechanism, facts, out);
  find_constant_commands(mechanism, recordings, out);
  compare_quantization_steps(sensors, quanta, facts.quantum, out);
  for (Finding& finding : find_inertial_axis_errors(mechanism, recordings)) {
    out.findings.push_back(std::move(finding));
  }
  return out;
}

SignalExamination examine_residuals(const Calibration& calibration,
                                    const std::vector<Recording>& recordings) {
  SignalExamination out;
  if (calibration.kind != EstimateKind::kPhysical) return out;
  const std::vector<Encoder> sensors = used_encoders(calibration.mechanism);
  const std::vector<double> quanta = find_quantization_steps(sensors, recordings);
  std::vector<double> explained(sensors.size(), 0.0);
  for (const MotionPrediction& prediction : calibration.motion_predictions) {
    const auto sensor = std::ranges::find(sensors, prediction.encoder, &Encoder::name);
    if (sensor == sensors.end() || prediction.horizon > kStepHorizon) continue;
    double& size = explained[static_cast<std::size_t>(sensor - sensors.begin())];
    size = std::max(size, std::max(prediction.rmse, prediction.expected));
  }
  for (std::size_t r = 0; r < recordings.size(); ++r) {
    RecordingExamination{sensors, quanta, recordings[r].name, static_cast<int>(r), out}.run(
        modelled_segments(calibration, sensors, recordings, static_cast<int>(r)),
        SeriesKind::kResidual, explained);
  }
  return out;
}

RepairedInput apply_repairs(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                            const SignalExamination& examination) {
  RepairedInput out{mechanism, recordings};
  for (const InitialStopValue& start : examination.stop_starts) {
    out.mechanism.at(start.parameter).value = start.value;
  }
  apply_dependencies(out.mechanism);
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  const auto segment_of = [&](const auto& place) -> Segment& {
    return out.recordings[static_cast<std::size_t>(place.recording)]
        .segments[static_cast<std::size_t>(place.segment)];
  };
  for (const RejectedReading& rejected : examination.rejected) {
    segment_of(rejected).angles(rejected.row, rejected.sensor) =
        std::numeric_limits<double>::quiet_NaN();
  }
  for (const FreedEncoderOffset& freed : examination.freed) {
    Recording& recording = out.recordings[static_cast<std::size_t>(freed.recording)];
    const Segment& own = segment_of(freed);
    const int parameter = add_offset(sensors[static_cast<std::size_t>(freed.sensor)],
                                     recording.name, own.start + own.time(freed.row), freed.size,
                                     recordings.size() > 1, out.mechanism);
    // A slip lasts to the recording's end.
    for (auto s = static_cast<std::size_t>(freed.segment); s < recording.segments.size(); ++s) {
      const bool is_own = s == static_cast<std::size_t>(freed.segment);
      recording.segments[s].shifts.push_back({freed.sensor, is_own ? freed.row : 0, parameter});
    }
  }
  std::vector<RecordingCut> cuts = examination.cuts;
  // From the last cut on, so that the indices of the others remain valid.
  const auto place = [](const RecordingCut& cut) {
    return std::tuple(cut.recording, cut.segment, cut.row);
  };
  std::ranges::sort(cuts, std::greater<>(), place);
  for (const RecordingCut& cut : cuts) {
    std::vector<Segment>& segments =
        out.recordings[static_cast<std::size_t>(cut.recording)].segments;
    const Segment whole = segments[static_cast<std::size_t>(cut.segment)];
    if (cut.row <= 0 || cut.row >= whole.sample_count()) continue;
    segments[static_cast<std::size_t>(cut.segment)] = segment_rows(whole, 0, cut.row);
    segments.insert(segments.begin() + cut.segment + 1,
                    segment_rows(whole, cut.row, whole.sample_count() - cut.row));
  }
  return out;
}

}  // namespace estimator
