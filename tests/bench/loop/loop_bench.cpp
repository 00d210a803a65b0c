// Processor time of one tick of the control loop: read, decide, write, publish. A run of the loop
// is recorded call by call on its virtual line and then repeated from that record, so that neither
// the simulation nor waiting is measured. percent_of_period is the used part of a millisecond; the
// rest is for the kernel, the tty and the other threads.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "daq/loop/control_loop.hpp"
#include "daq/scenario/open_loop.hpp"
#include "firmware_iface/sim/plants.hpp"
#include "firmware_iface/sim/sim_transport.hpp"
#include "tests/daq/simulated_rig.hpp"
#include "tests/support/virtual_time.hpp"

namespace {

using firmware_iface::IoResult;
using firmware_iface::Nanoseconds;
using firmware_iface::Transport;
using firmware_iface::TransportReport;

constexpr int kTicks = 5000;

// Replies of a transport, in order.
struct LineRecord {
  struct Read {
    IoResult result;
    std::vector<std::uint8_t> bytes;
  };
  std::vector<Read> reads;
  std::vector<Nanoseconds> times;
};

class RecordingTransport final : public Transport {
 public:
  RecordingTransport(Transport& line, LineRecord& record) : line_(line), record_(record) {}

  Nanoseconds now() const noexcept override {
    record_.times.push_back(line_.now());
    return record_.times.back();
  }
  IoResult read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept override {
    const IoResult result = line_.read_some(buffer, deadline);
    const auto read = buffer.first(result.size_bytes);
    record_.reads.push_back({result, {read.begin(), read.end()}});
    return result;
  }
  IoResult write(std::span<const std::uint8_t> bytes) noexcept override {
    return line_.write(bytes);
  }
  void close() noexcept override { line_.close(); }
  const TransportReport& report() const noexcept override { return line_.report(); }

 private:
  Transport& line_;
  LineRecord& record_;
};

class RepeatingTransport final : public Transport {
 public:
  explicit RepeatingTransport(const LineRecord& record) : record_(record) {}

  Nanoseconds now() const noexcept override {
    return record_.times[std::min(next_time_++, record_.times.size() - 1)];
  }
  IoResult read_some(std::span<std::uint8_t> buffer, Nanoseconds) noexcept override {
    if (next_read_ == record_.reads.size()) return {firmware_iface::IoStatus::kClosed, 0};
    const LineRecord::Read& read = record_.reads[next_read_++];
    std::copy(read.bytes.begin(), read.bytes.end(), buffer.begin());
    return read.result;
  }
  IoResult write(std::span<const std::uint8_t> bytes) noexcept override {
    written_ += bytes.size();
    return {firmware_iface::IoStatus::kOk, bytes.size()};
  }
  void close() noexcept override {}
  const TransportReport& report() const noexcept override { return report_; }

 private:
  const LineRecord& record_;
  mutable std::size_t next_time_ = 0;
  std::size_t next_read_ = 0;
  std::uint64_t written_ = 0;
  TransportReport report_{"a recorded line", 921'600, {}};
};

// A host on a line, from the greeting to the last tick.
struct Host {
  explicit Host(Transport& line)
      : link(line, &black_box),
        loop(std::make_unique<daq::ControlLoop>(link, black_box,
                                                daq::Scenario("step", daq::Step{1.0, 0.2}, 60.0),
                                                daq::furuta_limits(), daq::furuta_settings())) {}

  bool start() { return link.connect().ok() && link.start_stream({}).ok(); }
  int tick() {
    int count = 0;
    daq::LoopRecord record;
    while (count < kTicks && loop->tick()) {
      ++count;
      loop->records().try_pop(record);
    }
    return count;
  }

  daq::BlackBox black_box;
  firmware_iface::UnitLink link;
  std::unique_ptr<daq::ControlLoop> loop;
};

LineRecord record_a_run() {
  namespace sim = firmware_iface::sim;
  sim::FurutaParameters parameters;
  parameters.arm_friction.viscous = parameters.pendulum_friction.viscous = 1e-3;
  sim::SimTransport unit(
      std::make_unique<sim::UnitSimulation>(
          daq::simulation_settings(),
          sim::Plant(std::make_unique<sim::FurutaModel>(parameters), sim::JointState{}),
          Nanoseconds(0)),
      std::make_shared<firmware_iface::VirtualTime>(), "virtual unit", 921'600);
  LineRecord record;
  RecordingTransport line(unit, record);
  Host host(line);
  if (!host.start() || host.tick() != kTicks) std::abort();
  return record;
}

void tick(benchmark::State& state) {
  const LineRecord record = record_a_run();
  std::clock_t used = 0;
  for (auto _ : state) {
    state.PauseTiming();
    RepeatingTransport line(record);
    Host host(line);
    if (!host.start()) state.SkipWithError("the recorded line does not answer as it did");
    const std::clock_t start = std::clock();
    state.ResumeTiming();
    if (host.tick() != kTicks) state.SkipWithError("the repeated run is not the recorded one");
    used += std::clock() - start;
  }
  const double ticks = kTicks * static_cast<double>(state.iterations());
  const double tick_s = static_cast<double>(used) / CLOCKS_PER_SEC / ticks;
  state.SetItemsProcessed(kTicks * state.iterations());
  state.counters["ns_per_tick"] = 1e9 * tick_s;
  state.counters["percent_of_period"] = 100.0 * tick_s / 1e-3;
}
BENCHMARK(tick)->Unit(benchmark::kMillisecond);

}  // namespace
