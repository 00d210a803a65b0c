#include "service/server/http_routes.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <set>

#include "service/server/http_access.hpp"

namespace service {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using rigcal::v1::ReadReport;
using rigcal::v1::ServiceError;
using rigcal::v1::ServiceRequest;

constexpr const char* kRecordingType = "application/octet-stream";
constexpr const char* kTextType = "text/plain; charset=utf-8";
constexpr const char* kReportType = "text/html; charset=utf-8";

// Whether the characters can be part of an id. Others need no decoding, as no item has them.
bool is_parameter(std::string_view part) {
  return !part.empty() && std::ranges::all_of(part, [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '.' || letter == '_' || letter == '-';
  });
}

/// Returns the parameter of a path that matches the path of a route, or nullopt.
std::optional<std::string> match_path(std::string_view route, std::string_view path) {
  const std::size_t open = route.find('{');
  if (open == std::string_view::npos) {
    return route == path ? std::optional<std::string>("") : std::nullopt;
  }
  const std::string_view rest = route.substr(route.find('}') + 1);
  if (path.size() <= open + rest.size() || !path.starts_with(route.substr(0, open)) ||
      !path.ends_with(rest)) {
    return std::nullopt;
  }
  const std::string_view id = path.substr(open, path.size() - open - rest.size());
  return is_parameter(id) ? std::optional<std::string>(id) : std::nullopt;
}

std::string schema_reference(std::string_view message) {
  return "{\"$ref\":\"#/components/schemas/" + std::string(message) + "\"}";
}

std::string schema_of(const FieldDescriptor& field, std::set<const Descriptor*>& needed) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return "{\"type\":\"boolean\"}";
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "{\"type\":\"number\"}";
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT32:
      return "{\"type\":\"integer\"}";
    case FieldDescriptor::CPPTYPE_INT64:  // a number of JavaScript has 53 bits
    case FieldDescriptor::CPPTYPE_UINT64:
    case FieldDescriptor::CPPTYPE_STRING:
      return "{\"type\":\"string\"}";
    case FieldDescriptor::CPPTYPE_ENUM: {
      std::string values;
      for (int k = 0; k < field.enum_type()->value_count(); ++k) {
        values += (k == 0 ? "" : ",") + json_string(field.enum_type()->value(k)->name());
      }
      return "{\"type\":\"string\",\"enum\":[" + values + "]}";
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  if (!field.message_type()->full_name().starts_with("rigcal.")) return "{\"type\":\"object\"}";
  needed.insert(field.message_type());
  return schema_reference(field.message_type()->name());
}

std::string schema_of(const Descriptor& message, std::set<const Descriptor*>& needed) {
  std::string properties;
  for (int k = 0; k < message.field_count(); ++k) {
    const FieldDescriptor& field = *message.field(k);
    std::string schema;
    if (field.is_map()) {
      schema = "{\"type\":\"object\",\"additionalProperties\":" +
               schema_of(*field.message_type()->FindFieldByName("value"), needed) + "}";
    } else if (field.is_repeated()) {
      schema = "{\"type\":\"array\",\"items\":" + schema_of(field, needed) + "}";
    } else {
      schema = schema_of(field, needed);
    }
    properties += (k == 0 ? "" : ",") + json_string(field.json_name()) + ":" + schema;
  }
  return "{\"type\":\"object\",\"properties\":{" + properties + "}}";
}

const Descriptor& find_message(const std::string& name) {
  return *google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName("rigcal.v1." +
                                                                                    name);
}

/// Returns the schemas of messages, and of all messages in their fields.
std::string schemas_of(std::set<const Descriptor*> needed) {
  std::set<const Descriptor*> done;
  std::string schemas;
  while (!needed.empty()) {
    const Descriptor* const message = *needed.begin();
    needed.erase(needed.begin());
    if (!done.insert(message).second) continue;
    schemas += (schemas.empty() ? "" : ",\n") + json_string(message->name()) + ":" +
               schema_of(*message, needed);
  }
  return schemas;
}

bool is_of_api(const HttpRoute& route) { return std::string_view(route.path).starts_with("/api/"); }

std::string operation_of(const HttpRoute& route) {
  const std::string path = route.path;
  std::string text = "{\"summary\":" + json_string(route.summary);
  if (const std::size_t open = path.find('{'); open != std::string::npos) {
    text += ",\"parameters\":[{\"name\":" +
            json_string(path.substr(open + 1, path.find('}') - open - 1)) +
            ",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"string\"}}]";
  }
  if (*route.body != '\0') {
    text += ",\"requestBody\":{\"required\":true,\"content\":{\"application/json\":{\"schema\":" +
            (route.answer == HttpAnswer::kMessage ? schema_reference(route.body)
                                                  : std::string(route.body)) +
            "}}}";
  }
  const bool is_file = route.answer == HttpAnswer::kFile ||
                       route.answer == HttpAnswer::kComparison ||
                       route.answer == HttpAnswer::kCalibratedRig;
  const bool is_events = route.answer == HttpAnswer::kEvents;
  const std::string type = is_file     ? route.reply
                           : is_events ? "text/event-stream"
                                       : "application/json";
  const std::string schema = route.answer == HttpAnswer::kMessage ? schema_reference(route.reply)
                             : is_file || is_events               ? "{\"type\":\"string\"}"
                                                                  : "{\"type\":\"object\"}";
  return text + ",\"responses\":{\"200\":{\"description\":\"success\",\"content\":{" +
         json_string(type) + ":{\"schema\":" + schema +
         "}}},\"default\":{\"description\":\"error\",\"content\":{\"application/json\":{\"schema\":"
         "{\"type\":\"object\",\"properties\":{\"error\":" +
         schema_reference("ServiceError") + "}}}}}}}";
}

}  // namespace

const std::vector<HttpRoute>& http_routes() {
  using Id = const std::string&;
  using Request = ServiceRequest&;
  static const std::vector<HttpRoute> kRoutes = {
      {"GET", "/", HttpAnswer::kPage, "The web page."},
      {"GET", "/live.css", HttpAnswer::kPage, "Style of the web page."},
      {"GET", "/page.js", HttpAnswer::kPage, "Script of the web page."},
      {"GET", "/live.js", HttpAnswer::kPage, "Script of the web page."},
      {"GET", "/stages.js", HttpAnswer::kPage, "Script of the web page."},
      {"GET", "/chart.js", HttpAnswer::kPage, "Script of the web page."},
      {"GET", "/mechanism.js", HttpAnswer::kPage, "Script of the web page."},
      {"GET", kFoxglovePath, HttpAnswer::kFoxglove, "Live data for Foxglove, by WebSocket."},
      {"GET", "/metrics", HttpAnswer::kMetrics, "Metrics for Prometheus."},
      {"GET", "/health", HttpAnswer::kHealth, "State of the service."},
      {"GET", "/api/openapi.json", HttpAnswer::kOpenApi, "This document."},
      {"POST", "/api/login", HttpAnswer::kLogIn, "Log in with an access token; gives a cookie.",
       nullptr, "", "{\"type\":\"object\",\"properties\":{\"token\":{\"type\":\"string\"}}}"},
      {"POST", "/api/logout", HttpAnswer::kLogOut, "Log out."},
      {"POST", "/api/mechanism", HttpAnswer::kMechanism,
       "Lines and joints of a rig file, to animate the rig, and the settings that the file lacks "
       "for a run.",
       nullptr, "",
       "{\"type\":\"object\",\"properties\":{\"rigName\":{\"type\":\"string\"},\"rigText\":"
       "{\"type\":\"string\"}}}"},
      {"GET", "/api/comparison", HttpAnswer::kComparison,
       "Report that compares the results of jobs; query: jobs=ID,ID,...", nullptr, kReportType},
      {"GET", "/api/sessions", HttpAnswer::kMessage, "List sessions, newest first.",
       [](Request r, Id) { r.mutable_list_sessions(); }, "SessionList"},
      {"GET", "/api/sessions/{session_id}", HttpAnswer::kMessage, "Describe a session.",
       [](Request r, Id id) { r.mutable_inspect_session()->set_session_id(id); }, "SessionInfo"},
      {"POST", "/api/sessions/{session_id}/end", HttpAnswer::kMessage,
       "Close a session whose rig computer does not reconnect.",
       [](Request r, Id id) { r.mutable_end_session()->set_session_id(id); }, "SessionInfo"},
      {"POST", "/api/sessions/{session_id}/stop", HttpAnswer::kMessage,
       "Stop a running rig: motor off, end of the recording.",
       [](Request r, Id id) { r.mutable_stop_session()->set_session_id(id); }, "SessionInfo"},
      {"DELETE", "/api/sessions/{session_id}", HttpAnswer::kMessage, "Delete a session.",
       [](Request r, Id id) { r.mutable_delete_session()->set_session_id(id); }, "Deleted"},
      {"GET", "/api/sessions/{session_id}/live", HttpAnswer::kEvents,
       "Samples of a running session, as least and greatest values of 10 ms each; estimates.",
       [](Request r, Id id) {
         r.mutable_subscribe_session()->set_session_id(id);
         r.mutable_subscribe_session()->set_estimates(true);
       }},
      {"GET", "/api/sessions/{session_id}/recording", HttpAnswer::kFile,
       "Recording of a stored session.",
       [](Request r, Id id) { r.mutable_read_recording()->set_session_id(id); }, kRecordingType},
      {"GET", "/api/sessions/{session_id}/rig", HttpAnswer::kFile,
       "Rig file that the rig computer sent with a session.",
       [](Request r, Id id) {
         r.mutable_read_recording()->set_session_id(id);
         r.mutable_read_recording()->set_kind(rigcal::v1::ReadRecording::RIG_FILE);
       },
       kTextType},
      {"GET", "/api/jobs", HttpAnswer::kMessage, "List jobs, newest first.",
       [](Request r, Id) { r.mutable_list_jobs(); }, "JobList"},
      {"POST", "/api/jobs", HttpAnswer::kMessage, "Request a calibration.",
       [](Request r, Id) { r.mutable_submit_job(); }, "JobInfo", "SubmitJob"},
      {"GET", "/api/jobs/{job_id}", HttpAnswer::kMessage, "Describe a job.",
       [](Request r, Id id) { r.mutable_inspect_job()->set_job_id(id); }, "JobInfo"},
      {"GET", "/api/jobs/{job_id}/progress", HttpAnswer::kEvents, "Progress of a job.",
       [](Request r, Id id) { r.mutable_subscribe_job()->set_job_id(id); }},
      {"POST", "/api/jobs/{job_id}/cancel", HttpAnswer::kMessage, "Cancel a job.",
       [](Request r, Id id) { r.mutable_cancel_job()->set_job_id(id); }, "JobInfo"},
      {"DELETE", "/api/jobs/{job_id}", HttpAnswer::kMessage, "Delete a job.",
       [](Request r, Id id) { r.mutable_delete_job()->set_job_id(id); }, "Deleted"},
      {"GET", "/api/jobs/{job_id}/result", HttpAnswer::kMessage, "Result of a job.",
       [](Request r, Id id) { r.mutable_get_result()->set_job_id(id); }, "JobResult"},
      {"GET", "/api/jobs/{job_id}/report", HttpAnswer::kFile, "Report of a calibration.",
       [](Request r, Id id) { r.mutable_read_report()->set_job_id(id); }, kReportType},
      {"GET", "/api/jobs/{job_id}/rig", HttpAnswer::kCalibratedRig,
       "Rig file with the estimates of a calibration.", nullptr, kTextType},
      {"GET", "/api/jobs/{job_id}/cross-validation", HttpAnswer::kFile,
       "Report of a cross-validation.",
       [](Request r, Id id) {
         r.mutable_read_report()->set_job_id(id);
         r.mutable_read_report()->set_kind(ReadReport::CROSS_VALIDATION);
       },
       kReportType},
  };
  return kRoutes;
}

std::variant<MatchedRoute, HttpResponse> match_route(const HttpRequest& request) {
  std::string allowed;
  for (const HttpRoute& route : http_routes()) {
    const auto id = match_path(route.path, request.path);
    if (!id) continue;
    if (request.method == route.method) return MatchedRoute{&route, *id};
    allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  if (allowed.empty()) {
    return make_http_error(404, "NOT_FOUND", "there is no such page; see /api/openapi.json");
  }
  HttpResponse response =
      make_http_error(405, "BAD_REQUEST", "this page accepts only the method " + allowed);
  response.headers.emplace_back("Allow", allowed);
  return response;
}

std::string make_openapi_document(const std::string& version) {
  std::set<std::string> paths;
  std::set<const Descriptor*> needed = {&find_message("ServiceError")};
  for (const HttpRoute& route : http_routes()) {
    if (!is_of_api(route)) continue;
    paths.insert(route.path);
    if (route.answer != HttpAnswer::kMessage) continue;
    needed.insert(&find_message(route.reply));
    if (*route.body != '\0') needed.insert(&find_message(route.body));
  }
  std::string items;
  for (const std::string& path : paths) {
    std::string operations;
    for (const HttpRoute& route : http_routes()) {
      if (path != route.path) continue;
      std::string method = route.method;
      for (char& letter : method) letter = static_cast<char>(letter - 'A' + 'a');
      operations +=
          (operations.empty() ? "" : ",") + json_string(method) + ":" + operation_of(route);
    }
    items += (items.empty() ? "" : ",\n") + json_string(path) + ":{" + operations + "}";
  }
  return "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"rigcald\",\"version\":" +
         json_string(version) + "},\"security\":[{\"token\":[]},{}],\n\"paths\":{" + items +
         "},\n\"components\":{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":"
         "\"bearer\"}},\"schemas\":{" +
         schemas_of(needed) + "}}}\n";
}

std::string to_json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) json = "{}";
  return json;
}

int http_status(ServiceError::Code code) {
  switch (code) {
    case ServiceError::BAD_REQUEST:
      return 400;
    case ServiceError::NOT_ALLOWED:
      return 403;
    case ServiceError::NOT_FOUND:
      return 404;
    case ServiceError::EXISTS:
    case ServiceError::NOT_READY:
      return 409;
    case ServiceError::BUSY:
    case ServiceError::STORAGE:
      return 503;
    default:
      return 500;
  }
}

}  // namespace service
