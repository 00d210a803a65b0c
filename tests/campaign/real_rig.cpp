#include "tests/campaign/clients.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <utility>

#include "proto/recording/recording_reader.hpp"
#include "tests/campaign/stream_relay.hpp"
#include "tests/integration/child_process.hpp"
#include "tests/integration/rig_files.hpp"
#include "tests/proto/recording_support.hpp"

namespace campaign {
namespace {

namespace fs = std::filesystem;
using namespace test_support;

void write_file(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// Counts of both channels by the sequence number of the sample.
std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> read_truth(const std::string& path) {
  std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> truth;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::vector<std::string> names;
  for (std::istringstream cells(line); std::getline(cells, line, ',');) names.push_back(line);
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const std::size_t sequence = column("sample_sequence");
  const std::size_t first = column("count1"), second = column("count2");
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::string cell;
    for (std::istringstream text(line); std::getline(text, cell, ',');) cells.push_back(cell);
    if (cells.size() <= std::max({sequence, first, second}) || cells[sequence].empty()) continue;
    truth[std::stoull(cells[sequence])] = {std::stoll(cells[first]), std::stoll(cells[second])};
  }
  return truth;
}

class RealRig {
 public:
  RealRig(Caller caller, const std::string& programs, const std::string& folder, std::uint64_t seed)
      : caller_(std::move(caller)),
        programs_(programs),
        folder_(folder),
        service_(caller_.service()),
        ledger_(caller_.ledger()),
        random_(seed) {
    fs::create_directories(folder_);
    write_file(folder_ + "/sim.textproto", kSimulationFile);
    write_file(folder_ + "/rig.textproto", kRigFile);
  }

  void run(const std::atomic<bool>& stop) {
    while (!stop.load() && !service_.dead()) run_once(stop);
  }

 private:
  struct Files {
    std::string base;  // path and name without extension
    std::string recording() const { return base + ".mcap"; }
    std::string spool() const { return base + ".mcap.spool"; }
  };

  void run_once(const std::atomic<bool>& stop) {
    const Files files{folder_ + "/" + caller_.name() + "-" + std::to_string(++run_count_)};
    ChildProcess unit({programs_ + "/rigcal-sim", "--config", folder_ + "/sim.textproto", "--truth",
                       files.base + ".csv", "--tcp", "0"},
                      files.base + ".sim.log");
    const std::string before = "tcp://127.0.0.1:";
    if (!eventually([&] { return unit.says("\n"); }, 60.0)) {
      return ledger_.fail("rigcal-sim does not start: " + unit.output());
    }
    const std::string unit_url = unit.output().substr(0, unit.output().find('\n'));
    StreamWitness witness(ledger_);
    StreamRelay relay(service_.port(), witness, ledger_, random_());
    const bool killed = record(files, unit_url.substr(unit_url.find(before)), relay.port());
    unit.send_signal(SIGINT);
    unit.wait(30.0);
    if (!deliver(files, relay.port(), witness, relay, stop)) return;
    compare(files, witness, killed);
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().string().starts_with(files.base)) fs::remove_all(entry.path());
    }
  }

  // @return true if the run was killed
  bool record(const Files& files, const std::string& unit_url, std::uint16_t relay_port) {
    const double duration_s = 1.0 + static_cast<double>(random_() % 3000) * 1e-3;
    write_file(files.base + ".textproto",
               "name: \"pulse\" duration_s: " + std::to_string(duration_s) +
                   " pulse { motor: \"arm\" command: 1 start_s: 0.1 "
                   "width_s: 0.5 }");
    ChildProcess daq({programs_ + "/rigcal-daq", "run", "--rig", folder_ + "/rig.textproto",
                      "--url", unit_url, "--scenario", files.base + ".textproto", "--out",
                      files.recording(), "--service", "127.0.0.1:" + std::to_string(relay_port)},
                     files.base + ".daq.log");
    ledger_.count("runs of rigcal-daq");
    if (random_() % 100 < 45) {
      daq.wait(0.2 + static_cast<double>(random_() % 1000) * 1e-3 * duration_s);
      daq.send_signal(SIGKILL);
      const bool killed = daq.wait(10.0) == 128 + SIGKILL;
      if (killed) ledger_.count("kills -9 of rigcal-daq run");
      return killed;
    }
    const auto code = daq.wait(120.0);
    if (!code) ledger_.fail("rigcal-daq hangs: " + daq.output());
    if (code && *code > 3) ledger_.fail("rigcal-daq crashed: " + daq.output());
    return false;
  }

  // Runs until the service has everything in the spool. @return false if there is nothing to
  // compare
  bool deliver(const Files& files, std::uint16_t relay_port, const StreamWitness& witness,
               StreamRelay& relay, const std::atomic<bool>& stop) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    std::string output;
    for (int round = 0; fs::exists(files.spool()); ++round) {
      if (service_.dead()) return false;
      if (std::chrono::steady_clock::now() > end) {
        ledger_.fail(files.base + ": not delivered: " + output);
        return false;
      }
      if (stop.load() || round > 10) relay.calm();
      ChildProcess send({programs_ + "/rigcal-daq", "send", "--spool", files.spool(), "--service",
                         "127.0.0.1:" + std::to_string(relay_port)},
                        files.base + ".send-" + std::to_string(round) + ".log");
      if (round < 10 && random_() % 2 == 0) {
        if (!send.wait(static_cast<double>(random_() % 500) * 1e-3)) {
          ledger_.count("kills -9 of rigcal-daq send");
        }
        send.send_signal(SIGKILL);
      }
      const auto code = send.wait(60.0);
      output = send.output();
      if (code == 1 && output.find("is not a spool folder") != std::string::npos) {
        ledger_.count("runs killed before they had a session");
        return false;
      }
      if (code == 1) ledger_.fail(files.base + ": refused for good: " + output);
      if (code == 1) return false;
      if (!code) send.send_signal(SIGKILL);  // it waits between two attempts; so does the next one
    }
    return !witness.session_id().empty();
  }

  void compare(const Files& files, const StreamWitness& witness, bool killed) {
    const auto stored = wait_for_recording(caller_, witness.session_id());
    if (!stored) return;
    const auto& samples = stored->samples;
    // Acknowledged samples must be stored, from the start.
    const std::vector<proto::Sample> acknowledged = witness.acknowledged_samples();
    ledger_.count("samples of rigcal-daq acknowledged", acknowledged.size());
    ledger_.count("samples of rigcal-daq stored", samples.size());
    bool all = acknowledged.size() <= samples.size();
    for (std::size_t k = 0; all && k < acknowledged.size(); ++k) {
      all = same(acknowledged[k], samples[k]);
    }
    if (!all) ledger_.fail(witness.session_id() + ": acknowledged samples are lost or altered");
    for (std::size_t k = 1; k < samples.size(); ++k) {
      if (samples[k].sequence > samples[k - 1].sequence) continue;
      return ledger_.fail(witness.session_id() + ": a sample is stored twice");
    }
    // The rig's own recording must have the same samples, as far as both reach. After a run that
    // was not killed both are complete.
    const std::string own_path =
        fs::exists(files.recording()) ? files.recording() : files.recording() + ".part";
    const auto own = proto::read_recording(own_path);
    if (!own.ok() && !killed) return ledger_.fail(own_path + ": " + own.error().detail);
    const std::size_t own_count = own.ok() ? own.value().samples.size() : 0;
    if (!killed &&
        (own_count != samples.size() || own.value().commands.size() != stored->commands.size() ||
         own.value().events.size() != stored->events.size())) {
      ledger_.fail(witness.session_id() + ": the rig recorded " + std::to_string(own_count) +
                   " samples, the service " + std::to_string(samples.size()));
    }
    const std::size_t common = std::min(own_count, samples.size());
    for (std::size_t k = 0; k < common; ++k) {
      if (same(own.value().samples[k], samples[k])) continue;
      return ledger_.fail(witness.session_id() + ": sample " + std::to_string(k) +
                          " differs from the rig's own recording");
    }
    ledger_.count("samples compared with the rig's own recording", common);
    compare_with_truth(files, *stored);
    delete_session(caller_, witness.session_id());
  }

  void compare_with_truth(const Files& files, const proto::Recording& stored) {
    const auto truth = read_truth(files.base + ".csv");
    for (const proto::Sample& sample : stored.samples) {
      const auto found = truth.find(sample.sequence);
      if (found != truth.end() && found->second.first == sample.encoder_counts[0] &&
          found->second.second == sample.encoder_counts[1]) {
        continue;
      }
      return ledger_.fail(files.base + ": sample " + std::to_string(sample.sequence) +
                          " is not what the unit saw");
    }
    ledger_.count("samples compared with the unit's truth", stored.samples.size());
  }

  Caller caller_;
  std::string programs_;
  std::string folder_;
  ServiceUnderTest& service_;
  Ledger& ledger_;
  std::mt19937_64 random_;
  int run_count_ = 0;
};

}  // namespace

void run_real_rig(Caller caller, const std::string& programs, const std::string& folder,
                  std::uint64_t seed, const std::atomic<bool>& stop) {
  RealRig(std::move(caller), programs, folder, seed).run(stop);
}

}  // namespace campaign
