#include <algorithm>
#include <cmath>

#include "estimator/calibrate/shooting_interval.hpp"
#include "estimator/calibrate/shooting_problem.hpp"

namespace estimator {

void ShootingProblem::update_sensitivities() {
  std::vector<TreeMotion<Dual>> motions;
  for (int first = 0; first < directions(); first += kDualLanes) {
    std::vector<Dual> parameters;
    for (const Parameter& parameter : point_.mechanism.parameters) {
      parameters.emplace_back(parameter.value);
    }
    for (std::size_t i = 0; i < moving_.size(); ++i) {
      const int lane = 2 * hinge_count_ + static_cast<int>(i) - first;
      if (lane < 0 || lane >= kDualLanes) continue;
      const int index = free_.indices()[static_cast<std::size_t>(moving_[i])];
      parameters[static_cast<std::size_t>(index)].derivatives()[lane] = 1.0;
    }
    motions.emplace_back(point_.mechanism, parameters);
  }
  std::vector<TreeMotion<Dual>*> passes;
  for (TreeMotion<Dual>& motion : motions) passes.push_back(&motion);
  std::vector<Sensitivity> sensitivities(static_cast<std::size_t>(node_count_));
  for (int s = 0; s < segment_count(); ++s) {
    const ShotSegment& segment = segments_[static_cast<std::size_t>(s)];
    for (int k = 0; k < segment.node_count; ++k) {
      differentiate(passes, s, k, sensitivities[static_cast<std::size_t>(segment.first_node + k)]);
    }
  }
  point_.sensitivities = std::make_shared<const std::vector<Sensitivity>>(std::move(sensitivities));
}

void ShootingProblem::differentiate(const std::vector<TreeMotion<Dual>*>& passes, int segment,
                                    int interval, Sensitivity& out) const {
  const ShotSegment& shot = segments_[static_cast<std::size_t>(segment)];
  const Span span = span_of(shot, interval);
  const int node = shot.first_node + interval;
  out.readings.resize(sensors_.size());
  for (Eigen::MatrixXd& readings : out.readings) {
    readings.resize(span.last - span.first, directions());
  }
  out.end.resize(2 * hinge_count_, directions());
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    TreeMotion<Dual>& motion = *passes[pass];
    const int first = static_cast<int>(pass) * kDualLanes;
    const int width = std::min(kDualLanes, directions() - first);
    JointState<Dual> state;
    state.angle.resize(hinge_count_);
    state.rate.resize(hinge_count_);
    for (int j = 0; j < hinge_count_; ++j) {
      state.angle[j] = Dual(point_.states(j, node));
      state.rate[j] = Dual(point_.states(hinge_count_ + j, node));
      const int angle_lane = j - first, rate_lane = hinge_count_ + j - first;
      if (angle_lane >= 0 && angle_lane < kDualLanes) state.angle[j].derivatives()[angle_lane] = 1;
      if (rate_lane >= 0 && rate_lane < kDualLanes) state.rate[j].derivatives()[rate_lane] = 1;
    }
    shoot(motion, shot, (*point_.controls)[static_cast<std::size_t>(segment)], span, first, state,
          [&](int sample, double time) {
            for (std::size_t sensor = 0; sensor < sensors_.size(); ++sensor) {
              out.readings[sensor].row(sample - span.first).segment(first, width) =
                  motion.angle_at(sensors_[sensor], time).derivatives().head(width).transpose();
            }
          });
    for (int j = 0; j < hinge_count_; ++j) {
      out.end.row(j).segment(first, width) = state.angle[j].derivatives().head(width).transpose();
      out.end.row(hinge_count_ + j).segment(first, width) =
          state.rate[j].derivatives().head(width).transpose();
    }
  }
}

/// Puts derivatives along node and moving parameters where the block wants them.
void ShootingProblem::spread(const Eigen::Ref<const Eigen::MatrixXd>& sensitivity,
                             ResidualBlock& out) const {
  out.node_jacobian.leftCols(2 * hinge_count_) = sensitivity.leftCols(2 * hinge_count_);
  out.arrow_jacobian.setZero();
  for (std::size_t i = 0; i < moving_.size(); ++i) {
    out.arrow_jacobian.col(moving_[i]) =
        sensitivity.col(2 * hinge_count_ + static_cast<Eigen::Index>(i));
  }
}

void ShootingProblem::linearize(int index, ResidualBlock& out) const {
  const Block& block = blocks_[static_cast<std::size_t>(index)];
  switch (block.kind) {
    case BlockKind::kReadings:
      linearize_readings(block, out);
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
  const ShotSegment& segment = segments_[static_cast<std::size_t>(block.segment)];
  const Span span = span_of(segment, block.interval);
  const int node = segment.first_node + block.interval;
  const double weight = 1.0 / noise_.angle[block.detail];
  shape_block(out, node, 1, 2 * hinge_count_, free_.size(), span.last - span.first, block.detail);
  spread((*point_.sensitivities)[static_cast<std::size_t>(node)]
             .readings[static_cast<std::size_t>(block.detail)],
         out);
  const int hinge = sensors_[static_cast<std::size_t>(block.detail)];
  const int offset =
      free_.position(point_.mechanism.index_of_hinge(hinge, HingeQuantity::kEncoderOffset));
  if (offset >= 0) out.arrow_jacobian.col(offset).setConstant(-1.0);
  int row = 0;
  for (int sample = span.first; sample < span.last; ++sample) {
    if (std::isnan(segment.data.angles(sample, block.detail))) continue;
    const int from = sample - span.first;
    out.residual[row] = weight * reading_error(point_, block.segment, sample, block.detail);
    out.node_jacobian.row(row) = weight * out.node_jacobian.row(from);
    out.arrow_jacobian.row(row) = weight * out.arrow_jacobian.row(from);
    ++row;
  }
  out.rows = row;
}

void ShootingProblem::linearize_acceleration(const Block& block, ResidualBlock& out) const {
  const int node = segments_[static_cast<std::size_t>(block.segment)].first_node + block.interval;
  const int size = 2 * hinge_count_, j = block.detail;
  shape_block(out, node, 2, size, free_.size(), 2, acceleration_group(j));
  const Sensitivity& sensitivity = (*point_.sensitivities)[static_cast<std::size_t>(node)];
  Eigen::MatrixXd moved(2, directions());
  moved << sensitivity.end.row(j), sensitivity.end.row(hinge_count_ + j);
  const Eigen::Matrix2d W = whitening(block.segment, j);
  spread(-W * moved, out);
  out.node_jacobian.rightCols(size).setZero();
  for (Eigen::Index row = 0; row < 2; ++row) {
    out.node_jacobian(row, size + j) = W(row, 0);
    out.node_jacobian(row, size + hinge_count_ + j) = W(row, 1);
  }
  const Eigen::Vector2d defect = whitened_defect(point_, block.segment, block.interval, j);
  out.residual[0] = defect[0];
  out.residual[1] = defect[1];
}

void ShootingProblem::linearize_start(const Block& block, ResidualBlock& out) const {
  const int node = segments_[static_cast<std::size_t>(block.segment)].first_node;
  const int size = 2 * hinge_count_;
  shape_block(out, node, 1, size, free_.size(), size, start_group());
  out.arrow_jacobian.setZero();
  Eigen::VectorXd weights(size);
  weights << Eigen::VectorXd::Constant(hinge_count_, 1.0 / kStartAngleDeviation),
      Eigen::VectorXd::Constant(hinge_count_, 1.0 / kStartRateDeviation);
  out.node_jacobian = weights.asDiagonal();
  out.residual = weights.cwiseProduct(point_.states.col(node) - start_.col(block.segment));
}

}  // namespace estimator
