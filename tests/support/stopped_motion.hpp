#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

namespace test_support {

/// End stop of a coordinate. Side 1 is a lower limit, −1 an upper limit.
struct EndStop {
  int coordinate = 0;
  double side = 1.0;
  double position = 0.0;     ///< [rad or m]
  double restitution = 0.5;  ///< [-]
};

/// A rig in minimal coordinates q with end stops, M(q) q̈ = Q(q, q̇), which shares no code with the
/// estimator: short Runge–Kutta steps, impact times by bisection, the impulse along one coordinate
/// by Cramer's rule. At most two coordinates, smooth forces.
struct StoppedMotion {
  std::function<Eigen::Matrix2d(const Eigen::Vector2d& q)> mass;
  std::function<Eigen::Vector2d(const Eigen::Vector2d& q, const Eigen::Vector2d& v)> force;
  std::vector<EndStop> stops;
  double step = 1e-4;  ///< largest step [s]

  Eigen::Vector2d q = Eigen::Vector2d::Zero(), v = Eigen::Vector2d::Zero();
  int impacts = 0, rests = 0, releases = 0;

  void advance(double duration);
  /// Rows q₁, q₂ at 0, period, …, count·period.
  Eigen::MatrixXd sample(double period, int count);

 private:
  struct Point {
    Eigen::Vector2d q, v;
  };
  Eigen::Vector2d acceleration(const Point& at) const;
  double push(const Point& at) const;
  Point stepped(const Point& from, double h) const;
  void strike(const EndStop& stop);

  int held_ = -1;  // stop that a coordinate rests at
};

/// A pendulum under gravity as the first coordinate; the second is unused.
///
/// @param inertia  about the joint [kg·m²]
/// @param moment   mass times distance of its centre of mass [kg·m]
StoppedMotion stopped_pendulum(double inertia, double moment, double viscous, double g = 9.82);

/// A double pendulum of two equal links; the second coordinate is relative.
///
/// @param inertia  about a link's centre of mass, which is in its middle [kg·m²]
StoppedMotion stopped_double_pendulum(double mass, double length, double inertia,
                                      const Eigen::Vector2d& viscous, double g = 9.82);

/// A Furuta pendulum: arm about the vertical, pendulum on a joint along the arm, hanging at zero.
struct FurutaShape {
  double arm_inertia = 0.010;  ///< about the vertical, without the pendulum [kg·m²]
  double mass = 0.428, arm_length = 0.376, distance = 0.092;  ///< of the pendulum [kg, m]
  double J_xx = 1e-4, J_yy = 4e-3, J_zz = 4e-3;               ///< rod, joint axis, across [kg·m²]
  Eigen::Vector2d viscous = {1e-3, 2e-4};                     ///< [N·m·s/rad]
  double g = 9.82;                                            ///< [m/s²]
};
StoppedMotion stopped_furuta(const FurutaShape& shape);

}  // namespace test_support
