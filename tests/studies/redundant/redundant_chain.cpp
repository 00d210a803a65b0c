#include <cmath>
#include <ctime>
#include <random>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "tests/studies/motion_observer/motion_search.hpp"
#include "tests/studies/redundant/redundant.hpp"
#include "tests/studies/redundant/redundant_line.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace service {
namespace {

namespace est = estimator;
using Random = std::mt19937_64;

/// Largest error of an estimate near the true motion, in standard deviations.
constexpr double kNearTruthDeviations = 6.0;

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

double normal(Random& random, double deviation) {
  return std::normal_distribution<double>(0.0, deviation)(random);
}

est::InstantAxis load(int joint, est::JointLoad component) {
  return {est::InstantQuantity::kLoad, joint, static_cast<int>(component)};
}

/// Random chain of rods of 0.5 to 1.5 kg and 0.5 to 1.5 m. Centres of mass are in the rods' middle
/// 40 %. Each rod has an inertial sensor in its outer half and one in its inner half.
struct DrawnChain {
  est::Mechanism mechanism;
  std::vector<LinkLine> links;
};

DrawnChain draw_links(int count, Random& random) {
  DrawnChain drawn;
  est::Mechanism& mechanism = drawn.mechanism;
  mechanism = est::make_chain({.links = count});
  for (int i = 0; i < count; ++i) {
    const std::string name = std::to_string(i + 1);
    for (const char* half : {"outer", "inner"}) {
      mechanism.sensors.push_back({.name = half + name, .body = i});
    }
  }
  est::make_parameters(mechanism);
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX();
  double before = 0.0;  // from the previous link's centre of mass to its tip [m]
  for (int i = 0; i < count; ++i) {
    LinkLine link;
    link.mass = uniform(random, 0.5, 1.5);
    link.length = uniform(random, 0.5, 1.5);
    link.center = uniform(random, 0.3, 0.7) * link.length;
    link.inertia = link.mass * link.length * link.length / 12.0;
    link.sensors[0] = uniform(random, 0.5, 1.0) * link.length;
    link.sensors[1] = uniform(random, 0.0, 0.5) * link.length;
    mechanism.parameter(i, est::BodyParameter::kMass).value = link.mass;
    est::set_inertia(mechanism, i, {1e-3 * link.inertia, link.inertia, link.inertia});
    est::set_joint_points(mechanism, i, before * x, -link.center * x);
    before = link.length - link.center;
    for (int k = 0; k < 2; ++k) {
      mechanism.sensor_parameter(2 * i + k, est::SensorParameter::kPointX).value =
          link.sensors[static_cast<std::size_t>(k)] - link.center;
    }
    drawn.links.push_back(link);
  }
  return drawn;
}

/// Random sensors of a chain. Each link has four axes: rate about z, specific force along x and y,
/// and a random axis (torque of its joint, a component of its joint's force, or an axis of a second
/// accelerometer).
struct DrawnSensors {
  std::vector<est::InstantAxis> axes;
  est::InstantNoise noise;
};

DrawnSensors draw_sensors(int links, const StudyNoise& noise, Random& random) {
  DrawnSensors sensors;
  std::vector<double> deviations;
  const auto add = [&](const est::InstantAxis& axis, double deviation) {
    sensors.axes.push_back(axis);
    deviations.push_back(deviation);
  };
  const auto inertial = [](int sensor, int axis) {
    return est::InstantAxis{est::InstantQuantity::kInertial, sensor, axis};
  };
  for (int i = 0; i < links; ++i) {
    add(inertial(2 * i, 2), noise.gyroscope);
    add(inertial(2 * i, 3), noise.accelerometer);
    add(inertial(2 * i, 4), noise.accelerometer);
  }
  for (int i = 0; i < links; ++i) {
    switch (std::uniform_int_distribution<int>(0, 4)(random)) {
      case 0:
        add(load(i, est::JointLoad::kTorque), noise.moment);
        break;
      case 1:
        add(load(i, est::JointLoad::kForceX), noise.force);
        break;
      case 2:
        add(load(i, est::JointLoad::kForceY), noise.force);
        break;
      case 3:
        add(inertial(2 * i + 1, 3), noise.accelerometer);
        break;
      default:
        add(inertial(2 * i + 1, 4), noise.accelerometer);
    }
  }
  sensors.noise.axes =
      Eigen::Map<Eigen::VectorXd>(deviations.data(), static_cast<Eigen::Index>(deviations.size()));
  return sensors;
}

/// Returns the axes that compute the dynamic variables d, except the external wrenches, which are
/// zero.
std::vector<est::InstantAxis> dynamics_axes(int links) {
  std::vector<est::InstantAxis> axes;
  for (int i = 0; i < links; ++i) {
    for (int k = 0; k < 6; ++k) axes.push_back({est::InstantQuantity::kAcceleration, i, k});
    axes.push_back(load(i, est::JointLoad::kTorque));
    for (int k = 0; k < 6; ++k) {
      axes.push_back(
          {est::InstantQuantity::kLoad, i, static_cast<int>(est::JointLoad::kMomentX) + k});
    }
    axes.push_back({est::InstantQuantity::kMotion, i, 2});
  }
  return axes;
}

/// Random chain with its sensors, its true state, and the prior.
struct ChainCase {
  ChainCase(const RedundantChain& settings, const StudyNoise& levels, std::uint64_t index)
      : random(settings.seed + index),
        chain(draw_links(settings.links, random)),
        sensors(draw_sensors(settings.links, levels, random)),
        estimator(chain.mechanism, sensors.axes, sensors.noise),
        dynamics(chain.mechanism, dynamics_axes(settings.links), false) {
    const int n = settings.links;
    truth.resize(3 * n);
    Eigen::VectorXd apart(3 * n), deviation(3 * n);
    for (int j = 0; j < n; ++j) {
      truth[j] = uniform(random, -M_PI, M_PI);
      truth[n + j] = normal(random, 1.0);
      truth[2 * n + j] = normal(random, 2.0);
      const double most[] = {settings.angle_error, settings.rate_error, settings.dynamics_error};
      for (int part = 0; part < 3; ++part) {
        apart[part * n + j] = uniform(random, 0.0, most[part]);
        deviation[part * n + j] = most[part] / std::sqrt(3.0);  // root mean square of the error
      }
    }
    prior = est::independent_prior(truth + apart, deviation);
  }

  Eigen::VectorXd read(const Eigen::VectorXd& motion) {
    Eigen::VectorXd readings;
    estimator.program().read(motion, readings);
    for (Eigen::Index i = 0; i < readings.size(); ++i) {
      readings[i] += normal(random, sensors.noise.axes[i]);
    }
    return readings;
  }

  Eigen::VectorXd dynamics_of(const Eigen::VectorXd& motion) {
    Eigen::VectorXd values;
    dynamics.read(motion, values);
    return values;
  }

  MotionErrors errors(const Eigen::VectorXd& motion, const Eigen::VectorXd& true_motion) {
    const Eigen::Index n = motion.size() / 3;
    const Eigen::VectorXd error = motion - true_motion;
    return {error.head(n), error.segment(n, n),
            (dynamics_of(motion) - dynamics_of(true_motion)).norm()};
  }

  /// Draws the error of the prior mean of the dynamic variables d, 20 numbers per link [Nori,
  /// section VII-A]. Joint accelerations have the error of the motion's prior. All other variables
  /// are functions of the motion; their wide priors add no information, so the estimator omits
  /// them.
  double draw_prior_dynamics_error(double most) {
    const Eigen::Index n = truth.size() / 3;
    double squares = (prior.mean - truth).tail(n).squaredNorm();
    for (Eigen::Index i = 0; i < 19 * n; ++i) squares += std::pow(uniform(random, 0.0, most), 2);
    return std::sqrt(squares);
  }

  Random random;
  DrawnChain chain;
  DrawnSensors sensors;
  est::MotionObserver estimator;
  est::InstantModel dynamics;
  Eigen::VectorXd truth;
  est::MotionPrior prior;
};

/// Returns the processor time since `start` on one core [s].
double seconds_since(std::clock_t start) {
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Returns the mean of the squared errors of coordinates and rates over their variances.
double normalised_square(const Eigen::VectorXd& error, const Eigen::MatrixXd& covariance) {
  const Eigen::Index state = error.size() / 3 * 2;
  return error.head(state).cwiseAbs2().cwiseQuotient(covariance.diagonal().head(state)).mean();
}

/// Adds the squared errors of an estimate at one instant to the sums over a recording.
void add_instant(ChainCase& own, const Eigen::VectorXd& motion, const Eigen::MatrixXd& covariance,
                 const Eigen::VectorXd& truth, RecordErrors& sums) {
  const Eigen::Index n = motion.size() / 3;
  const MotionErrors errors = own.errors(motion, truth);
  sums.angle += errors.angle.squaredNorm();
  sums.rate += errors.rate.squaredNorm();
  sums.dynamics += errors.dynamics * errors.dynamics;
  sums.angle_bound += covariance.diagonal().head(n).sum();
  sums.rate_bound += covariance.diagonal().segment(n, n).sum();
  sums.normalised += normalised_square(motion - truth, covariance);
}

void finish(RecordErrors& sums, double count) {
  for (double* each :
       {&sums.angle, &sums.rate, &sums.dynamics, &sums.angle_bound, &sums.rate_bound}) {
    *each = std::sqrt(*each / count);
  }
  sums.normalised /= count;
}

/// Draws a random motion from the filter's model, in which the jerk is white noise.
Eigen::MatrixXd draw_jerk_motion(const RedundantChain& settings, const Eigen::VectorXd& start,
                                 Random& random) {
  const Eigen::Index n = start.size() / 3;
  const auto count = static_cast<Eigen::Index>(std::lround(settings.duration / settings.period));
  Eigen::MatrixXd motion(start.size(), count);
  motion.col(0) = start;
  constexpr int kSteps = 20;  // steps per period with constant jerk
  const double h = settings.period / kSteps;
  for (Eigen::Index k = 1; k < count; ++k) {
    Eigen::VectorXd now = motion.col(k - 1);
    for (int step = 0; step < kSteps; ++step) {
      for (Eigen::Index j = 0; j < n; ++j) {
        const double jerk = normal(random, settings.jerk / std::sqrt(h));
        now[j] += h * (now[n + j] + h * (0.5 * now[2 * n + j] + h * jerk / 6.0));
        now[n + j] += h * (now[2 * n + j] + 0.5 * h * jerk);
        now[2 * n + j] += h * jerk;
      }
    }
    motion.col(k) = now;
  }
  return motion;
}

}  // namespace

ChainResult run_draw(const RedundantChain& chain, const StudyNoise& noise, std::uint64_t index) {
  ChainCase own(chain, noise, index);
  const int n = chain.links;
  const Eigen::VectorXd readings = own.read(own.truth);
  ChainResult draw;
  draw.before = own.errors(own.prior.mean, own.truth);
  draw.before.dynamics = own.draw_prior_dynamics_error(chain.dynamics_error);
  std::clock_t start = std::clock();
  const est::FoundMotion found = est::search_motion(own.estimator, readings, own.prior);
  draw.seconds = seconds_since(start);
  draw.iterations = found.iterations;
  draw.lead = found.cost_margin();
  Eigen::VectorXd motion = own.prior.mean;
  if (!found.motions.empty()) {
    motion = found.motions.front().motion;
    draw.converged = found.motions.front().converged;
  }
  start = std::clock();
  own.estimator.estimate(readings, own.prior, motion);
  draw.repeat_seconds = seconds_since(start);
  draw.after = own.errors(motion, own.truth);

  const Eigen::MatrixXd bound = own.estimator.bound(own.truth);
  const Eigen::VectorXd variance = bound.diagonal();
  const Eigen::VectorXd error = motion - own.truth;
  draw.near_truth =
      (error.cwiseAbs2().array() < kNearTruthDeviations * kNearTruthDeviations * variance.array())
          .all();
  draw.angle_bound = std::sqrt(variance.head(n).sum());
  draw.rate_bound = std::sqrt(variance.segment(n, n).sum());
  Eigen::MatrixXd slopes;
  own.dynamics_of(own.truth);
  own.dynamics.linearize(slopes);
  draw.dynamics_bound = std::sqrt((slopes * bound * slopes.transpose()).trace());
  draw.line =
      draw_line(own.chain.links, own.estimator, own.truth, own.prior.mean, readings, motion, draw);
  return draw;
}

ChainRecord run_record(const RedundantChain& chain, const StudyNoise& noise, std::uint64_t index) {
  ChainCase own(chain, noise, index);
  const Eigen::MatrixXd truth = draw_jerk_motion(chain, own.truth, own.random);
  Eigen::MatrixXd readings(own.sensors.noise.axes.size(), truth.cols());
  for (Eigen::Index k = 0; k < truth.cols(); ++k) readings.col(k) = own.read(truth.col(k));
  const est::FoundMotion found = est::search_motion(own.estimator, readings.col(0), own.prior);
  std::vector<Eigen::VectorXd> starts;
  for (const est::InstantEstimate& each : found.motions) starts.push_back(each.motion);
  if (starts.empty()) starts.push_back(own.prior.mean);
  const est::MotionModel model{chain.period, Eigen::VectorXd::Constant(chain.links, chain.jerk)};
  ChainRecord record;
  const std::clock_t start = std::clock();
  const std::vector<est::FilteredInstant> filtered =
      est::filter_motion(own.estimator, readings, own.prior, starts, model);
  const double count = static_cast<double>(truth.cols());
  record.seconds = seconds_since(start) / count;
  const std::vector<est::SmoothedInstant> smoothed = est::smooth_motion(filtered, model);
  for (Eigen::Index k = 0; k < truth.cols(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    const est::InstantEstimate& causal = filtered[at].estimate;
    // A single-instant estimate, with a prior as wide as that of the first instant.
    const est::MotionPrior wide{truth.col(k) + own.prior.mean - own.truth, own.prior.information};
    const est::InstantEstimate alone = own.estimator.estimate(readings.col(k), wide, causal.motion);
    add_instant(own, alone.motion, own.estimator.bound(truth.col(k)), truth.col(k), record.instant);
    add_instant(own, causal.motion, causal.covariance, truth.col(k), record.causal);
    add_instant(own, smoothed[at].motion, smoothed[at].covariance, truth.col(k), record.smoothed);
    record.times.push_back(static_cast<double>(k) * chain.period);
    const auto angle_error = [&](const Eigen::VectorXd& motion) {
      return (motion - truth.col(k)).head(chain.links).norm();
    };
    record.angle_instant.push_back(angle_error(alone.motion));
    record.angle_causal.push_back(angle_error(causal.motion));
    record.angle_smoothed.push_back(angle_error(smoothed[at].motion));
  }
  for (RecordErrors* sums : {&record.instant, &record.causal, &record.smoothed}) {
    finish(*sums, count);
  }
  return record;
}

}  // namespace service
