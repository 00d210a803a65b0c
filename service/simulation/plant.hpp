#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "daq/scenario/catalog.hpp"
#include "service/import/rig_file.hpp"
#include "service/simulation/integrator.hpp"
#include "service/simulation/scenario.hpp"

namespace service {

/// A mechanism in motion, step by step.
class Plant {
 public:
  virtual ~Plant() = default;
  Plant(const Plant&) = delete;
  Plant& operator=(const Plant&) = delete;

  /// Of all joints, without jumps of a turn [rad or m].
  const Eigen::VectorXd& angles() const { return angles_; }
  const Eigen::VectorXd& speeds() const { return speeds_; }

  /// As a scenario sees them; valid until the next call.
  std::span<const daq::JointState> joints();

  /// One step under controls that are held.
  /// @param control  one a motor, in hinge order
  /// @param time     at its start, for messages [s]
  /// @throws proto::InputError where the model cannot be stepped
  virtual void advance(const Eigen::VectorXd& control, double time) = 0;

  /// Angles, rates and accelerations of all joints at the beginning of the step taken last, under
  /// its controls: 3 columns. SPOOK knows one velocity and one acceleration a step.
  virtual Eigen::MatrixXd motion() const = 0;

 protected:
  explicit Plant(const Scenario& scenario);

  Eigen::VectorXd angles_, speeds_;

 private:
  std::vector<daq::JointState> joints_;
};

/// The one that is asked for, or that the mechanism's joints need.
/// @param step  [s]
/// @throws std::invalid_argument where SPOOK is asked for and knows not all the joints
std::unique_ptr<Plant> make_plant(const Rig& rig, const Scenario& scenario, double step,
                                  Integrator integrator);

/// What kAutomatic stands for.
Integrator choose_integrator(const estimator::Mechanism& mechanism, Integrator asked);

}  // namespace service
