#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "service/rig/rig_file.hpp"
#include "service/simulation/scenario.hpp"

namespace service {

/// Simulated mechanism whose motion is integrated step by step.
class Plant {
 public:
  virtual ~Plant() = default;
  Plant(const Plant&) = delete;
  Plant& operator=(const Plant&) = delete;

  /// Returns the coordinates of all joints, unwrapped [rad or m].
  const Eigen::VectorXd& joint_coordinates() const { return angles_; }
  const Eigen::VectorXd& joint_speeds() const { return speeds_; }

  /// Integrates the motion over one simulation step with constant controls.
  /// @param control  control of each motor, in joint order
  /// @param time     time at the start of the step for messages [s]
  /// @throws proto::InputError if the motion cannot be integrated
  virtual void advance_step(const Eigen::VectorXd& control, double time) = 0;

  /// Returns coordinates, speeds and accelerations of all joints at the start of the last step, as
  /// the columns of a matrix. SPOOK has one speed and one acceleration per step.
  virtual Eigen::MatrixXd motion_at_step_start() const = 0;

 protected:
  Plant(const Eigen::VectorXd& angles, const Eigen::VectorXd& speeds);

  Eigen::VectorXd angles_, speeds_;
};

/// Simulated mechanism that is integrated by its equations of motion. Its step can change.
class PhysicalPlant : public Plant {
 public:
  /// Sets the duration of the next steps [s].
  virtual void set_step(double step) = 0;

  /// Continues the simulation from other coordinates [rad or m] and speeds of all joints. Kinematic
  /// loops are closed near the given coordinates.
  virtual void set_motion(const Eigen::VectorXd& angles, const Eigen::VectorXd& speeds) = 0;

 protected:
  using Plant::Plant;
};

/// Creates a simulated mechanism of a rig that is integrated by its equations of motion.
/// @param angles, speeds  initial coordinates [rad or m] and speeds of all joints
/// @param step            duration of a step [s]
std::unique_ptr<PhysicalPlant> make_physical_plant(const Rig& rig, const Eigen::VectorXd& angles,
                                                   const Eigen::VectorXd& speeds, double step);

/// Creates a simulated mechanism of a rig with the requested integration method.
/// @param step  simulation step [s]
/// @throws std::invalid_argument if SPOOK is requested and does not support all joints
std::unique_ptr<Plant> make_plant(const Rig& rig, const Scenario& scenario, double step,
                                  Integrator integrator);

/// Returns the integration method for a mechanism: the requested method, or for kAutomatic SPOOK if
/// SPOOK supports all joints, otherwise the equations of motion.
Integrator choose_integrator(const estimator::Mechanism& mechanism, Integrator asked);

/// Returns notes on physically inconsistent inertias. A calibration may estimate such inertias if
/// only sums of inertias are identifiable.
/// @throws proto::InputError if the motion cannot be simulated
std::vector<std::string> find_inertia_notes(const Rig& rig);

}  // namespace service
