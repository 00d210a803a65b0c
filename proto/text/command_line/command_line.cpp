#include "proto/text/command_line/command_line.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <iostream>
#include <limits>
#include <new>
#include <string_view>

#include "proto/notation/number_format.hpp"
#include "proto/text/command_line/command_options.hpp"
#include "proto/text/command_line/standard_streams.hpp"
#include "proto/text/printable.hpp"
#include "proto/text/spelling_suggestions.hpp"

namespace proto {
namespace {

/// Returns the command that was being parsed; the program itself if there was none.
const CLI::App& command_of(const CLI::App& program) {
  const std::vector<CLI::App*> commands = program.get_subcommands();
  return commands.empty() ? program : *commands.front();
}

/// Returns the argument that the command does not accept: an unknown option, else a word.
std::string unexpected(const CLI::App& command) {
  const std::vector<std::string> rest = command.remaining();
  const auto option = std::ranges::find_if(
      rest, [](const std::string& word) { return word.size() > 1 && word.front() == '-'; });
  if (option != rest.end()) return option->substr(0, option->find('='));
  return rest.empty() ? "" : rest.front();
}

std::string refuse_unexpected(const CLI::App& command, const std::string& word) {
  if (word.front() != '-') return "\"" + escape_for_terminal(word) + "\" is an unexpected argument";
  std::vector<std::string> names;
  for (const OptionInfo& option : list_options(command)) {
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return "unknown option \"" + escape_for_terminal(word) + "\"" + suggest_spelling(word, names);
}

/// Returns the parser's message, reworded where it is unclear.
std::string in_words(const CLI::ParseError& error) {
  const std::string text = error.what();
  constexpr std::string_view kNoNumber = "Could not convert: ";
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && text.ends_with("missing")) {
    return text.substr(0, text.find(':')) + ": a value is missing";
  }
  const std::size_t equals = text.find(" = ");
  if (text.starts_with(kNoNumber) && equals != std::string::npos) {
    const std::string value = text.substr(equals + 3);
    return text.substr(kNoNumber.size(), equals - kNoNumber.size()) + ": \"" + value +
           "\" is not a number" + suggest_decimal_point(value);
  }
  return text;
}

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
  const std::vector<std::string> names = list_command_names(app);
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
    if (argc < 2 && !list_command_names(app).empty()) return refused("a command is missing" + all);
    const std::string word = unknown_command(app, argc, argv);
    if (!word.empty()) {
      return refused("unknown command \"" + escape_for_terminal(word) + "\"" +
                     suggest_spelling(word, list_command_names(app)) + all);
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

std::string suggest_decimal_point(const std::string& text) {
  if (std::ranges::count(text, ',') != 1) return "";
  std::string pointed = text;
  pointed[text.find(',')] = '.';
  double value = 0.0;
  if (!CLI::detail::lexical_cast(pointed, value) || !std::isfinite(value)) return "";
  return "; write a decimal point: " + pointed;
}

std::string describe_usage_error(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& command = command_of(program);
  const std::string name =
      program.get_name() + (&command == &program ? "" : " " + command.get_name());
  // If a required option is mistyped, it is reported as missing.
  const bool lacks = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const std::string word = lacks || extra ? unexpected(command) : "";
  const bool mistyped = !word.empty() && (extra || word.front() == '-');
  return mistyped ? refuse_unexpected(command, word) + " (see " + name + " --help)"
                  : in_words(error) + " (see " + name + " --help)";
}

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
        return "\"" + text + "\" is not " + list + suggest_spelling(text, words);
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
