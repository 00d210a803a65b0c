#include "daq/commands/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "firmware_iface/open/open_transport.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"

namespace daq {
namespace {

using firmware_iface::ErrorCode;
using firmware_iface::conformance::all_checks;
using firmware_iface::conformance::CheckResult;
using firmware_iface::conformance::CheckVerdict;
using firmware_iface::conformance::ConformanceCheck;
using firmware_iface::conformance::ConformanceReport;
using firmware_iface::conformance::format_value;
using firmware_iface::conformance::is_selected_by;
using firmware_iface::conformance::TestSettings;
using firmware_iface::conformance::untestable_requirements;

constexpr int kIdWidth = 7;

std::size_t requirement_width() {
  std::size_t width = 0;
  for (const ConformanceCheck& check : all_checks()) {
    width = std::max(width, std::string(check.requirement).size());
  }
  return width + 2;
}

void print_warning(const TestSettings& settings, std::ostream& out) {
  if (settings.command == 0.0) {
    out << "This test enables the unit's output with commands of 0. A fault-free unit does not "
           "move the motors.\n";
  } else {
    out << "This test drives the motors at up to "
        << format_value(100.0 * std::abs(settings.command)) << " % of their range. ";
  }
  out << "Keep clear of the motors. Ctrl-C trips the unit and ends the test.\n\n";
}

void print_end(const CheckResult& row, std::ostream& out) {
  const auto& [value, unit, note] = row.figure;
  switch (row.verdict) {
    case CheckVerdict::kPassed:
      out << "pass  " << format_value(value) << ' ' << unit << (note.empty() ? "" : ", ") << note;
      break;
    case CheckVerdict::kFailed:
      out << "FAIL\n" << std::string(kIdWidth, ' ') << row.detail;
      break;
    case CheckVerdict::kNotTested:
      out << "-     " << row.detail;
      break;
  }
  if (row.repetitions > 0) {
    out << " (repeated " << row.repetitions << " times: this computer was late)";
  }
  out << std::endl;
}

void print_end_of_test(const ConformanceReport& report, std::ostream& out) {
  std::vector<std::string> failed;
  for (const CheckResult& row : report.rows) {
    if (row.verdict == CheckVerdict::kFailed) failed.emplace_back(row.check.id);
  }
  out << '\n'
      << report.count(CheckVerdict::kPassed) << " passed, " << failed.size() << " failed, "
      << report.count(CheckVerdict::kNotTested) << " not tested.\n";
  if (!failed.empty()) {
    out << fmt::format("Failed: {}. See firmware_iface/PROTOCOL.md.\n", fmt::join(failed, ", "));
  }
  out << fmt::format("Requirements that need a test of the board itself: {}.\n",
                     fmt::join(untestable_requirements(), ", "));
  if (report.unit && report.is_tripped) out << "The unit is tripped.\n";
}

std::string json_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += std::string("\\") + c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string json_unit(const hello_reply& unit) {
  return fmt::format(
      R"({{"unit_id": "{:#x}", "boot_count": {}, "tick_rate_Hz": {}, "ttl_max_ms": {}, )"
      R"("capabilities": {}, "encoder_count": {}, "motor_count": {}, "inertial_count": {}, )"
      R"("configuration_hash": "{:#x}"}})",
      unit.unit_id, unit.boot_count, unit.tick_rate_Hz, unit.ttl_max_ms, unit.capabilities,
      unit.encoder_count, unit.motor_count, unit.inertial_count, unit.configuration_hash);
}

std::string json_row(const CheckResult& row) {
  const std::string detail = json_text(row.detail);
  const std::string result =
      row.verdict == CheckVerdict::kPassed
          ? fmt::format(R"("pass", "value": {:.9g}, "unit": {}, "note": {})", row.figure.value,
                        json_text(row.figure.unit), json_text(row.figure.note))
      : row.verdict == CheckVerdict::kFailed ? R"("fail", "detail": )" + detail
                                             : R"("not tested", "detail": )" + detail;
  return fmt::format(R"({{"id": {}, "requirement": {}, "verdict": {}, "repetitions": {}}})",
                     json_text(row.check.id), json_text(row.check.requirement), result,
                     row.repetitions);
}

void check_options(const ConformanceOptions& options) {
  for (const std::string& name : options.only) {
    const auto checks = all_checks();
    if (std::ranges::any_of(checks,
                            [&](const ConformanceCheck& c) { return is_selected_by(c, name); })) {
      continue;
    }
    throw proto::InputError("--only " + name + ": unknown requirement; use a number of " +
                            "firmware_iface/PROTOCOL.md, such as C8 or F5a");
  }
  if (!options.json_path.empty() && options.json_path != "-") {
    proto::check_output_file(options.json_path, {});
  }
}

}  // namespace

std::string conformance_report_json(const std::string& url, const TestSettings& settings,
                                    const ConformanceReport& report) {
  std::vector<std::string> rows;
  for (const CheckResult& row : report.rows) rows.push_back("\n  " + json_row(row));
  return fmt::format(R"({{"url": {},
 "program_version": {},
 "protocol_version": {},
 "command": {:.9g},
 "unit": {},
 "passed": {},
 "failed": {},
 "not_tested": {},
 "interrupted": {},
 "tripped_at_end": {},
 "trouble": {},
 "not_testable": ["{}"],
 "requirements": [{}]}}
)",
                     json_text(url), json_text(RIGCAL_VERSION), int{PROTOCOL_VERSION},
                     settings.command, report.unit ? json_unit(*report.unit) : "null",
                     report.count(CheckVerdict::kPassed), report.count(CheckVerdict::kFailed),
                     report.count(CheckVerdict::kNotTested), report.is_interrupted,
                     report.is_tripped, json_text(report.trouble),
                     fmt::join(untestable_requirements(), "\", \""), fmt::join(rows, ","));
}

ExitCode test_conformance(const ConformanceOptions& options, const std::atomic<bool>& stop,
                          std::ostream& out, std::ostream& err) {
  check_options(options);
  const auto transport = firmware_iface::open_transport(options.url);
  if (!transport.ok()) {
    const firmware_iface::Error& error = transport.error();
    if (error.code == ErrorCode::kBadUrl || error.code == ErrorCode::kBadConfig) {
      throw proto::InputError(error.detail);
    }
    return fail(error.detail);
  }
  std::ostream& table = options.json_path == "-" ? err : out;
  table << transport.value()->report().description << '\n';
  print_warning(options.settings, table);
  const std::size_t width = requirement_width();
  bool is_within_row = false;
  const ConformanceReport report = firmware_iface::conformance::run_checks(
      *transport.value(), options.settings, options.only, stop,
      {.begin =
           [&](const ConformanceCheck& check) {
             table << fmt::format("{:<{}}{:<{}}", check.id, kIdWidth, check.requirement, width)
                   << std::flush;
             is_within_row = true;
           },
       .end =
           [&](const CheckResult& row) {
             print_end(row, table);
             is_within_row = false;
           }});
  if (is_within_row) table << "-     ended early\n";
  print_end_of_test(report, table);
  const std::string json = conformance_report_json(options.url, options.settings, report);
  if (options.json_path == "-") out << json;
  if (!options.json_path.empty() && options.json_path != "-") {
    proto::write_file(options.json_path, json);
  }
  if (!report.is_tripped) {
    return fail("the unit does not confirm that it is tripped; switch off the motors' supply");
  }
  if (report.is_interrupted) return fail("interrupted; the unit is tripped");
  if (!report.trouble.empty()) return fail(options.url + ": " + report.trouble);
  return report.has_passed() ? ExitCode::kDone : ExitCode::kTrouble;
}

}  // namespace daq
