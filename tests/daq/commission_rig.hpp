#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daq/commands/commands.hpp"
#include "firmware_iface/sim/plants.hpp"
#include "firmware_iface/sim/sim_transport.hpp"
#include "tests/daq/lying_line.hpp"
#include "tests/daq/simulated_rig.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/virtual_time.hpp"

namespace daq {

/// The rig file of a CommissionRig.
extern const std::string kCommissionRigText;

/// Wiring mistakes that a unit cannot detect.
struct Mistakes {
  firmware_iface::sim::SimulationSettings simulation = simulation_settings();
  firmware_iface::sim::FurutaParameters furuta = shipped_furuta();
  std::string rig_text = kCommissionRigText;

  firmware_iface::sim::EncoderSettings& encoder(std::size_t k) {
    return simulation.unit.encoder[k];
  }
  void edit_rig_text(const std::string& from, const std::string& to) {
    rig_text.replace(rig_text.find(from), from.size(), to);
  }
};

/// Fixture of a rig file, a simulated Furuta unit in virtual time and an operator who follows all
/// instructions.
class CommissionRig final : public OperatorInterface {
 public:
  /// @param make  the mistakes of this rig
  explicit CommissionRig(const std::function<void(Mistakes&)>& make = [](Mistakes&) {});

  /// The operator's reaction to a question: the first rule whose words it contains applies.
  struct Rule {
    std::string words;
    std::function<void()> act = {};
    std::string answer = "";
    double after_s = 1.5;
  };
  /// Adds a rule that takes precedence over all earlier rules.
  void add_rule(Rule rule) { rules_.insert(rules_.begin(), std::move(rule)); }

  /// Turns a joint by hand, smoothly within a second, and holds the rig.
  void turn(int joint, double angle_rad);
  void release_rig();

  ExitCode run(const std::vector<std::string>& joints = {});

  void say(const std::string& text, std::size_t indent = 0) override;
  void ask(const std::string& question, std::size_t indent = 0) override;
  void print_line(const std::string& line) override { say(line); }
  void show(const std::string& /*status*/) override {}
  std::optional<std::string> read_answer() override;
  bool has_input_ended() override { return has_left_; }
  void discard_typed_input() override {}

  /// Returns all messages and questions, one line each.
  const std::string& transcript() const { return transcript_; }
  std::string rig_text() const;
  const std::string& first_text() const { return first_text_; }
  RigConfig rig() const { return parse_rig_config(path_, rig_text()); }
  const std::string& path() const { return path_; }
  /// Whether the rig file is that of the start and no other was written.
  bool has_written_nothing() const { return rig_text() == first_text_ && file_count() == 1; }
  firmware_iface::sim::SimulatedUnit& unit() { return transport_->simulation().unit(); }
  firmware_iface::sim::SimTransport& transport() { return *transport_; }
  /// Returns the line between host and unit. It alters nothing until a test sets a fault.
  LyingLine& line() { return *line_; }
  void leave() { has_left_ = true; }
  /// Calls `act` whenever a message contains these words.
  void when_said(std::string words, std::function<void()> act) {
    awaited_words_ = std::move(words);
    at_words_ = std::move(act);
  }
  std::atomic<bool>& stop() { return stop_; }
  /// Calls `act` once, shortly after the unit has begun to drive.
  void at_output(std::function<void()> act) { at_output_ = std::move(act); }
  firmware_iface::Nanoseconds now() const { return time_->now(); }
  std::size_t file_count() const { return folder_.file_count(); }
  /// Returns the largest output of the unit so far.
  double output_peak_V() const { return output_peak_V_; }

 private:
  void follow(const firmware_iface::sim::TrueState& truth);

  test_support::TemporaryFolder folder_;
  std::string path_;
  std::string first_text_;
  std::shared_ptr<firmware_iface::VirtualTime> time_;
  std::unique_ptr<firmware_iface::sim::SimTransport> transport_;
  std::unique_ptr<LyingLine> line_;
  BlackBox black_box_;
  std::vector<Rule> rules_;
  std::string transcript_, awaited_words_;
  std::function<void()> at_words_;
  std::optional<std::string> answer_;
  firmware_iface::Nanoseconds answer_at_{0};
  bool has_left_ = false;
  std::atomic<bool> stop_{false};
  double output_peak_V_ = 0.0;
  int output_ticks_ = 0;
  std::function<void()> at_output_;
};

}  // namespace daq
