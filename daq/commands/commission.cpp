#include "daq/commands/commands.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <ostream>

#include "daq/commands/commission_dialog.hpp"
#include "daq/commission/commission_json.hpp"
#include "daq/config/commission_file.hpp"
#include "daq/console/unit_connection.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/text_edit.hpp"

namespace daq {
namespace {

constexpr std::size_t kDateSize = 10;  // of "2026-11-26T10:15:30Z"

std::string time_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// Switches the motor off, however a commissioning ends.
class StreamGuard {
 public:
  explicit StreamGuard(firmware_iface::UnitLink& unit) : unit_(unit) {}
  ~StreamGuard() {
    unit_.write_trip_command();
    static_cast<void>(unit_.stop_stream());
  }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  firmware_iface::UnitLink& unit_;
};

std::string names_of(const auto& parts, auto member) {
  std::string names;
  for (const auto& part : parts) names += (names.empty() ? "\"" : ", \"") + part.*member + "\"";
  return names;
}

/// Returns the commissioning record for the rig file; nullopt if a joint has not been checked.
std::optional<CommissionRecord> make_record(const RigConfig& rig, const Commissioning& found,
                                            const firmware_iface::UnitDescription& facts,
                                            const std::string& time) {
  const bool was_current = commission_state(rig, facts) == CommissionState::kCurrent;
  if (!found.covers_all_joints() && !was_current) return {};
  return CommissionRecord{time.substr(0, kDateSize), unit_id_text(facts),
                          configuration_hash_text(facts), ""};
}

CommissionEdit make_edit(const Commissioning& found) {
  CommissionEdit edit;
  for (const ChannelConfig& channel : found.rig().channel) {
    edit.channel.push_back({channel.joint, channel.inverted, channel.offset_rad});
  }
  for (const CheckedJoint& joint : found.joints()) {
    CommissionEdit::ChannelEdit& channel =
        edit.channel[static_cast<std::size_t>(found.rig().find_channel(joint.name))];
    channel.inverted = joint.inverted;
    channel.offset = joint.offset;
  }
  for (const CheckedMotor& motor : found.motors()) {
    if (motor.stall) edit.stall.push_back({motor.joint, motor.stall->command, motor.stall->time_s});
  }
  return edit;
}

/// Returns an unused name for a copy of the original file.
std::string backup_path(const std::string& path) {
  std::string backup = path + ".before-commission";
  for (int k = 2; std::filesystem::exists(backup); ++k) {
    backup = path + ".before-commission-" + std::to_string(k);
  }
  return backup;
}

void write_files(const RigConfig& rig, const std::string& text, const Commissioning& found,
                 const std::string& time, const Findings& findings, OperatorInterface& person) {
  if (proto::read_file(rig.path) != rig.text) {
    throw proto::InputError(
        rig.path + ": was changed in the meantime and is not overwritten; run the command again");
  }
  const std::string backup = backup_path(rig.path);
  proto::write_file(backup, rig.text);
  proto::write_file(rig.path, text);
  const RigConfig written = parse_rig_config(rig.path, text);
  const std::string record = rig.path + ".commissioned.json";
  if (written.commissioned) {
    proto::write_file(record, commissioning_record_json(written, found, time, findings));
  }
  person.say("Wrote " + rig.path + "; backup: " + backup +
             (written.commissioned ? "; measurements: " + record : ""));
}

ExitCode conclude(const RigConfig& rig, const Commissioning& found, CommissionDialog& dialog,
                  const firmware_iface::UnitDescription& facts, const std::string& time,
                  OperatorInterface& person) {
  person.say("");
  if (const std::size_t faults = count_faults(dialog.findings()); faults > 0) {
    person.say("Not commissioned: " + std::to_string(faults) +
               (faults == 1 ? " fault." : " faults.") +
               " Correct the items marked FAULT and run the command again. Nothing was written.");
    return ExitCode::kNotCommissioned;
  }
  CommissionEdit edit = make_edit(found);
  edit.record = make_record(rig, found, facts, time);
  const std::string text = edit_rig_text(rig, edit);
  if (!edit.record) {
    person.say(
        "No record is written, because not all joints were checked: "
        "run the command without --joint.");
  }
  if (text == rig.text) {
    person.say("No changes are needed in " + rig.path +
               (edit.record ? "; its record is already dated today." : "."));
    return edit.record ? ExitCode::kDone : ExitCode::kNotCommissioned;
  }
  person.say("Changes to " + rig.path + ":");
  const std::string diff = proto::diff_lines(rig.text, text);
  for (std::size_t begin = 0; begin < diff.size();) {
    const std::size_t end = diff.find('\n', begin);
    person.print_line(diff.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::string answer = dialog.ask("Write them? [y/N]");
  if (answer != "y" && answer != "yes") {
    person.say("Nothing was written.");
    return ExitCode::kNotCommissioned;
  }
  write_files(rig, text, found, time, dialog.findings(), person);
  return edit.record ? ExitCode::kDone : ExitCode::kNotCommissioned;
}

}  // namespace

void require_writable_rig_file(const RigConfig& rig) {
  struct stat facts {};
  const bool is_read_only = ::stat(rig.path.c_str(), &facts) != 0 ||
                            (facts.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0 ||
                            ::access(rig.path.c_str(), W_OK) != 0;
  if (is_read_only) {
    throw proto::InputError(rig.path +
                            ": is read-only, and commission writes its result into it; "
                            "make it writable, or give a copy with --rig");
  }
  proto::check_output_file(rig.path, {});
  // Tries the largest edit first, to find a file layout that cannot be edited before the work.
  CommissionEdit edit{.channel = {}, .record = CommissionRecord{"x", "x", "x", "x"}};
  for (const ChannelConfig& channel : rig.channel) {
    edit.channel.push_back({channel.joint, !channel.inverted, channel.offset_rad + 1.0});
  }
  for (std::size_t m = 0; m < rig.motor.size(); ++m) {
    edit.stall.push_back({rig.motor[m].joint, 0.5 * rig.limits.motor[m].command_max, 1.0});
  }
  edit_rig_text(rig, edit);
}

ExitCode commission_unit(const RigConfig& rig, const std::vector<std::string>& joints,
                         firmware_iface::UnitLink& unit, BlackBox& black_box,
                         const std::atomic<bool>& stop, OperatorInterface& person,
                         const std::string& time) {
  Commissioning found(rig, unit.facts(), joints);
  if (const auto started = unit.start_stream(make_stream_settings(rig, unit.facts()));
      !started.ok()) {
    return fail(started.error().detail);
  }
  const StreamGuard guard(unit);
  CommissionDialog dialog(found, unit, black_box, stop, person);
  try {
    person.say("");
    const auto of = [](std::size_t count, const std::string& part) {
      return part + (count == 1 ? " of joint " : "s of joints ");
    };
    std::string motors = "no motor";
    if (!found.motors().empty()) {
      motors = of(found.motors().size(), "motor") + names_of(found.motors(), &CheckedMotor::joint);
    }
    person.say("Commissioning of rig \"" + rig.name +
               "\": " + of(found.joints().size(), "encoder") +
               names_of(found.joints(), &CheckedJoint::name) + ", " + motors +
               ". Ctrl-C ends it at any time: motor off, nothing written.");
    dialog.run();
    return conclude(rig, found, dialog, unit.facts(), time, person);
  } catch (const CommissioningAborted& ended) {
    person.say("");
    if (ended.code == ExitCode::kTrouble) return fail(ended.sentence);
    person.say(ended.sentence);
    return ended.code;
  }
}

ExitCode check_commission(const CommissionOptions& options, std::ostream& out) {
  const RigConfig rig = load_rig(options.rig_path, options.url);
  const auto session = connect_to_unit(rig, out);
  if (!session.ok()) return fail(session.error().detail);
  const CommissionState state = commission_state(rig, session.value()->unit->facts());
  if (state == CommissionState::kCurrent) {
    out << rig.path << ": commissioned with this unit on " << rig.commissioned->date << '\n';
    return ExitCode::kDone;
  }
  fail(describe_commission_state(state, rig) + "; " + commission_remedy(rig));
  return ExitCode::kNotCommissioned;
}

ExitCode commission_rig(const CommissionOptions& options, const std::atomic<bool>& stop,
                        OperatorInterface& person, std::ostream& out) {
  const RigConfig rig = load_rig(options.rig_path, options.url);
  require_writable_rig_file(rig);
  if (person.has_input_ended()) {
    throw proto::InputError(
        "commission needs the operator's answers: "
        "run it in a terminal, or write them to its standard input");
  }
  auto session = connect_to_unit(rig, out);
  if (!session.ok()) return fail(session.error().detail);
  return commission_unit(rig, options.joints, *session.value()->unit, session.value()->black_box,
                         stop, person, time_now());
}

}  // namespace daq
