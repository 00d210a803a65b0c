#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "proto/stream.pb.h"

namespace service {

/// The estimation of a rig's parameters during one session. Ends when the object is destroyed.
class LiveFitRun {
 public:
  virtual ~LiveFitRun() = default;
  /// Passes on a serialized SampleBatch. Never waits.
  virtual void add(const std::string& batch) = 0;
  /// Returns the size of the batches that the estimation has not read yet [byte].
  virtual std::size_t unread_bytes() const = 0;
};

/// Interface that estimates the parameters of rigs while their sessions are recorded. Used on the
/// main thread only.
class LiveFits {
 public:
  using OnEstimate = std::function<void(const rigcal::v1::LiveEstimate&)>;
  using OnChecked = std::function<void(const std::string& problem)>;

  virtual ~LiveFits() = default;

  /// Starts to estimate the parameters of a session.
  /// @param owner        identity on whose behalf the estimation runs
  /// @param request      opening of the session
  /// @param on_estimate  called with each estimate until the LiveFitRun is destroyed
  /// @return the running estimation, or the reason why there is none, for users
  virtual std::variant<std::unique_ptr<LiveFitRun>, std::string> start(
      const std::string& owner, const rigcal::v1::OpenSession& request, OnEstimate on_estimate) = 0;

  /// Checks whether a request for estimates can be fulfilled now.
  virtual void check(const std::string& owner, const rigcal::v1::CheckLive& request,
                     OnChecked on_checked) = 0;
};

}  // namespace service
