#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/service.pb.h"
#include "service/server/http_message.hpp"

namespace service {

/// How the server answers the requests of a route.
enum class HttpAnswer {
  kPage,           ///< a file of the web page
  kMetrics,        ///< metrics for Prometheus
  kHealth,         ///< state of the service
  kOpenApi,        ///< description of all routes
  kLogIn,          ///< login with an access token
  kLogOut,         ///< end of a login
  kMechanism,      ///< lines and joints of a rig file, for an animation
  kFoxglove,       ///< live data by the Foxglove WebSocket protocol
  kCalibratedRig,  ///< rig file with the estimates of a job
  kComparison,     ///< comparison of the results of jobs
  kMessage,        ///< the reply of the service protocol as JSON
  kFile,           ///< a file that the service protocol sends in parts
  kEvents,         ///< a subscription of the service protocol as server-sent events
};

/// A kind of request over HTTP.
struct HttpRoute {
  const char* method;
  const char* path;  ///< with at most one parameter, "{session_id}" or "{job_id}"
  HttpAnswer answer;
  const char* summary;  ///< one sentence for the OpenAPI document
  /// Sets the request of the service protocol, for kMessage, kFile and kEvents.
  void (*set_request)(rigcal::v1::ServiceRequest& request, const std::string& id) = nullptr;
  const char* reply = "";  ///< message of the reply, or the media type of a file
  const char* body = "";   ///< message of the request's body
};

/// Returns all routes.
const std::vector<HttpRoute>& http_routes();

/// A route that matches the path of a request, with its parameter.
struct MatchedRoute {
  const HttpRoute* route;
  std::string id;
};

/// Returns the route of a request, or the error response if there is none.
std::variant<MatchedRoute, HttpResponse> match_route(const HttpRequest& request);

/// Returns the OpenAPI 3.1 document of all routes of the API as JSON. The schemas of messages are
/// made from the schemas in `proto`.
std::string make_openapi_document(const std::string& version);

/// Returns a message as JSON, with the names of the Protobuf JSON format.
std::string to_json(const google::protobuf::Message& message);

/// Returns the HTTP status for an error of the service protocol.
int http_status(rigcal::v1::ServiceError::Code code);

}  // namespace service
