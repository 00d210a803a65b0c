#include "firmware_iface/open/open_transport.hpp"

#include <array>
#include <exception>

#include "firmware_iface/sim/config/sim_config.hpp"
#include "firmware_iface/sim/sim_transport.hpp"
#include "firmware_iface/transport/serial_transport.hpp"
#include "firmware_iface/transport/stream_transport.hpp"
#include "firmware_iface/transport/url.hpp"

namespace firmware_iface {
namespace {

using Opened = Result<std::unique_ptr<Transport>>;

Opened open_sim(const Url& url) {
  if (const Status known = check_url_options(url, ""); !known.ok()) return known.error();
  try {
    const sim::SimConfig config = sim::load_sim_config(url.address);
    auto time = std::make_shared<MonotonicTime>();
    auto simulation =
        std::make_unique<sim::UnitSimulation>(config.settings, config.make_plant(), time->now());
    return std::unique_ptr<Transport>(std::make_unique<sim::SimTransport>(
        std::move(simulation), std::move(time), "simulated unit " + url.address,
        config.settings.to_host.baud_rate));
  } catch (const std::exception& fault) {  // proto::InputError: has file, line and remedy
    return Error{ErrorCode::kBadConfig, fault.what()};
  }
}

struct Scheme {
  const char* name;
  Opened (*open)(const Url& url);
};

// To add a transport: write a function that opens it and add it here.
constexpr std::array kSchemes = {Scheme{"serial", open_serial}, Scheme{"pty", open_pty},
                                 Scheme{"tcp", open_tcp}, Scheme{"sim", open_sim}};

}  // namespace

Result<std::unique_ptr<Transport>> open_transport(const std::string& url) {
  const Result<Url> parsed = parse_url(url);
  if (!parsed.ok()) return parsed.error();
  std::string names;
  for (const Scheme& scheme : kSchemes) {
    if (parsed.value().scheme == scheme.name) return scheme.open(parsed.value());
    names += std::string(names.empty() ? "" : ", ") + scheme.name + ":";
  }
  return Error{ErrorCode::kBadUrl, "\"" + url + "\": unknown kind \"" + parsed.value().scheme +
                                       ":\"; use one of " + names};
}

}  // namespace firmware_iface
