#include "estimator/calibrate/state_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "estimator/calibrate/shooting_fit.hpp"
#include "estimator/calibrate/withheld_sensors.hpp"
#include "estimator/tree/inertial_sensing.hpp"

namespace estimator {
namespace {

using RowMajor = IntervalSlopes::RowMajor;

Mechanism kept(Mechanism mechanism) {
  for (Parameter& parameter : mechanism.parameters) parameter.free = false;
  return mechanism;
}

/// One segment between the nodes that the joint estimation has found.
class SegmentSmoother {
 public:
  SegmentSmoother(const ShootingFit& fit, int segment, int threads)
      : problem_(fit.joint()),
        mechanism_(problem_.mechanism()),
        segment_(fit.input().segments[static_cast<std::size_t>(segment)]),
        index_(segment),
        threads_(threads),
        program_(mechanism_, fit.input().grid.coordinates),
        sensing_(mechanism_, sensed_axes(mechanism_, {segment_}), {}),
        c_(program_.coordinate_count()),
        n_(program_.joint_count()) {
    for (int k = 0; k < segment_.sample_count(); ++k) times_.push_back(segment_.time(k));
    density_.setZero(c_);
    for (int p = 0; p < c_; ++p) {
      if (fit.is_process_noise_seen(p)) density_[p] = problem_.noise().acceleration[p];
    }
    lay_edges(fit.input().grid.step);
    std::vector<ControlDelay> delays;
    for (const int motor : program_.motors()) {
      delays.push_back(
          {mechanism_.hinge_parameter(motor, HingeQuantity::kInputDelay).value, false});
    }
    controls_ = HeldControls(segment_, edges_, delays);
  }

  StateEstimate run() {
    move_through_nodes();
    step_between_samples();
    read();
    filter();
    smooth();
    return result();
  }

 private:
  int count() const { return segment_.sample_count(); }

  /// Every sample and every node ends a step, and none is longer than the longest.
  void lay_edges(double step) {
    std::vector<double> instants = times_;
    const int nodes = static_cast<int>(problem_.states(index_).cols());
    for (int k = 0; k < nodes; ++k) instants.push_back(k * problem_.spacing(index_));
    std::ranges::sort(instants);
    edges_ = {instants.front()};
    for (const double instant : instants) {
      const double from = edges_.back(), gap = instant - from;
      if (gap <= kSampleTolerance * segment_.period) continue;
      const int parts = static_cast<int>(std::ceil(gap / step * (1.0 - kSampleTolerance)));
      for (int i = 1; i < parts; ++i) edges_.push_back(from + gap * i / parts);
      edges_.push_back(instant);
    }
  }

  /// The step that begins at an instant.
  int step_at(double time) const {
    const double slack = kSampleTolerance * segment_.period;
    return static_cast<int>(std::ranges::lower_bound(edges_, time - slack) - edges_.begin());
  }

  MotionInterval interval(double begin, double end, int first_look, int last_look) const {
    return {.controls = &controls_,
            .first_stretch = controls_.first(step_at(begin)),
            .last_stretch = controls_.first(step_at(end)),
            .period = segment_.period,
            .look_times = times_.data(),
            .first_look = first_look,
            .last_look = last_look};
  }

  /// Motion at the samples from the nodes before them.
  void move_through_nodes() {
    const Eigen::MatrixXd nodes = problem_.states(index_);
    std::vector<MotionInterval> intervals;
    for (Eigen::Index k = 0; k < nodes.cols(); ++k) {
      const double begin = static_cast<double>(k) * problem_.spacing(index_);
      const bool is_last = k + 1 == nodes.cols();
      const double end = is_last ? edges_.back() : begin + problem_.spacing(index_);
      intervals.push_back(interval(begin, end, segment_.first_sample_from(begin),
                                   is_last ? count() : segment_.first_sample_from(end)));
      intervals.back().start = state_of(nodes.col(k));
      intervals.back().guess = nodes.col(k).head(n_);
    }
    std::vector<Eigen::MatrixXd> unused(intervals.size());
    IntervalMotion(program_, mechanism_, threads_).run(intervals, unused);
    states_.resize(2 * c_, count());
    guesses_.resize(program_.has_loops() ? n_ : 0, count());
    for (const MotionInterval& each : intervals) {
      if (!each.looks) continue;
      const Eigen::Index looks = each.last_look - each.first_look;
      states_.middleCols(each.first_look, looks) = each.looks->states;
      guesses_.middleCols(each.first_look, looks) = each.looks->guesses;
    }
  }

  Eigen::VectorXd state_of(const Eigen::VectorXd& joints) const {
    Eigen::VectorXd state(2 * c_);
    for (int p = 0; p < c_; ++p) {
      const int joint = program_.independent()[static_cast<std::size_t>(p)];
      state[p] = joints[joint];
      state[c_ + p] = joints[n_ + joint];
    }
    return state;
  }

  /// Derivatives from each sample to the next, and of what is read and of the joints there.
  void step_between_samples() {
    std::vector<MotionInterval> steps;
    for (int k = 0; k < count(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const double end = k + 1 < count() ? times_[at + 1] : times_[at];
      steps.push_back(interval(times_[at], end, k, k + 1));
      steps.back().start = states_.col(k);
      if (program_.has_loops()) steps.back().guess = guesses_.col(k);
    }
    // The last sample has no step after it: it is looked at where the step before it ends.
    MotionInterval& last = steps.back();
    const MotionInterval& before = steps[steps.size() - 2];
    last.first_stretch = before.first_stretch;
    last.last_stretch = before.last_stretch;
    std::vector<Eigen::MatrixXd> unused(steps.size());
    const IntervalMotion motion(program_, mechanism_, threads_);
    motion.run(std::span(steps).first(steps.size() - 1),
               std::span(unused).first(steps.size() - 1));
    last.looks = std::make_shared<LookLog>(*before.looks);
    last.looks->first = count() - 1;
    last.looks->states = states_.col(count() - 1);
    if (program_.has_loops()) last.looks->guesses = guesses_.col(count() - 1);
    std::vector<IntervalSlopes::Result> slopes(steps.size());
    IntervalSlopes(program_, mechanism_, {}, threads_)
        .run(std::span<const MotionInterval>(steps).first(steps.size() - 1),
             std::span(slopes).first(steps.size() - 1));
    for (IntervalSlopes::Result& each : slopes) {
      moves_.push_back(std::move(each.end));
      each.looks = RowMajor::Identity(2 * c_, 2 * c_);
    }
    for (int k = 0; k + 1 < count(); ++k) {
      defects_.push_back(states_.col(k + 1) - steps[static_cast<std::size_t>(k)].end);
    }
    if (sensing_.axis_count() > 0) {
      linearize_sensing(program_, sensing_, mechanism_, steps, slopes);
      predicted_.resize(steps.size());
      sense(program_, sensing_, mechanism_, steps, predicted_, threads_);
      for (IntervalSlopes::Result& each : slopes) sensed_slopes_.push_back(each.inertial);
    }
    linearize_motion(program_, mechanism_, steps, motion_, motion_slopes_);
  }

  struct Reading {
    Eigen::RowVectorXd slope;
    double residual, variance;
    // Of the filter: what the reading brought, and how much was made of it.
    double innovation = 0.0, spread = 0.0;
    Eigen::VectorXd gain = {};
  };

  /// Readings of each sample, those of late sensors with the sample that they are of.
  void read() {
    readings_.resize(static_cast<std::size_t>(count()));
    const std::vector<Sensor> sensors = sensors_of(mechanism_);
    for (int k = 0; k < count(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      for (std::size_t i = 0; i < sensors.size(); ++i) {
        const auto column = static_cast<Eigen::Index>(i);
        const double value = segment_.angles(k, column);
        if (std::isnan(value)) continue;
        Eigen::RowVectorXd slope = Eigen::RowVectorXd::Zero(2 * c_);
        for (const Sensor::Term& term : sensors[i].terms) {
          slope += term.sign * motion_slopes_[at].row(term.hinge);
        }
        const double error = value - problem_.angles(index_)(k, column);
        readings_[at].push_back({slope, sensors[i].difference(error),
                                 std::pow(problem_.noise().angle[column], 2)});
      }
    }
    for (int place = 0; place < sensing_.axis_count(); ++place) read_inertial(place);
  }

  void read_inertial(int place) {
    const int axis = sensing_.axes()[static_cast<std::size_t>(place)];
    const int index =
        mechanism_.index_of_inertial(axis / InertialSensor::kAxes, InertialQuantity::kDelay);
    const double delay = mechanism_.parameters[static_cast<std::size_t>(index)].value;
    for (int k = 0; k < count(); ++k) {
      const double value = segment_.inertial(k, axis);
      const int of = segment_.first_sample_from(times_[static_cast<std::size_t>(k)] - delay -
                                                0.5 * segment_.period);
      if (std::isnan(value) || times_[static_cast<std::size_t>(k)] < delay) continue;
      const auto at = static_cast<std::size_t>(of);
      readings_[at].push_back({sensed_slopes_[at][static_cast<std::size_t>(place)].row(0),
                               value - predicted_[at](0, place),
                               std::pow(problem_.noise().inertial[axis], 2)});
    }
  }

  double period(int sample) const {
    const auto at = static_cast<std::size_t>(std::min(sample, count() - 2));
    return times_[at + 1] - times_[at];
  }

  /// Moves of the state from its nodes' motion, forward in time.
  void filter() {
    Eigen::VectorXd mean = Eigen::VectorXd::Zero(2 * c_);
    Eigen::VectorXd spread(2 * c_);
    spread << Eigen::VectorXd::Constant(c_, kStartAngleDeviation),
        Eigen::VectorXd::Constant(c_, kStartRateDeviation);
    Eigen::MatrixXd covariance = spread.cwiseAbs2().asDiagonal();
    for (int k = 0; k < count(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      for (Reading& reading : readings_[at]) {
        const Eigen::VectorXd cross = covariance * reading.slope.transpose();
        reading.spread = reading.slope.dot(cross) + reading.variance;
        reading.innovation = reading.residual - reading.slope.dot(mean);
        reading.gain = cross / reading.spread;
        mean += reading.gain * reading.innovation;
        covariance -= reading.gain * cross.transpose();
      }
      means_.push_back(mean);
      covariances_.push_back(covariance);
      if (k + 1 == count()) break;
      mean = moves_[at] * mean - defects_[at];
      covariance = (moves_[at] * covariance * moves_[at].transpose()).eval();
      const double T = period(k);
      for (int p = 0; p < c_; ++p) {
        const double density = std::pow(density_[p], 2);
        covariance(p, p) += density * T * T * T / 3.0;
        covariance(p, c_ + p) += density * T * T / 2.0;
        covariance(c_ + p, p) += density * T * T / 2.0;
        covariance(c_ + p, c_ + p) += density * T;
      }
    }
  }

  /// And back, by the adjoint of the filter: no covariance is inverted, which motion that forgets
  /// its past, or noise that is next to nothing, would forbid.
  void smooth() {
    Eigen::VectorXd adjoint = Eigen::VectorXd::Zero(2 * c_);
    Eigen::MatrixXd information = Eigen::MatrixXd::Zero(2 * c_, 2 * c_);
    for (int k = count(); k-- > 0;) {
      const auto at = static_cast<std::size_t>(k);
      const Eigen::MatrixXd filtered = covariances_[at];
      means_[at] -= filtered * adjoint;
      covariances_[at] -= filtered * information * filtered;
      for (std::size_t i = readings_[at].size(); i-- > 0;) {
        const Reading& reading = readings_[at][i];
        const Eigen::VectorXd slope = reading.slope.transpose();
        adjoint -= slope * (reading.gain.dot(adjoint) + reading.innovation / reading.spread);
        const Eigen::VectorXd passed = information * reading.gain;
        const double own = reading.gain.dot(passed) + 1.0 / reading.spread;
        information += slope * (own * slope.transpose() - passed.transpose());
        information -= passed * slope.transpose();
      }
      if (k == 0) break;
      adjoint = (moves_[at - 1].transpose() * adjoint).eval();
      information = (moves_[at - 1].transpose() * information * moves_[at - 1]).eval();
    }
  }

  StateEstimate result() const {
    StateEstimate out;
    out.start = segment_.start;
    out.times = times_;
    Eigen::MatrixXd* const values[] = {&out.angles, &out.rates, &out.accelerations};
    Eigen::MatrixXd* const deviations[] = {&out.angle_deviations, &out.rate_deviations,
                                           &out.acceleration_deviations};
    for (Eigen::MatrixXd* each : values) each->resize(count(), n_);
    for (Eigen::MatrixXd* each : deviations) each->resize(count(), n_);
    for (int k = 0; k < count(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const Eigen::VectorXd pushed = unexplained(k);
      for (int part = 0; part < 3; ++part) {
        for (int j = 0; j < n_; ++j) {
          const auto slope = motion_slopes_[at].row(part * n_ + j);
          double value = motion_(part * n_ + j, k) + slope.dot(means_[at]);
          double variance = slope.dot(covariances_[at] * slope.transpose());
          if (part == 2) {
            for (int p = 0; p < c_; ++p) {
              const double coupling = motion_slopes_[at](n_ + j, c_ + p);
              value += coupling * pushed[p];
              variance += std::pow(coupling * density_[p], 2) / period(k);
            }
          }
          (*values[part])(k, j) = value;
          (*deviations[part])(k, j) = std::sqrt(std::max(variance, 0.0));
        }
      }
    }
    return out;
  }

  /// Acceleration of the coordinates that the model leaves unexplained until the next sample.
  Eigen::VectorXd unexplained(int sample) const {
    const auto at = static_cast<std::size_t>(std::min(sample, count() - 2));
    const Eigen::VectorXd jump = means_[at + 1] - (moves_[at] * means_[at] - defects_[at]);
    return jump.tail(c_) / period(sample);
  }

  const ShootingProblem& problem_;
  const Mechanism& mechanism_;
  const Segment& segment_;
  int index_, threads_;
  TreeProgram program_;
  SensingProgram sensing_;
  int c_, n_;
  Eigen::VectorXd density_;  // root spectral, of what the data show to be unexplained
  std::vector<double> times_, edges_;
  HeldControls controls_;
  Eigen::MatrixXd states_, guesses_;          // coordinates over rates, joints × samples
  Eigen::MatrixXd motion_;                    // joint angles, rates, accelerations × samples
  std::vector<RowMajor> motion_slopes_;       // of these along the state, one a sample
  std::vector<RowMajor> moves_;               // from sample to sample
  std::vector<Eigen::VectorXd> defects_;      // of the nodes' motion there
  std::vector<Eigen::MatrixXd> predicted_;    // 1 × inertial axes
  std::vector<std::vector<RowMajor>> sensed_slopes_;
  std::vector<std::vector<Reading>> readings_;
  std::vector<Eigen::VectorXd> means_;
  std::vector<Eigen::MatrixXd> covariances_;
};

}  // namespace

std::vector<StateEstimate> estimate_states(const Mechanism& rig, const Mechanism& estimate,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationOptions& options,
                                           const CalibrationMonitor& monitor) {
  const std::vector<Recording> used = set_withheld_aside(rig, recordings);
  ShootingFit fit(prepare_shooting(kept(rig), used, options), options, monitor,
                  {"state estimation", "initial states"});
  fit.estimate_jointly(kept(estimate));
  std::vector<StateEstimate> estimates;
  for (int s = 0; s < fit.joint().segment_count() && !fit.is_cancelled(); ++s) {
    estimates.push_back(SegmentSmoother(fit, s, monitor.threads).run());
    estimates.back().recording = fit.input().sources[static_cast<std::size_t>(s)];
  }
  return estimates;
}

}  // namespace estimator
