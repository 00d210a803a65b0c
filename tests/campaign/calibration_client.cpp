#include "tests/campaign/clients.hpp"

#include <google/protobuf/util/json_util.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "proto/calibration.pb.h"
#include "tests/integration/child_process.hpp"
#include "tests/support/source_folder.hpp"

namespace campaign {
namespace {

using rigcal::v1::CalibrationResult;

constexpr const char* kScenario = R"(name: "swing" duration_s: 4
initial { joint: "pivot" angle_rad: 1 }
release { joint: "pivot" held_angle_rad: 1 held_tolerance_rad: 0.1 }
noise { angle_standard_deviation_rad: 0.0005 seed: 3 }
)";
constexpr double kRounding_s = 1e-3;
const std::string kPendulumRig = test_support::source_folder() + "/configs/rig-pendulum.textproto";

bool same_to_the_last_digit(const CalibrationResult& a, const CalibrationResult& b) {
  if (a.parameters_size() != b.parameters_size()) return false;
  for (int k = 0; k < a.parameters_size(); ++k) {
    if (a.parameters(k).SerializeAsString() != b.parameters(k).SerializeAsString()) return false;
  }
  return true;
}

// Equal up to round-off: the programs may have been compiled differently, as with a sanitizer.
bool same_but_for_rounding(const CalibrationResult& a, const CalibrationResult& b) {
  if (a.parameters_size() != b.parameters_size() || a.parameters_size() == 0) return false;
  for (int k = 0; k < a.parameters_size(); ++k) {
    const double difference = std::abs(a.parameters(k).value() - b.parameters(k).value());
    if (difference > 1e-3 * b.parameters(k).standard_deviation()) return false;
  }
  return true;
}

class CalibrationClient {
 public:
  CalibrationClient(Caller caller, const std::string& programs, const std::string& folder,
                    std::uint64_t seed)
      : programs_(programs),
        folder_(folder),
        rig_(folder_ + "/rig.textproto"),
        caller_(std::move(caller)),
        service_(caller_.service()),
        ledger_(caller_.ledger()),
        random_(seed) {
    std::filesystem::create_directories(folder_);
    // A copy, since an id belongs to one job, and the file may be edited meanwhile.
    std::filesystem::copy_file(kPendulumRig, rig_);
  }

  void run(const std::atomic<bool>& stop) {
    if (!prepare()) return;
    while (!stop.load() && !service_.dead()) calibrate();
  }

 private:
  struct Outcome {
    int exit_code = -1;
    std::string output;
  };

  // Prepares the recording and the expected result.
  bool prepare() {
    std::ofstream(folder_ + "/swing.textproto") << kScenario;
    const std::string csv = folder_ + "/swing.csv";
    const Outcome simulated =
        rigcal({"simulate", "--rig", rig_, "--scenario", folder_ + "/swing.textproto", "--start",
                "pendulum.J_zz=0.0012", "--out", csv});
    const std::string json = folder_ + "/expected.json";
    const Outcome calibrated = rigcal({"calibrate", csv, "--rig", rig_, "--quiet", "--json", json});
    const auto result = read_result(json);
    if (calibrated.exit_code != 0 || !result) {
      ledger_.fail("no calibration to compare with: " + simulated.output + calibrated.output);
      return false;
    }
    expected_ = *result;
    return true;
  }

  void calibrate() {
    const std::string job = "job-" + std::to_string(++job_count_);
    const std::string server = "127.0.0.1:" + std::to_string(service_.port());
    const std::string json = folder_ + "/result.json";
    const std::vector<std::string> calibrate = {"calibrate", folder_ + "/swing.csv",
                                                "--rig",     rig_,
                                                "--quiet",   "--server",
                                                server,      "--job",
                                                job,         "--json",
                                                json};
    const Caller::Calm calm = caller_.calm();
    const auto moment = [this] { return static_cast<double>(random_() % 1500) * 1e-3; };
    if (random_() % 2 == 0) rigcal(calibrate, moment());
    if (random_() % 3 == 0) rigcal({"watch", job, "--server", server}, moment());
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      std::filesystem::remove(json);
      const std::uint64_t before = service_.disturbances();
      const Outcome outcome = rigcal(calibrate);
      if (outcome.exit_code == 0) {
        const auto result = read_result(json);
        if (!result || !same_but_for_rounding(*result, expected_)) {
          ledger_.fail(job + ": its result is not that of the same calibration without a service");
          return;
        }
        if (!first_) first_ = result;
        if (!same_to_the_last_digit(*result, *first_)) {
          ledger_.fail(job + ": its result is not that of the same job before");
        }
        expect_fair_wait(job, calm);
        return ledger_.count("calibrations with the result expected, to the last digit");
      }
      // The service reports that the job was started too often.
      if (outcome.output.find("times while this job was running") != std::string::npos) {
        return ledger_.count("calibrations given up after three interruptions, with a message");
      }
      if (outcome.output.find("No space left on device") != std::string::npos &&
          outcome.output.find(" failed: ") != std::string::npos) {
        return ledger_.count("calibrations that failed for want of space, with a message");
      }
      if (service_.dead()) return;
      if (before % 2 == 0 && before == service_.disturbances()) {
        return ledger_.fail(job + ": fails while nobody disturbs the service: " + outcome.output);
      }
      ledger_.count("calibrations asked for again after a disturbance of the service");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    ledger_.fail(job + ": did not end in time");
  }

  // The least usage comes first: the usage by another's jobs that started and ended while this one
  // waited, up to the last preferred one, is at most its owner's earlier usage.
  void expect_fair_wait(const std::string& job, const Caller::Calm& calm) {
    using rigcal::v1::ServiceRequest;
    ServiceRequest list;
    list.mutable_list_jobs();
    const rigcal::v1::JobInfo own =
        caller_.ask(test_support::about(&ServiceRequest::mutable_inspect_job, job)).job_info();
    const rigcal::v1::ServiceReply reply = caller_.ask(list);
    if (!calm.lasted()) return;
    double own_use_s = 0.0;
    std::map<std::string, std::vector<const rigcal::v1::JobInfo*>> preferred;
    for (const rigcal::v1::JobInfo& other : reply.job_list().jobs()) {
      if (other.owner() == own.owner()) {
        if (other.job_id() != own.job_id()) own_use_s += other.processor_s();
      } else if (other.started_unix_ns() >= own.submitted_unix_ns() &&
                 other.started_unix_ns() <= own.started_unix_ns()) {
        preferred[other.owner()].push_back(&other);
      }
    }
    for (const auto& [owner, jobs] : preferred) {
      ledger_.note_most("jobs of one other that started while a calibration waited",
                        static_cast<double>(jobs.size()));
      std::int64_t last_start_ns = 0;
      for (const auto* other : jobs) {
        last_start_ns = std::max(last_start_ns, other->started_unix_ns());
      }
      double used_s = 0.0;
      for (const auto* other : jobs) {
        const bool over = other->ended_unix_ns() > 0 && other->ended_unix_ns() <= last_start_ns;
        if (over) used_s += other->processor_s();
      }
      if (used_s > own_use_s + kRounding_s) {
        ledger_.fail(job + ": waited while " + owner + " used " + std::to_string(used_s) +
                     " s, and its owner had used " + std::to_string(own_use_s) + " s");
      }
    }
  }

  Outcome rigcal(const std::vector<std::string>& words, double kill_after_s = -1.0) {
    std::vector<std::string> command = {programs_ + "/rigcal"};
    command.insert(command.end(), words.begin(), words.end());
    test_support::ChildProcess program(command, folder_ + "/rigcal.log");
    if (kill_after_s >= 0.0 && !program.wait(kill_after_s)) {
      program.send_signal(SIGKILL);
      ledger_.count("kills -9 of rigcal");
    }
    const auto code = program.wait(180.0);
    if (!code) ledger_.fail("rigcal " + words.front() + " hangs: " + program.output());
    return {code.value_or(-1), program.output()};
  }

  std::optional<CalibrationResult> read_result(const std::string& path) const {
    std::ifstream file(path);
    const std::string json((std::istreambuf_iterator<char>(file)), {});
    CalibrationResult result;
    if (!google::protobuf::util::JsonStringToMessage(json, &result).ok()) return std::nullopt;
    return result;
  }

  std::string programs_;
  std::string folder_;
  std::string rig_;  // file
  Caller caller_;
  ServiceUnderTest& service_;
  Ledger& ledger_;
  std::mt19937_64 random_;
  rigcal::v1::CalibrationResult expected_;              // without a service
  std::optional<rigcal::v1::CalibrationResult> first_;  // from the service
  int job_count_ = 0;
};

}  // namespace

void run_calibrations(Caller caller, const std::string& programs, const std::string& folder,
                      std::uint64_t seed, const std::atomic<bool>& stop) {
  CalibrationClient(std::move(caller), programs, folder, seed).run(stop);
}

}  // namespace campaign
