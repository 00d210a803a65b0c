#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "firmware_iface/sim/host_port.hpp"
#include "firmware_iface/sim/sim_transport.hpp"
#include "firmware_iface/transport/transport.hpp"
#include "tests/support/temporary_folder.hpp"

namespace transport_bench {

using Bytes = std::vector<std::uint8_t>;

/// The other end of a transport under test.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual void write(const Bytes& bytes) = 0;
  /// Waits for `size_bytes` bytes, up to five seconds.
  virtual Bytes read(std::size_t size_bytes) = 0;
  virtual void close() = 0;
};

/// A transport and its other end.
struct Bench {
  std::unique_ptr<firmware_iface::Transport> transport;
  std::unique_ptr<Peer> peer;
  std::string url;  ///< empty for the line in memory
  std::shared_ptr<void> keep;
};

/// A kind of transport that the byte conformance suite tests.
struct Kind {
  std::string name;
  std::function<Bench()> make;
  bool is_exclusive = false;
};
const std::vector<Kind>& byte_kinds();

/// A simulated unit in real time behind a port, on a thread of its own.
class ServedUnit {
 public:
  ServedUnit(const firmware_iface::sim::SimulationSettings& settings,
             std::unique_ptr<firmware_iface::sim::HostConnection> port);
  ~ServedUnit() { stop(); }

  /// Ends the thread; counters() may be read afterwards.
  void stop();
  firmware_iface::sim::UnitCounters counters() const { return simulation_->unit().counters(); }
  double output_V() const { return simulation_->unit().output_V(); }

 private:
  std::unique_ptr<firmware_iface::sim::HostConnection> port_;
  std::unique_ptr<firmware_iface::sim::UnitSimulation> simulation_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// Returns the "serial:" URL under which libserialport finds the pseudo-terminal that `link` leads
/// to. libserialport uses the path below /dev/ as a name below /sys/class/tty.
std::string serial_url(const std::string& link);

}  // namespace transport_bench
