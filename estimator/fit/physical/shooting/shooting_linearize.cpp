#include <algorithm>
#include <cmath>

#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/math/small_dense.hpp"

namespace estimator {

const IntervalSensitivities::Result& ShootingProblem::slopes(int node) const {
  Sensitivities& all = *point_.slopes;
  all.once.run([&] { compute_sensitivities(all.of_nodes); });
  return all.of_nodes[static_cast<std::size_t>(node)];
}

void ShootingProblem::compute_sensitivities(
    std::vector<IntervalSensitivities::Result>& slopes) const {
  slopes.resize(static_cast<std::size_t>(node_count_));
  for (const ProgramVariants::Run& run : programs_.runs(point_.mechanism, groups_)) {
    const auto own = std::span(slopes).subspan(run.first, run.count);
    IntervalSensitivities(run.program, run.values, sensors_, threads_, sensing_program_.get())
        .run(std::span(point_.intervals).subspan(run.first, run.count), own);
    for (const int place : run.without_effect) {
      const Eigen::Index column = 2 * coordinate_count() + place;
      for (IntervalSensitivities::Result& result : own) {
        for (std::vector<IntervalSensitivities::RowMajor>* all :
             {&result.readings, &result.inertial}) {
          for (IntervalSensitivities::RowMajor& readings : *all) readings.col(column).setZero();
        }
        result.end.col(column).setZero();
      }
    }
  }
}

void ShootingProblem::linearize(int index, ResidualBlock& out) const {
  const Block& block = blocks_[static_cast<std::size_t>(index)];
  switch (block.kind) {
    case BlockKind::kReadings:
      linearize_readings(block, out);
      return;
    case BlockKind::kInertial:
      linearize_inertial(block, out);
      return;
    case BlockKind::kAcceleration:
      linearize_acceleration(block, out);
      return;
    case BlockKind::kStart:
      linearize_start(block, out);
      return;
    case BlockKind::kPrior:
      free_.linearize_priors(point_.mechanism, prior_group(), out);
      return;
  }
}

void ShootingProblem::linearize_readings(const Block& block, ResidualBlock& out) const {
  if (late_[static_cast<std::size_t>(block.detail)] >= 0) {
    linearize_late(block, out);
    return;
  }
  const ShotSegment& segment = segments_[static_cast<std::size_t>(block.segment)];
  const Span span = span_of(segment, block.interval);
  const int node = segment.first_node + block.interval;
  const int states = 2 * coordinate_count();
  const double weight = 1.0 / noise_.angle[block.detail];
  const IntervalSensitivities::RowMajor& along =
      slopes(node).readings[static_cast<std::size_t>(block.detail)];
  shape_block(out, node, 1, states, free_.size(), span.last - span.first, block.detail);
  const auto is_missing = [&](int sample) {
    return std::isnan(segment.data.angles(sample, block.detail));
  };
  const auto directions = static_cast<int>(along.cols());
  Eigen::MatrixXd slopes(out.residual.size(), directions);
  int row = 0;
  for (int first = span.first, last; first < span.last; first = last) {  // consecutive readings
    for (last = first; last < span.last && !is_missing(last); ++last) {
      out.residual[row + last - first] =
          weight * reading_error(point_, block.segment, last, block.detail);
    }
    transpose(directions, last - first, {along.row(first - span.first).data(), directions},
              {slopes.data() + row, static_cast<int>(slopes.rows())});
    row += last - first;
    while (last < span.last && is_missing(last)) ++last;
  }
  out.node_jacobian.topRows(row) = weight * slopes.topLeftCorner(row, states);
  out.arrow_jacobian.setZero();
  for (std::size_t i = 0; i < moving_.size(); ++i) {
    out.arrow_jacobian.col(moving_[i]).head(row) =
        weight * slopes.col(states + static_cast<Eigen::Index>(i)).head(row);
  }
  out.rows = row;
  for (const DependencyTerm& source :
       free_dependencies(point_.mechanism, sensor(block.detail).offset)) {
    const int column = free_.position(source.parameter);
    out.arrow_jacobian.col(column).head(row).array() -= weight * source.factor;
  }
  for (const EncoderShift& shift : segment.data.shifts) {
    const int column = free_.position(shift.parameter);
    if (column < 0 || shift.sensor != block.detail) continue;
    int read = 0;
    for (int sample = span.first; sample < span.last; ++sample) {
      if (std::isnan(segment.data.angles(sample, block.detail))) continue;
      if (sample >= shift.sample) out.arrow_jacobian(read, column) = weight;
      ++read;
    }
  }
}

void ShootingProblem::linearize_acceleration(const Block& block, ResidualBlock& out) const {
  const int node = segments_[static_cast<std::size_t>(block.segment)].first_node + block.interval;
  const int size = 2 * coordinate_count(), j = block.detail;
  shape_block(out, node, 2, size, free_.size(), 2, acceleration_group(j));
  const IntervalSensitivities::RowMajor& end = slopes(node).end;
  const Eigen::VectorXd mix = mixing(node, j);
  IntervalSensitivities::RowMajor moved = IntervalSensitivities::RowMajor::Zero(2, end.cols());
  for (int p = 0; p < coordinate_count(); ++p) {
    if (mix[p] == 0.0) continue;
    moved.row(0) += mix[p] * end.row(p);
    moved.row(1) += mix[p] * end.row(coordinate_count() + p);
  }
  const Eigen::Matrix2d W = whitening(block.segment, block.interval);
  moved = -W * moved;
  out.node_jacobian.leftCols(size) = moved.leftCols(size);
  out.node_jacobian.rightCols(size).setZero();
  out.arrow_jacobian.setZero();
  for (std::size_t i = 0; i < moving_.size(); ++i) {
    out.arrow_jacobian.col(moving_[i]) = moved.col(size + static_cast<Eigen::Index>(i));
  }
  for (int p = 0; p < coordinate_count(); ++p) {
    out.node_jacobian.col(size + p) = mix[p] * W.col(0);
    out.node_jacobian.col(size + coordinate_count() + p) = mix[p] * W.col(1);
  }
  const Eigen::Vector2d defect = whitened_defect(point_, block.segment, block.interval, j);
  out.residual[0] = defect[0];
  out.residual[1] = defect[1];
}

void ShootingProblem::linearize_start(const Block& block, ResidualBlock& out) const {
  const int node = segments_[static_cast<std::size_t>(block.segment)].first_node;
  const int size = 2 * coordinate_count();
  // An initial state with a prior belongs to the noise group of priors, whose variance is given.
  const auto deviation = start_deviation_.col(block.segment);
  const bool known = (deviation.head(coordinate_count()).array() != kStartAngleDeviation).any() ||
                     (deviation.tail(coordinate_count()).array() != kStartRateDeviation).any();
  shape_block(out, node, 1, size, free_.size(), size, known ? prior_group() : start_group());
  out.arrow_jacobian.setZero();
  out.node_jacobian = deviation.cwiseInverse().asDiagonal();
  out.residual = start_error(point_, block.segment);
}

}  // namespace estimator
