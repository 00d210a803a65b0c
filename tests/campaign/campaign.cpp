#include "tests/campaign/campaign.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <ostream>
#include <random>
#include <thread>
#include <vector>

#include "tests/campaign/calibration_client.hpp"
#include "tests/campaign/canary.hpp"
#include "tests/campaign/hostile_client.hpp"
#include "tests/campaign/ledger.hpp"
#include "tests/campaign/made_up_rig.hpp"
#include "tests/campaign/real_rig.hpp"
#include "tests/campaign/service_under_test.hpp"
#include "tests/support/temporary_folder.hpp"

namespace campaign {
namespace {

using Clock = std::chrono::steady_clock;

void disturb(ServiceUnderTest& service, std::mt19937_64& random, Clock::time_point end) {
  const auto seconds = [&random](double max) {
    return max * static_cast<double>(random() % 1000) * 1e-3;
  };
  while (Clock::now() < end && !service.dead()) {
    std::this_thread::sleep_for(std::chrono::duration<double>(0.3 + seconds(5.0)));
    switch (random() % 10) {
      case 0:
      case 1:
        service.fail_disk_once();
        break;
      case 2:
        service.fill_disk(0.5 + seconds(1.5));
        break;
      case 3:
        service.restart_in_order();
        break;
      default:
        service.kill_and_restart(seconds(1.0));
    }
  }
}

}  // namespace

bool run_campaign(const CampaignOptions& options, std::ostream& out) {
  out << "seed " << options.seed << ", " << options.duration_s << " s, " << options.real_rigs
      << " rigs with rigcal-daq, " << options.made_up_rigs << " made-up rigs, "
      << options.hostile_clients << " hostile clients" << std::endl;
  const auto start = Clock::now();
  Ledger ledger;
  const test_support::TemporaryFolder folder;
  std::mt19937_64 random(options.seed);
  ServiceUnderTest service(options.programs, folder.file("service"), ledger);
  if (!service.start()) return false;
  if (!service.can_fill_disk()) out << "no root: the disk is never filled" << std::endl;

  std::atomic<bool> stop(false);
  std::vector<std::thread> threads;
  const auto begin = [&](auto client) {
    threads.emplace_back([&stop, client = std::move(client)]() mutable { client.run(stop); });
  };
  for (int k = 0; k < options.real_rigs; ++k) {
    const std::string name = "rig" + std::to_string(k);
    begin(RealRig(name, options.programs, folder.file(name), service, ledger, random()));
  }
  for (int k = 0; k < options.made_up_rigs; ++k) {
    begin(MadeUpRig("made-up" + std::to_string(k), service, ledger, random()));
  }
  for (int k = 0; k < options.hostile_clients; ++k) {
    begin(HostileClient(service, ledger, random(), options.crowd));
  }
  begin(CalibrationClient(options.programs, folder.file("operator"), service, ledger, random()));
  threads.emplace_back([&] { run_canary(service, ledger, stop); });

  disturb(service, random,
          start + std::chrono::duration_cast<Clock::duration>(
                      std::chrono::duration<double>(options.duration_s)));
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  service.stop();
  const std::chrono::duration<double> took = Clock::now() - start;
  ledger.print(out);
  out << "took " << took.count() << " s, seed " << options.seed << ": "
      << (ledger.clean() ? "nothing lost, nothing twice, nothing altered" : "FAILED") << std::endl;
  return ledger.clean();
}

}  // namespace campaign
