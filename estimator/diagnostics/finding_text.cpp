#include "estimator/diagnostics/finding_text.hpp"

#include <cmath>

#include "estimator/diagnostics/cause_acceptance.hpp"
#include "estimator/fit/number_text.hpp"

namespace estimator {
namespace {

constexpr int kTimeDigits = 6;
/// Size up to which an outlier belongs to the tail of the noise and is no disturbance [standard
/// deviations].
constexpr double kTail = 20.0;

std::string encoder(const Encoder& sensor) { return "encoder " + quoted(sensor.name); }

std::string rate_text(const Encoder& sensor, double rate) {
  return number_text(rate) + " " + sensor.units().rate;
}

}  // namespace

std::string size_text(const Encoder& sensor, double size, double quantum) {
  std::string text = number_text(size) + " " + sensor.units().coordinate;
  if (quantum > 0.0) {
    const double counts = size / quantum;
    text += " (" + number_text(std::abs(counts) < 1e6 ? std::round(counts) : counts, 6) +
            (std::abs(std::round(counts)) == 1.0 ? " count)" : " counts)");
  }
  return text;
}

Finding outlier_finding(const Encoder& sensor, const std::string& recording,
                        const OutlierCount& outliers, SeriesKind kind) {
  Finding finding;
  finding.kind = "outliers";
  finding.recording = recording;
  finding.channel = sensor.name;
  finding.from = outliers.first;
  finding.to = outliers.last;
  finding.size = outliers.largest;
  finding.unit = sensor.units().coordinate;
  finding.confidence = 1.0 - 1e-4;
  const bool isolated = outliers.count <= kIsolatedShare * outliers.readings;
  const bool tail = std::abs(outliers.largest) < kTail * outliers.noise;
  finding.severity = tail && isolated ? Severity::kNote : Severity::kWarning;
  finding.what = encoder(sensor) + ": " + std::to_string(outliers.count) + " of " +
                 std::to_string(outliers.readings) +
                 (outliers.count == 1 ? " readings deviates" : " readings deviate") +
                 (kind == SeriesKind::kMotion ? " from the motion before and after"
                                              : " from the fitted motion") +
                 ", by up to " + number_text(outliers.largest) + " " + sensor.units().coordinate;
  finding.what += outliers.count == 1 ? ", at " : ", the first at ";
  finding.what += number_text(outliers.first, kTimeDigits) + " s";
  if (outliers.count > 1) {
    finding.what += ", the last at " + number_text(outliers.last, kTimeDigits) + " s";
  }
  finding.advice = tail ? "nothing, unless there are more of them than noise explains"
                        : std::string("check for a loose connector, a dirty encoder ") +
                              (sensor.traits().turns ? "disc" : "scale") + " or interference";
  if (isolated) {
    finding.treatment = outliers.count == 1 ? "it is rejected" : "they are rejected";
  } else {
    finding.advice +=
        "; there are too many to be isolated outliers, so they are used: do not trust estimates "
        "from this recording";
  }
  return finding;
}

Finding slip_finding(const Encoder& sensor, const std::string& recording, double time, double size,
                     double deviation, double quantum) {
  Finding finding;
  const bool is_unsure = std::abs(size) < kSignificantDeviations * deviation;
  finding.kind = "slip";
  finding.severity = is_unsure ? Severity::kNote : Severity::kWarning;
  finding.recording = recording;
  finding.channel = sensor.name;
  finding.from = finding.to = time;
  finding.stretches = {{time, time}};
  finding.size = size;
  finding.unit = sensor.units().coordinate;
  finding.what = encoder(sensor) + (is_unsure ? " may slip by " : " slips by ") +
                 size_text(sensor, size, quantum);
  if (deviation > 0.0) {
    finding.what += ", ± " + number_text(deviation, 2) + " " + sensor.units().coordinate + ",";
  }
  finding.what += " at " + number_text(time, kTimeDigits) + " s: " +
                  (is_unsure ? "the residuals are also compatible with no slip"
                             : std::string("it reads this much ") + (size > 0.0 ? "more" : "less") +
                                   " from then on");
  finding.advice =
      "check for counts lost to interference or fast motion, and for a slipping coupling";
  finding.treatment = "its offset is a free parameter from then on";
  return finding;
}

void doubt(Finding& finding) {
  if (finding.severity != Severity::kWarning) return;
  finding.severity = Severity::kNote;
  finding.what = "possibly, " + finding.what +
                 "; the model is rejected with this repair too, and a model error may cause the "
                 "same residuals";
}

std::string lost_rows_text(int rows) {
  return (rows == 1 ? std::string("a row without readings is inserted")
                    : std::to_string(rows) + " rows without readings are inserted") +
         " there, and all later rows are delayed accordingly";
}

Finding cut_finding(const std::vector<Encoder>& sensors, int sensor, const std::string& recording,
                    double time, const JumpExplanation& explanation, double quantum) {
  const Encoder& own = sensors[static_cast<std::size_t>(sensor)];
  const auto at = static_cast<std::size_t>(sensor);
  Finding finding;
  finding.severity = Severity::kWarning;
  finding.recording = recording;
  finding.from = finding.to = time;
  finding.stretches = {{time, time}};
  finding.confidence = explanation.confidence;
  finding.advice =
      "check the recording program: a buffer overflow, a clock that was set, samples counted "
      "instead of timed";
  const std::string when = " at " + number_text(time, kTimeDigits) + " s";
  const std::string jump = encoder(own) + " reads " +
                           size_text(own, explanation.sizes[at], quantum) +
                           " more than its motion explains";
  const std::string speeds = "its speed is " + rate_text(own, explanation.rates_before[at]) +
                             " before and " + rate_text(own, explanation.rates_after[at]) +
                             " after";
  const std::string lost = notation::format_with_deviation(1e3 * explanation.lost_time,
                                                           1e3 * explanation.time_deviation) +
                           " ms";
  if (explanation.cause == JumpCause::kLostTime) {
    finding.kind = "lost-time";
    finding.size = explanation.lost_time;
    finding.unit = "s";
    finding.what = lost + " are missing" + when + ", which the time stamps do not show: " + jump +
                   ", " + speeds;
    if (sensors.size() > 1) finding.what += ", and the other encoders agree";
    finding.treatment = "the recording is cut there";
    return finding;
  }
  finding.channel = own.name;
  finding.size = explanation.sizes[at];
  finding.unit = own.units().coordinate;
  if (explanation.cause == JumpCause::kBreak) {
    finding.kind = "break";
    finding.what = "the motion is discontinuous" + when + ": " + jump + ", " + speeds +
                   ", which neither a slip nor lost time explains";
    finding.advice += "; or mark this time in a segment column";
    finding.treatment = "the recording is cut there";
    return finding;
  }
  finding.kind = "jump";
  finding.what = jump + when + ": an encoder slip, or " + lost + " lost; " + speeds +
                 ", too similar to distinguish the two";
  finding.treatment =
      "the recording is cut there, and the encoder's offset is a free parameter from then on";
  return finding;
}

}  // namespace estimator
