#include "tests/firmware_iface/protocol_document.hpp"

#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "tests/support/source_folder.hpp"

namespace protocol_document {
namespace {

std::string read_document() {
  std::ifstream in(test_support::source_folder() + "/firmware_iface/PROTOCOL.md");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

std::uint64_t GoldenVector::field(const std::string& name, std::size_t index) const {
  const auto found = fields.find(name);
  if (found == fields.end() || index >= found->second.size()) return 0;
  return found->second[index];
}

std::string fenced_block(const std::string& tag) {
  const std::string text = read_document();
  const std::string fence = "```" + tag + "\n";
  const std::size_t begin = text.find(fence);
  if (begin == std::string::npos) throw std::runtime_error("PROTOCOL.md has no block " + tag);
  const std::size_t first = begin + fence.size();
  return text.substr(first, text.find("```", first) - first);
}

std::vector<GoldenVector> golden_vectors() {
  std::vector<GoldenVector> vectors;
  std::istringstream block(fenced_block("golden"));
  for (std::string head, bytes; std::getline(block, head) && std::getline(block, bytes);) {
    GoldenVector vector;
    std::istringstream words(head);
    words >> vector.message;
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      std::istringstream values(word.substr(equals + 1));
      for (std::string value; std::getline(values, value, ',');) {
        vector.fields[word.substr(0, equals)].push_back(
            value.front() == '-' ? static_cast<std::uint64_t>(std::stoll(value, nullptr, 0))
                                 : std::stoull(value, nullptr, 0));
      }
    }
    std::istringstream hex(bytes);
    for (std::string byte; hex >> byte;) {
      vector.frame.push_back(static_cast<std::uint8_t>(std::stoi(byte, nullptr, 16)));
    }
    vectors.push_back(vector);
  }
  return vectors;
}

std::vector<LayoutLine> layout_lines() {
  static const std::regex kLine(R"(([0-9a-f]{2}) (\w+) crc\w+( seed 0)?: (.*))");
  static const std::regex kField(
      R"((\w+) [ui](\d+)( x4| per motor| per encoder| x3 per sensor)?(, )?)");
  std::vector<LayoutLine> lines;
  std::istringstream block(fenced_block("layout"));
  for (std::string text; std::getline(block, text);) {
    std::smatch line;
    if (!std::regex_match(text, line, kLine)) continue;
    LayoutLine layout{.type = std::stoi(line[1], nullptr, 16), .message = line[2]};
    const std::string fields = line[4];
    const std::size_t marks = fields.find("with STREAM_MARKS");
    for (std::sregex_iterator field(fields.begin(), fields.end(), kField), end; field != end;
         ++field) {
      const int size_bytes = std::stoi((*field)[2]) / 8;
      const std::string repeat = (*field)[3];
      if (static_cast<std::size_t>(field->position()) > marks) {
        layout.marks_size_bytes += size_bytes;
      } else if (repeat == " per motor") {
        layout.motor_size_bytes += size_bytes;
      } else if (repeat == " per encoder") {
        layout.encoder_size_bytes += size_bytes;
      } else if (repeat == " x3 per sensor") {
        layout.sensor_size_bytes += 3 * size_bytes;
      } else {
        layout.size_bytes += repeat == " x4" ? 4 * size_bytes : size_bytes;
      }
    }
    lines.push_back(layout);
  }
  return lines;
}

}  // namespace protocol_document
