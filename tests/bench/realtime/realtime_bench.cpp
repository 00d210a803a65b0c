// Wake-up latency of the real-time threads and duration of a cycle, with cyclictest running at the
// same time, priority and period: its figures are the machine's, the ratios are rigcal's.
//   realtime_bench [SECONDS]      (default 20; needs cyclictest, Debian package rt-tests)

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "daq/commands/commands.hpp"
#include "proto/recording/recording_reader.hpp"
#include "tests/integration/child_process.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using namespace test_support;

constexpr int kPriority = 80;
constexpr double kGrace_s = 20.0;

// [µs]
struct Figures {
  double mean = 0.0;
  double p99 = 0.0;
  double max = 0.0;
};

// The histogram printed by cyclictest -q -h: lines "latency count", then lines of remarks.
std::optional<Figures> parse_cyclictest(const std::string& output) {
  std::istringstream lines(output);
  std::map<int, double> counts;
  Figures figures;
  double total = 0.0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    int latency_us = 0;
    double count = 0.0;
    if (line.starts_with("# Max Latencies:")) figures.max = std::stod(line.substr(16));
    if (line.starts_with('#') || !(words >> latency_us >> count) || count == 0.0) continue;
    counts[latency_us] = count;
    figures.mean += latency_us * count;
    total += count;
  }
  if (total == 0.0) return std::nullopt;
  figures.mean /= total;
  double below = 0.0;
  for (const auto& [latency_us, count] : counts) {
    below += count;
    figures.p99 = latency_us;
    if (below >= 0.99 * total) break;
  }
  return figures;
}

class Cyclictest {
 public:
  Cyclictest(int seconds, const std::string& output_path)
      : process_({"/usr/bin/cyclictest", "--quiet", "--mlockall",
                  "--priority=" + std::to_string(kPriority), "--interval=1000",
                  "--histogram=100000", "--duration=" + std::to_string(seconds)},
                 output_path),
        seconds_(seconds) {}

  Figures wait() {
    const auto code = process_.wait(seconds_ + kGrace_s);
    const auto figures = parse_cyclictest(process_.output());
    if (code == 0 && figures) return *figures;
    std::fprintf(stderr, "cyclictest failed; it is in the package rt-tests:\n%s\n",
                 process_.output().c_str());
    std::exit(1);
  }

 private:
  ChildProcess process_;
  int seconds_;
};

void print_row(const char* name, const Figures& figures, const Figures& reference) {
  std::printf("%-40s %9.1f %9.1f %9.1f %8.2f %8.2f %8.2f\n", name, figures.mean, figures.p99,
              figures.max, figures.mean / reference.mean, figures.p99 / reference.p99,
              figures.max / reference.max);
}

void print_head(const char* title) {
  std::printf("%s\n%-40s %9s %9s %9s %8s %8s %8s\n", title, "", "mean [µs]", "99 % [µs]",
              "max [µs]", "/mean", "/99 %", "/max");
}

void bench_wake_up(int seconds, const test_support::TemporaryFolder& folder) {
  Cyclictest cyclictest(seconds, folder.file("cyclictest1"));
  const daq::LatencyResult result =
      daq::measure_latency({.duration = std::chrono::seconds(seconds),
                            .real_time = {.priority = kPriority, .lock_memory = true}});
  const Figures reference = cyclictest.wait();
  for (const std::string& refused : result.real_time.refused) std::printf("%s\n", refused.c_str());
  print_head("Wake-up to absolute deadlines, 1 ms");
  print_row("cyclictest", reference, reference);
  print_row("rigcal-daq latency",
            {static_cast<double>(result.histogram->mean().count()) * 1e-3,
             result.histogram->percentile_us(0.99),
             static_cast<double>(result.histogram->max().count()) * 1e-3},
            reference);
}

void bench_run(int seconds, const test_support::TemporaryFolder& folder) {
  std::ofstream(folder.file("scenario.textproto"))
      << "name: \"bench\" duration_s: " << seconds
      << " multisine { motor: \"1\" ramp_s: 0.5 sine { frequency_hz: 1 amplitude: 0.3 } }";
  ChildProcess sim({RIGCAL_SIM, "--config", source_folder() + "/configs/sim-furuta.textproto",
                    "--link", folder.file("unit")},
                   folder.file("sim.txt"));
  eventually([&] { return !sim.output().empty(); }, kGrace_s);
  Cyclictest cyclictest(seconds, folder.file("cyclictest2"));
  ChildProcess daq({RIGCAL_DAQ, "run", "--rig", source_folder() + "/configs/rig-furuta.textproto",
                    "--url", "pty://" + folder.file("unit"), "--scenario",
                    folder.file("scenario.textproto"), "--out", folder.file("run.mcap")},
                   folder.file("daq.txt"));
  const Figures reference = cyclictest.wait();
  daq.wait(kGrace_s);
  const auto run = proto::read_recording(folder.file("run.mcap"));
  if (!run.ok() || run.value().loop_stats.empty()) {
    std::fprintf(stderr, "the run failed:\n%s\n", daq.output().c_str());
    std::exit(1);
  }
  const proto::LoopStats& stats = run.value().loop_stats.back();
  print_head("\nA run over a pseudo-terminal, paced by the simulated unit");
  print_row("cyclictest beside it", reference, reference);
  print_row("sample to sample, less the period",
            {stats.wakeup_us_mean, stats.wakeup_us_p99, stats.wakeup_us_max}, reference);
  std::printf("%-40s %9.1f %9s %9.1f %8.2f %8s %8.2f\n", "from sample to command written",
              stats.cycle_us_mean, "", stats.cycle_us_max, stats.cycle_us_mean / reference.mean, "",
              stats.cycle_us_max / reference.max);
  std::printf("\n%s", daq.output().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 20;
  const test_support::TemporaryFolder folder;
  bench_wake_up(seconds, folder);
  bench_run(seconds, folder);
  return 0;
}
