#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/studies/runs/study_run.hpp"

// Randomly drawn arms, simulated and calibrated: settings and results of the study.

namespace service {

/// Settings for a kind of simulated arm in the study (StudyArm of tests/studies/study.proto).
struct StudyArm {
  int links = 0;
  int draws = 0;  ///< number of random arms at each noise level
  int tied = 0;   ///< number of these arms also estimated with dependent friction
  std::uint64_t seed = 0;
  double duration = 0.0;         ///< of a recording [s]
  double period = 0.0;           ///< sampling period [s]
  double amplitude = 0.0;        ///< root mean square angle per joint [rad]
  double slowest = 0.0;          ///< slowest frequency of the motion [Hz]
  double fastest = 0.0;          ///< fastest frequency of the motion [Hz]
  double dither = 0.0;           ///< dither of the controls relative to their size [-]
  double initial_error = 0.0;    ///< relative error of the initial values [-]
  std::vector<double> noise;     ///< standard deviations of angles [rad] and controls [N·m]
  int energy_starts = 0;         ///< initial values of the energy experiment; 0: skip it
  double energy_duration = 0.0;  ///< [s]
  double energy_noise = 0.0;     ///< of angles [rad] and controls [N·m]
};

/// Outcome of the calibration of a random arm. Errors are relative and cover the base parameters,
/// friction and gains.
struct ArmResult {
  double noise = 0.0;
  bool fits_noise =
      false;  ///< residuals are at noise level; otherwise the result is known to be wrong
  std::vector<double> errors, torque_errors, energy_errors;  ///< calibration, regressions
  int covering_intervals = 0, intervals = 0;  ///< 95 % intervals with the true value, and all
  bool has_consistent_inertias = false;       ///< true if all inertias are physically consistent
  double seconds = 0.0;                       ///< computing time on one core [s]
  int iterations = 0;
  std::vector<double> tied_ratios;  ///< deviations of base parameters: dependent over free friction
};

/// Computing time of a calibration on one core, with noise of 10 mrad and 10 mN·m.
struct ArmTime {
  int links = 0;
  double duration = 0.0;  ///< duration of the recording [s]
  double seconds = 0.0;   ///< computing time of the calibration [s]
  int iterations = 0;
};

/// Errors of an estimate with or without energy observations.
struct EnergyRun {
  bool fits_noise = false;  ///< true if it converged near the true values
  int iterations = 0;
  double cost = 0.0;
  double trajectory = 0.0;  ///< largest error of an angle [rad]
  double inertia = 0.0;     ///< relative error of base parameters, as a ratio of norms
  double friction = 0.0;    ///< relative error of friction, as a ratio of norms
  double reported = 0.0;    ///< root mean square of friction errors in standard deviations
};

/// Errors of estimates without and with energy observations. Each estimate first uses inflated
/// control noise, then the correct noise. The iterations of the latter include both.
struct EnergyRuns {
  EnergyRun without, with, inflated_without, inflated_with;
};

/// Estimates an arm's parameters from one of several initial values, with the recording that all
/// initial values share.
/// @param start  number of the initial value
EnergyRuns run_energy(const StudyArm& arm, std::uint64_t start, const std::atomic<bool>* stop);

/// Converts results to named numbers for storage; energy_runs_of does the reverse.
std::vector<RunParameter> parameters_of(const EnergyRuns& runs);
EnergyRuns energy_runs_of(const StudyRun& kept);

/// Formats a random arm as a line with one JSON object for other programs, with the arm, initial
/// values, readings and true rates.
std::string arm_line(const StudyArm& arm, double noise, std::uint64_t index);

}  // namespace service
