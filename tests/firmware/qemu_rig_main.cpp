// A simulated rig on the firmware's image, for interactive use: rigcal-sim with an emulated unit.

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <thread>

#include "firmware_iface/sim/config/sim_config.hpp"
#include "proto/text/command_line/command_line.hpp"
#include "proto/text/input_error.hpp"
#include "tests/firmware/qemu_rig.hpp"

namespace {

std::atomic<bool> stop_requested{false};

void request_stop(int /*signal*/) { stop_requested.store(true, std::memory_order_relaxed); }

constexpr int kBadInput = 1;  // exit status
constexpr int kPoll_ms = 50;

}  // namespace

int main(int argc, char** argv) {
  std::string simulation;
  std::string log = "/dev/null";
  std::uint16_t port = 0;
  CLI::App app{
      "The reference firmware under qemu-system-arm, with a simulated rig attached. Prints the "
      "URL\n"
      "a host opens and serves until Ctrl-C. Enter lets go a rig that the file's hand holds.\n\n"
      "  qemu_rig --sim configs/sim-furuta-hanging.textproto --port 7000",
      "qemu_rig"};
  app.add_option("--sim", simulation, "Simulation file (text format of proto/sim.proto)")
      ->required();
  app.add_option("--port", port, "TCP port of 127.0.0.1; default: a free one");
  app.add_option("--log", log, "Write QEMU's messages to this file");
  return proto::run_program(app, argc, argv, kBadInput, [&] {
    std::signal(SIGINT, request_stop);
    std::signal(SIGTERM, request_stop);
    test_support::QemuRig rig(firmware_iface::sim::load_sim_config(simulation), log, port);
    std::printf("%s\n", rig.url().c_str());
    std::fflush(stdout);
    while (!stop_requested.load() && rig.failure().empty()) {
      pollfd keyboard{STDIN_FILENO, POLLIN, 0};
      char key = 0;
      if (::poll(&keyboard, 1, kPoll_ms) <= 0) continue;
      if (::read(STDIN_FILENO, &key, 1) == 1) {
        rig.release_rig();
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(kPoll_ms));
      }
    }
    const test_support::RigState state = rig.state();
    std::printf("ticks: %llu\nresets: %llu\n", static_cast<unsigned long long>(state.ticks),
                static_cast<unsigned long long>(state.resets));
    if (!rig.failure().empty()) throw proto::InputError(rig.failure());
    return 0;
  });
}
