#include <algorithm>
#include <cmath>

#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/math/small_dense.hpp"
#include "estimator/simulation/sensing_program.hpp"

namespace estimator {

const IntervalSensitivities::IntervalDerivatives& ShootingProblem::node_sensitivities(
    int node) const {
  Sensitivities& all = *point_.slopes;
  all.once.run([&] { compute_sensitivities(all.of_nodes); });
  return all.of_nodes[node];
}

void ShootingProblem::compute_sensitivities(
    std::vector<IntervalSensitivities::IntervalDerivatives>& slopes) const {
  slopes.resize(static_cast<std::size_t>(node_count_));
  for (const ProgramVariants::IntervalRun& run : programs_.runs(point_.mechanism, groups_)) {
    const auto own = std::span(slopes).subspan(run.first, run.count);
    IntervalSensitivities(run.program, run.values, sensors_, threads_, sensing_program_.get())
        .run(std::span(point_.intervals).subspan(run.first, run.count), own);
    for (const int place : run.without_effect) {
      const Eigen::Index column = 2 * coordinate_count() + place;
      for (IntervalSensitivities::IntervalDerivatives& result : own) {
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
  const ResidualBlockId& block = blocks_[index];
  switch (block.kind) {
    case ResidualBlockKind::kReadings:
      return linearize_readings(block, out);
    case ResidualBlockKind::kInertial:
      return linearize_sampled_readings(block, out);
    case ResidualBlockKind::kAcceleration:
      return linearize_acceleration(block, out);
    case ResidualBlockKind::kContact:
      return linearize_contacts(block, out);
    case ResidualBlockKind::kStart:
      return linearize_initial_state(block, out);
    case ResidualBlockKind::kPrior:
      return free_.linearize_priors(point_.mechanism, prior_noise_group(), out);
  }
}

void ShootingProblem::linearize_readings(const ResidualBlockId& block, ResidualBlock& out) const {
  if (sampled_index_[block.detail] >= 0) {
    linearize_sampled_readings(block, out);
    return;
  }
  const ShootingSegment& segment = segments_[block.segment];
  const NodeInterval& span = segment.spans[block.interval];
  const int node = first_node_of_block(block);
  const int states = 2 * coordinate_count();
  const double weight = 1.0 / noise_.angle[block.detail];
  const IntervalSensitivities::RowMajor& along = node_sensitivities(node).readings[block.detail];
  resize_block(out, node, 1, states, free_.size(), span.last - span.first, block.detail);
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
  out.parameter_jacobian.setZero();
  for (std::size_t i = 0; i < moving_.size(); ++i) {
    out.parameter_jacobian.col(moving_[i]).head(row) =
        weight * slopes.col(states + static_cast<Eigen::Index>(i)).head(row);
  }
  out.rows = row;
  if (encoder(block.detail).kind == JointKind::kQuaternion) {
    // Quaternions have the norm 1, so the variance of a component q is the share 1 − q² of that of
    // the components across the quaternion.
    for (int sample = span.first; sample < span.last; ++sample) {
      const double reading = segment.data.angles(sample, block.detail);
      if (!std::isnan(reading)) out.noiseless_rows += std::min(reading * reading, 1.0);
    }
  }
  for (const DependencyTerm& source :
       free_dependencies(point_.mechanism, encoder(block.detail).offset)) {
    const int column = free_.find_position(source.parameter);
    out.parameter_jacobian.col(column).head(row).array() -= weight * source.factor;
  }
  for (const EncoderShift& shift : segment.data.shifts) {
    const int column = free_.find_position(shift.parameter);
    if (column < 0 || shift.sensor != block.detail) continue;
    int read = 0;
    for (int sample = span.first; sample < span.last; ++sample) {
      if (std::isnan(segment.data.angles(sample, block.detail))) continue;
      if (sample >= shift.sample) out.parameter_jacobian(read, column) = weight;
      ++read;
    }
  }
}

void ShootingProblem::linearize_acceleration(const ResidualBlockId& block,
                                             ResidualBlock& out) const {
  const int node = first_node_of_block(block);
  const int size = 2 * coordinate_count(), j = block.detail;
  resize_block(out, node, 2, size, free_.size(), 2, acceleration_noise_group(j));
  const IntervalSensitivities::RowMajor& end = node_sensitivities(node).end;
  const Eigen::VectorXd mix = acceleration_weights(node, j);
  const Eigen::Matrix2d W = defect_whitening(block.segment, block.interval);  // lower triangular
  IntervalSensitivities::RowMajor moved = IntervalSensitivities::RowMajor::Zero(2, end.cols());
  for (int p = 0; p < coordinate_count(); ++p) {
    if (mix[p] == 0.0) continue;
    const auto angle = end.row(p), rate = end.row(coordinate_count() + p);
    moved.row(0) -= mix[p] * W(0, 0) * angle;
    moved.row(1) -= mix[p] * W(1, 0) * angle + mix[p] * W(1, 1) * rate;
  }
  out.node_jacobian.leftCols(size) = moved.leftCols(size);
  out.node_jacobian.rightCols(size).setZero();
  out.parameter_jacobian.setZero();
  for (std::size_t i = 0; i < moving_.size(); ++i) {
    out.parameter_jacobian.col(moving_[i]) = moved.col(size + static_cast<Eigen::Index>(i));
  }
  for (int p = 0; p < coordinate_count(); ++p) {
    out.node_jacobian.col(size + p) = mix[p] * W.col(0);
    out.node_jacobian.col(size + coordinate_count() + p) = mix[p] * W.col(1);
  }
  const Eigen::Vector2d defect = whitened_defect(point_, block.segment, block.interval, j);
  out.residual[0] = defect[0];
  out.residual[1] = defect[1];
}

void ShootingProblem::linearize_initial_state(const ResidualBlockId& block,
                                              ResidualBlock& out) const {
  const int size = 2 * coordinate_count();
  // An initial state with a prior belongs to the noise group of priors, whose variance is given.
  const auto deviation = start_deviation_.col(block.segment);
  const bool known = (deviation.head(coordinate_count()).array() != kStartAngleDeviation).any() ||
                     (deviation.tail(coordinate_count()).array() != kStartRateDeviation).any();
  resize_block(out, first_node_of_block(block), 1, size, free_.size(), size,
               known ? prior_noise_group() : initial_state_noise_group());
  out.parameter_jacobian.setZero();
  out.node_jacobian = deviation.cwiseInverse().asDiagonal();
  out.residual = initial_state_error(point_, block.segment);
}

// --- readings at sample instants: inertial sensors and delayed encoders -------------------------

/// Updates the sample instants, which change with the delays only.
void ShootingProblem::update_sample_instants(Iterate& point) const {
  if (sampled_.empty() || (point.instants && !has_free_delay(point.mechanism, sampled_))) return;
  std::vector<SensorSampleInstants> instants;
  for (const ShootingSegment& segment : segments_) {
    instants.emplace_back(point.mechanism, segment.data, sampled_);
  }
  point.instants = std::make_shared<const std::vector<SensorSampleInstants>>(std::move(instants));
}

/// Assigns the sample instants of each segment to its node intervals.
void ShootingProblem::assign_sample_instants(Iterate& point) const {
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const ShootingSegment& segment = segments_[s];
    const SensorSampleInstants& instants = (*point.instants)[s];
    const double slack = kSampleTolerance * segment.data.period;
    for (int k = 0; k < segment.node_count; ++k) {
      MotionInterval& interval = point.intervals[segment.first_node + k];
      const auto from = [&](int node) {
        if (node == 0) return 0;
        if (node == segment.node_count) return static_cast<int>(instants.times().size());
        const int step = segment.spans[node].begin;
        return instants.first_instant_from(segment.edges[step] - slack);
      };
      interval.sample_instants = instants.times().data();
      interval.first_instant = from(k);
      interval.last_instant = from(k + 1);
    }
  }
}

std::span<const SensorSampleInstants::Reading> ShootingProblem::readings_after_node(
    const Iterate& point, int segment, int node, int place) const {
  const auto& readings = (*point.instants)[segment].readings(place);
  const MotionInterval& interval = point.intervals[node];
  const auto from = [&](int instant) {
    return std::ranges::lower_bound(readings, instant, {}, &SensorSampleInstants::Reading::instant);
  };
  return {from(interval.first_instant), from(interval.last_instant)};
}

/// Returns the predicted reading of a sensor axis at a sample instant.
double ShootingProblem::sampled_prediction(const Iterate& point, int node, int place,
                                           int instant) const {
  return point.sampled[node](instant - point.intervals[node].first_instant, place);
}

double ShootingProblem::inertial_error(const Iterate& point, int segment, int node, int place,
                                       const SensorSampleInstants::Reading& reading) const {
  const int axis = inertial_axes()[place];
  return sampled_prediction(point, node, place, reading.instant) -
         segments_[segment].data.inertial(reading.sample, axis);
}

/// Calls `use(error)` for each reading of an inertial axis in a segment.
template <typename Use>
void ShootingProblem::for_each_inertial_error(const Iterate& point, int segment, int place,
                                              const Use& use) const {
  const ShootingSegment& shot = segments_[segment];
  for (int node = shot.first_node; node < shot.first_node + shot.node_count; ++node) {
    for (const SensorSampleInstants::Reading& reading :
         readings_after_node(point, segment, node, place)) {
      use(inertial_error(point, segment, node, place, reading));
    }
  }
}

double ShootingProblem::inertial_square_sum(const Iterate& point, int segment, int place) const {
  double squares = 0.0;
  for_each_inertial_error(point, segment, place,
                          [&](double error) { squares += std::pow(error, 2); });
  return squares;
}

int ShootingProblem::inertial_reading_count(int place) const {
  std::size_t count = 0;
  for (const SensorSampleInstants& instants : *point_.instants)
    count += instants.readings(place).size();
  return static_cast<int>(count);
}

int ShootingProblem::total_reading_count() const {
  int count = reading_count();
  for (int place = 0; place < std::ssize(inertial_axes_); ++place)
    count += inertial_reading_count(place);
  return count;
}

double ShootingProblem::inertial_squared_error(int place) const {
  double sum = 0.0;
  for (int s = 0; s < segment_count(); ++s) sum += inertial_square_sum(point_, s, place);
  return sum;
}

std::vector<double> ShootingProblem::inertial_prediction_errors(int place) const {
  std::vector<double> errors;
  for (int s = 0; s < segment_count(); ++s) {
    for_each_inertial_error(point_, s, place, [&](double error) { errors.push_back(error); });
  }
  return errors;
}

int ShootingProblem::max_instant_count() const {
  std::size_t most = 0;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    for (int place = 0; place < std::ssize(sampled_); ++place) {
      most = std::max(most, (*point_.instants)[s].readings(place).size());
    }
  }
  return static_cast<int>(most);
}

/// Finds the index of each delayed encoder in `sampled_`.
void ShootingProblem::find_delayed_encoders() {
  for (int i = 0; i < encoder_count(); ++i) {
    const auto found = std::ranges::find(sampled_, encoder_axis(mechanism(), i));
    sampled_index_.push_back(found == sampled_.end() ? -1
                                                     : static_cast<int>(found - sampled_.begin()));
  }
}

/// Stores the predictions of delayed encoders for a segment. Samples without an instant get the
/// nearest prediction.
void ShootingProblem::predict_delayed_encoders(Iterate& point, int segment) const {
  const ShootingSegment& shot = segments_[segment];
  for (int i = 0; i < encoder_count(); ++i) {
    const int place = sampled_index_[i];
    if (place < 0) continue;
    auto readings = point.angles[segment].col(i);
    const auto& all = (*point.instants)[segment].readings(place);
    for (int node = shot.first_node; node < shot.first_node + shot.node_count; ++node) {
      for (const SensorSampleInstants::Reading& reading :
           readings_after_node(point, segment, node, place)) {
        readings[reading.sample] = sampled_prediction(point, node, place, reading.instant);
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
void ShootingProblem::linearize_instant(int node, int place, int instant, int row, double weight,
                                        ResidualBlock& out) const {
  const IntervalSensitivities::RowMajor& along = node_sensitivities(node).inertial[place];
  const double* slope = along.row(instant - point_.intervals[node].first_instant).data();
  for (int i = 0; i < 2 * coordinate_count(); ++i) out.node_jacobian(row, i) = weight * *slope++;
  for (const int column : moving_) out.parameter_jacobian(row, column) = weight * *slope++;
  for (const int constant : sensing_program_->sensor_parameters(place)) {
    const int column = sensing_[static_cast<std::size_t>(constant) - moving_.size()];
    out.parameter_jacobian(row, column) = weight * *slope++;
  }
}

/// Linearizes the readings of an inertial axis or of a delayed encoder.
void ShootingProblem::linearize_sampled_readings(const ResidualBlockId& block,
                                                 ResidualBlock& out) const {
  const ShootingSegment& segment = segments_[block.segment];
  const bool is_encoder = block.kind == ResidualBlockKind::kReadings;
  const int node = first_node_of_block(block), sensor = block.detail;
  const int place = is_encoder ? sampled_index_[sensor] : block.detail;
  const int axis = is_encoder ? -1 : inertial_axes()[place];
  const double weight = 1.0 / (is_encoder ? noise_.angle[sensor] : noise_.inertial[axis]);
  const auto readings = readings_after_node(point_, block.segment, node, place);
  resize_block(out, node, 1, 2 * coordinate_count(), free_.size(),
               static_cast<int>(readings.size()), is_encoder ? sensor : inertial_noise_group(axis));
  out.parameter_jacobian.setZero();
  out.rows = 0;
  for (const SensorSampleInstants::Reading& reading : readings) {
    if (is_encoder && std::isnan(segment.data.angles(reading.sample, sensor))) continue;
    const int row = out.rows++;
    out.residual[row] =
        weight * (is_encoder ? reading_error(point_, block.segment, reading.sample, sensor)
                             : inertial_error(point_, block.segment, node, place, reading));
    linearize_instant(node, place, reading.instant, row, weight, out);
    for (const EncoderShift& shift : segment.data.shifts) {
      const int column = free_.find_position(shift.parameter);
      if (!is_encoder || column < 0 || shift.sensor != sensor || reading.sample < shift.sample) {
        continue;
      }
      out.parameter_jacobian(row, column) = weight;
    }
  }
}

}  // namespace estimator
