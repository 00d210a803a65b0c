#include "tests/campaign/campaign.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <ostream>
#include <random>
#include <thread>
#include <vector>

#include "tests/campaign/calibration_client.hpp"
#include "tests/campaign/canary.hpp"
#include "tests/campaign/hoarder.hpp"
#include "tests/campaign/hostile_client.hpp"
#include "tests/campaign/ledger.hpp"
#include "tests/campaign/made_up_rig.hpp"
#include "tests/campaign/number_attacker.hpp"
#include "tests/campaign/poisoner.hpp"
#include "tests/campaign/real_rig.hpp"
#include "tests/campaign/service_under_test.hpp"
#include "tests/campaign/thief.hpp"
#include "tests/support/temporary_folder.hpp"

namespace campaign {
namespace {

using Clock = std::chrono::steady_clock;

// Identities of the clients. The rigs and most others share the first address. The canary is known
// by its account, if this program may switch to another, and the worst attackers have their own.
constexpr const char* kHoarderAddress = "127.0.0.66";
constexpr const char* kThiefAddress = "127.0.0.99";
constexpr const char* kNumbersAddress = "127.0.0.77";
constexpr uid_t kCanaryAccount = 1;  // "daemon" on Debian
constexpr uid_t kThiefAccount = 2;   // "bin"

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

void report_memory(const ServiceUnderTest& service, double mb_max, Ledger& ledger,
                   std::ostream& out) {
  const double mb = service.memory().service_mb();
  out << "memory: rigcald at most " << mb << " MB, its workers at most "
      << service.memory().worker_mb() << " MB each" << std::endl;
  if (mb_max > 0.0 && mb > mb_max) {
    ledger.fail("rigcald took " + std::to_string(mb) + " MB, more than " + std::to_string(mb_max));
  }
}

}  // namespace

bool run_campaign(const CampaignOptions& options, std::ostream& out) {
  out << "seed " << options.seed << ", " << options.duration_s << " s, " << options.real_rigs
      << " rigs with rigcal-daq, " << options.made_up_rigs << " made-up rigs, "
      << options.hostile_clients << " hostile clients"
      << (options.attackers ? ", poisoner, hoarder, thieves, NaN" : "")
      << (options.disturb ? "" : ", the service undisturbed") << std::endl;
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
  const auto caller = [&](const std::string& name, const Who& who = {}) {
    return Caller(name, who, service, ledger);
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
  begin(Canary(caller("canary", {.account = account_or_own(kCanaryAccount)}), ledger));
  begin(Canary(caller("neighbour"), ledger));  // with the attackers' own identity
  if (options.attackers) {
    begin(Poisoner(caller("poisoner"), random()));
    begin(Hoarder(caller("hoarder", {kHoarderAddress}), random()));
    begin(Thief(caller("thief", {kThiefAddress}), caller("accomplice"), random()));
    if (::geteuid() == 0) {
      begin(Thief(caller("burglar", {.account = kThiefAccount}),
                  caller("insider", {.account = kCanaryAccount}), random()));
    }
    begin(NumberAttacker(caller("numbers", {kNumbersAddress}), options.programs,
                         folder.file("numbers"), random()));
  }
  std::atomic<bool> over(false);
  std::thread watch([&] {
    while (!over.load()) {
      service.look_at_memory();
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  });

  const auto end = start + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(options.duration_s));
  if (options.disturb) disturb(service, random, end);
  if (!service.dead()) std::this_thread::sleep_until(end);
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  service.stop();
  over.store(true);
  watch.join();
  report_memory(service, options.memory_mb_max, ledger, out);
  const std::chrono::duration<double> took = Clock::now() - start;
  ledger.print(out);
  out << "took " << took.count() << " s, seed " << options.seed << ": "
      << (ledger.clean() ? "nothing lost, nothing twice, nothing altered" : "FAILED") << std::endl;
  return ledger.clean();
}

}  // namespace campaign
