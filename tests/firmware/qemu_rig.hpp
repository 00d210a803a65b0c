#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "firmware_iface/sim/config/sim_config.hpp"
#include "tests/firmware/qemu_unit.hpp"

namespace test_support {

/// State of the rig at a tick.
struct RigState {
  std::uint64_t ticks = 0;  ///< answered by the unit
  std::uint64_t resets = 0;
  BoardOutput output;
  firmware_iface::sim::JointState joints;
};

/// A simulated rig on the emulated unit, in real time on a thread of its own. The rig waits for the
/// unit's answer to each tick. On a loaded machine both fall behind the clock and catch up, without
/// a change to the motion. If the simulation file has a hand, it holds the rig until release_rig().
class QemuRig {
 public:
  /// @throws std::runtime_error
  QemuRig(const firmware_iface::sim::SimConfig& config, const std::string& log_path,
          std::uint16_t port = 0);
  ~QemuRig();
  QemuRig(const QemuRig&) = delete;
  QemuRig& operator=(const QemuRig&) = delete;

  std::string url() const { return unit_.url(); }
  std::uint16_t port() const { return unit_.port(); }
  RigState state() const;

  /// Injects the fault once, at the next tick; a driver fault lasts until kNone.
  void misbehave(Misbehaviour misbehaviour) { misbehaviour_.store(misbehaviour); }

  /// Stops or resumes the ticks, as if the rig's timer had failed.
  void set_stopped(bool stopped) { stopped_.store(stopped); }

  /// The hand lets the rig go.
  void release_rig() { let_go_.store(true); }

  /// Why the thread ended before the object; empty if it did not.
  std::string failure() const;

 private:
  void run();
  void step();
  BoardInputs read_board();

  firmware_iface::sim::SimConfig config_;
  QemuUnit unit_;
  firmware_iface::sim::Plant plant_;
  BoardOutput output_;
  std::atomic<Misbehaviour> misbehaviour_{Misbehaviour::kNone};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> let_go_{false};
  std::atomic<bool> ended_{false};
  mutable std::mutex mutex_;  // guards the following members
  RigState state_;
  std::string failure_;
  std::thread thread_;
};

}  // namespace test_support
