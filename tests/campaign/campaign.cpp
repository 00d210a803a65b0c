// service_campaign: rigcald, rigs, operators and attackers, killed and cut off at random.

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/campaign/clients.hpp"
#include "tests/support/temporary_folder.hpp"

namespace campaign {
namespace {

using Clock = std::chrono::steady_clock;

/// Largest memory of the service itself that docs/service.md promises.
#ifdef RIG_SANITIZED
inline constexpr double kMemoryMax_mb = 0.0;  // a sanitizer alone needs several times as much
#else
inline constexpr double kMemoryMax_mb = 1190.0;
#endif

struct CampaignOptions {
  std::uint64_t seed = 1;
  double duration_s = 60.0;
  std::string programs;  ///< folder of rigcald, rigcal, rigcal-daq and rigcal-sim
  int real_rigs = 2;
  int made_up_rigs = 3;
  int hostile_clients = 2;
  int crowd = 600;                       ///< connections of a crowd
  bool disturb = true;                   ///< kills the service, fills its disk and makes it fail
  bool attackers = true;                 ///< poisoner, hoarder, thief and numbers
  double memory_mb_max = kMemoryMax_mb;  ///< of the service itself; 0: any
};

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

// Keeps the report and the logs of the service in the working folder: a failure that depends on the
// moment need not recur with the same seed.
void keep_report(const ServiceUnderTest& service, const Ledger& ledger, std::uint64_t seed,
                 std::ostream& out) {
  const std::string folder =
      "service_campaign-" + std::to_string(seed) + "-" + std::to_string(std::time(nullptr));
  service.keep_logs(folder);
  std::ofstream report(folder + "/report.txt");
  ledger.print(report);
  out << "report and logs: " << std::filesystem::absolute(folder).string() << std::endl;
}

// Prints a report. @return true if nothing failed
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
    threads.emplace_back(
        [&stop, client = std::move(client)]() mutable { std::move(client)(stop); });
  };
  const auto caller = [&](const std::string& name, const Who& who = {}) {
    return Caller(name, who, service, ledger);
  };
  const auto with_programs = [&](auto run, const std::string& name, const Who& who = {}) {
    begin(std::bind_front(run, caller(name, who), options.programs, folder.file(name), random()));
  };
  for (int k = 0; k < options.real_rigs; ++k)
    with_programs(run_real_rig, "rig" + std::to_string(k));
  for (int k = 0; k < options.made_up_rigs; ++k) {
    begin(std::bind_front(run_made_up_rig, caller("made-up" + std::to_string(k)), random()));
  }
  for (int k = 0; k < options.hostile_clients; ++k) {
    begin(std::bind_front(run_hostile_client, caller("hostile"), random(), options.crowd));
  }
  with_programs(run_calibrations, "operator");
  begin(std::bind_front(run_canary, caller("canary", {.account = account_or_own(kCanaryAccount)})));
  begin(std::bind_front(run_canary, caller("neighbour")));  // with the attackers' own identity
  if (options.attackers) {
    begin(std::bind_front(run_poisoner, caller("poisoner"), random()));
    begin(std::bind_front(run_hoarder, caller("hoarder", {kHoarderAddress}), random()));
    begin(std::bind_front(run_thief, caller("thief", {kThiefAddress}), caller("accomplice"),
                          random()));
    if (::geteuid() == 0) {
      begin(std::bind_front(run_thief, caller("burglar", {.account = kThiefAccount}),
                            caller("insider", {.account = kCanaryAccount}), random()));
    }
    with_programs(run_number_attacker, "numbers", {kNumbersAddress});
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
  if (!ledger.clean()) keep_report(service, ledger, options.seed, out);
  out << "took " << took.count() << " s, seed " << options.seed << ": "
      << (ledger.clean() ? "nothing lost, nothing twice, nothing altered" : "FAILED") << std::endl;
  return ledger.clean();
}

}  // namespace
}  // namespace campaign

int main(int argc, char** argv) {
  campaign::CampaignOptions options;
  options.programs = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  CLI::App app(
      "Runs the service with rigs, operators and attackers while all of them are killed and cut\n"
      "off at random, and compares every sample stored with every sample sent. Root can fill the\n"
      "service's disk, too. Exit status 0 when nothing was lost, stored twice or altered.",
      "service_campaign");
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--seconds", options.duration_s, "of disturbances; what runs then is completed")
      ->capture_default_str();
  app.add_option("--programs", options.programs, "folder of the programs, e.g. build-asan/bin")
      ->capture_default_str();
  app.add_option("--real-rigs", options.real_rigs, "rigcal-sim and rigcal-daq each")
      ->capture_default_str();
  app.add_option("--made-up-rigs", options.made_up_rigs)->capture_default_str();
  app.add_option("--hostile-clients", options.hostile_clients)->capture_default_str();
  app.add_option("--crowd", options.crowd, "connections of a crowd")->capture_default_str();
  app.add_flag("!--no-disturbances", options.disturb,
               "leave the service alone: no kills, no full and no failing disk");
  app.add_flag("!--no-attackers", options.attackers,
               "without poisoner, hoarder, thief and numbers that are none");
  app.add_option("--memory-mb", options.memory_mb_max,
                 "of the service itself, at most; 0: any, as with sanitizers")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  ::signal(SIGPIPE, SIG_IGN);
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;  // for crowds
  ::setrlimit(RLIMIT_NOFILE, &files);
  return campaign::run_campaign(options, std::cout) ? 0 : 1;
}
