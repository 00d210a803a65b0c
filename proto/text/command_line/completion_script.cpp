#include <algorithm>
#include <stdexcept>

#include "proto/text/command_line/command_line.hpp"
#include "proto/text/command_line/command_options.hpp"

namespace proto {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Returns a program's name as part of a shell function's name.
std::string identifier(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

/// Returns the text in single quotes, for every shell.
std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Returns the first sentence of a help text.
std::string brief(const std::string& help) {
  const std::string text = help.substr(0, help.find_first_of("\n;"));
  return text.substr(0, text.find(". "));
}

/// Options and possible arguments of one command.
struct Completion {
  std::vector<OptionInfo> named;
  bool files = false;  ///< its arguments are files
};

Completion completion_of(const CLI::App& command) {
  Completion completion;
  for (OptionInfo& option : list_options(command)) {
    if (option.positional) {
      completion.files = completion.files || option.takes_file;
    } else {
      completion.named.push_back(std::move(option));
    }
  }
  return completion;
}

std::vector<std::string> names_of(const std::vector<OptionInfo>& options) {
  std::vector<std::string> names;
  for (const OptionInfo& option : options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// One case for each command: completions of its words, and of the value of the option before.
std::string bash_case(const std::string& pattern, const CLI::App& command) {
  const Completion completion = completion_of(command);
  std::string text = "    " + pattern + ")\n      case \"$before\" in\n";
  for (const OptionInfo& option : completion.named) {
    if (option.value.empty()) continue;
    std::string names;
    for (const std::string& name : option.names) names += (names.empty() ? "" : "|") + name;
    text += "        " + names + ") words=" + shell_quoted(joined(option.choices)) +
            "; files=" + (option.takes_file ? "1" : "0") + "; return ;;\n";
  }
  text += "      esac\n      words=" + shell_quoted(joined(names_of(completion.named))) +
          "; files=" + (completion.files ? "1" : "0") + " ;;\n";
  return text;
}

std::string bash_script(const CLI::App& program) {
  const std::string name = program.get_name(), function = "_" + identifier(name);
  std::string text =
      "# bash completion for " + name + "\n" + function + "_words() {\n  case \"$command\" in\n";
  for (const CLI::App* command : list_commands(program)) {
    text += bash_case(command->get_name(), *command);
  }
  text += bash_case("*", program);
  text += "  esac\n}\n";
  text += function + R"(() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local command= words= files=0 k
  local commands=)" +
          shell_quoted(joined(list_command_names(program))) + R"(
  for ((k = 1; k < COMP_CWORD; k++)); do
    if [[ " $commands " == *" ${COMP_WORDS[k]} "* ]]; then command=${COMP_WORDS[k]}; break; fi
  done
  )" + function +
          R"(_words
  [[ -n $command || $before == -* ]] || words="$commands $words"
  COMPREPLY=()
  if [[ $files == 1 && $current != -* ]]; then
    compopt -o filenames 2>/dev/null || true
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    [[ $before == -* ]] || return 0
  fi
  local more
  mapfile -t more < <(compgen -W "$words" -- "$current")
  COMPREPLY+=("${more[@]}")
}
complete -F )" +
          function + " " + name + "\n";
  return text;
}

// "--rig[Rig file]:FILE:_files", without the characters that zsh treats as syntax.
std::string zsh_option(const OptionInfo& option, const std::string& name) {
  std::string help = brief(option.help), value = option.value;
  for (const char c : {'[', ']', ':'}) {
    std::erase(help, c);
    std::replace(value.begin(), value.end(), c, ' ');
  }
  std::string spec = (option.repeated ? "*" : "") + name + "[" + help + "]";
  if (!option.value.empty()) {
    spec += ":" + value + ":";
    if (option.takes_file) {
      spec += "_files";
    } else if (!option.choices.empty()) {
      spec += "(" + joined(option.choices) + ")";
    }
  }
  return shell_quoted(spec);
}

std::string zsh_arguments(const CLI::App& command, const std::string& indent) {
  const Completion completion = completion_of(command);
  std::string text = "_arguments";
  for (const OptionInfo& option : completion.named) {
    for (const std::string& name : option.names) {
      text += " \\\n" + indent + "  " + zsh_option(option, name);
    }
  }
  if (completion.files) text += " \\\n" + indent + "  '*:file:_files'";
  return text;
}

std::string zsh_script(const CLI::App& program) {
  const std::string name = program.get_name(), function = "_" + identifier(name);
  std::string text = "#compdef " + name + "\n" + function + "() {\n";
  const auto commands = list_commands(program);
  if (commands.empty())
    return text + "  " + zsh_arguments(program, "  ") + "\n}\n" + function + " \"$@\"\n";
  text +=
      "  local curcontext=$curcontext state line\n  " + zsh_arguments(program, "  ") +
      " \\\n    '1:command:->command' '*::argument:->argument'\n  case $state in\n    command)\n"
      "      local -a commands=(\n";
  for (const CLI::App* command : commands) {
    text += "        " +
            shell_quoted(command->get_name() + ":" + brief(command->get_description())) + "\n";
  }
  text += "      )\n      _describe command commands ;;\n    argument)\n      case $line[1] in\n";
  for (const CLI::App* command : commands) {
    text += "        " + command->get_name() + ")\n          " +
            zsh_arguments(*command, "          ") + " ;;\n";
  }
  return text + "      esac ;;\n  esac\n}\n" + function + " \"$@\"\n";
}

std::string fish_option(const std::string& program, const std::string& condition,
                        const OptionInfo& option) {
  std::string text = "complete -c " + program;
  if (!condition.empty()) text += " -n " + shell_quoted(condition);
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value.empty()) {
    text += option.takes_file ? " -r -F" : " -x";
    if (!option.choices.empty()) text += " -a " + shell_quoted(joined(option.choices));
  }
  return text + " -d " + shell_quoted(brief(option.help)) + "\n";
}

std::string fish_script(const CLI::App& program) {
  const std::string name = program.get_name();
  const auto commands = list_commands(program);
  std::string text = "# fish completion for " + name + "\n";
  const std::string none = commands.empty() ? "" : "__fish_use_subcommand";
  if (!completion_of(program).files) text += "complete -c " + name + " -f\n";
  for (const OptionInfo& option : completion_of(program).named) {
    text += fish_option(name, none, option);
  }
  for (const CLI::App* command : commands) {
    text += "complete -c " + name + " -n " + shell_quoted(none) + " -a " + command->get_name() +
            " -d " + shell_quoted(brief(command->get_description())) + "\n";
    const std::string seen = "__fish_seen_subcommand_from " + command->get_name();
    const Completion completion = completion_of(*command);
    if (completion.files) text += "complete -c " + name + " -n " + shell_quoted(seen) + " -F\n";
    for (const OptionInfo& option : completion.named) text += fish_option(name, seen, option);
  }
  return text;
}

}  // namespace

std::string make_completion_script(const CLI::App& program, const std::string& shell) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  throw std::invalid_argument("no completion for " + shell);
}

void add_help_output_options(CLI::App& program) {
  // Runs before the program's options are evaluated, like --help.
  const auto print_and_end = [](const std::string& text) {
    std::cout << text;
    throw CLI::Success();
  };
  const auto add_man = [&program, print_and_end](CLI::App& command, const std::string& group) {
    command
        .add_flag_callback(
            "--man",
            [&program, &command, print_and_end] {
              print_and_end(make_manual_page(program, command));
            },
            "Print the manual page, for man -l -")
        ->group(group);
  };
  for (CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    add_man(*command, "");
  }
  add_man(program, "Options");
  program
      .add_option_function<std::string>(
          "--completion",
          [&program, print_and_end](const std::string& shell) {
            print_and_end(make_completion_script(program, shell));
          },
          "Print a script that completes commands in this shell")
      ->check(one_of(kShells))
      ->type_name("bash|zsh|fish");
}

}  // namespace proto
