#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <string>

#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/sample.h"
#include "firmware_iface/wire/session.h"
#include "tests/support/source_folder.hpp"

namespace {

std::string read_line_by_line(const std::function<void(const std::string&)>& take) {
  std::ifstream in(test_support::source_folder() + "/firmware_iface/PROTOCOL.md");
  std::string all;
  for (std::string line; std::getline(in, line); all += line + "\n") take(line);
  return all;
}

// The author of a unit takes the codes from the page's table. A wrong or missing value there makes
// a unit that the host misunderstands.
TEST(ProtocolPage, ListsEveryCodeWithItsValue) {
  const std::map<std::string, int> codes = {
#define CODE(name) {#name, name}
      CODE(UNIT_CAN_COMPACT),
      CODE(UNIT_CAN_HOST_PACED),
      CODE(UNIT_CAN_MARKS),
      CODE(STREAM_ON),
      CODE(STREAM_COMPACT),
      CODE(STREAM_HOST_PACED),
      CODE(STREAM_MARKS),
      CODE(CONFIGURE_DONE),
      CODE(CONFIGURE_UNSUPPORTED),
      CODE(CONFIGURE_NO_SESSION),
      CODE(CLEAR_DONE),
      CODE(CLEAR_WRONG_TOKEN),
      CODE(CLEAR_CAUSE_PRESENT),
      CODE(CLEAR_WRONG_STEP),
      CODE(PART_ENCODER),
      CODE(PART_MOTOR),
      CODE(ENCODER_COUNTER),
      CODE(ENCODER_ABSOLUTE),
      CODE(MOTOR_VOLT),
      CODE(MOTOR_DUTY),
      CODE(MOTOR_AMPERE),
      CODE(PART_MISSING),
      CODE(ENCODER_HAS_INDEX),
      CODE(ENCODER_HAS_HOME),
      CODE(STATUS_TRIPPED),
      CODE(STATUS_DRIVING),
      CODE(STATUS_COMMAND_SEEN),
      CODE(STATUS_COMMAND_REJECTED),
      CODE(COMMAND_ENABLE),
      CODE(COMMAND_TRIP),
      CODE(FAULT_BOOT),
      CODE(FAULT_TTL),
      CODE(FAULT_SESSION),
      CODE(FAULT_COMMAND),
      CODE(FAULT_HOST),
      CODE(FAULT_AMPLIFIER),
      CODE(FAULT_INTERNAL)};
#undef CODE
  static const std::regex kRow(R"(\| (?:.*: )?([A-Z]+_[A-Z_]+) \| (0x[0-9a-f]+|\d+) \|.*)");
  std::map<std::string, int> listed;
  bool in_messages = false;
  read_line_by_line([&](const std::string& line) {
    if (line.starts_with("## ")) in_messages = line == "## Messages";
    std::smatch row;
    if (in_messages && std::regex_match(line, row, kRow))
      listed[row[1]] = std::stoi(row[2], nullptr, 0);
  });
  EXPECT_EQ(listed, codes);
}

// A report cites requirements by number: each number occurs once, and every reference has a target.
TEST(ProtocolPage, NumbersEachRequirementOnce) {
  std::map<std::string, int> stated;
  const std::string all = read_line_by_line([&](const std::string& line) {
    static const std::regex kRequirement(R"(- \[([A-Z]\d+)\] .*)");
    std::smatch match;
    if (std::regex_match(line, match, kRequirement)) ++stated[match[1]];
  });
  ASSERT_GT(stated.size(), 60U);
  for (const auto& [number, count] : stated) {
    EXPECT_EQ(count, 1) << number;
    const std::string before =
        number.substr(0, 1) + std::to_string(std::stoi(number.substr(1)) - 1);
    EXPECT_TRUE(number.substr(1) == "1" || stated.count(before) == 1) << before << " is skipped";
  }
  static const std::regex kReference(R"(\[([A-Z]\d+)\])");
  for (std::sregex_iterator at(all.begin(), all.end(), kReference), end; at != end; ++at) {
    EXPECT_EQ(stated.count((*at)[1]), 1U) << (*at)[1];
  }
}

}  // namespace
