#include "tests/daq/commission_rig.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "proto/text/files.hpp"

namespace daq {

namespace sim = firmware_iface::sim;
using firmware_iface::Nanoseconds;

const std::string kCommissionRigText = R"(name: "small"
joint {
  name: "1"
  parent { body: "ground" axis { y: 1 } zero_direction { x: 1 } }
  motor { control_unit: "V" control_max: 10 gain { value: 0.05 } }
  encoder { counts_per_turn: 4096 }
}
joint {
  name: "2"
  parent {
    body: "A" axis { x: 1 }
    zero_direction { z: -1 }  # hanging
  }
  encoder { counts_per_turn: 4096 }
}
# The unit under the table.
unit {
  channel { joint: "1" }  # arm
  channel { joint: "2" }
}
safety {
  command_max: 10
  staleness_ms_max: 50
  joint { joint: "1" angle_rad_min: -12.6 angle_rad_max: 12.6 speed_rad_per_s_max: 40 }
  joint { joint: "2" angle_rad_min: -200 angle_rad_max: 200 speed_rad_per_s_max: 60 }
}
)";

CommissionRig::CommissionRig(const std::function<void(Mistakes&)>& make)
    : path_(folder_.file("rig.textproto")), time_(std::make_shared<firmware_iface::VirtualTime>()) {
  Mistakes mistakes;
  make(mistakes);
  first_text_ = mistakes.rig_text;
  proto::write_file(path_, first_text_);
  const sim::SimulationSettings& simulation = mistakes.simulation;
  sim::Plant plant(std::make_unique<sim::FurutaModel>(mistakes.furuta), {});
  transport_ = std::make_unique<sim::SimTransport>(
      std::make_unique<sim::UnitSimulation>(simulation, std::move(plant), time_->now(),
                                            [this](const sim::TrueState& truth) { follow(truth); }),
      time_, "virtual unit", simulation.to_host.baud_rate);
  line_ = std::make_unique<LyingLine>(*transport_, sample_shape{2, 1, false});
  const double quarter_rad = 0.5 * std::numbers::pi;
  rules_ = {{"Do not touch the rig"},
            {"Turn joint \"1\" by hand a quarter", [this, quarter_rad] { turn(0, quarter_rad); }},
            {"Turn joint \"2\" by hand a quarter", [this, quarter_rad] { turn(1, quarter_rad); }},
            {"Turn joint \"1\" by hand a whole", [this, quarter_rad] { turn(0, 4 * quarter_rad); }},
            {"Turn joint \"2\" by hand a whole", [this, quarter_rad] { turn(1, 4 * quarter_rad); }},
            {"Press Enter when it is back", [this] { turn(0, 0.0); }, "", 3.0},
            {"Move joint \"1\" to its zero position", [this] { turn(0, 0.0); }},
            {"Move joint \"2\" to its zero position", [this] { turn(1, 0.0); }},
            {"Release the brake", [this] { release_rig(); }, "", 2.0},
            {"Keep clear"},
            {"still moves. Stop it", [this] { release_rig(); }, "", 10.0},
            {"Enter: continue"},
            {"Write them?", {}, "y"}};
}

void CommissionRig::follow(const sim::TrueState& truth) {
  constexpr int kWhile = 50;
  output_peak_V_ = std::max(output_peak_V_, std::abs(truth.command[0]));
  if (truth.command[0] != 0.0 && ++output_ticks_ == kWhile && at_output_) at_output_();
}

void CommissionRig::turn(int joint, double angle_rad) {
  unit().turn_by_hand(joint, angle_rad, std::chrono::seconds(1), time_->now());
}

void CommissionRig::release_rig() { unit().release_rig(time_->now()); }

ExitCode CommissionRig::run(const std::vector<std::string>& joints) {
  const RigConfig config = rig();
  firmware_iface::UnitLink link(*line_, &black_box_);
  const auto facts = link.connect();
  EXPECT_TRUE(facts.ok()) << (facts.ok() ? "" : facts.error().detail);
  if (!facts.ok()) return ExitCode::kTrouble;
  return commission_unit(config, joints, link, black_box_, stop_, *this, "2026-11-26T10:15:30Z");
}

void CommissionRig::say(const std::string& text, std::size_t /*indent*/) {
  transcript_ += text + '\n';
  if (at_words_ && text.find(awaited_words_) != std::string::npos) at_words_();
}

void CommissionRig::ask(const std::string& question, std::size_t /*indent*/) {
  transcript_ += "? " + question + '\n';
  answer_.reset();
  for (const Rule& rule : rules_) {
    if (question.find(rule.words) == std::string::npos) continue;
    if (rule.act) rule.act();
    answer_ = rule.answer;
    answer_at_ = time_->now() + Nanoseconds(std::llround(rule.after_s * 1e9));
    return;
  }
  ADD_FAILURE() << "the operator does not know what to do: " << question;
  has_left_ = true;
}

std::optional<std::string> CommissionRig::read_answer() {
  if (has_left_ || !answer_ || time_->now() < answer_at_) return {};
  return std::exchange(answer_, std::nullopt);
}

std::string CommissionRig::rig_text() const { return proto::read_file(path_); }

}  // namespace daq
