#include "tests/daq/simulated_rig.hpp"
#include "tests/support/virtual_time.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <thread>
#include <utility>

namespace daq {

namespace sim = firmware_iface::sim;

SafetyLimits furuta_limits() {
  const double rad_per_count = 2.0 * std::numbers::pi / 4096.0;
  return {.motor = {{"arm", 8.0, 8000.0}},
          .staleness_s_max = 0.015,
          .joint = {{"arm", -20.0, 20.0, 60.0, 0.6, 0.01},
                    {"pendulum", -200.0, 200.0, 80.0, 0.8, 0.02}},
          .motion = {{.rad_per_count = rad_per_count,
                      .motor = 0,
                      .stall_command = 8.0 * kStallShareDefault,
                      .stall_time_s = kStallTimeDefault_s},
                     {.rad_per_count = rad_per_count}}};
}

LoopSettings furuta_settings() {
  const double rad_per_count = 2.0 * std::numbers::pi / 4096.0;
  LoopSettings settings;
  settings.ttl_ms = 20;
  settings.after_trip_s = 0.2;
  settings.joint_count = 2;
  settings.channel[0] = settings.channel[1] = {rad_per_count, 0.0};
  return settings;
}

sim::SimulationSettings simulation_settings() {
  sim::SimulationSettings settings;
  settings.to_host.baud_rate = settings.to_unit.baud_rate = 921'600;
  return settings;
}

sim::FurutaParameters furuta_parameters() {
  sim::FurutaParameters parameters;
  parameters.arm_friction.viscous = parameters.pendulum_friction.viscous = 1e-3;
  return parameters;
}

sim::FurutaParameters shipped_furuta() {
  sim::FurutaParameters parameters;
  parameters.arm_friction.viscous = 0.001;
  parameters.arm_friction.coulomb = 0.004;
  parameters.pendulum_friction.viscous = 0.0001;
  parameters.pendulum_friction.coulomb = 0.0009;
  return parameters;
}

SimulatedRig::SimulatedRig(Scenario scenario, const LoopSettings& loop,
                           const sim::SimulationSettings& simulation, const SafetyLimits& limits,
                           RunSink* recording, const sim::FurutaParameters& furuta)
    : SimulatedRig(std::move(scenario), loop, simulation, limits, recording,
                   sim::Plant(std::make_unique<sim::FurutaModel>(furuta), {})) {}

SimulatedRig::SimulatedRig(Scenario scenario, const LoopSettings& loop,
                           const sim::SimulationSettings& simulation, const SafetyLimits& limits,
                           RunSink* recording, sim::Plant plant)
    : time_(std::make_shared<firmware_iface::VirtualTime>()),
      stream_{.host_paced = loop.host_paced,
              .divider = static_cast<int>(loop.period / std::chrono::milliseconds(1))},
      limits_(limits),
      recording_(recording == nullptr ? sink_ : *recording) {
  time_->sleep_until(std::chrono::seconds(5000));
  connected_ = time_->now();
  for (std::size_t i = 0; i < loop.inertial_count; ++i) stream_.inertial_divider[i] = 1;
  const auto channels = static_cast<std::uint8_t>(plant.joint_count());
  transport_ = std::make_unique<sim::SimTransport>(
      std::make_unique<sim::UnitSimulation>(simulation, std::move(plant), time_->now(),
                                            [this](const sim::TrueState& truth) {
                                              if (keep_truth_ && truth.sample_sequence)
                                                truth_[*truth.sample_sequence] = truth;
                                            }),
      time_, "virtual unit", simulation.to_host.baud_rate);
  line_ = std::make_unique<LyingLine>(*transport_, sample_shape{channels, 1, false});
  link_ = std::make_unique<firmware_iface::UnitLink>(*line_, &black_box_);
  loop_ = std::make_unique<ControlLoop>(*link_, black_box_, std::move(scenario), limits_, loop);
  supervisor_ = std::make_unique<Supervisor>(
      *loop_, black_box_, limits_, recording_, recording == nullptr ? nullptr : &sink_,
      [this](const std::string& line) { said_.push_back(line); });
}

void SimulatedRig::run(const std::function<void(SimulatedRig&, int tick)>& disturb,
                       int tick_count_max, int poll_every) {
  abandon(std::chrono::milliseconds(37));  // the unit's clock runs before the host connects
  connected_ = time_->now();
  const auto facts = link_->connect();
  ASSERT_TRUE(facts.ok()) << facts.error().detail;
  const auto started = link_->start_stream(stream_);
  ASSERT_TRUE(started.ok()) << started.error().detail;
  for (int tick = 1; tick <= tick_count_max && loop_->tick(); ++tick) {
    if (poll_every > 0 && tick % poll_every == 0) poll();
    if (disturb) disturb(*this, tick);
    if (supervisor_->must_stop() || ::testing::Test::HasFatalFailure()) break;
  }
}

void SimulatedRig::poll() {
  supervisor_->poll();
  while (recording_.unwritten_message_count() > 0) std::this_thread::yield();
}

void SimulatedRig::finish() {
  const std::atomic<bool> stop(true);
  loop_->run(stop);
  // Poll first: records that the stop brings in come after these.
  poll();
  const auto ended = link_->stop_stream(
      [&](const firmware_iface::UnitSample& sample) { supervisor_->add_late_sample(sample); });
  std::optional<std::uint64_t> sent;
  if (ended.ok()) sent = ended.value().samples_sent;
  supervisor_->add_inertial_readings(link_->last_inertial_readings());
  supervisor_->finish(sent);
}

void SimulatedRig::abandon(Nanoseconds duration) {
  time_->sleep_until(time_->now() + duration);
  simulation().advance_to(time_->now());
}

}  // namespace daq
