#include "tests/bench/mistakes/signal_faults.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string_view>

#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/model/encoder.hpp"
#include "service/recordings/csv_recording.hpp"

namespace signal_faults {
namespace {

constexpr int kSpikes = 20;
constexpr double kSpike = 0.3;    // [rad]
constexpr double kClipped = 0.6;  // of the largest reading

void slip(estimator::Segment& segment, Eigen::Index row, double size) {
  segment.angles.col(segment.angles.cols() - 1).tail(segment.angles.rows() - row).array() += size;
}

Eigen::Index rows_in(const estimator::Segment& segment, double time) {
  return std::max<Eigen::Index>(1, std::lround(time / segment.period));
}

void lose_rows(estimator::Segment& segment, Eigen::Index row, double time) {
  const Eigen::Index lost = rows_in(segment, time);
  const Eigen::Index rows = segment.angles.rows() - lost, behind = rows - row;
  const auto cut = [&](Eigen::MatrixXd& of) {
    Eigen::MatrixXd left(rows, of.cols());
    left << of.topRows(row), of.bottomRows(behind);
    of = std::move(left);
  };
  cut(segment.angles);
  cut(segment.controls);
}

void add_spikes(estimator::Segment& segment, double quantum) {
  const Eigen::Index rows = segment.angles.rows(), last = segment.angles.cols() - 1;
  for (Eigen::Index k = 1; k <= kSpikes; ++k) {
    segment.angles(k * rows / (kSpikes + 2), last) +=
        quantum > 0.0 ? quantum * std::round(kSpike / quantum) : kSpike;
  }
}

std::vector<SignalFault> make_all() {
  using estimator::Segment;
  std::vector<SignalFault> all;
  for (const int counts : {1, 2, 3, 5, 10, 100}) {
    all.push_back({"slip of " + std::to_string(counts),
                   {"slip", "jump"},
                   SizeKind::kCounts,
                   static_cast<double>(counts),
                   [=](Segment& segment, Eigen::Index row, double quantum) {
                     slip(segment, row, counts * quantum);
                   }});
  }
  for (const int milliseconds : {3, 10, 20}) {
    const double time = 1e-3 * milliseconds;
    all.push_back(
        {"lost " + std::to_string(milliseconds) + " ms",
         {"lost-time", "jump", "break"},
         SizeKind::kTime,
         time,
         [=](Segment& segment, Eigen::Index row, double) { lose_rows(segment, row, time); }});
  }
  all.push_back({.name = "spikes",
                 .kinds = {"outliers"},
                 .apply = [](Segment& segment, Eigen::Index, double quantum) {
                   add_spikes(segment, quantum);
                 }});
  all.push_back({.name = "clipped angle",
                 .kinds = {"clipped", "clipped-angle"},
                 .apply =
                     [](Segment& segment, Eigen::Index, double) {
                       auto column = segment.angles.col(segment.angles.cols() - 1);
                       column = column.cwiseMin(kClipped * column.maxCoeff());
                     },
                 .empty =
                     [](Segment& segment) {
                       auto column = segment.angles.col(segment.angles.cols() - 1);
                       const double level = kClipped * column.maxCoeff();
                       for (double& reading : column) {
                         if (reading > level) reading = std::numeric_limits<double>::quiet_NaN();
                       }
                     }});
  all.push_back({.name = "dead channel",
                 .kinds = {"dead-channel"},
                 .apply = [](Segment& segment, Eigen::Index, double) {
                   auto column = segment.angles.col(segment.angles.cols() - 1);
                   column.setConstant(column[0]);
                 }});
  return all;
}

}  // namespace

const std::vector<SignalFault>& all() {
  static const std::vector<SignalFault> kAll = make_all();
  return kAll;
}

double SignalFault::size_in(const estimator::Segment& segment, double quantum) const {
  if (size_kind == SizeKind::kCounts) return size * quantum;
  return static_cast<double>(rows_in(segment, size)) * segment.period;
}

bool is_of_signals(const std::string& kind) {
  constexpr std::array<std::string_view, 7> kKinds = {
      "slip", "jump", "break", "lost-time", "outliers", "clipped", "dead-channel"};
  return std::ranges::count(kKinds, kind) > 0;
}

Eigen::Index lively_row(const estimator::Segment& segment, unsigned seed) {
  const auto column = segment.angles.col(segment.angles.cols() - 1);
  const Eigen::Index rows = column.size(), apart = rows_in(segment, 0.02);
  const Eigen::VectorXd moved = column.tail(rows - apart) - column.head(rows - apart);
  const double typical = std::sqrt(moved.squaredNorm() / static_cast<double>(moved.size()));
  // At random in the middle of the recording, and cyclically, since motions end.
  const Eigen::Index first = rows / 10, range = rows - 2 * first - apart;
  const Eigen::Index begin = static_cast<Eigen::Index>(seed * 7919U) % range;
  for (Eigen::Index k = 0; k < range; ++k) {
    const Eigen::Index row = first + (begin + k) % range;
    if (std::abs(moved[row]) >= typical) return row;
  }
  return first;
}

double last_quantum(const random_rigs::RandomRig& rig) {
  return estimator::find_quantization_steps(estimator::used_encoders(rig.mechanism),
                                            {rig.recording})
      .back();
}

DroppedRows drop_rows(const random_rigs::RandomRig& rig, double share, unsigned seed) {
  const estimator::Segment& segment = rig.recording.segments.front();
  service::RecordingFormat format;
  format.time_column = "t";
  format.speed_max = 1e3;  // [rad/s]; double pendulums tumble
  std::string text = "t";
  const auto add_column = [&](const std::string& name) { return text += "," + name, name; };
  for (const estimator::Encoder& sensor : estimator::used_encoders(rig.mechanism)) {
    format.angles.push_back({.column = add_column("angle of " + sensor.name),
                             .joint = sensor.name,
                             .kind = sensor.kind});
  }
  for (Eigen::Index i = 0; i < segment.controls.cols(); ++i) {
    format.controls.push_back(
        {.column = add_column("u" + std::to_string(i)), .joint = "", .unit = "V"});
  }
  DroppedRows lost;
  lost.emptied = rig.recording;
  std::mt19937 random(seed);
  std::bernoulli_distribution is_lost(share);
  const auto add_cell = [&](double value) {
    char cell[32];
    std::snprintf(cell, sizeof cell, "%s%.17g", text.back() == '\n' ? "" : ",", value);
    text += cell;
  };
  for (Eigen::Index k = 0; k < segment.angles.rows(); ++k) {
    if (k > 0 && k + 1 < segment.angles.rows() && is_lost(random)) {
      lost.emptied.segments.front().angles.row(k).setConstant(
          std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    text += "\n";
    add_cell(segment.time(k));
    for (const double angle : segment.angles.row(k)) add_cell(angle);
    for (const double control : segment.controls.row(k)) add_cell(control);
  }
  lost.absent = service::import_csv_text("run.csv", text + "\n", format).recording;
  return lost;
}

}  // namespace signal_faults
