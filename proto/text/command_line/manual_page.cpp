#include <fmt/core.h>

#include <algorithm>
#include <sstream>

#include "proto/text/command_line/command_options.hpp"

namespace proto {
namespace {

/// Escapes text for roff: backslashes, and hyphens that remain copyable.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

/// Returns a line of running text; a beginning that roff would read as a request is escaped.
std::string line(const std::string& text) {
  const bool request = !text.empty() && (text.front() == '.' || text.front() == '\'');
  return (request ? "\\&" : "") + escaped(text) + "\n";
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }

std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

std::string capitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

std::string page_name(const CLI::App& program, const CLI::App& command) {
  return &program == &command ? program.get_name() : program.get_name() + "-" + command.get_name();
}

std::string term_of(const OptionInfo& option) {
  std::string term;
  for (const std::string& name : option.names) {
    term += (term.empty() ? "" : ", ") + (option.positional ? italic(name) : bold(name));
  }
  if (!option.value.empty() && !option.positional) term += " " + italic(option.value);
  if (option.repeated) term += " ...";
  return term;
}

/// Returns the text with a full stop at its end, so that more can follow.
std::string sentence(const std::string& text) {
  return text.empty() || text.back() == '.' ? text : text + ".";
}

void add_option(const OptionInfo& option, std::string& page) {
  page += ".TP\n" + term_of(option) + "\n" + line(sentence(option.help));
  if (option.required && !option.positional) page += "Required.\n";
  if (!option.initial.empty()) page += line("Default: " + sentence(option.initial));
  if (!option.environment.empty()) page += line("Environment: " + sentence(option.environment));
}

void add_options(const std::vector<OptionInfo>& options, std::string& page) {
  const std::string arguments = "Arguments", main = "Options";
  std::vector<std::string> groups;
  const auto group_of = [&](const OptionInfo& option) {
    return option.positional ? arguments : option.group;
  };
  for (const OptionInfo& option : options) {
    if (std::ranges::find(groups, group_of(option)) == groups.end()) {
      groups.push_back(group_of(option));
    }
  }
  // Arguments come before options, in whatever order they were added.
  std::ranges::stable_partition(groups, [&](const auto& group) { return group == arguments; });
  for (const std::string& group : groups) {
    const bool section = group == arguments || group == main;
    page += section ? ".SH " + capitals(group) + "\n" : ".SS " + escaped(group) + "\n";
    for (const OptionInfo& option : options) {
      if (group_of(option) == group) add_option(option, page);
    }
  }
}

std::string synopsis(const CLI::App& program, const CLI::App& command) {
  std::string text = bold(program.get_name());
  if (&program != &command) text += " " + bold(command.get_name());
  const std::vector<OptionInfo> options = list_options(command);
  for (const OptionInfo& option : options) {
    if (!option.required || option.positional) continue;
    text += " " + bold(option.names.back()) + " " + italic(option.value);
  }
  text += " [" + italic("OPTIONS") + "]";
  for (const OptionInfo& option : options) {
    if (!option.positional) continue;
    text += fmt::format(" {}{}", italic(option.names.back()), option.repeated ? " ..." : "");
  }
  if (!list_commands(command).empty()) text += " " + italic("COMMAND") + " ...";
  return text + "\n";
}

/// Parts of the help text below the options: running text, examples, the exit status.
struct Footer {
  std::vector<std::string> notes, examples, status;
};

Footer footer_of(const CLI::App& command) {
  Footer footer;
  std::vector<std::string>* section = &footer.notes;
  std::istringstream in(command.get_footer());
  for (std::string text; std::getline(in, text);) {
    if (text.starts_with("Example")) {
      section = &footer.examples;
      if (text == "Examples:" || text == "Example:") continue;
    } else if (text.starts_with("Exit status: ")) {
      section = &footer.status;
      text.erase(0, std::string("Exit status: ").size());
    } else if (text.empty() || text.find(" COMMAND --help ") != std::string::npos) {
      section = &footer.notes;
      continue;
    }
    section->push_back(text);
  }
  return footer;
}

void add_lines(const std::string& heading, const std::vector<std::string>& lines, bool verbatim,
               std::string& page) {
  if (lines.empty()) return;
  page += heading;
  if (verbatim) page += ".nf\n";
  for (const std::string& text : lines) page += line(text);
  if (verbatim) page += ".fi\n";
}

void add_commands(const CLI::App& program, std::string& page) {
  const auto commands = list_commands(program);
  if (commands.empty()) return;
  page += ".SH COMMANDS\n";
  for (const CLI::App* command : commands) {
    page += fmt::format(".TP\n{}(1)\n{}", bold(page_name(program, *command)),
                        line(command->get_description()));
  }
}

void add_see_also(const CLI::App& program, const CLI::App& command, std::string& page) {
  static const std::vector<std::string> kPrograms = {"rigcal", "rigcal-daq", "rigcal-sim",
                                                     "rigcald"};
  page += ".SH SEE ALSO\n";
  std::string list;
  for (const std::string& name : kPrograms) {
    if (&program == &command && name == program.get_name()) continue;
    list += (list.empty() ? "" : ",\n") + bold(name) + "(1)";
  }
  page += list + "\n";
}

}  // namespace

std::string make_manual_page(const CLI::App& program, const CLI::App& command) {
  const std::string name = page_name(program, command);
  const Footer footer = footer_of(command);
  std::string page =
      ".TH \"" + escaped(capitals(name)) + "\" 1 \"\" \"rigcal\" \"User Commands\"\n";
  // The whatis line holds one line of the description.
  std::string description = command.get_description();
  std::ranges::replace(description, '\n', ' ');
  page += ".SH NAME\n" + escaped(name) + " \\- " +
          escaped(description.substr(0, description.find(". "))) + "\n";
  page += ".SH SYNOPSIS\n" + synopsis(program, command);
  page += ".SH DESCRIPTION\n" + line(description);
  add_lines("", footer.notes, false, page);
  add_commands(command, page);
  add_options(list_options(command), page);
  add_lines(".SH EXAMPLES\n", footer.examples, true, page);
  add_lines(".SH EXIT STATUS\n", footer.status, false, page);
  add_see_also(program, command, page);
  return page;
}

}  // namespace proto
