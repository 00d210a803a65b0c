#include "tests/architecture/source_rules.hpp"

#include <cctype>
#include <map>
#include <regex>
#include <utility>

namespace architecture {
namespace {

/// Position at which the bracket at `open` is closed; npos if it is not.
std::size_t find_close(const std::string& text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return std::string::npos;
}

/// "const a::B& b = 0, int" as "constB&,int".
std::string types_of(const std::string& parameters) {
  std::vector<std::string> each(1);
  int depth = 0;
  for (const char c : parameters) {
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      each.emplace_back();
    } else {
      each.back() += c;
    }
  }
  static const std::regex kDefault(R"(\s*=.*$)"), kQualifier(R"(\b\w+::)"), kSpace(R"(\s+)"),
      kEnds(R"(^\s+|\s+$)");
  static const std::regex kName(R"(^(.*(?:[&*>]|\w))(\s*[&*]*)\s+\w+$|^(.*[&*>])\s*\w+$)");
  std::string types;
  for (std::string one : each) {
    one = std::regex_replace(one, kDefault, "");
    one = std::regex_replace(one, kEnds, "");
    const bool bare = one == "unsigned int" || one == "long long" || one == "unsigned long";
    if (!bare) one = std::regex_replace(one, kName, "$1$2$3");
    one = std::regex_replace(std::regex_replace(one, kQualifier, ""), kSpace, "");
    types += (types.empty() ? "" : ",") + one;
  }
  return types;
}

bool begins_function(const std::string& line) {
  static const std::regex kOther(
      R"(^(using|struct|class|enum|namespace|template|typedef|extern|static_assert)\b.*)");
  return !line.empty() && std::isalpha(static_cast<unsigned char>(line[0])) != 0 &&
         !std::regex_match(line, kOther);
}

}  // namespace

std::vector<Function> functions_of(const SourceFile& file) {
  static const std::regex kHead(R"(^(?:[\w:<>,&*\[\]]+\s+)*[\w:<>,&*\[\]]+[\s&*]+(\w+)$)");
  std::vector<Function> functions;
  bool anonymous = false;
  for (std::size_t k = 0; k < file.lines.size(); ++k) {
    if (file.lines[k] == "namespace {") anonymous = true;
    if (file.lines[k] == "}  // namespace") anonymous = false;
    if (!begins_function(file.lines[k])) continue;
    const auto line = static_cast<int>(k) + 1;
    std::string text = file.lines[k];
    std::size_t open = text.find('('), close = std::string::npos;
    if (open == std::string::npos) continue;
    while ((close = find_close(text, open)) == std::string::npos && k + 1 < file.lines.size()) {
      text += ' ' + file.lines[++k];
    }
    if (close == std::string::npos) break;
    std::smatch match;
    const std::string head = text.substr(0, open);
    if (!std::regex_match(head, match, kHead) || head.find('=') != std::string::npos) continue;
    functions.push_back(
        {match[1], types_of(text.substr(open + 1, close - open - 1)), line, anonymous});
  }
  return functions;
}

std::vector<Violation> anonymous_functions_hide_none(const Tree& tree) {
  using Key = std::pair<std::string, std::string>;  // module and name with types
  // The studies use the headers and the namespace of the service.
  const auto module_of = [](const SourceFile& file) -> std::string {
    if (file.path.starts_with("tests/studies/")) return "service";
    return file.path.substr(0, file.path.find('/'));
  };
  const auto key = [&](const SourceFile& file, const Function& function) {
    return Key(module_of(file), function.name + '(' + function.parameters + ')');
  };
  std::map<Key, std::string> shared;
  for (const SourceFile& file : tree) {
    if (!file.path.ends_with(".hpp")) continue;
    for (const Function& each : functions_of(file)) shared.emplace(key(file, each), file.path);
  }
  std::vector<Violation> violations;
  for (const SourceFile& file : tree) {
    if (!file.path.ends_with(".cpp") || module_of(file) == "tests" ||
        file.path.ends_with("_test.cpp")) {
      continue;
    }
    for (const Function& each : functions_of(file)) {
      const auto found = shared.find(key(file, each));
      if (!each.anonymous || found == shared.end()) continue;
      violations.push_back({file.path, each.line, "hides " + each.name + " of " + found->second});
    }
  }
  return violations;
}

}  // namespace architecture
