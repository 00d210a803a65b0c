// An operator's waiting time from the last sample of a ten-second run, already streamed up to it,
// to the result of its calibration.
//
//   LastSampleToResult   the last batch, its acknowledgement, closing, storing and verifying the
//                        recording, starting the worker, reading, calibrating, the report, sending
//
// solver_s is the time reported by the solver; rest_s is everything else.

#include <benchmark/benchmark.h>

#include <cmath>

#include "proto/recording/convert.hpp"
#include "tests/service/server/service_process.hpp"

namespace {

using namespace test_support;
using rigcal::v1::ServiceRequest;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kLatencySamplesPerBatch = 100;
constexpr std::uint64_t kLatencyBatches = 100;  // 10 s at 1 kHz

// The pendulum of configs/rig-pendulum.textproto swings with friction, read by an encoder.
std::vector<double> swing() {
  constexpr double kInertia = 0.0012 + 0.428 * 0.092 * 0.092;  // about the joint [kg·m²]
  constexpr double kStiffness = 0.428 * 9.82 * 0.092;          // [N·m]
  constexpr double kViscous = 3e-4, kCoulomb = 1e-3;           // [N·m·s/rad], [N·m]
  constexpr double kStep_s = 1e-5, kCount_rad = 2.0 * 3.14159265358979323846 / 4096.0;
  double angle = 1.0, speed = 0.0;
  std::vector<double> angles;
  for (std::uint64_t k = 0; angles.size() < kLatencyBatches * kLatencySamplesPerBatch; ++k) {
    if (k % 100 == 0) angles.push_back(kCount_rad * std::round(angle / kCount_rad));
    const double torque =
        -kStiffness * std::sin(angle) - kViscous * speed - std::copysign(kCoulomb, speed);
    speed += kStep_s * torque / kInertia;
    angle += kStep_s * speed;
  }
  return angles;
}

std::vector<std::string> make_frames() {
  const std::vector<double> angles = swing();
  std::vector<std::string> frames;
  for (std::uint64_t sequence = 1; sequence <= kLatencyBatches; ++sequence) {
    ServiceRequest request;
    request.mutable_sample_batch()->set_batch_sequence(sequence);
    for (std::uint64_t k = (sequence - 1) * kLatencySamplesPerBatch;
         k < sequence * kLatencySamplesPerBatch; ++k) {
      proto::Sample sample;
      sample.timestamp_s = 1e-3 * static_cast<double>(k);
      sample.sequence = k;
      sample.device_time_us = static_cast<std::int64_t>(1000 * k);
      sample.channel_count = 1;
      sample.angle_rad[0] = angles[k];
      sample.valid[0] = true;
      proto::to_message(sample, *request.mutable_sample_batch()->add_samples());
    }
    frames.push_back(request_frame(request));
  }
  return frames;
}

// Streams everything but the last batch. False if the service does not accept it.
bool stream(SocketClient& rig, const std::string& id, const std::vector<std::string>& frames) {
  if (!rig.call(open_request(id, "pivot")).has_session_opened()) return false;
  for (std::size_t k = 0; k + 1 < frames.size(); ++k) {
    rig.send_bytes(frames[k]);
    const auto reply = rig.receive();
    if (!reply || !reply->has_acknowledge()) return false;
  }
  return true;
}

rigcal::v1::JobInfo calibrate(SocketClient& client, const std::string& id) {
  client.call(submit_request(id, id));
  rigcal::v1::JobInfo job =
      client.call(about(&ServiceRequest::mutable_subscribe_job, id)).job_info();
  while (job.state() == rigcal::v1::JOB_QUEUED || job.state() == rigcal::v1::JOB_RUNNING) {
    const auto reply = client.receive(120.0);
    if (!reply) break;
    if (reply->has_job_update()) job = reply->job_update().job();
  }
  return job;
}

void LastSampleToResult(benchmark::State& state) {
  ServiceProcess service;
  if (!service.start()) return state.SkipWithError("rigcald does not start");
  const std::vector<std::string> frames = make_frames();
  double solver_s = 0.0, total_s = 0.0;
  int round = 0;
  for (auto _ : state) {
    const std::string id = "run-" + std::to_string(++round);
    SocketClient rig(service.port());
    SocketClient client(service.port());
    if (!client.greet() || !stream(rig, id, frames)) return state.SkipWithError("not streamed");
    const auto start = Clock::now();
    rig.send_bytes(frames.back());
    rig.receive();
    rig.call(close_request(kLatencyBatches));
    const rigcal::v1::JobInfo job = calibrate(client, id);
    const std::chrono::duration<double> took = Clock::now() - start;
    if (job.state() != rigcal::v1::JOB_DONE) return state.SkipWithError(job.error().c_str());
    const ServiceRequest request = about(&ServiceRequest::mutable_get_result, id);
    solver_s += client.call(request).job_result().result().wall_time_s();
    total_s += took.count();
    state.SetIterationTime(took.count());
  }
  state.counters["solver_s"] = solver_s / round;
  state.counters["rest_s"] = (total_s - solver_s) / round;
}

BENCHMARK(LastSampleToResult)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(5);

}  // namespace
