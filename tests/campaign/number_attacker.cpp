#include "tests/campaign/clients.hpp"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "proto/recording/recording_reader.hpp"
#include "proto/rig.pb.h"
#include "proto/scenario.pb.h"
#include "proto/stream/service_limits.hpp"
#include "tests/integration/child_process.hpp"
#include "tests/proto/schema_fields.hpp"
#include "tests/support/source_folder.hpp"

namespace campaign {
namespace {

namespace v1 = rigcal::v1;
using namespace test_support;
using v1::ServiceReply;
using v1::ServiceRequest;

constexpr double kAttackPatience_s = 30.0;
constexpr std::size_t kJobsUnderWay = 20;
constexpr std::size_t kSentenceMin = 12;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::array kValues = {std::numeric_limits<double>::quiet_NaN(),
                                kInf,
                                -kInf,
                                1e308,
                                -1e308,
                                9.3e18,
                                1e9,
                                -1.0,
                                0.0,
                                1e-300};

constexpr const char* kSwing =
    R"(name: "swing" duration_s: 0.5 initial { joint: "pivot" angle_rad: 1 }
release { joint: "pivot" held_angle_rad: 1 held_tolerance_rad: 0.1 }
noise { angle_standard_deviation_rad: 0.0005 seed: 3 } )";

// Listed in docs/protocol.md.
bool may_be_nan(const FieldPath& path) {
  const std::string name = path.back()->full_name();
  return name == "rigcal.v1.Sample.angle_rad" || name == "rigcal.v1.Command.command_requested" ||
         name == "rigcal.v1.Event.value" || name == "rigcal.v1.Event.limit";
}

// Whether this number in this field must be refused.
bool is_none(const FieldPath& path, double value) {
  if (path.back()->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE) return false;
  return !std::isfinite(value) && !may_be_nan(path);
}

std::string text_of(const google::protobuf::Message& message) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  return text;
}

// A batch with every kind of message.
ServiceRequest full_batch() {
  ServiceRequest request = batch_request(1);
  v1::SampleBatch& batch = *request.mutable_sample_batch();
  const double start = batch.samples(0).timestamp();
  batch.add_gaps()->set_timestamp(start);
  batch.mutable_gaps(0)->set_first_sequence(1000);
  batch.mutable_gaps(0)->set_sample_count(1);
  batch.add_events()->set_timestamp(start);
  batch.mutable_events(0)->add_last_frames()->set_frame("frame");
  batch.add_clock_fits()->set_timestamp(start);
  batch.add_loop_stats()->set_timestamp(start);
  return request;
}

class NumberAttacker {
 public:
  NumberAttacker(Caller caller, std::string programs, std::string folder, std::uint64_t seed)
      : caller_(std::move(caller)),
        programs_(std::move(programs)),
        folder_(std::move(folder)),
        random_(seed) {
    std::filesystem::create_directories(folder_);
    const auto add = [&](Number::In in, const google::protobuf::Descriptor& type) {
      for (const FieldPath& path : numeric_fields(type)) {
        for (const double value : kValues) numbers_.push_back({in, path, value});
      }
    };
    add(Number::In::kRequest, *ServiceRequest::descriptor());
    add(Number::In::kRigText, *v1::Rig::descriptor());
    add(Number::In::kScenarioText, *v1::Scenario::descriptor());
  }

  void run(const std::atomic<bool>& stop) {
    caller_.count("numbers there are to put somewhere", numbers_.size());
    while (!stop.load() && !caller_.service().dead()) {
      std::shuffle(numbers_.begin(), numbers_.end(), random_);
      for (const Number& number : numbers_) {
        if (stop.load() || caller_.service().dead()) break;
        if (recording_.empty()) {
          const std::string id = new_id();
          if (!upload_pendulum(caller_, id)) {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            continue;  // the disk is full at times
          }
          recording_ = id;
        }
        put(number);
        caller_.count("numbers put somewhere");
      }
    }
    while (!jobs_.empty() && !caller_.service().dead()) harvest();
  }

 private:
  /// One number: the message that holds it, its field, and its new value.
  struct Number {
    enum class In { kRequest, kRigText, kScenarioText } in;
    FieldPath path;
    double value;
  };

  void put(const Number& number) {
    switch (number.in) {
      case Number::In::kRigText:
        return put_into_rig(number);
      case Number::In::kScenarioText:
        return put_into_scenario(number);
      case Number::In::kRequest:
        break;
    }
    switch (number.path.front()->number()) {
      case ServiceRequest::kOpenSession:
        return put_into_opening(number);
      case ServiceRequest::kSampleBatch:
      case ServiceRequest::kCloseSession:
        return put_into_stream(number);
      default:
        return put_into_request(number);
    }
  }

  void put_into_opening(const Number& number) {
    const std::string id = new_id();
    ServiceRequest request = open_request(id);
    put_number(request, number.path, number.value);
    SocketClient client = caller_.connect();
    if (!client.connected()) return;
    if (expect_right(number, client.call(request, kAttackPatience_s))) {
      client.half_close();
      finish_session(number, id, 0);
    }
  }

  // A session is used until it has accepted a number: a refusal leaves it unchanged.
  void put_into_stream(const Number& number) {
    if (stream_.empty()) stream_ = new_id();
    const bool in_batch = number.path.front()->number() == ServiceRequest::kSampleBatch;
    ServiceRequest batch = full_batch();
    ServiceRequest close = close_request(1);
    put_number(in_batch ? batch : close, number.path, number.value);
    SocketClient client = caller_.connect();
    if (!client.connected()) return;
    if (!client.call(open_request(stream_), kAttackPatience_s).has_session_opened()) return;
    const ServiceReply reply = client.call(batch, kAttackPatience_s);
    const bool lost = reply.reply_case() == ServiceReply::REPLY_NOT_SET;
    const bool taken = in_batch ? expect_right(number, reply) : reply.has_acknowledge();
    if (!taken && !lost) return;
    if (taken) {
      const ServiceReply closed = client.call(close, kAttackPatience_s);
      if (!in_batch) expect_right(number, closed);
    }
    client.half_close();
    const std::string id = std::exchange(stream_, {});
    if (taken) {
      return finish_session(number, id,
                            static_cast<std::size_t>(batch.sample_batch().samples_size()));
    }
    if (wait_until_settled(caller_, id)) delete_session(caller_, id);
  }

  void put_into_request(const Number& number) {
    const auto* const kind = number.path.front();
    ServiceRequest request;
    if (kind->number() == ServiceRequest::kSubmitJob) {
      request = submit_request(new_id(), recording_);
      request.mutable_submit_job()->mutable_spec()->set_time_limit_s(5.0);
    } else if (kind->number() == ServiceRequest::kOpenUpload) {
      request = upload_request(new_id(), 0, "numbers.csv");
    } else if (kind->number() == ServiceRequest::kReadRecording) {
      request = about(&ServiceRequest::mutable_read_recording, recording_);
    }
    put_number(request, number.path, number.value);
    caller_.hang_up();  // an invalid number costs the connection
    if (request.has_submit_job()) return run_job(number, request);
    const ServiceReply reply = caller_.ask_once(request);
    const bool taken = expect_right(number, reply);
    if (taken) caller_.count("numbers that are answered");
    if (taken && reply.has_upload_state()) {
      delete_session(caller_, request.open_upload().session_id());
    }
  }

  void put_into_rig(const Number& number) {
    ServiceRequest submit = submit_request(new_id(), recording_);
    auto& spec = *submit.mutable_submit_job()->mutable_spec();
    v1::Rig rig;
    if (!google::protobuf::TextFormat::ParseFromString(spec.rig_text(), &rig)) {
      return fail(number, "the rig file does not parse");
    }
    put_number(rig, number.path, number.value);
    spec.set_rig_text(text_of(rig));
    spec.set_time_limit_s(5.0);
    run_job(number, submit);
  }

  // No message carries a scenario; rigcal and rigcal-daq read them.
  void put_into_scenario(const Number& number) {
    v1::Scenario scenario;
    if (!google::protobuf::TextFormat::ParseFromString(kSwing, &scenario)) {
      return fail(number, "the scenario does not parse");
    }
    put_number(scenario, number.path, number.value);
    const std::string file = folder_ + "/scenario.textproto", table = folder_ + "/out.csv";
    std::ofstream(file) << text_of(scenario);
    std::filesystem::remove(table);
    ChildProcess program(
        {programs_ + "/rigcal", "simulate", "--rig",
         source_folder() + "/configs/rig-pendulum.textproto", "--scenario", file, "--out", table},
        folder_ + "/simulate.log");
    const auto code = program.wait(300.0);
    if (!code || *code > 3) return fail(number, "rigcal simulate: " + program.output());
    if (*code != 0) return expect_refusal(number, program.output());
    if (is_none(number.path, number.value)) fail(number, "is simulated");
    std::ifstream rows(table);
    const std::string text((std::istreambuf_iterator<char>(rows)), {});
    if (text.empty() || text.find("nan") != std::string::npos ||
        text.find("inf") != std::string::npos) {
      fail(number, "is simulated as something else than numbers");
    }
    caller_.count("numbers simulated");
  }

  void run_job(const Number& number, const ServiceRequest& submit) {
    const std::string& id = submit.submit_job().job_id();
    const ServiceReply reply = caller_.ask_once(submit);
    const bool in_message = number.in == Number::In::kRequest;
    if (in_message ? !expect_right(number, reply) : !reply.has_job_info()) return;
    jobs_.emplace_back(number, id);
    if (jobs_.size() > kJobsUnderWay) harvest();
  }

  // Checks the outcome of the oldest job.
  void harvest() {
    const auto [number, id] = std::move(jobs_.front());
    jobs_.pop_front();
    const ServiceRequest inspect = about(&ServiceRequest::mutable_inspect_job, id);
    const auto end = std::chrono::steady_clock::now() + kPatience;
    v1::JobInfo info;
    while (!proto::has_ended(info = caller_.ask(inspect).job_info())) {
      if (caller_.service().dead()) return;
      if (std::chrono::steady_clock::now() > end) return fail(number, "its job does not end");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    if (info.state() != v1::JOB_DONE) {
      const bool by_the_service =
          info.error().find("while this job was running") != std::string::npos ||
          info.is_time_over() ||
          info.error().find("No space") != std::string::npos;
      if (!by_the_service) expect_refusal(number, info.error());
    } else {
      if (is_none(number.path, number.value)) fail(number, "was calibrated with");
      const ServiceReply result = caller_.ask(about(&ServiceRequest::mutable_get_result, id));
      for (const auto& parameter : result.job_result().result().parameters()) {
        if (!std::isfinite(parameter.value()))
          fail(number, "gives " + parameter.name() + " no value");
      }
      caller_.count("numbers that were calibrated with");
    }
    delete_job(caller_, id);
  }

  // Acknowledged numbers must be read back.
  void finish_session(const Number& number, const std::string& id, std::size_t sample_count) {
    const auto info = wait_until_settled(caller_, id);
    if (!info) return;
    const auto recording =
        proto::read_recording(caller_.service().session_folder(id) + "/" + info->file_name());
    if (info->state() != v1::SESSION_STORED || !info->problem().empty() || !recording.ok()) {
      fail(number, "was acknowledged, and is not stored: " + brief(*info));
    } else if (recording.value().samples.size() != sample_count ||
               !recording.value().scan.container.intact() ||
               recording.value().scan.unreadable_count > 0) {
      fail(number, "was acknowledged, and does not read back");
    } else {
      caller_.count("numbers stored and read back");
    }
    delete_session(caller_, id);
  }

  void expect_refusal(const Number& number, const std::string& text) {
    caller_.count("numbers refused");
    if (text.size() < kSentenceMin)
      return fail(number, "is refused without a sentence: '" + text + "'");
    if (is_none(number.path, number.value) &&
        text.find(number.path.back()->name()) == std::string::npos) {
      fail(number, "is refused without its name: " + text);
    }
  }

  // Expects a reply that is no refusal. False without a reply, or for a refusal.
  bool expect_right(const Number& number, const ServiceReply& reply) {
    if (reply.reply_case() == ServiceReply::REPLY_NOT_SET) return false;
    if (reply.has_error() || reply.has_session_refused()) {
      using v1::ServiceError;
      const auto code = reply.error().code();
      const bool for_now = code == ServiceError::BUSY || code == ServiceError::STORAGE ||
                           reply.session_refused().reason() == v1::SessionRefused::REASON_BUSY ||
                           reply.session_refused().reason() == v1::SessionRefused::REASON_STORAGE;
      if (!for_now) {
        expect_refusal(number,
                       reply.has_error() ? reply.error().text() : reply.session_refused().text());
      }
      return false;
    }
    if (is_none(number.path, number.value)) fail(number, "is taken: " + brief(reply));
    return true;
  }

  void fail(const Number& number, const std::string& what) {
    caller_.fail(name_of(number.path) + " = " + std::to_string(number.value) + ": " + what);
  }

  std::string new_id() { return caller_.name() + "-" + std::to_string(++count_); }

  Caller caller_;
  std::string programs_;
  std::string folder_;
  std::mt19937_64 random_;
  std::vector<Number> numbers_;
  std::string recording_;                            // session that jobs name
  std::string stream_;                               // session without a batch yet
  std::deque<std::pair<Number, std::string>> jobs_;  // submitted jobs, by id
  int count_ = 0;                                    // of ids
};

}  // namespace

void run_number_attacker(Caller caller, const std::string& programs, const std::string& folder,
                         std::uint64_t seed, const std::atomic<bool>& stop) {
  NumberAttacker(std::move(caller), programs, folder, seed).run(stop);
}

}  // namespace campaign
