#include "estimator/fit/physical/shooting/impact_free_nodes.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "estimator/model/joint_stop.hpp"

namespace estimator {
namespace {

/// Time before and after a shooting node in which impacts are searched [s], and the minimum number
/// of readings in it. If a stop's position is wrong by this time at impact speed, no impact crosses
/// the node.
constexpr double kQuietTime = 0.03;
constexpr int kQuietReadings = 3;

constexpr double kNodeShare = 0.2;  // largest shift of a node, relative to the time between nodes

/// Time between shooting nodes for joints with end stops [s], and the minimum number of readings in
/// it. Of eight Furuta pendulums with a stop on the passive joint, five ended in the wrong motion
/// with 0.2 s, two with 0.1 s, and none with 0.05 s.
constexpr double kStrikingInterval = 0.05;
constexpr int kStrikingReadings = 10;
/// Smallest distance of a joint from an end stop at which it is assumed not to touch the stop,
/// whose initial position may be wrong [rad]. If impacts are recorded, the stop starts at them.
constexpr double kFarFromStop = 0.3;

bool comes_near_stop(const Mechanism& mechanism, const JointStop& stop,
                     const std::vector<Eigen::MatrixXd>& states) {
  const double far = kFarFromStop * mechanism.joints[stop.joint].units().scale;
  return std::ranges::any_of(states, [&](const Eigen::MatrixXd& each) {
    return std::ranges::any_of(each.row(stop.joint), [&](double coordinate) {
      return !(stop.distance_from_stop(coordinate) > far);
    });
  });
}

/// Returns the largest change of speed at an instant over all sensors, times kQuietTime, relative
/// to the sensors' scales.
double kick_at(const Segment& segment, const std::vector<Encoder>& sensors,
               const std::vector<int>& readers, double time) {
  const double reach = std::max(kQuietTime, kQuietReadings * segment.period);
  const auto row = [&](double at) {
    return std::clamp(segment.first_sample_at_or_after(at), 0, segment.sample_count() - 1);
  };
  const int before = row(time - reach), here = row(time), after = row(time + reach);
  double kick = 0.0;
  for (const int i : readers) {
    const Encoder& sensor = sensors[i];
    const auto angle = [&](int sample) { return segment.angles(sample, i); };
    const double change = sensor.reading_difference(angle(after) - angle(here)) -
                          sensor.reading_difference(angle(here) - angle(before));
    if (std::isnan(change)) return std::numeric_limits<double>::infinity();
    kick = std::max(kick, std::abs(change) / sensor.units().scale);
  }
  return kick;
}

/// Smallest whitened defect of a shooting node to repair [standard deviations], and largest number
/// of such nodes. The nodes with the largest defects are tried first.
constexpr double kTangledDefect = 2.0;
constexpr std::size_t kTangledMost = 12;

/// Shooting node with a large defect, and the step that removes it.
struct MisplacedNodes {
  int node = 0;
  double defect = 0.0;  ///< squared, in standard deviations
  Eigen::VectorXd way;
};

std::vector<MisplacedNodes> find_tangles(const ShootingProblem& problem) {
  const int c = problem.coordinate_count(), size = 2 * c;
  std::vector<MisplacedNodes> tangles;
  ResidualBlock block;
  for (int index = 0; index < problem.block_count(); ++index) {
    problem.linearize(index, block);
    const int joint = block.group - problem.acceleration_noise_group(0);
    if (joint < 0 || joint >= c || block.node_span != 2) continue;
    if (tangles.empty() || tangles.back().node != block.first_node + 1) {
      tangles.push_back({.node = block.first_node + 1, .way = Eigen::VectorXd::Zero(size)});
    }
    Eigen::Matrix2d whitening;
    whitening << block.node_jacobian.col(size + joint), block.node_jacobian.col(size + c + joint);
    const Eigen::Vector2d way = -whitening.inverse() * block.residual;
    tangles.back().defect += block.residual.squaredNorm();
    tangles.back().way[joint] = way[0];
    tangles.back().way[c + joint] = way[1];
  }
  std::erase_if(tangles, [](const MisplacedNodes& each) {
    return !(each.defect > kTangledDefect * kTangledDefect);
  });
  std::ranges::stable_sort(tangles, std::greater<>(), &MisplacedNodes::defect);
  if (tangles.size() > kTangledMost) tangles.resize(kTangledMost);
  return tangles;
}

}  // namespace

void remove_distant_stops(const std::vector<Eigen::MatrixXd>& states, Mechanism& mechanism) {
  for (const JointStop& stop : joint_end_stops(mechanism)) {
    if (comes_near_stop(mechanism, stop, states)) continue;
    EndStops& stops = mechanism.joints[stop.joint].stops;
    (stop.where == JointParameter::kStopLower ? stops.lower : stops.upper) = false;
  }
}

double choose_node_interval(const Mechanism& mechanism, const std::vector<Segment>& segments,
                            double usual) {
  if (joint_end_stops(mechanism).empty()) return usual;
  double interval = kStrikingInterval;
  for (const Segment& segment : segments) {
    interval = std::max(interval, kStrikingReadings * segment.period);
  }
  return std::min(interval, usual);
}

std::vector<int> find_encoders_at_end_stops(const Mechanism& mechanism,
                                            const std::vector<Encoder>& sensors) {
  std::vector<int> readers;
  const std::vector<JointStop> stops = joint_end_stops(mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const bool reads = std::ranges::any_of(stops, [&](const JointStop& stop) {
      return std::ranges::count(sensors[i].terms, stop.joint, &Encoder::JointTerm::joint) > 0;
    });
    if (reads) readers.push_back(static_cast<int>(i));
  }
  return readers;
}

int find_impact_free_tick(const Segment& segment, const std::vector<Encoder>& sensors,
                          const std::vector<int>& readers, double tick, int about, int spacing) {
  if (readers.empty()) return about;
  const auto most = static_cast<int>(kNodeShare * spacing);
  int best = about;
  double least = kick_at(segment, sensors, readers, about * tick);
  for (int by = 1; by <= most; ++by) {
    for (const int at : {about - by, about + by}) {
      const double kick = kick_at(segment, sensors, readers, at * tick);
      if (kick < least) {
        least = kick;
        best = at;
      }
    }
  }
  return best;
}

bool move_nodes_to_simulated_ends(ShootingProblem& problem) {
  if (joint_end_stops(problem.mechanism()).empty()) return false;
  const ProblemShape shape = problem.shape();
  const Eigen::VectorXd no_change = Eigen::VectorXd::Zero(shape.parameter_count);
  std::vector<int> moved;
  for (const MisplacedNodes& tangle : find_tangles(problem)) {
    if (std::ranges::count(moved, tangle.node - 1) > 0) continue;  // its step has changed
    Eigen::VectorXd step = Eigen::VectorXd::Zero(shape.node_count * shape.node_size);
    step.segment(tangle.node * shape.node_size, shape.node_size) = tangle.way;
    if (!(problem.evaluate_trial_step(step, no_change) < problem.cost())) continue;
    problem.accept_trial_step();
    moved.push_back(tangle.node);
  }
  return !moved.empty();
}

}  // namespace estimator
