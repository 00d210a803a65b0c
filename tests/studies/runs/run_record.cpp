#include "tests/studies/runs/run_record.hpp"

#include <google/protobuf/reflection.h>
#include <google/protobuf/util/json_util.h>

#include <stdexcept>

#include "tests/studies/study.pb.h"

namespace service {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using rigcal::v1::StudyRunRecord;

// The members of each struct, in the order of the fields of its message in study.proto.

void for_members(RunParameter& p, const auto& each) {
  each(p.name, p.unit, p.value, p.standard_deviation, p.initial, p.at_bound);
}

void for_members(RunIteration& i, const auto& each) { each(i.iteration, i.cost, i.values); }

void for_members(RunJoint& h, const auto& each) {
  each(h.name, h.rmse, h.measured, h.simulated, h.kind);
}

void for_members(StudyRun& run, const auto& each) {
  RunLabels& at = run.place;
  each(run.key, at.stage, at.set, at.recording, at.model, at.method, at.start, at.trained_on,
       at.step, at.compliance, at.state_error_weight, run.termination, run.converged,
       run.iterations, run.cost, run.observation_error, run.state_error, run.nodes, run.wall_time,
       run.error, run.parameters, run.history, run.joints, run.start, run.spacing, run.control,
       run.base);
}

/// Copies the members of a run to the fields of a message.
struct Writer {
  Message& message;

  void operator()(auto&... members) const {
    int index = 0;
    (put(message.GetDescriptor()->field(index++), members), ...);
  }

  template <typename Member>
  void put(const FieldDescriptor* field, Member& member) const {
    const google::protobuf::Reflection& to = *message.GetReflection();
    if constexpr (std::is_same_v<Member, std::string>) {
      to.SetString(&message, field, member);
    } else if constexpr (std::is_same_v<Member, double>) {
      to.SetDouble(&message, field, member);
    } else if constexpr (std::is_same_v<Member, bool>) {
      to.SetBool(&message, field, member);
    } else if constexpr (std::is_same_v<Member, std::vector<double>>) {
      for (const double value : member) to.AddDouble(&message, field, value);
    } else if constexpr (requires { member.begin(); }) {
      for (auto& each : member) for_members(each, Writer{*to.AddMessage(&message, field)});
    } else {
      to.SetInt32(&message, field, static_cast<int>(member));
    }
  }
};

/// Copies the fields of a message to the members of a run.
struct Reader {
  const Message& message;

  void operator()(auto&... members) const {
    int index = 0;
    (get(message.GetDescriptor()->field(index++), members), ...);
  }

  template <typename Member>
  void get(const FieldDescriptor* field, Member& member) const {
    const google::protobuf::Reflection& from = *message.GetReflection();
    if constexpr (std::is_same_v<Member, std::string>) {
      member = from.GetString(message, field);
    } else if constexpr (std::is_same_v<Member, double>) {
      member = from.GetDouble(message, field);
    } else if constexpr (std::is_same_v<Member, bool>) {
      member = from.GetBool(message, field);
    } else if constexpr (std::is_same_v<Member, std::vector<double>>) {
      const auto& values = from.GetRepeatedFieldRef<double>(message, field);
      member.assign(values.begin(), values.end());
    } else if constexpr (requires { member.begin(); }) {
      member.resize(static_cast<std::size_t>(from.FieldSize(message, field)));
      for (int i = 0; auto& each : member) {
        for_members(each, Reader{from.GetRepeatedMessage(message, field, i++)});
      }
    } else {
      member = static_cast<Member>(from.GetInt32(message, field));
    }
  }
};

}  // namespace

std::string format_run(StudyRun run) {
  StudyRunRecord record;
  for_members(run, Writer{record});
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(record, &json);
  if (!status.ok()) throw std::runtime_error("run as JSON: " + status.ToString());
  return json;
}

StudyRun parse_run(const std::string& json) {
  StudyRunRecord record;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &record);
  if (!status.ok()) throw std::runtime_error("run from JSON: " + status.ToString());
  StudyRun run;
  for_members(run, Reader{record});
  return run;
}

}  // namespace service
