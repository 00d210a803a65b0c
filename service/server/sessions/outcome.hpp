#pragma once

#include <string>
#include <utility>
#include <variant>

#include "proto/service.pb.h"

namespace service {

/// Maximum number of sessions or jobs in a list reply.
inline constexpr int kListCountMax = 1000;

/// The reply to a client's request, or the error that prevents it.
template <typename Reply>
using ReplyOrError = std::variant<Reply, rigcal::v1::ServiceError>;

inline rigcal::v1::ServiceError make_service_error(rigcal::v1::ServiceError::Code code,
                                                   std::string text) {
  rigcal::v1::ServiceError fault;
  fault.set_code(code);
  fault.set_text(std::move(text));
  return fault;
}

}  // namespace service
