#pragma once

#include <asio/io_context.hpp>
#include <map>
#include <memory>
#include <string>

#include "service/server/sessions/live_fits.hpp"
#include "service/server/sessions/service_context.hpp"

namespace service {

/// Runs each live fit in a separate, low-priority process: this program with the command
/// "run-live-fit". The process reads the session from its standard input and writes estimates to
/// kProgressDescriptor. The process is killed at the end of its session, or if it reads the session
/// more slowly than the rig sends it.
class LiveFitPool final : public LiveFits {
 public:
  /// @param program  path of this program
  LiveFitPool(asio::io_context& io, ServiceContext& context, std::string program)
      : io_(io), context_(context), program_(std::move(program)) {}

  std::variant<std::unique_ptr<LiveFitRun>, std::string> start(
      const std::string& owner, const rigcal::v1::OpenSession& request,
      OnEstimate on_estimate) override;
  void check(const std::string& owner, const rigcal::v1::CheckLive& request,
             OnChecked on_checked) override;

 private:
  class FitProcess;
  class RunHandle;
  using CountByOwner = std::map<std::string, std::uint32_t>;

  /// Returns the reason why no live fit of this owner can start now; empty if one can.
  std::string find_limit(const std::string& owner) const;

  asio::io_context& io_;
  ServiceContext& context_;
  std::string program_;
  /// Number of running live fits. Shared with them, since they may exist longer than the pool.
  std::shared_ptr<CountByOwner> running_ = std::make_shared<CountByOwner>();
};

}  // namespace service
