#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

namespace test_support {

/// End stop of a coordinate: a lower limit if its side is 1, an upper limit if its side is −1.
struct EndStop {
  int coordinate = 0;
  double side = 1.0;
  double position = 0.0;     ///< [rad or m]
  double restitution = 0.5;  ///< [-]
};

/// Simulator of a rig with end stops in minimal coordinates q, which satisfy M(q) q̈ = Q(q, q̇). It
/// shares no code with the estimator. It uses short Runge–Kutta steps, bisection for impact times,
/// and Cramer's rule for the impulse along a coordinate. It supports at most two coordinates and
/// smooth forces.
struct StoppedMotion {
  std::function<Eigen::Matrix2d(const Eigen::Vector2d& q)> mass;
  std::function<Eigen::Vector2d(const Eigen::Vector2d& q, const Eigen::Vector2d& v)> force;
  std::vector<EndStop> stops;
  double step = 1e-4;  ///< largest step [s]

  Eigen::Vector2d q = Eigen::Vector2d::Zero(), v = Eigen::Vector2d::Zero();
  int impacts = 0, rests = 0, releases = 0;

  void advance(double duration);
  /// Simulates and returns the coordinates, with rows (q₁, q₂) at times 0, period, …, count·period.
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

/// Returns a pendulum under gravity as the first coordinate; the second coordinate is unused.
///
/// @param inertia  moment of inertia about the joint [kg·m²]
/// @param moment   mass times distance from the joint to the centre of mass [kg·m]
StoppedMotion stopped_pendulum(double inertia, double moment, double viscous, double g = 9.82);

/// Returns a double pendulum of two equal links. The second coordinate is the angle relative to the
/// first link.
///
/// @param inertia  moment of inertia of a link about its centre of mass in the middle [kg·m²]
StoppedMotion stopped_double_pendulum(double mass, double length, double inertia,
                                      const Eigen::Vector2d& viscous, double g = 9.82);

/// Furuta pendulum: an arm that turns about the vertical, and a pendulum on a joint along the arm
/// that hangs at angle zero.
struct FurutaShape {
  double arm_inertia = 0.010;  ///< arm about the vertical, without the pendulum [kg·m²]
  double mass = 0.428, arm_length = 0.376, distance = 0.092;  ///< of the pendulum [kg, m, m]
  double J_xx = 1e-4, J_yy = 4e-3, J_zz = 4e-3;  ///< pendulum about rod, axis, across [kg·m²]
  Eigen::Vector2d viscous = {1e-3, 2e-4};        ///< of the two joints [N·m·s/rad]
  double g = 9.82;                               ///< [m/s²]
};
StoppedMotion stopped_furuta(const FurutaShape& shape);

}  // namespace test_support
