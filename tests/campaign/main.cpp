// service_campaign: rigcald, rigs, operators and attackers, killed and cut off at random.

#include <signal.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "tests/campaign/campaign.hpp"

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
