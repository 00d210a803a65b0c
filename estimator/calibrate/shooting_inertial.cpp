#include <algorithm>
#include <cmath>

#include "estimator/calibrate/shooting_problem.hpp"

// What inertial sensors read, as a part of the shooting problem.

namespace estimator {
/// Looks move with the delays alone.
void ShootingProblem::update_looks(Point& point) const {
  if (sensed().empty() || (point.looks && !looks_move(point.mechanism))) return;
  std::vector<InertialLooks> looks;
  for (const ShotSegment& segment : segments_) {
    looks.emplace_back(point.mechanism, segment.data, sensed());
  }
  point.looks = std::make_shared<const std::vector<InertialLooks>>(std::move(looks));
}

/// Divides each segment's looks among its intervals.
void ShootingProblem::give_looks(Point& point) const {
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const ShotSegment& segment = segments_[s];
    const InertialLooks& looks = (*point.looks)[s];
    const double slack = kSampleTolerance * segment.data.period;
    for (int k = 0; k < segment.node_count; ++k) {
      MotionInterval& interval = point.intervals[static_cast<std::size_t>(segment.first_node + k)];
      const auto from = [&](int node) {
        if (node == 0) return 0;
        if (node == segment.node_count) return static_cast<int>(looks.times().size());
        const int step = segment.steps[static_cast<std::size_t>(node)];
        return looks.first_from(segment.edges[static_cast<std::size_t>(step)] - slack);
      };
      interval.look_times = looks.times().data();
      interval.first_look = from(k);
      interval.last_look = from(k + 1);
    }
  }
}

std::span<const InertialLooks::Reading> ShootingProblem::inertial_readings(const Point& point,
                                                                           int segment, int node,
                                                                           int place) const {
  const auto& readings = (*point.looks)[static_cast<std::size_t>(segment)].readings(place);
  const MotionInterval& interval = point.intervals[static_cast<std::size_t>(node)];
  const auto from = [&](int look) {
    return std::ranges::lower_bound(readings, look, {}, &InertialLooks::Reading::look);
  };
  return {from(interval.first_look), from(interval.last_look)};
}

double ShootingProblem::inertial_error(const Point& point, int segment, int node, int place,
                                       const InertialLooks::Reading& reading) const {
  const auto at = static_cast<std::size_t>(node);
  const int axis = sensed()[static_cast<std::size_t>(place)];
  return point.inertial[at](reading.look - point.intervals[at].first_look, place) -
         segments_[static_cast<std::size_t>(segment)].data.inertial(reading.sample, axis);
}

double ShootingProblem::inertial_squares(const Point& point, int segment, int place) const {
  const ShotSegment& shot = segments_[static_cast<std::size_t>(segment)];
  double squares = 0.0;
  for (int node = shot.first_node; node < shot.first_node + shot.node_count; ++node) {
    for (const InertialLooks::Reading& reading : inertial_readings(point, segment, node, place)) {
      squares += std::pow(inertial_error(point, segment, node, place, reading), 2);
    }
  }
  return squares;
}

int ShootingProblem::inertial_reading_count(int place) const {
  std::size_t count = 0;
  for (const InertialLooks& looks : *point_.looks) count += looks.readings(place).size();
  return static_cast<int>(count);
}

double ShootingProblem::inertial_squared_error(int place) const {
  double sum = 0.0;
  for (int s = 0; s < segment_count(); ++s) sum += inertial_squares(point_, s, place);
  return sum;
}

int ShootingProblem::most_inertial_readings() const {
  std::size_t most = 0;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    for (int place = 0; place < std::ssize(sensed_); ++place) {
      most = std::max(most, (*point_.looks)[s].readings(place).size());
    }
  }
  return static_cast<int>(most);
}

void ShootingProblem::linearize_inertial(const Block& block, ResidualBlock& out) const {
  const int node = segments_[static_cast<std::size_t>(block.segment)].first_node + block.interval;
  const auto at = static_cast<std::size_t>(node);
  const int states = 2 * coordinate_count(), place = block.detail;
  const int axis = sensed()[static_cast<std::size_t>(place)];
  const double weight = 1.0 / noise_.inertial[axis];
  const auto readings = inertial_readings(point_, block.segment, node, place);
  const IntervalSlopes::RowMajor& along = slopes(node).inertial[static_cast<std::size_t>(place)];
  shape_block(out, node, 1, states, free_.size(), static_cast<int>(readings.size()),
              inertial_group(axis));
  out.arrow_jacobian.setZero();
  int row = 0;
  for (const InertialLooks::Reading& reading : readings) {
    out.residual[row] = weight * inertial_error(point_, block.segment, node, place, reading);
    const double* slope = along.row(reading.look - point_.intervals[at].first_look).data();
    for (int i = 0; i < states; ++i) out.node_jacobian(row, i) = weight * *slope++;
    for (const int column : moving_) out.arrow_jacobian(row, column) = weight * *slope++;
    for (const int constant : sensing_program_->constants(place)) {
      const int column = sensing_[static_cast<std::size_t>(constant) - moving_.size()];
      out.arrow_jacobian(row, column) = weight * *slope++;
    }
    ++row;
  }
}

}  // namespace estimator
