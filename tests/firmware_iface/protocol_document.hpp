#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace protocol_document {

/// One golden vector of PROTOCOL.md.
struct GoldenVector {
  std::string message;                                       ///< e.g. "SAMPLE"
  std::map<std::string, std::vector<std::uint64_t>> fields;  ///< two's complement
  std::vector<std::uint8_t> frame;                           ///< bytes on the line

  std::uint64_t field(const std::string& name, std::size_t index = 0) const;
};

/// One line of the layout block: the message's name and the sum of its field widths.
struct LayoutLine {
  int type = 0;
  std::string message;
  int size_bytes = 0;  ///< of the fields that every such message has
  int motor_size_bytes = 0;
  int encoder_size_bytes = 0;
  int sensor_size_bytes = 0;
  int marks_size_bytes = 0;
};

/// Returns the text of the fenced block with a language tag.
std::string fenced_block(const std::string& tag);

std::vector<GoldenVector> golden_vectors();
std::vector<LayoutLine> layout_lines();

}  // namespace protocol_document
