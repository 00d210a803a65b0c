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
struct CommissioningAborted {
  ExitCode code = ExitCode::kNotCommissioned;
  std::string sentence;
};

/// Runs the steps of a commissioning: asks the operator, records samples, and evaluates the samples
/// by means of the class Commissioning.
class CommissionDialog {
 public:
  /// Creates a dialog. The sample stream of `unit` must be running. All references must outlive the
  /// dialog.
  CommissionDialog(Commissioning& commissioning, firmware_iface::UnitLink& unit,
                   BlackBox& black_box, const std::atomic<bool>& stop, OperatorInterface& person)
      : commissioning_(commissioning),
        unit_(unit),
        black_box_(black_box),
        stop_(stop),
        person_(person) {}

  /// Runs all steps. @throws CommissioningAborted; proto::InputError if the operator's input has
  /// ended
  void run();

  /// Asks the operator a question and returns the answer. The motor is off while the program waits.
  /// @throws the exceptions of run()
  std::string ask(const std::string& question);

  /// Returns the accepted results.
  const Findings& findings() const { return findings_; }

  /// Trips the conversion unit and verifies that the motor output is off. @throws
  /// CommissioningAborted
  void switch_output_off();

 private:
  using Status = std::function<std::string(const EncoderRecorder&)>;
  using Step = std::function<Findings()>;

  void check_encoders();
  Findings guide_hand_motion(std::size_t joint);
  Findings find_joint_zero(std::size_t joint);
  void check_motor(std::size_t motor);
  Findings test_motor_pulses(std::size_t motor);
  Findings test_motor_ramps(std::size_t motor);
  MotorTrial nudge(std::size_t motor, double level, double rise_s, Findings& findings);
  bool wait_for_rest(std::size_t channel);
  TestPushLimits test_push_limits(const CheckedMotor& motor) const;

  void repeat(const Step& step);
  void watch(EncoderRecorder& watch, double duration_s);
  std::string ask(const std::string& question, EncoderRecorder& watch, const Status& status);
  std::optional<firmware_iface::UnitSample> read_sample(bool may_stop);
  void record_sample(EncoderRecorder& watch);
  std::string format_count_status(const EncoderRecorder& watch, std::size_t own) const;
  void say(const Findings& findings);

  Commissioning& commissioning_;
  firmware_iface::UnitLink& unit_;
  BlackBox& black_box_;
  const std::atomic<bool>& stop_;
  OperatorInterface& person_;
  Findings findings_;
  double level_ = 0.0;  // level at which the motor moves its joint
  int missed_ = 0;      // samples in a row that did not arrive
};

}  // namespace daq
