#include "daq/commands/commands.hpp"

#include <ostream>
#include <utility>

#include "daq/console/unit_connection.hpp"
#include "daq/console/unit_view.hpp"
#include "proto/text/command_line/standard_streams.hpp"

namespace daq {
namespace {

constexpr Nanoseconds kProbeTime = std::chrono::seconds(1);
constexpr Nanoseconds kViewPeriod = std::chrono::milliseconds(100);

// Overwrites the previous view, if any. Each line erases the rest of a longer one.
void print_in_place(const std::vector<std::string>& lines, bool first, std::ostream& out) {
  const std::string up = "\x1b[" + std::to_string(lines.size()) + "A";
  if (!first) out << proto::TerminalCodes{up};
  for (const std::string& line : lines) out << line << proto::TerminalCodes{"\x1b[K"} << '\n';
  out << std::flush;
}

}  // namespace

ExitCode probe_unit(const RigConfig& rig, std::ostream& out) {
  auto opened = open_session(rig, out);
  if (!opened.ok()) return fail(opened.error().detail);
  firmware_iface::UnitLink& unit = *opened.value()->unit;
  if (const auto started = unit.start_stream(stream_settings(rig, unit.facts())); !started.ok()) {
    return fail(started.error().detail);
  }
  UnitView view(rig, unit);
  const bool there = view.watch(kProbeTime);
  for (const std::string& line : view.lines()) out << line << '\n';
  if (!there) return fail("the connection to the unit is lost");
  if (const auto ended = unit.stop_stream(); !ended.ok()) return fail(ended.error().detail);
  return unit.counters().samples_received > 0 ? ExitCode::kDone
                                              : fail("the unit responds but sends no samples");
}

ExitCode monitor_unit(const RigConfig& rig, const std::atomic<bool>& stop, bool in_place,
                      std::ostream& out) {
  auto opened = open_session(rig, out);
  if (!opened.ok()) return fail(opened.error().detail);
  firmware_iface::UnitLink& unit = *opened.value()->unit;
  if (const auto started = unit.start_stream(stream_settings(rig, unit.facts())); !started.ok()) {
    return fail(started.error().detail);
  }
  UnitView view(rig, unit);
  out << "Ctrl-C ends." << std::endl;
  bool first = true;
  do {
    const bool there = view.watch(kViewPeriod);
    if (in_place) print_in_place(view.lines(), std::exchange(first, false), out);
    if (!there) return fail("the connection to the unit is lost");
  } while (!stop.load());
  if (!in_place) {
    for (const std::string& line : view.lines()) out << line << '\n';
  }
  const auto ended = unit.stop_stream();
  return ended.ok() ? ExitCode::kDone : fail(ended.error().detail);
}

}  // namespace daq
