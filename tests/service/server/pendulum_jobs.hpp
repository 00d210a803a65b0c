#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "proto/recording/convert.hpp"
#include "proto/text/table/csv_table.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/service/server/service_process.hpp"

// Common parts of the job tests: recordings of a pendulum, and jobs on them.

namespace service {

// True values, away from those in the rig file.
inline constexpr const char* kTruth = "--start pendulum.J_zz=0.0012 --start pivot.b=3e-4";

/// Records a swing of the pendulum, with noise.
inline std::string record_swing(const TemporaryFolder& files, const std::string& name,
                                double duration_s, double angle_rad) {
  const std::string angle = std::to_string(angle_rad);
  const std::string path = files.write(
      name + ".textproto", "name: \"swing\" duration_s: " + std::to_string(duration_s) +
                               " initial { joint: \"pivot\" angle_rad: " + angle +
                               " } release { joint: \"pivot\" held_angle_rad: " + angle +
                               " held_tolerance_rad: 0.1 }\n"
                               "noise { angle_standard_deviation_rad: 0.0005 seed: 3 }\n");
  const ProgramRun run =
      run_rigcal("simulate --rig " + config("rig-pendulum.textproto") + " --scenario " + path +
                 " " + kTruth + " --out " + files.file(name));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return files.file(name);
}

inline std::string at(const test_support::ServiceProcess& service) {
  return " --server 127.0.0.1:" + std::to_string(service.port()) + " ";
}

/// Streams the rows of a recorded swing as a session, without some of them.
inline void stream_swing(test_support::ServiceProcess& service, const std::string& id,
                         const std::string& csv, int missing_from = 0, int missing_to = 0) {
  const proto::CsvTable table =
      proto::parse_csv(csv, contents_of(csv), {{"t_s", {}}, {"theta1_rad", {}}});
  test_support::SocketClient client(service.port());
  ASSERT_TRUE(client.call(test_support::open_request(id, "pivot")).has_session_opened());
  std::uint64_t batch_count = 0;
  for (int row = 0; row < table.row_count();) {
    rigcal::v1::ServiceRequest request;
    request.mutable_sample_batch()->set_batch_sequence(++batch_count);
    for (int k = 0; k < 100 && row < table.row_count(); ++k, ++row) {
      if (row >= missing_from && row < missing_to) continue;
      proto::Sample sample;
      sample.timestamp_s = table.values[0][static_cast<std::size_t>(row)];
      sample.sequence = static_cast<std::uint64_t>(row);
      sample.device_time_us = std::llround(1e6 * sample.timestamp_s);
      sample.channel_count = 1;
      sample.angle_rad[0] = table.values[1][static_cast<std::size_t>(row)];
      sample.valid[0] = true;
      proto::to_message(sample, *request.mutable_sample_batch()->add_samples());
    }
    ASSERT_TRUE(client.call(request).has_acknowledge());
  }
  ASSERT_TRUE(client.call(test_support::close_request(batch_count)).has_session_closed());
}

inline rigcal::v1::JobInfo inspect(test_support::SocketClient& client, const std::string& job_id) {
  using rigcal::v1::ServiceRequest;
  return client.call(test_support::about(&ServiceRequest::mutable_inspect_job, job_id)).job_info();
}

/// Waits until a job has ended. @return its final state
inline rigcal::v1::JobInfo wait_for(test_support::SocketClient& client, const std::string& job_id) {
  rigcal::v1::JobInfo info;
  test_support::eventually(
      [&] {
        info = inspect(client, job_id);
        return info.state() != rigcal::v1::JOB_QUEUED && info.state() != rigcal::v1::JOB_RUNNING;
      },
      300.0);  // with sanitizers on a busy machine
  return info;
}

/// Waits until a job runs. Returns false if the job ended before it was seen running.
inline bool wait_until_running(test_support::SocketClient& client, const std::string& job_id) {
  rigcal::v1::JobInfo info;
  test_support::eventually(
      [&] {
        info = inspect(client, job_id);
        return info.progress().iteration() > 0 || info.ended_unix_ns() > 0;
      },
      300.0);
  return info.state() == rigcal::v1::JOB_RUNNING;
}

/// A service that runs and has the session "run": a swing of the pendulum. By default its jobs take
/// long enough to be disturbed.
class SwingService : public test_support::RunningService {
 public:
  explicit SwingService(double duration_s = 60.0, double angle_rad = 2.5) {
    const TemporaryFolder files;
    stream_swing(*this, "run", record_swing(files, "run.csv", duration_s, angle_rad));
  }
};

}  // namespace service
