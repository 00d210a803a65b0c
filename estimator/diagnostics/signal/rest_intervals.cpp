#include "estimator/diagnostics/signal/channels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace estimator {
namespace {

constexpr double kRestMin = 1.0;   // [s]; shorter ones are turning points and stiction
constexpr double kEvery = 0.1;     // interval of the readings kept in a rest [s]
constexpr double kShareMin = 0.2;  // least share of all rows at which rests outweigh the motion

/// An interval at rest, given as the rows [first, end) of a segment.
struct Rest {
  int segment, first, end;
};

/// Returns whether a row repeats the readings and the command of an interval at rest. Missing
/// readings match; the first reading observed is stored in `readings`.
bool repeats(const Segment& segment, const std::vector<double>& quanta, Eigen::Index row,
             Eigen::Index first, Eigen::RowVectorXd& readings) {
  if (segment.controls.row(row) != segment.controls.row(first)) return false;
  for (Eigen::Index i = 0; i < readings.size(); ++i) {
    const double reading = segment.angles(row, i);
    if (std::isnan(readings[i])) readings[i] = reading;
    if (std::abs(reading - readings[i]) > 0.25 * quanta[static_cast<std::size_t>(i)]) return false;
  }
  return true;
}

}  // namespace

void find_rest_intervals(const std::vector<Encoder>& sensors, const std::vector<double>& quanta,
                         const Recording& recording, int index, SignalExamination& out) {
  if (std::ranges::any_of(quanta, [](double quantum) { return !(quantum > 0.0); })) return;
  std::vector<Rest> rests;
  int rows = 0, resting = 0;
  for (int s = 0; s < std::ssize(recording.segments); ++s) {
    const Segment& segment = recording.segments[static_cast<std::size_t>(s)];
    rows += segment.sample_count();
    if (segment.sample_count() == 0) continue;
    Eigen::RowVectorXd readings = segment.angles.row(0);
    for (int first = 0, k = 1; k <= segment.sample_count(); ++k) {
      if (k < segment.sample_count() && repeats(segment, quanta, k, first, readings)) continue;
      if (segment.time(k - 1) - segment.time(first) >= kRestMin) {
        rests.push_back({s, first, k});
        resting += k - first;
      }
      first = k;
      if (k < segment.sample_count()) readings = segment.angles.row(k);
    }
  }
  if (!(resting > kShareMin * rows)) return;
  int rejected = 0;
  std::vector<TimeStretch> stretches;
  for (const Rest& rest : rests) {
    const Segment& segment = recording.segments[static_cast<std::size_t>(rest.segment)];
    add_stretch(
        {segment.start + segment.time(rest.first), segment.start + segment.time(rest.end - 1)},
        stretches);
    double kept = segment.time(rest.first);
    for (int k = rest.first + 1; k + 1 < rest.end; ++k) {
      if (segment.time(k) - kept >= kEvery) {
        kept = segment.time(k);
        continue;
      }
      ++rejected;
      for (int i = 0; i < std::ssize(sensors); ++i) {
        out.rejected.push_back({index, rest.segment, i, k});
      }
    }
  }
  Finding finding = make_finding({MessageCode::kRestIntervals,
                                  {{"percent", 100.0 * resting / rows},
                                   {"first", stretches.front().from},
                                   {"interval", Quantity{kEvery, "s"}},
                                   {"rejected", rejected}}},
                                 recording.name, "", {static_cast<double>(resting) / rows, "-"});
  set_stretches(std::move(stretches), finding);
  finding.treated = true;
  out.findings.push_back(std::move(finding));
}

}  // namespace estimator
