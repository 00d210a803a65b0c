#include <gtest/gtest.h>

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "proto/text/command_line/standard_streams.hpp"
#include "proto/text/host_port.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/printable.hpp"
#include "proto/text/spelling_suggestions.hpp"
#include "tests/support/refusal.hpp"

namespace proto {
namespace {

using namespace test_support;

// Each class of terminal control: colour, title and clipboard by ESC, the same by C1 as UTF-8 and
// as a single byte, overwriting by carriage return and backspace, reversed text.
TEST(Printable, EscapesTerminalControls) {
  EXPECT_EQ(escape_for_terminal("a\x1b[31mb"), "a\\u001b[31mb");
  EXPECT_EQ(escape_for_terminal("\r\b\a\v\f\x7f"), "\\u000d\\u0008\\u0007\\u000b\\u000c\\u007f");
  EXPECT_EQ(escape_for_terminal(std::string("\0", 1)), "\\u0000");
  EXPECT_EQ(escape_for_terminal("\xc2\x9b"
                                "31m"),
            "\\u009b31m");
  EXPECT_EQ(escape_for_terminal("\xc2\x80\xc2\x9f"), "\\u0080\\u009f");
  EXPECT_EQ(escape_for_terminal("\x9b"
                                "31m"),
            "\\x9b31m");
  EXPECT_EQ(escape_for_terminal("\u202etxt.exe\u2066\u2069\u061c\u200f"),
            "\\u202etxt.exe\\u2066\\u2069\\u061c\\u200f");
  EXPECT_EQ(escape_for_terminal("one\ntwo\tthree\u2028four"),
            "one\\u000atwo\\u0009three\\u2028four");
  EXPECT_EQ(escape_lines_for_terminal("one\ntwo\tthree\u2028four"), "one\ntwo\tthree\\u2028four");
}

// Characters adjacent to each class are kept: units and names of rigs must not change.
TEST(Printable, LeavesOrdinaryTextUnchanged) {
  for (const char* text : {"", "N·m·s/rad ± 1 %", "Pendel Straße 平衡 🙂", " ~", "\u00a0\u00ad",
                           "\u2027\u202f\u2065\u206a", "\\u001b \\x9b"}) {
    EXPECT_EQ(escape_for_terminal(text), text);
  }
}

// Decoders differ on these. Some accept the overlong form of ESC as ESC.
TEST(Printable, EscapesInvalidBytes) {
  EXPECT_EQ(escape_for_terminal("\xc0\x9b"), "\\xc0\\x9b");
  EXPECT_EQ(escape_for_terminal("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");
  EXPECT_EQ(escape_for_terminal("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(escape_for_terminal("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(escape_for_terminal("end \xe5\xb9"), "end \\xe5\\xb9");
  EXPECT_EQ(escape_for_terminal("\xe5\xb9\x1b"), "\\xe5\\xb9\\u001b");
}

// Protobuf cannot parse a message with another text. A limit never cuts within a character.
TEST(Printable, MakesUtf8OfAnyText) {
  EXPECT_EQ(to_utf8("th\xc3\xa9ta\n\u202e"), "th\xc3\xa9ta\n\u202e");
  EXPECT_EQ(to_utf8("th\xe9ta\n"), "th\\xe9ta\n");
  EXPECT_EQ(to_utf8("a\xc3\xa9", 3), "a\xc3\xa9");
  EXPECT_EQ(to_utf8("a\xc3\xa9", 2), "a");
  EXPECT_EQ(to_utf8("a\xc3\xa9", 0), "");
  EXPECT_EQ(to_utf8("\xff\xc3\xa9", 5), "\\xff") << "the limit holds for the escaped text";
}

TEST(Printable, DetectsIncompleteCharacters) {
  EXPECT_EQ(incomplete_character_size("a"), 0U);
  EXPECT_EQ(incomplete_character_size("a\xc2"), 1U);
  EXPECT_EQ(incomplete_character_size("a\xe5\xb9"), 2U);
  EXPECT_EQ(incomplete_character_size("\xf0\x9f\x99"), 3U);
  EXPECT_EQ(incomplete_character_size("\xf0\x9f\x99\x82"), 0U);
  EXPECT_EQ(incomplete_character_size("\x99\x99\x99\x99"), 0U);
}

// The stream filter of a whole program escapes everything printed, in whatever pieces, but passes
// the program's own terminal controls.
TEST(StandardStreams, EscapeControlCharactersInAllOutput) {
  std::ostringstream seen;
  std::streambuf* const before = std::cout.rdbuf(seen.rdbuf());
  {
    const StandardStreams streams("test");
    std::cout << "name \x1b]0;owned\a" << '\x1b' << '\n';
    std::cout << "\xe5"
              << "\xb9"
              << "\xb3" << ' ' << "\xc2"
              << "\x9b" << '\n';
    std::cout << TerminalCodes{"\r\033[K"} << 1.5 << std::flush;
    std::cout << "\xe5" << std::flush;
  }
  std::cout << "\x1b";
  std::cout.rdbuf(before);
  EXPECT_EQ(seen.str(), "name \\u001b]0;owned\\u0007\\u001b\n平 \\u009b\n\r\033[K1.5\\xe5\x1b");
}

TEST(HostPort, AcceptsNamesAndAddressesWithAPort) {
  EXPECT_EQ(parse_host_port("localhost:1").host, "localhost");
  EXPECT_EQ(parse_host_port("127.0.0.1:65535").port, 65535);
  EXPECT_EQ(parse_host_port("[::1]:0").host, "::1");
}

// The system's libraries read port 65536 as 0 and 99999 as 34463.
TEST(HostPort, RefusesInvalidPorts) {
  for (const char* bad : {"", "host", ":80", "host:", "host:-1", "host:65536", "host:99999",
                          "host:8x", "host:http", "::1:80"}) {
    EXPECT_THROW(static_cast<void>(parse_host_port(bad)), InputError) << bad;
  }
}

TEST(HostPort, ExplainsTheAddressFormat) {
  const auto reported = [](const std::string& text) {
    return refusal([&] { static_cast<void>(parse_service_address(text)); });
  };
  expect_parts(reported("http://x"), {"\"http://x\" is not an address: remove http://",
                                      "write HOST:PORT or unix:/PATH, e.g. 127.0.0.1"});
  expect_parts(reported("rig:x"), {"a port is a number", "HOST:PORT or unix:/PATH"});
  EXPECT_EQ(refusal([] { static_cast<void>(parse_host_port("rig:x")); }).find("unix"),
            std::string::npos);
}

const std::vector<std::string> kNames = {"calibrate", "check", "compare", "info"};

// Typing errors: a missing, an extra, a wrong and two exchanged letters.
TEST(NearNames, SuggestTheIntendedName) {
  for (const char* name : {"calibrat", "calibratee", "calibrote", "claibrate", "Calibrate"}) {
    EXPECT_EQ(suggest_spelling(name, kNames), "; did you mean \"calibrate\"?") << name;
  }
  EXPECT_EQ(suggest_spelling("inf", kNames), "; did you mean \"info\"?");
}

// A suggestion that nobody can have meant would hide that there is none.
TEST(NearNames, SuggestNoDissimilarName) {
  for (const char* name : {"run.csv", "fit", "x", "", "prepare"}) {
    EXPECT_EQ(suggest_spelling(name, kNames), "") << name;
  }
  EXPECT_EQ(suggest_spelling("calibrate", {}), "");
}

TEST(NearNames, ListTheMostSimilarFirst) {
  EXPECT_EQ(find_similar_names("chek", kNames, 2), (std::vector<std::string>{"check", "info"}));
  EXPECT_EQ(find_similar_names("info", kNames, 9).size(), kNames.size());
  EXPECT_EQ(find_similar_names("info", kNames, 9).front(), "info");
}

}  // namespace
}  // namespace proto
