#include "service/rig/code/zip_file.hpp"

#include <zlib.h>

#include <cstdint>

namespace service {
namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50, kCentralSignature = 0x02014b50,
                        kEndSignature = 0x06054b50;
constexpr std::uint32_t kVersion = 20, kFirstDay = 0x21;  // 1980-01-01, the earliest date
constexpr std::uint32_t kUtf8Names = 0x800;

void append_little_endian(std::string& text, std::uint32_t value, int size_bytes) {
  for (int i = 0; i < size_bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
}

/// Appends what the local and the central header have in common.
void append_facts(std::string& text, const ZipEntry& entry) {
  const auto* bytes = reinterpret_cast<const Bytef*>(entry.contents.data());
  const auto size = static_cast<std::uint32_t>(entry.contents.size());
  const auto checksum = static_cast<std::uint32_t>(::crc32(0, bytes, size));
  for (const std::uint32_t part :
       {kVersion, kUtf8Names, std::uint32_t{0}, std::uint32_t{0}, kFirstDay}) {
    append_little_endian(text, part, 2);
  }
  for (const std::uint32_t part : {checksum, size, size}) append_little_endian(text, part, 4);
  append_little_endian(text, static_cast<std::uint32_t>(entry.name.size()), 2);
  append_little_endian(text, 0, 2);  // no extra fields
}

}  // namespace

std::string make_zip(const std::vector<ZipEntry>& entries) {
  std::string archive, directory;
  for (const ZipEntry& entry : entries) {
    append_little_endian(directory, kCentralSignature, 4);
    append_little_endian(directory, kVersion, 2);
    append_facts(directory, entry);
    append_little_endian(directory, 0, 2);  // no comment
    append_little_endian(directory, 0, 4);  // first disk, binary
    append_little_endian(directory, 0, 4);  // default permissions
    append_little_endian(directory, static_cast<std::uint32_t>(archive.size()), 4);
    directory += entry.name;
    append_little_endian(archive, kLocalSignature, 4);
    append_facts(archive, entry);
    archive += entry.name + entry.contents;
  }
  const auto begin = static_cast<std::uint32_t>(archive.size());
  archive += directory;
  append_little_endian(archive, kEndSignature, 4);
  append_little_endian(archive, 0, 4);  // one disk
  for (int i = 0; i < 2; ++i) {
    append_little_endian(archive, static_cast<std::uint32_t>(entries.size()), 2);
  }
  append_little_endian(archive, static_cast<std::uint32_t>(directory.size()), 4);
  append_little_endian(archive, begin, 4);
  append_little_endian(archive, 0, 2);  // no comment
  return archive;
}

}  // namespace service
