// docs/reference/messages.md lists the message table. RIGCAL_WRITE_PAGES=1 writes it anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "service/messages/message_table.hpp"
#include "service/messages/message_text.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

/// Returns a template as text for people: names in italics, alternatives with a slash.
std::string readable(std::string text) {
  text = std::regex_replace(text, std::regex(R"(\{\{)"), "\x01");
  text = std::regex_replace(text, std::regex(R"(\}\})"), "\x02");
  text = std::regex_replace(text, std::regex(R"(\{[a-z0-9_]+\|([^{}|]*)\|([^{}|]*)\})"), "$1/$2");
  text = std::regex_replace(text, std::regex(R"(\{([a-z0-9_]+)(:[^{}]*)?\})"), "*$1*");
  text = std::regex_replace(text, std::regex("\x01"), "{");
  text = std::regex_replace(text, std::regex("\x02"), "}");
  return std::regex_replace(text, std::regex(R"(\|)"), "\\|");
}

std::string page() {
  std::string text =
      "# Messages about recordings, rig files and results\n\n"
      "This page lists every finding, note and verdict of rigcal. It is generated from the message "
      "table in\n[service/messages](../../service/messages). Words in italics stand for values. "
      "Alternatives are separated by a\nslash. Parts in brackets appear only if their values are "
      "known. [Findings](findings.md) explains the\nfindings and how rigcal reacts to them.\n\n"
      "| message | severity | sentence | what to do | what rigcal did |\n|---|---|---|---|---|\n";
  for (const MessageRow& row : message_rows()) {
    if (row.code <= estimator::MessageCode::kInRecording) continue;  // frames of other texts
    text += "| `" + std::string(row.id) + "` | " + to_text(estimator::severity_of(row.code)) +
            " | " + readable(row.sentence) + " | " + readable(row.advice) + " | " +
            readable(row.treatment) + " |\n";
  }
  return text;
}

TEST(MessagePage, ListsTheMessageTable) {
  const std::string path = test_support::source_folder() + "/docs/reference/messages.md";
  if (std::getenv("RIGCAL_WRITE_PAGES") != nullptr) std::ofstream(path) << page();
  std::ostringstream stored;
  stored << std::ifstream(path).rdbuf();
  EXPECT_TRUE(stored.str() == page())
      << path << " is out of date; run RIGCAL_WRITE_PAGES=1 build/bin/service_tests "
      << "--gtest_filter='MessagePage*'";
}

}  // namespace
}  // namespace service
