#pragma once

#include <Eigen/Core>
#include <functional>
#include <span>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/sensor.hpp"
#include "estimator/tree/held_controls.hpp"
#include "estimator/tree/interval_motion.hpp"

namespace estimator {

/// What all plans of one design have in common.
struct PlanFacts {
  double period = 0.0;    ///< of the commands, each held so long [s]
  double rate = 0.0;      ///< readings a second [Hz]
  int motor = 0;          ///< that is commanded, among the motors
  Eigen::VectorXd start;  ///< where joints rest when a run begins [rad or m]
  Eigen::VectorXd noise;  ///< standard deviation of a reading, one a sensor [rad or m]
  double coast = 0.0;     ///< that the motion goes on for once nothing is commanded any more [s]
  /// One count of each sensor whose errors are those of counting [rad or m]; 0: its noise is white.
  Eigen::VectorXd quantum = Eigen::VectorXd::Zero(noise.size());
};

/// How far a motion goes, coasting included, one a sensor; not finite where it diverges.
struct Excursion {
  Eigen::VectorXd lowest, highest;  ///< [rad or m]
  Eigen::VectorXd fastest;          ///< magnitude [rad/s or m/s]
};

/// What a recording of a plan would say.
struct PlanInformation {
  Eigen::MatrixXd information;  ///< Σ TᵀT over its readings, whitened: free × free
  Eigen::MatrixXd scatter;  ///< covariance of Σ Tᵀe, e being their errors: as it, but for counts
  Eigen::VectorXd scale;    ///< its diagonal if the initial state were known
  double growth = 0.0;      ///< largest share of a change of the start that a reading shows
};

/// Plans in motion, for what is asked of them next.
struct PlanMotion {
  std::vector<HeldControls> controls;
  std::vector<MotionInterval> intervals;
  std::vector<Excursion> excursions;    ///< of each plan
  std::vector<Eigen::MatrixXd> joints;  ///< of each plan, samples × joints, coasting left out
  Eigen::MatrixXd end;                  ///< where joints are when the commands end, joints × plans
};

/// Decides at a sample on the command of one of the plans, by its place.
/// @param time    since the run began [s]
/// @param joints  where all joints are [rad or m]
/// @param rates   [rad/s or m/s]
using PlanFeedback = std::function<double(
    Eigen::Index plan, double time, const Eigen::VectorXd& joints, const Eigen::VectorXd& rates)>;

/// Simulates plans on a mechanism, many side by side, from rest, and tells what their recordings
/// would say about the free parameters. Initial states are unknown to whoever estimates.
class PlanBench {
 public:
  /// @param mechanism  what is free in it, and what is built into the equations
  /// @throws std::invalid_argument where its loops cannot be closed at the start
  PlanBench(const Mechanism& mechanism, PlanFacts facts, int threads);

  const PlanFacts& facts() const { return facts_; }

  /// The commands that come of feedback, samples × plans; the last is zero. Under them the plans
  /// move as they did while it decided.
  Eigen::MatrixXd drive(const Mechanism& values, Eigen::Index samples, Eigen::Index plans,
                        const PlanFeedback& feedback) const;

  /// @param values    a mechanism of the same build
  /// @param commands  samples × plans
  PlanMotion move(const Mechanism& values, const Eigen::MatrixXd& commands) const;

  /// Of plans in motion, those at these places.
  std::vector<PlanInformation> look(const Mechanism& values, const PlanMotion& motion,
                                    const std::vector<std::size_t>& places) const;

 private:
  std::vector<HeldControls> hold(const Mechanism& values, const Eigen::MatrixXd& commands) const;
  Eigen::VectorXd start_state() const;
  MotionInterval interval_of(const HeldControls& controls, Eigen::Index samples) const;
  void coast(const Mechanism& values, const PlanMotion& motion,
             std::vector<Eigen::MatrixXd>& joints) const;
  Eigen::VectorXd turn_of(int sensor, const Eigen::MatrixXd& joints) const;
  Excursion excursion_of(const Eigen::MatrixXd& joints) const;
  Eigen::MatrixXd scatter_of(int sensor, const Eigen::MatrixXd& rows,
                             const Eigen::VectorXd& turn) const;
  PlanInformation information_of(const IntervalSlopes::Result& slopes,
                                 const Eigen::MatrixXd& joints) const;

  PlanFacts facts_;
  std::vector<Sensor> sensors_;
  Eigen::VectorXd start_;  // of the joints, loops closed
  TreeProgram program_;
  std::vector<Eigen::Index> moving_;  // places among the free parameters
  struct Source {
    Eigen::Index place;  // likewise
    double factor;
  };
  std::vector<std::vector<Source>> offsets_, delays_;  // what those of each sensor follow from
  Eigen::Index free_count_;
  int steps_a_sample_;
  double near_rest_;  // longest step where joints that creep are near rest [s]
  int threads_;
};

}  // namespace estimator
