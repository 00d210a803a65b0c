#include "proto/text/command_line.hpp"

#include <cmath>
#include <exception>
#include <iostream>
#include <limits>
#include <new>
#include <string>

#include "proto/text/command_pages.hpp"
#include "proto/text/exact_number.hpp"
#include "proto/text/standard_streams.hpp"

namespace proto {
namespace {

constexpr double kMax = std::numeric_limits<double>::max();

/// @param range  in words
CLI::Validator make_range(double low, double high, const std::string& range) {
  return CLI::Validator(
      [low, high, range](std::string& text) -> std::string {
        double value = 0.0;
        if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return "";
        return "'" + text + "' is not " + range;
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
    return app.exit(error) == 0 ? 0 : bad_input;
  } catch (const std::bad_alloc&) {
    return refused("out of memory; use a shorter part of the recording, or a shorter run");
  } catch (const std::exception& error) {
    return refused(error.what());
  }
}

}  // namespace

CLI::Validator number_from_to(double low, double high) {
  return make_range(low, high, "between " + exact_number(low) + " and " + exact_number(high));
}

CLI::Validator positive_number() {
  return make_range(std::numeric_limits<double>::min(), kMax, "a positive number");
}

CLI::Validator number_from_zero() { return make_range(0.0, kMax, "a number from 0 on"); }

CLI::Validator finite_number() { return make_range(-kMax, kMax, "a finite number"); }

int run_program(CLI::App& app, int argc, char** argv, int bad_input,
                const std::function<int()>& work) {
  StandardStreams streams(app.get_name());
  add_page_options(app);
  refuse_empty_texts(app);
  return streams.finish(run(app, argc, argv, bad_input, work));
}

}  // namespace proto
