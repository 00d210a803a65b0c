#pragma once

#include <variant>
#include <vector>

namespace service {

/// What an excitation sees of the rig when it decides on a command.
struct Moment {
  double time = 0.0;            ///< since the start [s]
  double pendulum_angle = 0.0;  ///< of the hinge that is swung up, 0 hanging [rad]
  double pendulum_speed = 0.0;  ///< [rad/s]
};

/// No command; ends at rest.
struct Release {
  double rest_speed =
      0.0;                 ///< at rest: every hinge slower than this [rad/s]; 0: does not end early
  double rest_time = 0.0;  ///< for this long [s]

  double command(const Moment&) const { return 0.0; }
};

/// Energy shaping, see SwingUp in proto/scenario.proto [AF00].
///
/// [AF00] K. J. Åström, K. Furuta, Swinging up a pendulum by energy control, Automatica 36(2),
/// 2000.
struct SwingUp {
  double energy_gain = 0.0;        ///< [unit of the control]
  double command_max = 0.0;        ///< [unit of the control]
  double natural_frequency = 0.0;  ///< small oscillations, hanging [Hz]
  double stop_angle = 0.0;         ///< no command within this distance of upright [rad]
  double kick_command = 0.0;       ///< commanded first [unit of the control]
  double kick_time = 0.0;          ///< [s]

  double command(const Moment& now) const;
};

/// A rectangle over [start, start + width).
struct Pulse {
  double amplitude = 0.0;  ///< [unit of the control]
  double start = 0.0;      ///< [s]
  double width = 0.0;      ///< [s]

  double command(const Moment& now) const;
};

/// A step that stays.
struct Step {
  double amplitude = 0.0;  ///< [unit of the control]
  double start = 0.0;      ///< [s]

  double command(const Moment& now) const;
};

/// A sine whose frequency runs linearly from one value to another.
struct Chirp {
  double amplitude = 0.0;        ///< [unit of the control]
  double frequency_start = 0.0;  ///< [Hz]
  double frequency_end = 0.0;    ///< [Hz], reached at `end`
  double start = 0.0;            ///< [s]
  double end = 0.0;              ///< [s]

  double command(const Moment& now) const;
};

struct Tone {
  double frequency = 0.0;  ///< [Hz]
  double amplitude = 0.0;  ///< [unit of the control]
  double phase = 0.0;      ///< [rad]
};

/// A sum of sines, faded in.
struct Multisine {
  std::vector<Tone> tones;
  double ramp = 0.0;  ///< [s]

  double command(const Moment& now) const;
};

/// Phases −π i(i−1)/n, which keep the crest factor of equal amplitudes low [Sch70].
///
/// [Sch70] M. Schroeder, Synthesis of low-peak-factor signals, IEEE Trans. Inf. Theory 16(1), 1970.
double schroeder_phase(int index, int count);

/// A recorded command, held from each time to the next; zero before the first.
struct Replay {
  std::vector<double> times;     ///< increasing [s]
  std::vector<double> commands;  ///< [unit of the control]

  double command(const Moment& now) const;
};

using Excitation = std::variant<Release, SwingUp, Pulse, Step, Chirp, Multisine, Replay>;

}  // namespace service
