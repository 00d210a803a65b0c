#include "estimator/calibrate/closed_states.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "estimator/calibrate/number_text.hpp"
#include "estimator/model/sensor.hpp"
#include "estimator/tree/assemblies.hpp"
#include "estimator/tree/loop_closure.hpp"

namespace estimator {
namespace {

constexpr int kConfigurationsMax = 256;  // that the choice of coordinates looks at
constexpr double kTrendTime = 0.02;      // over which it is told where joints are going [s]
constexpr double kToldTwist = 0.1;       // beside a distance [rad]
constexpr double kInLine = 0.02;         // of singular values, least to largest
constexpr double kNotWanted = std::numeric_limits<double>::quiet_NaN();

double difference(const Mechanism& mechanism, Eigen::Index joint, double of_coordinates) {
  return mechanism.hinges[static_cast<std::size_t>(joint)].difference(of_coordinates);
}

/// How far an assembly is from what the description says.
double distance(const Mechanism& mechanism, const Eigen::VectorXd& angles) {
  double sum = 0.0;
  for (Eigen::Index j = 0; j < angles.size(); ++j) {
    const double at = mechanism.hinges[static_cast<std::size_t>(j)].assembled_at;
    if (!std::isnan(at)) sum += std::pow(difference(mechanism, j, angles[j] - at), 2);
  }
  return sum;
}

bool is_told(const Mechanism& mechanism) {
  return std::ranges::any_of(mechanism.hinges,
                             [](const Hinge& hinge) { return !std::isnan(hinge.assembled_at); });
}

[[noreturn]] void refuse_ambiguity(const Mechanism& mechanism, const Eigen::VectorXd& measured,
                                   const std::vector<Assembly>& found, const std::string& where) {
  Eigen::Index joint = 0;
  double spread = -1.0;
  for (Eigen::Index j = 0; j < measured.size(); ++j) {
    const double apart =
        std::abs(difference(mechanism, j, found[0].angles[j] - found[1].angles[j]));
    if (std::isnan(measured[j]) && apart > spread) {
      spread = apart;
      joint = j;
    }
  }
  throw std::invalid_argument(
      where + ": the loops can be closed in " + std::to_string(found.size()) +
      " ways, and the readings do not tell in which; say about which angle joint '" +
      mechanism.hinges[static_cast<std::size_t>(joint)].name +
      "' stands at the start (assembled_at: " + number_text(found[0].angles[joint], 3) + " or " +
      number_text(found[1].angles[joint], 3) + " " +
      mechanism.hinges[static_cast<std::size_t>(joint)].units().coordinate +
      "?), or measure another joint");
}

Eigen::VectorXd assemble_start(const Mechanism& mechanism, LoopClosure& closure,
                               const Eigen::VectorXd& measured, const std::string& where) {
  Eigen::VectorXd nearest = Eigen::VectorXd::Zero(measured.size());
  const std::vector<Assembly> found = find_assemblies(mechanism, closure, measured, nearest);
  if (found.empty()) {
    throw std::invalid_argument(where + ": at the angles read first " +
                                gap_text(closure.widest_gap(nearest)) +
                                "; check points, signs and zero marks");
  }
  if (found.size() == 1) return found.front().angles;
  if (!is_told(mechanism)) refuse_ambiguity(mechanism, measured, found, where);
  return std::ranges::min_element(
             found, {}, [&](const Assembly& each) { return distance(mechanism, each.angles); })
      ->angles;
}

/// Whether the joints that nothing reads hardly follow from those that something does.
bool is_hardly_told(const Eigen::MatrixXd& jacobian, const JointReadings& readings) {
  std::vector<int> unread;
  for (int j = 0; j < jacobian.cols(); ++j) {
    if (!readings.is_told(j)) unread.push_back(j);
  }
  if (unread.empty()) return false;
  const Eigen::VectorXd values =
      Eigen::JacobiSVD<Eigen::MatrixXd>(jacobian(Eigen::all, unread)).singularValues();
  return !(values[values.size() - 1] > kInLine * values[0]);
}

}  // namespace

std::string gap_text(const LoopGap& gap) {
  std::string text = "joint " + quoted(gap.joint) + " leaves its loop ";
  const bool twisted = gap.turn > (gap.distance > kClosed ? kToldTwist : kClosed);
  if (gap.distance > kClosed) {
    text += "open by " + number_text(1e3 * gap.distance) + " mm";
  } else if (!twisted) {
    text += "closed half a turn off alone";
  }
  if (twisted) {
    text += (gap.distance > kClosed ? " and twisted by " : "twisted by ") + number_text(gap.turn) +
            " rad";
  }
  return text;
}

void close_loops(const Mechanism& mechanism, double period, const std::string& where,
                 Eigen::MatrixXd& states) {
  LoopClosure closure(mechanism);
  if (!closure.has_loops()) return;
  const JointReadings readings(mechanism);
  const Eigen::Index n = mechanism.hinge_count(), samples = states.cols();
  const auto measured_at = [&](Eigen::Index k) {
    Eigen::VectorXd measured = states.col(k).head(n);
    for (Eigen::Index j = 0; j < n; ++j) {
      if (!readings.is_told(static_cast<int>(j))) measured[j] = kNotWanted;
    }
    return measured;
  };
  Eigen::VectorXd angles = assemble_start(mechanism, closure, measured_at(0), where);
  Eigen::MatrixXd closed(n, samples);
  const auto trend = std::max<Eigen::Index>(1, std::lround(kTrendTime / period));
  for (Eigen::Index k = 0; k < samples; ++k) {
    // Where links lie about in one line, what is read does not tell to which side they turn: on the
    // way that they were going.
    const Eigen::Index back = std::min(k - 1, trend);
    if (back > 0 && is_hardly_told(closure.jacobian(angles), readings)) {
      angles += (closed.col(k - 1) - closed.col(k - 1 - back)) / static_cast<double>(back);
    }
    if (!closure.close(angles, measured_at(k))) {
      throw std::invalid_argument(where + ": " + number_text(static_cast<double>(k) * period) +
                                  " s after the start of a segment " +
                                  gap_text(closure.widest_gap(angles)) +
                                  "; check points, signs and zero marks");
    }
    closed.col(k) = angles;
  }
  states.topRows(n) = closed;
  for (Eigen::Index k = 0; k < samples; ++k) {
    const Eigen::Index before = std::max<Eigen::Index>(k - 1, 0);
    const Eigen::Index after = std::min(k + 1, samples - 1);
    if (after == before) continue;
    states.col(k).tail(n) =
        (closed.col(after) - closed.col(before)) / (static_cast<double>(after - before) * period);
  }
}

CoordinateChoice choose_coordinates(const Mechanism& mechanism,
                                    const std::vector<Eigen::MatrixXd>& states) {
  LoopClosure closure(mechanism);
  if (!closure.has_loops()) return all_independent(mechanism);
  const Eigen::Index n = mechanism.hinge_count();
  Eigen::Index columns = 0;
  for (const Eigen::MatrixXd& each : states) columns += each.cols();
  const Eigen::Index stride = std::max<Eigen::Index>(1, columns / kConfigurationsMax);
  std::vector<Eigen::MatrixXd> motions;
  for (const Eigen::MatrixXd& each : states) {
    Eigen::MatrixXd& motion = motions.emplace_back(n, (each.cols() + stride - 1) / stride);
    for (Eigen::Index k = 0; k < motion.cols(); ++k) motion.col(k) = each.col(k * stride).head(n);
  }
  try {
    return closure.choose(motions);
  } catch (const ChangePoint& point) {
    throw ChangePoint("the recordings pass", point.motion, point.configuration * stride);
  }
}

}  // namespace estimator
