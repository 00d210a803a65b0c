#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <sstream>

#include "tests/integration/daq_process.hpp"
#include "tests/support/refusal.hpp"

// rigcal-daq conformance as a user runs it: its output, files and exit code. Its checks are tested
// in virtual time, in tests/firmware_iface.

namespace {

using namespace test_support;
using google::protobuf::Struct;

std::string text_of_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

Struct parsed(const std::string& json) {
  Struct object;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &object);
  EXPECT_TRUE(status.ok()) << status.ToString() << "\n" << json;
  return object;
}

class ConformanceProcess : public test_support::DaqProcess {
 protected:
  void start(const std::vector<std::string>& options, const std::string& url) {
    daq_.emplace(with({RIGCAL_DAQ, "conformance", "--url", url}, options), path("daq.txt"));
  }
  int run(const std::vector<std::string>& options, const std::string& url) {
    start(options, url);
    return daq_exit_code();
  }
  std::string simulation() const { return "sim:" + path("sim.textproto"); }
};

TEST_F(ConformanceProcess, PrintsATableAndWritesJson) {
  ASSERT_EQ(run({"--only", "H1,C8,R1", "--json", path("out.json")}, simulation()), 0)
      << daq_->output();
  const std::string table = daq_->output();
  expect_parts(table,
               {"with commands of 0", "5 passed, 0 failed, 0 not tested.", "The unit is tripped."});

  const Struct json = parsed(text_of_file(path("out.json")));
  const auto& fields = json.fields();
  EXPECT_EQ(fields.at("passed").number_value(), 5);
  EXPECT_EQ(fields.at("failed").number_value(), 0);
  EXPECT_TRUE(fields.at("tripped_at_end").bool_value());
  EXPECT_EQ(fields.at("unit").struct_value().fields().at("tick_rate_Hz").number_value(), 1000);
  const auto& rows = fields.at("requirements").list_value().values();
  ASSERT_EQ(rows.size(), 5);
  const auto& ttl = rows[1].struct_value().fields();
  EXPECT_EQ(ttl.at("id").string_value(), "C8");
  EXPECT_EQ(ttl.at("verdict").string_value(), "pass");
  EXPECT_EQ(ttl.at("unit").string_value(), "ms");
}

// A unit with an earlier session is not freshly reset: the two requirements about that fail.
TEST_F(ConformanceProcess, EndsWithOneWhenARequirementFails) {
  start_sim();
  ASSERT_EQ(run({"--only", "H7", "--after-reset"}, pty_url()), 0) << daq_->output();
  ASSERT_EQ(run({"--only", "H7", "--json", path("again.json")}, pty_url()), 0) << daq_->output();
  expect_parts(daq_->output(), {"1 not tested"});
  ASSERT_EQ(run({"--only", "H7", "--after-reset", "--json", path("out.json")}, pty_url()), 1);
  expect_parts(daq_->output(), {"FAIL\n", "Failed: H7."});
  const Struct json = parsed(text_of_file(path("out.json")));
  EXPECT_EQ(json.fields().at("failed").number_value(), 1);
  EXPECT_EQ(parsed(text_of_file(path("again.json"))).fields().at("not_tested").number_value(), 1);
}

TEST_F(ConformanceProcess, KeepsJsonOnStandardOutputApart) {
  const std::string line = std::string(RIGCAL_DAQ) + " conformance --url '" + simulation() +
                           "' --only R1a --json - >" + path("out.json") + " 2>" + path("err.txt");
  ASSERT_EQ(std::system(line.c_str()), 0);
  EXPECT_EQ(parsed(text_of_file(path("out.json"))).fields().at("passed").number_value(), 1);
  expect_parts(text_of_file(path("err.txt")), {"R1a"});
}

TEST_F(ConformanceProcess, TripsTheUnitAtCtrlC) {
  start_sim();
  start({}, pty_url());
  ASSERT_NO_FATAL_FAILURE(wait_until_said("H3a"));
  daq_->send_signal(SIGINT);
  EXPECT_EQ(daq_exit_code(), 1);
  expect_parts(daq_->output(), {"interrupted; the unit is tripped"});
}

TEST_F(ConformanceProcess, RefusesBadUsage) {
  const std::vector<std::vector<std::string>> bad = {{"--only", "Z9"},
                                                     {"--command", "0.3"},
                                                     {"--json", path("none/out.json")},
                                                     {"--only", "4.1a"}};
  for (const auto& options : bad) {
    EXPECT_EQ(run(options, simulation()), 2) << options[0] << daq_->output();
  }
  EXPECT_EQ(run({}, "what:ever"), 2);
  EXPECT_EQ(run({}, "pty://" + path("nowhere")), 1) << "no such port";
}

}  // namespace
