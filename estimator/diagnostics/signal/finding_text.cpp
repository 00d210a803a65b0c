#include "estimator/diagnostics/signal/finding_text.hpp"

#include <cmath>
#include <utility>

namespace estimator {
namespace {

/// Share of outliers among the readings of a sensor above which the outliers are not isolated, and
/// therefore not rejected.
constexpr double kIsolatedShare = 0.05;

/// Size up to which an outlier belongs to the tail of the noise and is no disturbance [standard
/// deviations].
constexpr double kTail = 20.0;

/// Adds the size of a change of readings to a message, in counts too if the encoder is quantized.
void add_size(const Encoder& sensor, double size, double quantum, Message& message) {
  message.arguments.push_back({"size", Quantity{size, sensor.units().coordinate}});
  if (!(quantum > 0.0)) return;
  const double counts = size / quantum;
  message.arguments.push_back({"counts", std::abs(counts) < 1e6 ? std::round(counts) : counts});
}

}  // namespace

Finding make_outlier_finding(const Encoder& sensor, const std::string& recording,
                             const OutlierStatistics& outliers, SeriesKind kind) {
  const bool isolated = outliers.count <= kIsolatedShare * outliers.readings;
  const bool tail = std::abs(outliers.largest) < kTail * outliers.noise;
  Message message(!isolated ? MessageCode::kManyOutliers
                  : tail    ? MessageCode::kNoiseTail
                            : MessageCode::kOutliers,
                  {{"encoder", sensor.name},
                   {"count", outliers.count},
                   {"readings", outliers.readings},
                   {"fitted", kind != SeriesKind::kMotion},
                   {"largest", Quantity{outliers.largest, sensor.units().coordinate}},
                   {"first", outliers.first},
                   {"turns", sensor.kind_traits().turns}});
  if (outliers.count > 1) message.arguments.push_back({"last", outliers.last});
  Finding finding = make_finding(std::move(message), recording, sensor.name,
                                 {outliers.largest, sensor.units().coordinate});
  finding.from = outliers.first;
  finding.to = outliers.last;
  finding.confidence = 1.0 - 1e-4;
  finding.treated = isolated;
  return finding;
}

Finding make_slip_finding(const Encoder& sensor, const std::string& recording, double time,
                          double size, double deviation, double quantum) {
  const bool is_unsure = std::abs(size) < kSignificantDeviations * deviation;
  Message message(is_unsure ? MessageCode::kPossibleSlip : MessageCode::kEncoderSlip,
                  {{"encoder", sensor.name}, {"time", time}, {"more", size > 0.0}});
  add_size(sensor, size, quantum, message);
  if (deviation > 0.0) {
    message.arguments.push_back({"deviation", Quantity{deviation, sensor.units().coordinate}});
  }
  Finding finding =
      make_finding(std::move(message), recording, sensor.name, {size, sensor.units().coordinate});
  set_time_intervals({{time, time}}, finding);
  finding.treated = true;
  return finding;
}

void downgrade_to_note(Finding& finding) {
  if (finding.severity != Severity::kWarning) return;
  finding.severity = Severity::kNote;
  finding.doubtful = true;
}

Finding make_cut_finding(const std::vector<Encoder>& sensors, int sensor,
                         const std::string& recording, double time,
                         const JumpExplanation& explanation, double quantum) {
  const auto at = static_cast<std::size_t>(sensor);
  const Encoder& own = sensors[at];
  const bool is_lost = explanation.cause == JumpCause::kLostTime;
  const char* const rate = own.units().rate;
  Message message(
      is_lost                                  ? MessageCode::kLostTime
      : explanation.cause == JumpCause::kBreak ? MessageCode::kBreak
                                               : MessageCode::kJump,
      {{"encoder", own.name},
       {"time", time},
       {"lost", Quantity{1e3 * explanation.lost_time, "ms", 1e3 * explanation.time_deviation}},
       {"before", Quantity{explanation.rates_before[at], rate}},
       {"after", Quantity{explanation.rates_after[at], rate}},
       {"others_agree", sensors.size() > 1}});
  add_size(own, explanation.sizes[at], quantum, message);
  const double size = is_lost ? explanation.lost_time : explanation.sizes[at];
  Finding finding = make_finding(std::move(message), recording, is_lost ? "" : own.name,
                                 {size, is_lost ? "s" : own.units().coordinate});
  set_time_intervals({{time, time}}, finding);
  finding.confidence = explanation.confidence;
  finding.treated = true;
  return finding;
}

}  // namespace estimator
