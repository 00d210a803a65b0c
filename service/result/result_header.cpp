#include "service/result/result_header.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"

namespace service {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

const Value* head_field(const Struct& object, const std::string& name) {
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? nullptr : &found->second;
}

/// Returns the text in a field of a JSON object; empty if the field is missing.
std::string head_text(const Struct& object, const std::string& name) {
  const Value* value = head_field(object, name);
  return value == nullptr ? "" : value->string_value();
}

Struct head_object(const Struct& object, const std::string& name) {
  const Value* value = head_field(object, name);
  return value == nullptr ? Struct() : value->struct_value();
}

}  // namespace

ResultHeader read_result_header(const std::string& path) {
  Struct result;
  const auto status = google::protobuf::util::JsonStringToMessage(
      proto::read_file(path, proto::kTableSizeMax), &result);
  const std::string remedy = ". Give the output of rigcal calibrate --json";
  if (!status.ok()) {
    const std::string why(status.message());
    throw proto::InputError(path + ": not JSON" + remedy + " (" + why.substr(0, why.find('\n')) +
                            ")");
  }
  ResultHeader head;
  const Struct provenance = head_object(result, "provenance");
  head.version = head_text(result, "version");
  if (head.version.empty()) head.version = head_text(provenance, "version");
  if (head.version.empty()) throw proto::InputError(path + ": not a result of rigcal" + remedy);
  head.command = head_text(provenance, "command");
  head.date = head_text(provenance, "date");
  head.rig = head_text(result, "rig");
  head.rig_file = head_text(head_object(provenance, "rig"), "path");
  head.verdict = head_text(result, "verdict");
  if (const Value* recordings = head_field(provenance, "recordings")) {
    for (const Value& each : recordings->list_value().values()) {
      head.recordings.push_back(head_text(each.struct_value(), "path"));
    }
  }
  return head;
}

std::string describe_result(const ResultHeader& head) {
  return "a result of " + (head.command.empty() ? "rigcal" : "\"rigcal " + head.command + "\"") +
         " " + head.version + (head.date.empty() ? "" : " of " + head.date);
}

}  // namespace service
