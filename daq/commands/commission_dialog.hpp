#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "daq/commission/commissioning.hpp"
#include "daq/console/exit_code.hpp"
#include "daq/console/motor_trial.hpp"
#include "daq/console/operator_console.hpp"
#include "daq/safety/black_box.hpp"
#include "firmware_iface/link/unit_link.hpp"

namespace daq {

/// Exception that ends a commissioning early, with the motor off and no files written.
struct CommissionEnded {
  ExitCode code = ExitCode::kNotCommissioned;
  std::string sentence;
};

/// Runs the steps of a commissioning: asks the operator, records samples and has Commissioning
/// evaluate them.
class CommissionDialog {
 public:
  /// Creates a dialog. The sample stream of `unit` must be running. All references must outlive the
  /// dialog.
  CommissionDialog(Commissioning& commissioning, firmware_iface::UnitLink& unit,
                   BlackBox& black_box, const std::atomic<bool>& stop, Operator& person)
      : found_(commissioning), unit_(unit), black_box_(black_box), stop_(stop), person_(person) {}

  /// Runs all steps. @throws CommissionEnded; proto::InputError if the operator's input has ended
  void run();

  /// Asks the operator a question and returns the answer. The motor is off in the meantime.
  /// @throws the exceptions of run()
  std::string ask(const std::string& question);

  /// Returns the accepted results.
  const Findings& findings() const { return findings_; }

  /// Trips the unit, and verifies that its output is off. @throws CommissionEnded
  void switch_off();

 private:
  using Status = std::function<std::string(const EncoderRecorder&)>;
  using Step = std::function<Findings()>;

  void check_encoders();
  Findings turn_joint(std::size_t joint);
  Findings find_zero(std::size_t joint);
  void check_motor(std::size_t motor);
  Findings try_pulses(std::size_t motor);
  Findings try_ramps(std::size_t motor);
  MotorTrial nudge(std::size_t motor, double level, double rise_s, Findings& findings);
  bool wait_for_rest(std::size_t channel);
  TestPushLimits limits_of(const CheckedMotor& motor) const;

  void repeat(const Step& step);
  void watch(EncoderRecorder& watch, double duration_s);
  std::string ask(const std::string& question, EncoderRecorder& watch, const Status& status);
  std::optional<firmware_iface::UnitSample> read_sample(bool may_stop);
  void record_sample(EncoderRecorder& watch);
  std::string counts_status(const EncoderRecorder& watch, std::size_t own) const;
  void say(const Findings& findings);

  Commissioning& found_;
  firmware_iface::UnitLink& unit_;
  BlackBox& black_box_;
  const std::atomic<bool>& stop_;
  Operator& person_;
  Findings findings_;
  double level_ = 0.0;  // level at which the motor moves its joint
  int missed_ = 0;      // samples in a row that did not arrive
};

}  // namespace daq
