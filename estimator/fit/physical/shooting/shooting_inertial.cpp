#include <algorithm>
#include <cmath>

#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/simulation/sensing_program.hpp"

// Readings at sample instants in the shooting problem: inertial sensors and delayed encoders.

namespace estimator {
/// Updates the sample instants, which change with the delays only.
void ShootingProblem::update_instants(Point& point) const {
  if (sampled_.empty() || (point.instants && !instants_vary(point.mechanism, sampled_))) return;
  std::vector<SensorSampleInstants> instants;
  for (const ShotSegment& segment : segments_) {
    instants.emplace_back(point.mechanism, segment.data, sampled_);
  }
  point.instants = std::make_shared<const std::vector<SensorSampleInstants>>(std::move(instants));
}

/// Assigns the sample instants of each segment to its node intervals.
void ShootingProblem::share_instants(Point& point) const {
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const ShotSegment& segment = segments_[s];
    const SensorSampleInstants& instants = (*point.instants)[s];
    const double slack = kSampleTolerance * segment.data.period;
    for (int k = 0; k < segment.node_count; ++k) {
      MotionInterval& interval = point.intervals[static_cast<std::size_t>(segment.first_node + k)];
      const auto from = [&](int node) {
        if (node == 0) return 0;
        if (node == segment.node_count) return static_cast<int>(instants.times().size());
        const int step = segment.steps[static_cast<std::size_t>(node)];
        return instants.first_from(segment.edges[static_cast<std::size_t>(step)] - slack);
      };
      interval.sample_instants = instants.times().data();
      interval.first_instant = from(k);
      interval.last_instant = from(k + 1);
    }
  }
}

std::span<const SensorSampleInstants::Reading> ShootingProblem::instants_of(const Point& point,
                                                                            int segment, int node,
                                                                            int place) const {
  const auto& readings = (*point.instants)[static_cast<std::size_t>(segment)].readings(place);
  const MotionInterval& interval = point.intervals[static_cast<std::size_t>(node)];
  const auto from = [&](int look) {
    return std::ranges::lower_bound(readings, look, {}, &SensorSampleInstants::Reading::look);
  };
  return {from(interval.first_instant), from(interval.last_instant)};
}

/// Returns the predicted reading of a sensor axis at a sample instant.
double ShootingProblem::sampled(const Point& point, int node, int place, int look) const {
  const auto at = static_cast<std::size_t>(node);
  return point.sampled[at](look - point.intervals[at].first_instant, place);
}

double ShootingProblem::inertial_error(const Point& point, int segment, int node, int place,
                                       const SensorSampleInstants::Reading& reading) const {
  const int axis = sensed()[static_cast<std::size_t>(place)];
  return sampled(point, node, place, reading.look) -
         segments_[static_cast<std::size_t>(segment)].data.inertial(reading.sample, axis);
}

double ShootingProblem::inertial_squares(const Point& point, int segment, int place) const {
  const ShotSegment& shot = segments_[static_cast<std::size_t>(segment)];
  double squares = 0.0;
  for (int node = shot.first_node; node < shot.first_node + shot.node_count; ++node) {
    for (const SensorSampleInstants::Reading& reading : instants_of(point, segment, node, place)) {
      squares += std::pow(inertial_error(point, segment, node, place, reading), 2);
    }
  }
  return squares;
}

int ShootingProblem::inertial_reading_count(int place) const {
  std::size_t count = 0;
  for (const SensorSampleInstants& instants : *point_.instants)
    count += instants.readings(place).size();
  return static_cast<int>(count);
}

int ShootingProblem::all_reading_count() const {
  int count = reading_count();
  for (int place = 0; place < std::ssize(sensed_); ++place) count += inertial_reading_count(place);
  return count;
}

double ShootingProblem::inertial_squared_error(int place) const {
  double sum = 0.0;
  for (int s = 0; s < segment_count(); ++s) sum += inertial_squares(point_, s, place);
  return sum;
}

std::vector<double> ShootingProblem::inertial_errors(int place) const {
  std::vector<double> errors;
  for (int s = 0; s < segment_count(); ++s) {
    const ShotSegment& shot = segments_[static_cast<std::size_t>(s)];
    for (int node = shot.first_node; node < shot.first_node + shot.node_count; ++node) {
      for (const SensorSampleInstants::Reading& reading : instants_of(point_, s, node, place)) {
        errors.push_back(inertial_error(point_, s, node, place, reading));
      }
    }
  }
  return errors;
}

int ShootingProblem::max_instants() const {
  std::size_t most = 0;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    for (int place = 0; place < std::ssize(sampled_); ++place) {
      most = std::max(most, (*point_.instants)[s].readings(place).size());
    }
  }
  return static_cast<int>(most);
}

/// Finds the index of each delayed encoder in `sampled_`.
void ShootingProblem::place_late() {
  for (int i = 0; i < encoder_count(); ++i) {
    const auto found = std::ranges::find(sampled_, encoder_axis(mechanism(), i));
    late_.push_back(found == sampled_.end() ? -1 : static_cast<int>(found - sampled_.begin()));
  }
}

/// Stores the predictions of delayed encoders for a segment. Samples without an instant get the
/// nearest prediction.
void ShootingProblem::read_late(Point& point, int segment) const {
  const ShotSegment& shot = segments_[static_cast<std::size_t>(segment)];
  for (int i = 0; i < encoder_count(); ++i) {
    const int place = late_[static_cast<std::size_t>(i)];
    if (place < 0) continue;
    auto readings = point.angles[static_cast<std::size_t>(segment)].col(i);
    const auto& all = (*point.instants)[static_cast<std::size_t>(segment)].readings(place);
    for (int node = shot.first_node; node < shot.first_node + shot.node_count; ++node) {
      for (const SensorSampleInstants::Reading& reading :
           instants_of(point, segment, node, place)) {
        readings[reading.sample] = sampled(point, node, place, reading.look);
      }
    }
    if (all.empty()) {
      readings.setZero();
      continue;
    }
    const int first = all.front().sample, last = all.back().sample;
    readings.head(first).setConstant(readings[first]);
    readings.tail(readings.size() - 1 - last).setConstant(readings[last]);
  }
}

/// Writes the weighted derivatives of a prediction at a sample instant as one row of a block.
void ShootingProblem::linearize_instant(int node, int place, int look, int row, double weight,
                                        ResidualBlock& out) const {
  const auto at = static_cast<std::size_t>(node);
  const IntervalSensitivities::RowMajor& along =
      slopes(node).inertial[static_cast<std::size_t>(place)];
  const double* slope = along.row(look - point_.intervals[at].first_instant).data();
  for (int i = 0; i < 2 * coordinate_count(); ++i) out.node_jacobian(row, i) = weight * *slope++;
  for (const int column : moving_) out.arrow_jacobian(row, column) = weight * *slope++;
  for (const int constant : sensing_program_->constants(place)) {
    const int column = sensing_[static_cast<std::size_t>(constant) - moving_.size()];
    out.arrow_jacobian(row, column) = weight * *slope++;
  }
}

void ShootingProblem::linearize_inertial(const Block& block, ResidualBlock& out) const {
  const int node = segments_[static_cast<std::size_t>(block.segment)].first_node + block.interval;
  const int place = block.detail, axis = sensed()[static_cast<std::size_t>(place)];
  const double weight = 1.0 / noise_.inertial[axis];
  const auto readings = instants_of(point_, block.segment, node, place);
  shape_block(out, node, 1, 2 * coordinate_count(), free_.size(), static_cast<int>(readings.size()),
              inertial_group(axis));
  out.arrow_jacobian.setZero();
  int row = 0;
  for (const SensorSampleInstants::Reading& reading : readings) {
    out.residual[row] = weight * inertial_error(point_, block.segment, node, place, reading);
    linearize_instant(node, place, reading.look, row++, weight, out);
  }
}

/// Linearizes the readings of a delayed encoder.
void ShootingProblem::linearize_late(const Block& block, ResidualBlock& out) const {
  const ShotSegment& segment = segments_[static_cast<std::size_t>(block.segment)];
  const int node = segment.first_node + block.interval, sensor = block.detail;
  const int place = late_[static_cast<std::size_t>(sensor)];
  const double weight = 1.0 / noise_.angle[sensor];
  const auto readings = instants_of(point_, block.segment, node, place);
  shape_block(out, node, 1, 2 * coordinate_count(), free_.size(), static_cast<int>(readings.size()),
              sensor);
  out.arrow_jacobian.setZero();
  out.rows = 0;
  for (const SensorSampleInstants::Reading& reading : readings) {
    if (std::isnan(segment.data.angles(reading.sample, sensor))) continue;
    const int row = out.rows++;
    out.residual[row] = weight * reading_error(point_, block.segment, reading.sample, sensor);
    linearize_instant(node, place, reading.look, row, weight, out);
    for (const EncoderShift& shift : segment.data.shifts) {
      const int column = free_.position(shift.parameter);
      if (column < 0 || shift.sensor != sensor || reading.sample < shift.sample) continue;
      out.arrow_jacobian(row, column) = weight;
    }
  }
}

}  // namespace estimator
