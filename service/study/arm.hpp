#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "service/study/study_run.hpp"

// Arms drawn at random, simulated and calibrated: what a study asks for, and what comes out.

namespace service {

/// One kind of arm (StudyArm of proto/study.proto).
struct StudyArm {
  int links = 0;
  int draws = 0;  ///< at each noise
  int tied = 0;   ///< so many of them once more with a tie
  std::uint64_t seed = 0;
  double duration = 0.0;         ///< [s]
  double period = 0.0;           ///< [s]
  double amplitude = 0.0;        ///< of each joint, root mean square [rad]
  double slowest = 0.0;          ///< [Hz]
  double fastest = 0.0;          ///< [Hz]
  double dither = 0.0;           ///< of the control, by its size [-]
  double wrong = 0.0;            ///< how far starts are off [-]
  std::vector<double> noise;     ///< on angles [rad] and controls [N·m]
  int energy_starts = 0;         ///< of the experiment with observations of energy; 0: none
  double energy_duration = 0.0;  ///< [s]
  double energy_noise = 0.0;     ///< on angles [rad] and controls [N·m]
};

/// What one calibration came to. Errors are relative, of base parameters and of friction and gains
/// together, as the regressions have them.
struct ArmDraw {
  double noise = 0.0;
  bool found = false;  ///< it ends with residuals that are noise; where not, the result shows it
  std::vector<double> errors, torque_errors, energy_errors;  ///< the latter two: of regressions
  int held = 0, intervals = 0;                               ///< 95 % intervals that hold the truth
  bool possible = false;                                     ///< every body is one that can exist
  double seconds = 0.0;                                      ///< on one core
  int iterations = 0;
  std::vector<double> tied_ratios;  ///< deviations of base parameters with the tie over without
};

/// How long a calibration from 10 mrad and 10 mN·m of noise takes on one core.
struct ArmTime {
  int links = 0;
  double duration = 0.0;  ///< [s]
  double seconds = 0.0;   ///< of the whole calibration
  int iterations = 0;
};

/// One estimate with or without observations of energy.
struct EnergyRun {
  bool found = false;  ///< it converged near the truth
  int iterations = 0;
  double cost = 0.0;
  double trajectory = 0.0;  ///< largest error of an angle [rad]
  double inertia = 0.0;     ///< norm of the errors of base parameters over that of their values
  double friction = 0.0;    ///< the same of friction
  double told = 0.0;        ///< root mean square of friction's errors over the deviations told
};

/// Without and with energy, each with controls' noise taken too large, and from there at right
/// weights; iterations of the latter are those of both.
struct EnergyRuns {
  EnergyRun without, with, loose_without, loose_with;
};

/// From one of several starts of the same recording.
EnergyRuns run_energy(const StudyArm& arm, std::uint64_t start, const std::atomic<bool>* stop);

/// As numbers with names, to be kept, and back.
std::vector<RunParameter> parameters_of(const EnergyRuns& runs);
EnergyRuns energy_runs_of(const StudyRun& kept);

/// A draw for other programs: the arm, where its calibration starts, what is read, and the rates
/// behind it, as one JSON object and a line.
std::string arm_line(const StudyArm& arm, double noise, std::uint64_t index);

}  // namespace service
