#include "tests/support/stopped_motion.hpp"

#include <algorithm>
#include <cmath>

namespace test_support {
namespace {

constexpr double kRestSpeed = 1e-6;  // a rebound slower than this is rest
constexpr int kBisections = 60;

/// Returns the distance of a coordinate from its end stop; negative beyond the stop.
double distance(const EndStop& stop, const Eigen::Vector2d& q) {
  return stop.side * (q[stop.coordinate] - stop.position);
}

}  // namespace

/// Returns the accelerations of the coordinates. A coordinate that rests at its end stop has zero
/// acceleration.
Eigen::Vector2d StoppedMotion::acceleration(const Point& at) const {
  const Eigen::Matrix2d M = mass(at.q);
  const Eigen::Vector2d Q = force(at.q, at.v);
  if (held_ < 0) {
    const double determinant = M(0, 0) * M(1, 1) - M(0, 1) * M(1, 0);
    return Eigen::Vector2d(M(1, 1) * Q[0] - M(0, 1) * Q[1], M(0, 0) * Q[1] - M(1, 0) * Q[0]) /
           determinant;
  }
  const int other = 1 - stops[static_cast<std::size_t>(held_)].coordinate;
  Eigen::Vector2d a = Eigen::Vector2d::Zero();
  a[other] = Q[other] / M(other, other);
  return a;
}

/// Returns the force with which the end stop pushes the coordinate that rests at it.
double StoppedMotion::push(const Point& at) const {
  const EndStop& stop = stops[static_cast<std::size_t>(held_)];
  const int i = stop.coordinate;
  const double needed = mass(at.q).row(i).dot(acceleration(at)) - force(at.q, at.v)[i];
  return stop.side * needed;
}

StoppedMotion::Point StoppedMotion::stepped(const Point& from, double h) const {
  const auto moved = [&](const Point& slope, double by) {
    return Point{from.q + by * slope.q, from.v + by * slope.v};
  };
  const auto slope_at = [&](const Point& at) { return Point{at.v, acceleration(at)}; };
  const Point k1 = slope_at(from), k2 = slope_at(moved(k1, 0.5 * h)),
              k3 = slope_at(moved(k2, 0.5 * h)), k4 = slope_at(moved(k3, h));
  return {from.q + h / 6.0 * (k1.q + 2.0 * k2.q + 2.0 * k3.q + k4.q),
          from.v + h / 6.0 * (k1.v + 2.0 * k2.v + 2.0 * k3.v + k4.v)};
}

/// Applies an impact at an end stop. The impulse P along coordinate i satisfies M (v⁺ − v) = P e_i,
/// and the speed after it is v⁺_i = −e v_i with the restitution e.
void StoppedMotion::strike(const EndStop& stop) {
  ++impacts;
  const int i = stop.coordinate, other = 1 - i;
  const Eigen::Matrix2d M = mass(q);
  const double change = -(1.0 + stop.restitution) * v[i];
  v[i] += change;
  v[other] -= M(other, i) / M(other, other) * change;
  q[i] = stop.position;
  if (std::abs(v[i]) > kRestSpeed) return;
  v[other] += M(other, i) / M(other, other) * v[i];
  v[i] = 0.0;
  held_ = static_cast<int>(&stop - stops.data());
  ++rests;
}

void StoppedMotion::advance(double duration) {
  double left = duration;
  while (left > 0.0) {
    if (held_ >= 0 && push({q, v}) < 0.0) {
      held_ = -1;
      ++releases;
    }
    const double h = std::min(step, left);
    const Point from{q, v};
    const auto first_below = [&](const Point& at) -> const EndStop* {
      for (const EndStop& stop : stops) {
        if (held_ >= 0 && &stop == &stops[static_cast<std::size_t>(held_)]) continue;
        const bool comes_on = stop.side * at.v[stop.coordinate] < 0.0;
        if (comes_on && distance(stop, at.q) < 0.0) return &stop;
      }
      return nullptr;
    };
    const Point to = stepped(from, h);
    const EndStop* stop = first_below(to);
    if (stop == nullptr) {
      q = to.q;
      v = to.v;
      left -= h;
      continue;
    }
    double low = 0.0, high = h;
    for (int i = 0; i < kBisections; ++i) {
      const double middle = 0.5 * (low + high);
      const EndStop* earlier = first_below(stepped(from, middle));
      if (earlier != nullptr) stop = earlier;
      (earlier == nullptr ? low : high) = middle;
    }
    const Point at = stepped(from, high);
    q = at.q;
    v = at.v;
    left -= high;
    strike(*stop);
  }
}

Eigen::MatrixXd StoppedMotion::sample(double period, int count) {
  Eigen::MatrixXd rows(count + 1, 2);
  rows.row(0) = q.transpose();
  for (int k = 1; k <= count; ++k) {
    advance(period);
    rows.row(k) = q.transpose();
  }
  return rows;
}

StoppedMotion stopped_pendulum(double inertia, double moment, double viscous, double g) {
  StoppedMotion rig;
  rig.mass = [=](const Eigen::Vector2d&) -> Eigen::Matrix2d {
    return Eigen::Vector2d(inertia, 1.0).asDiagonal();
  };
  rig.force = [=](const Eigen::Vector2d& q, const Eigen::Vector2d& v) {
    return Eigen::Vector2d(-moment * g * std::sin(q[0]) - viscous * v[0], 0.0);
  };
  return rig;
}

StoppedMotion stopped_double_pendulum(double mass, double length, double inertia,
                                      const Eigen::Vector2d& viscous, double g) {
  const double c = 0.5 * length;  // to a link's centre of mass
  StoppedMotion rig;
  rig.mass = [=](const Eigen::Vector2d& q) {
    const double across = mass * length * c * std::cos(q[1]), own = inertia + mass * c * c;
    Eigen::Matrix2d M;
    M << 2.0 * own + mass * length * length + 2.0 * across, own + across, own + across, own;
    return M;
  };
  rig.force = [=](const Eigen::Vector2d& q, const Eigen::Vector2d& v) {
    const double h = mass * length * c * std::sin(q[1]);
    const double second = mass * g * c * std::sin(q[0] + q[1]);
    return Eigen::Vector2d(h * (2.0 * v[0] + v[1]) * v[1] -
                               mass * g * (c + length) * std::sin(q[0]) - second -
                               viscous[0] * v[0],
                           -h * v[0] * v[0] - second - viscous[1] * v[1]);
  };
  return rig;
}

/// Returns a Furuta pendulum. The part of the pendulum's inertia about the vertical
/// that depends on its angle is (J_zz + m l² − J_xx) sin².
StoppedMotion stopped_furuta(const FurutaShape& s) {
  const double swing = s.J_yy + s.mass * s.distance * s.distance;
  const double turning = s.J_zz + s.mass * s.distance * s.distance - s.J_xx;
  const double across = s.mass * s.arm_length * s.distance;
  const double arm = s.arm_inertia + s.mass * s.arm_length * s.arm_length + s.J_xx;
  StoppedMotion rig;
  rig.mass = [=](const Eigen::Vector2d& q) {
    const double sine = std::sin(q[1]);
    Eigen::Matrix2d M;
    M << arm + turning * sine * sine, across * std::cos(q[1]), across * std::cos(q[1]), swing;
    return M;
  };
  rig.force = [=](const Eigen::Vector2d& q, const Eigen::Vector2d& v) {
    const double sine = std::sin(q[1]), cosine = std::cos(q[1]);
    return Eigen::Vector2d(across * sine * v[1] * v[1] -
                               2.0 * turning * sine * cosine * v[0] * v[1] - s.viscous[0] * v[0],
                           turning * sine * cosine * v[0] * v[0] -
                               s.mass * s.g * s.distance * sine - s.viscous[1] * v[1]);
  };
  return rig;
}

}  // namespace test_support
