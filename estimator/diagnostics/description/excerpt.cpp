#include "estimator/diagnostics/description/excerpt.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "estimator/fit/loop_closed_states.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {
namespace {

constexpr int kRowsMin = 10;

/// An excerpt of a recording: every `stride`-th of the rows [first, first + count) of a segment.
struct Piece {
  std::size_t recording = 0, segment = 0;
  Eigen::Index first = 0, count = 0;
  Eigen::VectorXd activity = {};  ///< sums of squared sensor changes and of squared controls
  double score = 0.0;
};

/// Returns the sums of squared changes of each sensor and of squared controls in an excerpt.
Eigen::VectorXd activity_of(const std::vector<JointKind>& kinds, const Segment& segment,
                            Eigen::Index first, Eigen::Index count, Eigen::Index stride) {
  const Eigen::Index sensors = segment.angles.cols(), motors = segment.controls.cols();
  Eigen::VectorXd activity = Eigen::VectorXd::Zero(sensors + motors);
  for (Eigen::Index k = first + stride; k < first + count; k += stride) {
    for (Eigen::Index i = 0; i < sensors; ++i) {
      const double turn = joint_coordinate_difference(
          kinds[static_cast<std::size_t>(i)], segment.angles(k, i) - segment.angles(k - stride, i));
      if (!std::isnan(turn)) activity[i] += turn * turn;
    }
    activity.tail(motors) += segment.controls.row(k).transpose().cwiseAbs2();
  }
  return activity;
}

Eigen::Index stride_of(const Segment& segment, double period) {
  return std::max<Eigen::Index>(1, std::lround(period / segment.period));
}

std::vector<Piece> candidate_pieces(const Mechanism& mechanism,
                                    const std::vector<Recording>& recordings,
                                    const ExcerptLimits& budget) {
  const std::vector<JointKind> kinds = encoder_joint_kinds(mechanism);
  std::vector<Piece> pieces;
  for (std::size_t r = 0; r < recordings.size(); ++r) {
    for (std::size_t s = 0; s < recordings[r].segments.size(); ++s) {
      const Segment& segment = recordings[r].segments[s];
      const Eigen::Index stride = stride_of(segment, budget.period);
      const auto parts = std::max<Eigen::Index>(
          1, std::lround(segment.sample_count() * segment.period / budget.piece));
      const Eigen::Index count = segment.sample_count() / parts;
      if (count / stride < kRowsMin) continue;
      for (Eigen::Index part = 0; part < parts; ++part) {
        Piece piece{.recording = r, .segment = s, .first = part * count, .count = count};
        piece.activity = activity_of(kinds, segment, piece.first, count, stride);
        pieces.push_back(std::move(piece));
      }
    }
  }
  return pieces;
}

/// Scores excerpts by the sum of the activities of all sensors and controls, each relative to its
/// maximum over all excerpts.
void score(std::vector<Piece>& pieces) {
  if (pieces.empty()) return;
  Eigen::VectorXd most = Eigen::VectorXd::Zero(pieces.front().activity.size());
  for (const Piece& piece : pieces) most = most.cwiseMax(piece.activity);
  for (Piece& piece : pieces) {
    for (Eigen::Index i = 0; i < most.size(); ++i) {
      if (most[i] > 0.0) piece.score += piece.activity[i] / most[i];
    }
  }
}

Segment thin(const Recording& recording, const Piece& piece, Eigen::Index stride) {
  const Segment& from = recording.segments[piece.segment];
  const Eigen::Index rows = piece.count / stride;
  Segment segment;
  segment.start = from.start + from.time(piece.first);
  segment.recording_start =
      std::isnan(from.recording_start) ? recording.segments.front().start : from.recording_start;
  segment.period = from.period * static_cast<double>(stride);
  segment.angles.resize(rows, from.angles.cols());
  segment.controls.resize(rows, from.controls.cols());
  segment.inertial.resize(from.inertial.cols() > 0 ? rows : 0, from.inertial.cols());
  for (Eigen::Index k = 0; k < rows; ++k) {
    const Eigen::Index at = piece.first + k * stride;
    segment.angles.row(k) = from.angles.row(at);
    if (from.inertial.cols() > 0) segment.inertial.row(k) = from.inertial.row(at);
    segment.controls.row(k) = from.controls.middleRows(at, stride).colwise().mean();
    if (!from.times.empty()) segment.times.push_back(from.time(at) - from.time(piece.first));
  }
  for (EncoderShift shift : from.shifts) {
    const Eigen::Index row = (shift.sample - piece.first + stride - 1) / stride;
    if (row >= rows) continue;
    shift.sample = static_cast<int>(std::max<Eigen::Index>(row, 0));
    segment.shifts.push_back(shift);
  }
  return segment;
}

/// Returns the joint positions at the start of each selected excerpt.
std::vector<Eigen::VectorXd> assemblies_of(const Mechanism& mechanism,
                                           const std::vector<Recording>& recordings,
                                           const std::vector<Piece>& pieces,
                                           const std::vector<std::size_t>& chosen) {
  std::vector<Eigen::VectorXd> all(pieces.size());
  for (std::size_t r = 0; r < recordings.size(); ++r) {
    for (std::size_t s = 0; s < recordings[r].segments.size(); ++s) {
      std::vector<std::size_t> own;
      std::vector<Eigen::Index> rows;
      for (const std::size_t each : chosen) {
        if (pieces[each].recording != r || pieces[each].segment != s) continue;
        own.push_back(each);
        rows.push_back(pieces[each].first);
      }
      const auto found = assemble_loops_at_samples(mechanism, recordings[r].segments[s], rows);
      for (std::size_t i = 0; i < own.size(); ++i) all[own[i]] = found[i];
    }
  }
  return all;
}

}  // namespace

std::vector<Recording> select_excerpts(const Mechanism& mechanism,
                                       const std::vector<Recording>& recordings,
                                       const ExcerptLimits& budget) {
  std::vector<Piece> pieces = candidate_pieces(mechanism, recordings, budget);
  score(pieces);
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return pieces[a].score > pieces[b].score; });
  double duration = 0.0;
  Eigen::Index rows = 0;
  std::vector<std::size_t> chosen;
  for (const std::size_t each : order) {
    const Piece& piece = pieces[each];
    const Segment& segment = recordings[piece.recording].segments[piece.segment];
    const Eigen::Index own = piece.count / stride_of(segment, budget.period);
    if (!chosen.empty() && (duration >= budget.duration || rows + own > budget.rows)) continue;
    duration += static_cast<double>(piece.count) * segment.period;
    rows += own;
    chosen.push_back(each);
  }
  std::ranges::sort(chosen);
  const std::vector<Eigen::VectorXd> assemblies =
      assemblies_of(mechanism, recordings, pieces, chosen);
  std::vector<Recording> excerpts;
  for (const std::size_t each : chosen) {
    const Piece& piece = pieces[each];
    const Recording& from = recordings[piece.recording];
    const Segment& segment = from.segments[piece.segment];
    if (excerpts.empty() || excerpts.back().name != from.name) excerpts.push_back({from.name, {}});
    excerpts.back().segments.push_back(thin(from, piece, stride_of(segment, budget.period)));
    excerpts.back().segments.back().assembled = assemblies[each];
  }
  return excerpts;
}

}  // namespace estimator
