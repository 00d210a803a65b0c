#include "proto/text/command_line/command_line.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <iostream>
#include <limits>
#include <new>
#include <string>

#include "proto/notation/number_format.hpp"
#include "proto/text/command_line/command_options.hpp"
#include "proto/text/command_line/help_output.hpp"
#include "proto/text/command_line/standard_streams.hpp"
#include "proto/text/command_line/usage_errors.hpp"
#include "proto/text/printable.hpp"
#include "proto/text/spelling_suggestions.hpp"

namespace proto {
namespace {

constexpr double kMax = std::numeric_limits<double>::max();

/// @param range  description of the range
CLI::Validator make_range(double low, double high, const std::string& range) {
  return CLI::Validator(
      [low, high, range](std::string& text) -> std::string {
        double value = 0.0;
        if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return "";
        return "\"" + text + "\" is not " + range + suggest_decimal_point(text);
      },
      "");
}

void refuse_empty_texts(CLI::App& app) {
  const CLI::Validator not_empty(
      [](std::string& text) { return text.empty() ? std::string("must not be empty") : ""; }, "");
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() > 0) option->check(not_empty);
  }
  for (CLI::App* command : app.get_subcommands({})) refuse_empty_texts(*command);
}

/// Returns the first argument if it should be a command but is not one; empty otherwise.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  const std::vector<std::string> names = command_names(app);
  if (names.empty() || argc < 2 || argv[1][0] == '-') return "";
  return std::ranges::find(names, argv[1]) == names.end() ? argv[1] : "";
}

int run(CLI::App& app, int argc, char** argv, int bad_input, const std::function<int()>& work) {
  const auto refused = [&](const std::string& why) {
    std::cout.flush();
    std::cerr << app.get_name() << ": " << why << '\n';
    return bad_input;
  };
  try {
    app.parse(argc, argv);
    return work();
  } catch (const CLI::ParseError& error) {
    const std::string all = " (see " + app.get_name() + " --help)";
    if (argc < 2 && !command_names(app).empty()) return refused("a command is missing" + all);
    const std::string word = unknown_command(app, argc, argv);
    if (!word.empty()) {
      return refused("unknown command \"" + escape_for_terminal(word) + "\"" +
                     did_you_mean(word, command_names(app)) + all);
    }
    if (error.get_exit_code() == 0) return app.exit(error);
    return refused(describe_usage_error(app, error));
  } catch (const std::bad_alloc&) {
    return refused("out of memory; use a shorter part of the recording, or a shorter run");
  } catch (const std::exception& error) {
    return refused(error.what());
  }
}

}  // namespace

CLI::Validator number_from_to(double low, double high) {
  return make_range(
      low, high, "between " + notation::format_exact(low) + " and " + notation::format_exact(high));
}

CLI::Validator count_from_to(int low, int high) {
  const std::string range =
      "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  return CLI::Validator(
      [low, high, range](std::string& text) -> std::string {
        int value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return "";
        return "\"" + text + "\" is not " + range;
      },
      "");
}

CLI::Validator positive_number() {
  return make_range(std::numeric_limits<double>::min(), kMax, "a positive number");
}

CLI::Validator nonnegative_number() { return make_range(0.0, kMax, "a number of 0 or more"); }

CLI::Validator finite_number() { return make_range(-kMax, kMax, "a finite number"); }

CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::Validator(
      [words](std::string& text) -> std::string {
        if (std::ranges::find(words, text) != words.end()) return "";
        std::string list;
        for (const std::string& word : words) {
          list += (list.empty() ? "" : &word == &words.back() ? " or " : ", ") + word;
        }
        return "\"" + text + "\" is not " + list + did_you_mean(text, words);
      },
      "");
}

int run_program(CLI::App& app, int argc, char** argv, int bad_input,
                const std::function<int()>& work) {
  StandardStreams streams(app.get_name());
  add_help_output_options(app);
  refuse_empty_texts(app);
  return streams.finish(run(app, argc, argv, bad_input, work));
}

}  // namespace proto
