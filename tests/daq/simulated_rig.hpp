#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daq/loop/control_loop.hpp"
#include "daq/loop/run_sink.hpp"
#include "daq/loop/supervisor.hpp"
#include "firmware_iface/sim/plants.hpp"
#include "firmware_iface/sim/sim_transport.hpp"
#include "tests/daq/lying_line.hpp"
#include "tests/support/virtual_time.hpp"

namespace daq {

/// Stores everything that a run reports.
class MemorySink : public RunSink {
 public:
  std::vector<proto::Sample> samples;
  std::vector<proto::InertialReading> inertial;
  std::vector<proto::Command> commands;
  std::vector<proto::Gap> gaps;
  std::vector<proto::Event> events;
  std::vector<proto::ClockFit> clock_fits;
  std::vector<proto::LoopStats> stats;

  proto::Status write(const proto::RecordingMessage& message) override {
    std::visit([this](const auto& plain) { keep(plain); }, message);
    return proto::success();
  }

  const proto::Event* find(const std::string& name) const {
    for (const proto::Event& event : events) {
      if (event.name == name) return &event;
    }
    return nullptr;
  }

 private:
  void keep(const proto::Sample& sample) { samples.push_back(sample); }
  void keep(const proto::InertialReading& reading) { inertial.push_back(reading); }
  void keep(const proto::Command& command) { commands.push_back(command); }
  void keep(const proto::Gap& gap) { gaps.push_back(gap); }
  void keep(const proto::Event& event) { events.push_back(event); }
  void keep(const proto::ClockFit& fit) { clock_fits.push_back(fit); }
  void keep(const proto::LoopStats& statistics) { stats.push_back(statistics); }
};

SafetyLimits furuta_limits();
LoopSettings furuta_settings();
firmware_iface::sim::SimulationSettings simulation_settings();
/// Returns parameters of a Furuta pendulum with viscous friction only.
firmware_iface::sim::FurutaParameters furuta_parameters();
/// Returns those of the shipped simulation files, with dry friction and without tilt.
firmware_iface::sim::FurutaParameters shipped_furuta();

/// A whole run in virtual time, with loop, supervisor, link, line, unit and rig in one thread. Its
/// result depends on the settings alone. Neither the host's clock nor the unit's starts at zero.
class SimulatedRig {
 public:
  SimulatedRig(Scenario scenario, const LoopSettings& loop = furuta_settings(),
               const firmware_iface::sim::SimulationSettings& simulation = simulation_settings(),
               const SafetyLimits& limits = furuta_limits(), RunSink* recording = nullptr,
               const firmware_iface::sim::FurutaParameters& furuta = furuta_parameters());

  /// A run of any rig, whose encoders are the unit's channels.
  SimulatedRig(Scenario scenario, const LoopSettings& loop,
               const firmware_iface::sim::SimulationSettings& simulation,
               const SafetyLimits& limits, RunSink* recording, firmware_iface::sim::Plant plant);

  /// Starts the stream and ticks until the run is over or tick_count_max ticks have passed.
  /// `disturb` is called after each tick and may inject a fault. The supervisor polls every
  /// poll_every ticks, or never if that is 0.
  void run(const std::function<void(SimulatedRig&, int tick)>& disturb = {},
           int tick_count_max = 100'000, int poll_every = 10);

  /// Polls the supervisor. No virtual time passes while the recording writes.
  void poll();

  /// Ends the run as the program does: power off, stop the stream, balance the sample counts.
  void finish();

  /// Lets time pass without a host, as after a crash.
  void abandon(Nanoseconds duration);

  firmware_iface::sim::SimulatedUnit& sim_unit() { return transport_->simulation().unit(); }
  firmware_iface::sim::UnitSimulation& simulation() { return transport_->simulation(); }
  firmware_iface::sim::SimTransport& transport() { return *transport_; }
  LyingLine& line() { return *line_; }
  ControlLoop& loop() { return *loop_; }
  Supervisor& supervisor() { return *supervisor_; }
  MemorySink& sink() { return sink_; }
  BlackBox& black_box() { return black_box_; }
  firmware_iface::UnitLink& link() { return *link_; }
  /// Returns the time since the host connected [s].
  double time_s() const { return static_cast<double>((time_->now() - connected_).count()) * 1e-9; }
  const std::vector<std::string>& said() const { return said_; }

  /// Stores, from now on, the true state of each sent sample by its sequence number. Allocates.
  void keep_truth() { keep_truth_ = true; }
  const std::map<std::uint64_t, firmware_iface::sim::TrueState>& truth() const { return truth_; }

 private:
  std::shared_ptr<firmware_iface::VirtualTime> time_;
  Nanoseconds connected_{0};
  firmware_iface::StreamSettings stream_;
  std::unique_ptr<firmware_iface::sim::SimTransport> transport_;
  std::unique_ptr<LyingLine> line_;
  SafetyLimits limits_;
  BlackBox black_box_;
  std::unique_ptr<firmware_iface::UnitLink> link_;
  std::unique_ptr<ControlLoop> loop_;
  MemorySink sink_;
  RunSink& recording_;
  std::vector<std::string> said_;
  bool keep_truth_ = false;
  std::map<std::uint64_t, firmware_iface::sim::TrueState> truth_;
  std::unique_ptr<Supervisor> supervisor_;
};

}  // namespace daq
