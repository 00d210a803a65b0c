#include "service/work/work_lines.hpp"

#include <algorithm>

#include "service/work/fingerprint.hpp"

namespace service {
namespace {

constexpr std::size_t kChecksumSize = 16;  // hexadecimal digits

std::string checksum_of(std::string_view text) { return Fingerprint().add(text).hex(); }

void append_escaped(std::string_view field, std::string& line) {
  for (const char c : field) {
    switch (c) {
      case '\\':
        line += "\\\\";
        break;
      case '\n':
        line += "\\n";
        break;
      case '\t':
        line += "\\t";
        break;
      default:
        line += c;
    }
  }
}

std::string without_escapes(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\' || i + 1 == field.size()) {
      text += field[i];
      continue;
    }
    const char c = field[++i];
    text += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }
  return text;
}

}  // namespace

std::string format_work_line(const std::vector<std::string>& fields) {
  std::string body;
  for (const std::string& field : fields) {
    body += '\t';
    append_escaped(field, body);
  }
  return checksum_of(body) + body + '\n';
}

std::optional<std::vector<std::string>> parse_work_line(std::string_view line) {
  if (line.size() <= kChecksumSize) return std::nullopt;
  std::string_view body = line.substr(kChecksumSize);
  if (line.substr(0, kChecksumSize) != checksum_of(body)) return std::nullopt;
  std::vector<std::string> fields;
  while (!body.empty()) {
    body.remove_prefix(1);  // the tab
    const std::size_t size = std::min(body.find('\t'), body.size());
    fields.push_back(without_escapes(body.substr(0, size)));
    body.remove_prefix(size);
  }
  return fields;
}

}  // namespace service
