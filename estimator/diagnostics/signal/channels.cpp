#include "estimator/diagnostics/signal/channels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "estimator/diagnostics/jumps/reading_series.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/signal/repeated_readings.hpp"

namespace estimator {
namespace {

constexpr double kAtEnd = 0.25;  // counts; tolerance for a reading at an end of the range

/// Returns whether any joint that a sensor measures has end stops, at which it may rest.
bool has_stops(const Mechanism& mechanism, const Encoder& sensor) {
  return std::ranges::any_of(joint_end_stops(mechanism), [&](const JointStop& stop) {
    return std::ranges::any_of(
        sensor.terms, [&](const Encoder::JointTerm& term) { return term.joint == stop.joint; });
  });
}

/// Finds plateaus at the largest or smallest reading of a sensor.
struct PlateauSearch {
  const ReadingSeries& series;
  const NoiseScale& scale;
  double end;   ///< reading at the plateau
  double side;  ///< +1 for the largest reading, −1 for the smallest
  double unit;
  bool has_stops;

  /// Returns the first reading of each plateau and the first reading behind it.
  std::vector<std::pair<std::size_t, std::size_t>> run() const {
    constexpr std::size_t kShortest = 4;
    std::vector<std::pair<std::size_t, std::size_t>> plateaus;
    for (std::size_t first = 0; first < series.size(); ++first) {
      if (!is_at_end(first)) continue;
      std::size_t behind = first;
      while (behind < series.size() && is_at_end(behind)) ++behind;
      if (behind - first >= kShortest && is_clipped(first, behind)) {
        plateaus.emplace_back(first, behind);
      }
      first = behind;
    }
    return plateaus;
  }

  bool is_at_end(std::size_t k) const {
    return std::abs(series.values[k] - end) <= kReadingRounding * unit + kAtEnd * scale.quantum();
  }

  bool is_clipped(std::size_t first, std::size_t behind) const {
    const bool is_whole = first > 0 && behind < series.size();
    if (!is_whole && (has_stops || behind - first == series.size())) return false;
    if (first == 0) return comes_from_beyond(behind - first, behind);
    if (behind == series.size()) return comes_from_beyond(behind - first, first);
    return is_passed(first, behind);
  }

  /// Returns whether the motion next to a plateau at the beginning or end of the series follows a
  /// parabola that extends far beyond the plateau's value. If a joint is only released or comes to
  /// rest at the plateau, the parabola has its vertex there.
  /// @param edge  the first reading after the plateau, or the plateau's first
  bool comes_from_beyond(std::size_t plateau, std::size_t edge) const {
    constexpr double kMoved = 0.1;   // of the fitted motion; bent parabolas overshoot by less
    constexpr double kUnlike = 4.0;  // times the noise variance; more: not a parabola
    const bool begins = edge == plateau;
    for (std::size_t window = kSide; window <= kWindowMost && window <= 4 * plateau; window *= 2) {
      const std::size_t from = begins ? edge : edge - window;
      if (edge < window && !begins) break;
      if (from + window > series.size() || !series.is_dense(from, window)) break;
      const PolynomialFit fit(series, from, window, 2);
      const double least = least_at(edge);
      if (fit.residual_variance() > kUnlike * least * least) break;
      const double on = 0.25 * static_cast<double>(window) * series.period;
      const PolynomialPrediction reach =
          fit.at(begins ? series.times[edge] - on : series.times[edge - 1] + on);
      const double beyond = side * (reach.value - end);
      const double moved = std::abs(series.values[begins ? from + window - 1 : from] - end);
      if (beyond > std::max(kFar * least * std::max(1.0, reach.noise_gain), kMoved * moved)) {
        return true;
      }
    }
    return false;
  }

  /// Returns the resolution of a reading, given by noise, quantization and rounding.
  double least_at(std::size_t position) const {
    return std::max(scale.noise(position), scale.quantum()) + kReadingRounding * unit;
  }

  /// Returns whether the motion enters and leaves a plateau fast enough to have passed far beyond
  /// it. On a parabola of speed v at the plateau's ends, the overshoot in the plateau's time T is v
  /// T/4.
  bool is_passed(std::size_t first, std::size_t behind) const {
    if (first < kSide || behind + kSide > series.size()) return false;
    if (!series.is_dense(first - kSide, behind - first + 2 * kSide)) return false;
    const PolynomialFit before(series, first - kSide, kSide, 2), after(series, behind, kSide, 2);
    const double in = side * before.slope(series.times[first]);
    const double out = -side * after.slope(series.times[behind - 1]);
    const double time = series.times[behind - 1] - series.times[first];
    const double overshoot = 0.25 * std::min(in, out) * time;
    // A motion that stops within a period may be an impact. After an impact and a rest, however, a
    // joint does not leave as fast as it came.
    return overshoot > kFar * least_at(first) && std::min(in, out) > 0.25 * std::max(in, out);
  }

  static constexpr std::size_t kSide = 8;         // readings examined on each side of a plateau
  static constexpr std::size_t kWindowMost = 64;  // where only one side is observed
  static constexpr double kFar = 6.0;             // noise standard deviations, or counts
};

}  // namespace

void find_clipped_readings(const Mechanism& mechanism, const std::vector<double>& quanta,
                           const Recording& recording, int index, SignalExamination& out) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (int i = 0; i < std::ssize(sensors); ++i) {
    const Encoder& sensor = sensors[static_cast<std::size_t>(i)];
    ValueRange range;
    range.add(recording.segments, i);
    if (!(range.width() > kReadingRounding * sensor.units().scale)) continue;
    for (const double side : {1.0, -1.0}) {
      const double end = side > 0.0 ? range.high : range.low;
      std::vector<TimeInterval> intervals;
      int plateaus = 0, readings = 0;
      for (int s = 0; s < std::ssize(recording.segments); ++s) {
        const Segment& segment = recording.segments[static_cast<std::size_t>(s)];
        // Not unwrapped: readings are clipped before turns are counted.
        const ReadingSeries series =
            collect_observed_readings(segment, segment.angles.col(i), false);
        const NoiseScale scale(series, quanta[static_cast<std::size_t>(i)]);
        const PlateauSearch search{
            series, scale, end, side, sensor.units().scale, has_stops(mechanism, sensor)};
        for (const auto& [first, behind] : search.run()) {
          ++plateaus;
          append_time_interval(
              {segment.start + series.times[first], segment.start + series.times[behind - 1]},
              intervals);
        }
      }
      if (plateaus == 0) continue;
      // Single readings at that end are unreliable too.
      const double slack =
          kReadingRounding * sensor.units().scale + kAtEnd * quanta[static_cast<std::size_t>(i)];
      const std::vector<RejectedReading> outliers = out.rejected;
      for (int s = 0; s < std::ssize(recording.segments); ++s) {
        const auto column = recording.segments[static_cast<std::size_t>(s)].angles.col(i);
        for (int k = 0; k < column.size(); ++k) {
          if (!(std::abs(column[k] - end) <= slack)) continue;
          ++readings;
          const RejectedReading reading{index, s, i, k};
          if (std::ranges::count(outliers, reading) == 0) out.rejected.push_back(reading);
        }
      }
      const Quantity limit{end, sensor.units().coordinate};
      Finding finding = make_finding({MessageCode::kClippedReadings,
                                      {{"encoder", sensor.name},
                                       {"is_largest", side > 0.0},
                                       {"limit", limit},
                                       {"plateaus", plateaus},
                                       {"first", intervals.front().from},
                                       {"readings", readings}}},
                                     recording.name, sensor.name, limit);
      set_time_intervals(std::move(intervals), finding);
      finding.treated = true;
      out.findings.push_back(std::move(finding));
    }
  }
}

void find_repeated_readings(const std::vector<Encoder>& sensors, const std::vector<double>& quanta,
                            const Recording& recording, int index, SignalExamination& out) {
  for (int i = 0; i < std::ssize(sensors); ++i) {
    std::vector<Eigen::VectorXd> readings;
    for (const Segment& segment : recording.segments) readings.push_back(segment.angles.col(i));
    const double rows = find_rows_per_reading(readings, quanta[static_cast<std::size_t>(i)]);
    if (!(rows > 1.0)) continue;
    int rejected = 0;
    for (int s = 0; s < std::ssize(readings); ++s) {
      for (const int row : find_repeated_rows(readings[static_cast<std::size_t>(s)], rows)) {
        out.rejected.push_back({index, s, i, row});
        ++rejected;
      }
    }
    if (rejected == 0) continue;
    const std::string& name = sensors[static_cast<std::size_t>(i)].name;
    out.findings.push_back(
        make_finding({MessageCode::kRepeatedReadings,
                      {{"encoder", name}, {"rows", rows}, {"rejected", rejected}}},
                     recording.name, name, {rows, "-"}));
    out.findings.back().treated = true;
  }
}

void find_copied_sensors(const Mechanism& mechanism, const Recording& recording,
                         SignalExamination& out) {
  constexpr int kChangesMin = 20;
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  /// Same joint, or two joints of which one mimics the other with ratio ±1.
  const auto is_alike = [&](int a, int b) {
    const auto follows = [&](int one, int other) {
      const MimicJoint* const coupling = find_mimic_joint(mechanism, one);
      return coupling != nullptr && coupling->follows == other && std::abs(coupling->ratio) == 1.0;
    };
    return a == b || follows(a, b) || follows(b, a);
  };
  const auto reads_the_same = [&](const Encoder& a, const Encoder& b) {
    return a.terms.size() == b.terms.size() &&
           std::ranges::all_of(a.terms, [&](const Encoder::JointTerm& term) {
             return std::ranges::any_of(b.terms, [&](const Encoder::JointTerm& other) {
               return is_alike(term.joint, other.joint);
             });
           });
  };
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    for (std::size_t j = i + 1; j < sensors.size(); ++j) {
      if (sensors[i].kind != sensors[j].kind || reads_the_same(sensors[i], sensors[j])) continue;
      for (const double sign : {1.0, -1.0}) {
        // Column offsets may differ, so compare changes.
        int changes = 0;
        bool same = true;
        for (const Segment& segment : recording.segments) {
          const auto a = segment.angles.col(static_cast<Eigen::Index>(i));
          const auto b = segment.angles.col(static_cast<Eigen::Index>(j));
          for (Eigen::Index k = 1; k < a.size() && same; ++k) {
            const double change = a[k] - a[k - 1], other = sign * (b[k] - b[k - 1]);
            if (std::isnan(change) || std::isnan(other)) continue;
            same = std::abs(change - other) <= kReadingRounding * sensors[i].units().scale;
            changes += change != 0.0 ? 1 : 0;
          }
        }
        if (!same || changes < kChangesMin) continue;
        const MessageCode code = is_tree_mechanism(mechanism) ? MessageCode::kIdenticalChannels
                                                              : MessageCode::kIdenticalLoopChannels;
        out.findings.push_back(make_finding({code,
                                             {{"first", sensors[i].name},
                                              {"second", sensors[j].name},
                                              {"are_opposite", sign < 0.0}}},
                                            recording.name, sensors[j].name));
      }
    }
  }
}

void compare_quantization_steps(const std::vector<Encoder>& sensors,
                                const std::vector<double>& seen, const std::vector<double>& stated,
                                SignalExamination& out) {
  constexpr double kTolerance = 0.02;
  for (std::size_t i = 0; i < std::min(sensors.size(), stated.size()); ++i) {
    if (!(stated[i] > 0.0) || !(seen[i] > 0.0)) continue;
    const double ratio = seen[i] / stated[i];
    if (std::abs(ratio - 1.0) < kTolerance) continue;
    const Encoder& sensor = sensors[i];
    const JointTraits& joint = sensor.kind_traits();
    const Quantity quantum{seen[i], sensor.units().coordinate};
    out.findings.push_back(make_finding({MessageCode::kWrongQuantum,
                                         {{"encoder", sensor.name},
                                          {"quantum", quantum},
                                          {"counts", joint.count_size / seen[i]},
                                          {"length", std::string(joint.count)},
                                          {"described_counts", joint.count_size / stated[i]}}},
                                        "", sensor.name, quantum));
  }
}

}  // namespace estimator
