#include "service/client/remote/job_follower.hpp"

#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "proto/stream/service_states.hpp"
#include "service/report/number_format.hpp"
#include "service/report/result_table.hpp"

namespace service {
namespace {

using rigcal::v1::JobInfo;
using rigcal::v1::JobProgress;

constexpr int kPollPeriod_ms = 200;

std::string status_line(const JobInfo& info) {
  const JobProgress& progress = info.progress();
  if (info.state() == rigcal::v1::JOB_QUEUED) {
    return "queued, place " + std::to_string(info.queue_position()) +
           (info.error().empty() ? "" : ": " + info.error());
  }
  if (info.state() != rigcal::v1::JOB_RUNNING) return proto::state_name(info.state());
  if (progress.stage().empty()) return "reading recordings";
  return progress.stage() + ": iteration " + std::to_string(progress.iteration()) + "  cost " +
         format_number(progress.cost(), 7) + "  gradient " +
         format_number(progress.gradient_norm(), 2);
}

// Full when the step is down to the solver's tolerance: the logarithm of the step, from one to
// 1e-8.
std::string bar(const JobProgress& progress) {
  constexpr int kWidth = 30;
  constexpr double kDecades = 8.0;
  const double decades =
      progress.step_norm() > 0.0 ? -std::log10(progress.step_norm()) / kDecades : 0.0;
  const auto filled = static_cast<int>(std::lround(kWidth * std::clamp(decades, 0.0, 1.0)));
  std::string text = "[";
  for (int k = 0; k < kWidth; ++k) text += k < filled ? "#" : ".";
  return text + "]";
}

std::string parameter_rows(const JobProgress& progress) {
  std::vector<std::vector<std::string>> rows;
  const int count = std::min(progress.parameters_size(), progress.values_size());
  for (int k = 0; k < count; ++k) {
    rows.push_back({"  " + progress.parameters(k), format_number(progress.values(k), 6)});
  }
  return rows.empty() ? "" : format_table(rows, {false, true});
}

class Display {
 public:
  Display(bool quiet, bool json)
      : quiet_(quiet), json_(json), terminal_(::isatty(STDERR_FILENO) == 1) {}

  void show(const JobInfo& info) {
    if (json_) {
      std::string line;
      google::protobuf::util::JsonPrintOptions options;
      options.always_print_primitive_fields = true;
      if (google::protobuf::util::MessageToJsonString(info, &line, options).ok()) {
        std::cout << line << std::endl;
      }
      return;
    }
    if (quiet_) return;
    if (!terminal_) {
      std::cerr << status_line(info) << '\n';
      return;
    }
    std::string text = status_line(info) + "\n";
    if (info.state() == rigcal::v1::JOB_RUNNING && info.progress().iteration() > 0) {
      text = bar(info.progress()) + " " + text + parameter_rows(info.progress());
    }
    erase();
    std::cerr << text << std::flush;
    lines_ = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }

 private:
  void erase() {
    // Up to where the last picture began, and clear from there.
    if (lines_ > 0) std::cerr << "\033[" << lines_ << "A\033[J";
  }

  bool quiet_;
  bool json_;
  bool terminal_;
  int lines_ = 0;
};

}  // namespace

JobInfo follow_job(ServiceClient& client, const std::string& job_id, bool quiet, bool json,
                   const std::atomic<bool>& stop) {
  rigcal::v1::ServiceRequest request;
  request.mutable_subscribe_job()->set_job_id(job_id);
  JobInfo info = client.call(request).job_info();
  Display display(quiet, json);
  display.show(info);
  while (!proto::has_ended(info) && !stop.load()) {
    const auto notification = client.wait(kPollPeriod_ms);
    if (!notification || !notification->has_job_update() ||
        notification->job_update().job().job_id() != job_id) {
      continue;
    }
    info = notification->job_update().job();
    display.show(info);
  }
  return info;
}

ExitCode report_end(const JobInfo& info) {
  if (info.state() == rigcal::v1::JOB_DONE) return kDone;
  std::cerr << "rigcal: job '" << info.job_id() << "' is " << proto::state_name(info.state())
            << (info.error().empty() ? "" : ": " + info.error()) << '\n';
  return proto::has_ended(info) ? kServiceTrouble : kInterrupted;
}

}  // namespace service
