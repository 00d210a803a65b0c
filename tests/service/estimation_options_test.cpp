// Every estimation option of the table, on every way to the estimator.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "proto/notation/number_format.hpp"
#include "proto/text/files.hpp"
#include "service/cli/remote/remote_calibration.hpp"
#include "service/cli/terminal.hpp"
#include "service/options/option_message.hpp"
#include "service/options/option_texts.hpp"
#include "tests/service/option_examples.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;
using estimator::CalibrationOptions;
using estimator::kOptionRows;
using estimator::OptionGroup;
using estimator::OptionRow;

std::string exact_text(double number) { return notation::format_exact(number); }

CalibrationOptions parsed(const std::string& arguments) {
  CLI::App command;
  EstimationOptions options;
  add_estimation_options(command, options);
  command.parse("a.csv --rig rig.textproto " + arguments);
  return options.calibration;
}

// A time limit stops a command as Ctrl-C does; a command without one runs on.
TEST(InterruptFlag, IsSetAtTheTimeLimit) {
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(300)); };
  {
    const InterruptFlag limited(0.1);
    EXPECT_FALSE(limited.flag());
    wait();
    EXPECT_TRUE(limited.flag());
  }
  const InterruptFlag unlimited;
  wait();
  EXPECT_FALSE(unlimited.flag());
}

rigcal::v1::JobSpec spec_of(const CalibrationOptions& calibration) {
  const TemporaryFolder folder;
  EstimationOptions options;
  options.calibration = calibration;
  options.rig = folder.write("rig.textproto", "");
  return make_job_spec({}, options, [](const std::string& recording) { return recording; });
}

// Each option alone, from the command line to the request, through the job message, and through
// the message in a stored result: the option has its value, and all others keep their defaults.
TEST(EstimationOptions, SetTheirMemberOnly) {
  const auto none = [](const OptionRow&) { return false; };
  expect_examples(parsed(""), none);
  EXPECT_EQ(spec_of({}).estimation_options().fields_size(), 0);
  std::set<std::string> names, keys, arguments;
  for (const OptionRow& given : kOptionRows) {
    SCOPED_TRACE(given.name);
    EXPECT_TRUE(names.emplace(given.name).second && keys.emplace(given.key).second &&
                arguments.insert(python_argument_name(given)).second);
    CalibrationOptions options;
    EXPECT_TRUE(set_option(given, example(given), options));
    const auto is_given = [&](const OptionRow& row) { return row.name == given.name; };
    expect_examples(options, is_given);
    if (is_on_command_line(given)) expect_examples(parsed(argument(given)), is_given);
    expect_examples(read_job_options(spec_of(options)), is_given);
    const google::protobuf::Struct stored = make_options_message(options, true);
    EXPECT_EQ(stored.fields_size(), std::ssize(kOptionRows));
    expect_examples(read_calibration_options(stored, "options", true), is_given);
  }
}

// NaN and values outside of the range are refused by the command line and in messages.
TEST(EstimationOptions, AreRefusedOutsideTheRange) {
  for (const OptionRow& row : kOptionRows) {
    SCOPED_TRACE(row.name);
    std::vector<std::string> wrong = {"a", "nan", "inf", "-inf", "-2", "1,5"};
    if (!row.is_enumeration() && !row.is_flag()) {
      CalibrationOptions options;
      EXPECT_TRUE(set_option(row, exact_text(row.range.min), options));
      if (row.range.min > 0.0) wrong.insert(wrong.end(), {"0", exact_text(0.9 * row.range.min)});
      if (std::isfinite(row.range.max)) {
        wrong.push_back(exact_text(1.1 * row.range.max));
        EXPECT_TRUE(set_option(row, exact_text(row.range.max), options));
      }
      if (example(row) == "17") wrong.emplace_back("1.5");
    }
    for (const std::string& text : wrong) {
      SCOPED_TRACE(text);
      CalibrationOptions options;
      EXPECT_FALSE(set_option(row, text, options));
      EXPECT_TRUE(has_default_value(row, options));
      if (text != format_option(row, {})) {
        google::protobuf::Struct message;
        (*message.mutable_fields())[std::string(row.key)].set_string_value(text);
        expect_parts(refusal([&] { (void)read_calibration_options(message, "options", true); }),
                     {"options." + std::string(row.key) + " is \"" + text,
                      "; give " + describe_option_values(row)});
      }
      if (row.is_flag() || argument(row).empty()) continue;
      EXPECT_THROW((void)parsed("--" + std::string(row.name) + "=" + text), CLI::ParseError);
    }
  }
  for (const char* wrong : {"--from=nan", "--to=inf", "--from=-inf"}) {
    EXPECT_THROW((void)parsed(wrong), CLI::ValidationError) << wrong;
  }
  EXPECT_NO_THROW((void)parsed("--from=-5"));
}

// An option that a service does not know would silently change the estimates. A stored result of a
// later version may have more options.
TEST(EstimationOptions, RefusesUnknownOptionsOfJobs) {
  google::protobuf::Struct message;
  (*message.mutable_fields())["filterCutofHz"].set_number_value(3.0);
  expect_parts(refusal([&] { (void)read_calibration_options(message, "options", false); }),
               {"options.filterCutofHz: unknown", "did you mean \"filterCutoffHz\""});
  EXPECT_EQ(read_calibration_options(message, "options", true).filter_cutoff,
            CalibrationOptions().filter_cutoff);
}

// Jobs that a service of protocol version 1 stored keep their options.
TEST(EstimationOptions, ReadsOptionsOfOldJobs) {
  rigcal::v1::JobSpec spec;
  rigcal::v1::JobOptions& old = *spec.mutable_options();
  old.set_filter_cutoff_hz(3.5);
  old.set_max_iterations(17);
  old.set_repair(false);
  old.set_residual("explicit");
  old.set_parameters("shadow");
  const CalibrationOptions options = read_job_options(spec);
  EXPECT_EQ(options.filter_cutoff, 3.5);
  EXPECT_EQ(options.max_iterations, 17);
  EXPECT_FALSE(options.repair);
  EXPECT_EQ(options.residual_form, estimator::ResidualForm::kExplicit);
  EXPECT_EQ(options.kind, estimator::EstimateKind::kShadow);
  old.set_states("half");
  expect_parts(refusal([&] { (void)read_job_options(spec); }),
               {"options.states is \"half\"; give configurations or full"});
}

constexpr std::string_view kTableBegin = "--gtest_filter=OptionPage.* -->\n";
constexpr std::string_view kTableEnd = "<!-- End of the generated table -->";

/// Returns the JSON value that a flag on the command line sets.
std::string flag_value_in_json(const OptionRow& row) {
  return std::string(format_option(row, {}) == "true" ? "`false`" : "`true`") + " in JSON";
}

std::string option_table() {
  std::string text = "| option | JSON | values | default | effect |\n|---|---|---|---|---|\n";
  for (const OptionRow& row : kOptionRows) {
    if (find_option_help(row).empty()) continue;
    text += "| `--" + std::string(row.name) + "` | `" + std::string(row.key) + "` | " +
            (row.is_flag() ? flag_value_in_json(row) : describe_option_values(row)) + " | " +
            (row.is_flag()          ? "not set"
             : is_in_range(row, {}) ? format_option(row, {})
                                    : "automatic") +
            " | " + (row.group == OptionGroup::kSimulator ? "Shadow parameters: " : "") +
            std::string(find_option_help(row)) + " |\n";
  }
  return text;
}

// Catches a table that was not generated after a change of the options.
TEST(OptionPage, ListsTheOptions) {
  const std::string path = source_folder() + "/docs/reference/calibrate.md";
  const std::string page = proto::read_file(path);
  const std::size_t begin = page.find(kTableBegin) + kTableBegin.size(), end = page.find(kTableEnd);
  ASSERT_LT(begin, end);
  if (std::getenv("RIGCAL_WRITE_PAGES") != nullptr) {
    proto::write_file(path, page.substr(0, begin) + option_table() + page.substr(end));
    return;
  }
  EXPECT_EQ(page.substr(begin, end - begin), option_table())
      << "run: RIGCAL_WRITE_PAGES=1 build/bin/service_tests --gtest_filter=OptionPage.*";
}

}  // namespace
}  // namespace service
