// NumPy's .npy files (numpy.lib.format) and .npz files, which are ZIP archives of them. Debian's
// libcnpy does not check the sizes that a file declares.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "proto/recording/arrays/array_file.hpp"
#include "proto/recording/arrays/byte_source.hpp"
#include "proto/recording/arrays/number_type.hpp"
#include "proto/recording/mcap/byte_cursor.hpp"
#include "proto/text/input_error.hpp"

namespace proto {
namespace {

constexpr std::size_t kHeaderSizeMax = std::size_t{1} << 16;
constexpr std::size_t kElementSizeMax = std::size_t{1} << 16;  // of a structured array [byte]
constexpr std::size_t kRankMax = 32;

/// Numbers of a .npy file: the whole elements, or one field of structured elements.
struct NumpyField {
  std::string name;  ///< empty: the whole element
  std::string code;  ///< NumPy's code of its type
  std::optional<NumberType> type = {};
  double time_unit = 0.0;  ///< of times [s]; 0: not a time
  std::size_t offset = 0;  ///< in the element [byte]
};

struct NumpyHeader {
  std::vector<NumpyField> fields;
  std::size_t element_size = 0;  ///< [byte]
  bool is_fortran_order = false;
  std::vector<std::uint64_t> shape;
};

/// Parses the header of a .npy file, a Python literal such as
/// {'descr': '<f8', 'fortran_order': False, 'shape': (2000, 2), }.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  std::optional<NumpyHeader> parse() {
    NumpyHeader header;
    bool has_type = false, has_order = false, has_shape = false;
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      const auto key = take_string();
      if (!key || !take(':')) return std::nullopt;
      bool* const seen = *key == "descr"           ? &has_type
                         : *key == "fortran_order" ? &has_order
                         : *key == "shape"         ? &has_shape
                                                   : nullptr;
      if (seen == nullptr || *seen) return std::nullopt;
      *seen = true;
      const bool is_read = *key == "descr"           ? take_type(header)
                           : *key == "fortran_order" ? take_order(header)
                                                     : take_shape(header);
      if (!is_read) return std::nullopt;
      take(',');
    }
    if (!has_type || !has_order || !has_shape) return std::nullopt;
    return header;
  }

 private:
  void skip_blanks() {
    const std::size_t begin = rest_.find_first_not_of(" \n\t");
    rest_.remove_prefix(std::min(begin, rest_.size()));
  }

  bool take(char wanted) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<std::string> take_string() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"' && !take('"')) return std::nullopt;
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::optional<std::uint64_t> take_number() {
    skip_blanks();
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return number;
  }

  bool take_word(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  bool take_order(NumpyHeader& header) {
    skip_blanks();
    header.is_fortran_order = take_word("True");
    return header.is_fortran_order || take_word("False");
  }

  bool take_shape(NumpyHeader& header) {
    if (!take('(')) return false;
    while (!take(')')) {
      const auto size = take_number();
      if (!size || header.shape.size() == kRankMax) return false;
      header.shape.push_back(*size);
      take(',');
    }
    return true;
  }

  /// Takes a type such as '<f8', or a list of fields such as [('t', '<f8'), ('x', '<f4')].
  bool take_type(NumpyHeader& header) {
    if (!take('[')) {
      const auto code = take_string();
      return code && add_field("", *code, header);
    }
    while (!take(']')) {
      if (!take('(')) return false;
      const auto name = take_string();
      if (!name || !take(',')) return false;
      const auto code = take_string();  // a nested structure is refused
      if (!code || !take(')') || !add_field(*name, *code, header)) return false;
      take(',');
    }
    return true;
  }

  static bool add_field(const std::string& name, const std::string& code, NumpyHeader& header) {
    NumpyField field{.name = name, .code = code, .offset = header.element_size};
    if (code.size() < 2) return false;
    std::size_t size = 0;
    const char* const end = code.data() + code.size();
    const auto [parsed, error] = std::from_chars(code.data() + 2, end, size);
    if (code[1] == 'O') {
      size = 8;  // Python objects have no fixed size
    } else if (error != std::errc() || size > kElementSizeMax) {
      return false;
    }
    if (code[1] == 'U') size *= 4;
    header.element_size += size;
    if (header.element_size > kElementSizeMax) return false;
    using Kind = NumberType::Kind;
    const bool swapped = code[0] == '>';
    const bool is_integer = size == 1 || size == 2 || size == 4 || size == 8;
    switch (code[1]) {
      case 'f':
        if (size == 2 || size == 4 || size == 8) field.type = {Kind::kFloat, size, swapped};
        break;
      case 'i':
        if (is_integer) field.type = {Kind::kSigned, size, swapped};
        break;
      case 'b':
      case 'u':
        if (is_integer) field.type = {Kind::kUnsigned, size, swapped};
        break;
      case 'M':
      case 'm':
        field.time_unit = time_unit_of({parsed, end});
        if (size == 8 && field.time_unit > 0.0) field.type = {Kind::kSigned, size, swapped};
        break;
      default:
        break;
    }
    header.fields.push_back(field);
    return true;
  }

  /// Returns the unit of times such as "M8[ns]" [s]; 0 for months and other units.
  static double time_unit_of(std::string_view unit) {
    return unit == "[ns]"   ? 1e-9
           : unit == "[us]" ? 1e-6
           : unit == "[ms]" ? 1e-3
           : unit == "[s]"  ? 1.0
                            : 0.0;
  }

  std::string_view rest_;
};

/// A .npy file, alone or in an archive.
struct NumpyMember {
  std::string name;  ///< without ".npy"; of a file alone: "array"
  std::uint64_t offset = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;  ///< after decompression
  bool is_compressed = false;
};

/// The numbers of a .npy file.
struct NumpyData {
  NumpyMember member;
  std::uint64_t offset = 0;  ///< in the member, after decompression
  std::size_t element_size = 0;
  bool is_fortran_order = false;
  std::vector<NumberField> fields = {};
};

/// Where the numbers of an array are.
struct NumpyLocation {
  std::size_t data = 0;  ///< index of the .npy file
  std::size_t field = 0;
  double time_unit = 0.0;
};

class NumpyFile final : public ArrayFile {
 public:
  explicit NumpyFile(const std::string& path) : ArrayFile(path) {
    auto file = open_input_file(path);
    if (!file.ok()) throw InputError(file.error().detail);
    file_ = std::move(file.value());
    std::array<std::uint8_t, 2> begin{};
    if (file_->size_bytes() < begin.size() || !file_->read(0, begin).ok()) refuse();
    if (begin[0] != 'P') {
      list_member({"array", 0, file_->size_bytes(), file_->size_bytes(), false});
    } else {
      for (const NumpyMember& member : find_members()) list_member(member);
    }
  }

 private:
  [[noreturn]] void refuse() const {
    throw InputError("{}: is not a file of numpy.save or numpy.savez, or is damaged; save it again",
                     path_);
  }

  Bytes read_part(std::uint64_t offset, std::uint64_t size) const {
    if (offset > file_->size_bytes() || size > file_->size_bytes() - offset) refuse();
    Bytes bytes(static_cast<std::size_t>(size));
    if (!file_->read(offset, bytes).ok()) refuse();
    return bytes;
  }

  /// Returns the members that the directory at the archive's end lists.
  std::vector<NumpyMember> find_members() const {
    constexpr std::uint64_t kEndSize = 22, kCommentSizeMax = 0xFFFF;
    const std::uint64_t size = file_->size_bytes();
    const std::uint64_t tail_size = std::min(size, kEndSize + kCommentSizeMax);
    const Bytes tail = read_part(size - tail_size, tail_size);
    const std::size_t end = as_text(tail).rfind("PK\x05\x06");
    if (end == std::string_view::npos || tail.size() - end < kEndSize) refuse();
    ByteCursor record(std::span(tail).subspan(end + 10));
    const auto count = record.take<std::uint16_t>();
    const auto directory_size = record.take<std::uint32_t>();
    const auto directory_offset = record.take<std::uint32_t>();
    if (count > kArraysMax) refuse();
    const Bytes directory = read_part(directory_offset, directory_size);
    ByteCursor cursor(directory);
    std::vector<NumpyMember> members;
    for (int k = 0; k < count; ++k) members.push_back(take_member(cursor));
    return members;
  }

  NumpyMember take_member(ByteCursor& cursor) const {
    constexpr std::uint32_t kEntry = 0x02014b50, kIsExtended = 0xFFFFFFFF;
    if (cursor.take<std::uint32_t>() != kEntry) refuse();
    cursor.read_bytes(4);  // versions
    const auto flags = cursor.take<std::uint16_t>();
    const auto method = cursor.take<std::uint16_t>();
    cursor.read_bytes(8);  // time and checksum
    NumpyMember member;
    member.packed_size = cursor.take<std::uint32_t>();
    member.size = cursor.take<std::uint32_t>();
    const auto name_size = cursor.take<std::uint16_t>();
    const auto extra_size = cursor.take<std::uint16_t>();
    const auto comment_size = cursor.take<std::uint16_t>();
    cursor.read_bytes(8);  // attributes
    const auto local_offset = cursor.take<std::uint32_t>();
    member.name = as_text(cursor.read_bytes(name_size));
    cursor.read_bytes(std::uint64_t{extra_size} + comment_size);
    const bool is_encrypted = (flags & 1) != 0;
    if (!cursor.ok() || is_encrypted || (method != 0 && method != 8) ||
        member.packed_size == kIsExtended || member.size == kIsExtended ||
        local_offset == kIsExtended) {
      refuse();
    }
    if (member.name.ends_with(".npy")) member.name.resize(member.name.size() - 4);
    member.is_compressed = method == 8;
    // The name is repeated before the data, with extras of another size.
    const Bytes local = read_part(local_offset, 30);
    ByteCursor sizes(std::span(local).subspan(26));
    const std::uint64_t local_name_size = sizes.take<std::uint16_t>();
    member.offset =
        std::uint64_t{local_offset} + 30 + local_name_size + sizes.take<std::uint16_t>();
    if (member.offset > file_->size_bytes() ||
        member.packed_size > file_->size_bytes() - member.offset ||
        (!member.is_compressed && member.size != member.packed_size)) {
      refuse();
    }
    return member;
  }

  ByteSource source_of(const NumpyMember& member, std::uint64_t& budget) const {
    return ByteSource(*file_, member.offset, member.packed_size,
                      member.is_compressed ? Packing::kDeflate : Packing::kNone, &budget);
  }

  void list_member(const NumpyMember& member) {
    std::uint64_t budget = kHeaderSizeMax;
    ByteSource source = source_of(member, budget);
    std::array<std::uint8_t, 12> begin{};
    const bool has_begin = source.read(std::span(begin).first(10));
    if (!has_begin || !as_text(begin).starts_with("\x93NUMPY")) {
      return add_omission(member.name, "is not an array of NumPy; save it with numpy.savez");
    }
    // The size of the header has two bytes in version 1, four in later ones.
    const bool is_wide = begin[6] > 1;
    if (is_wide && !source.read(std::span(begin).last(2))) return add_damaged(member.name);
    ByteCursor cursor(std::span(begin).subspan(8));
    const std::size_t size = is_wide ? cursor.take<std::uint32_t>() : cursor.take<std::uint16_t>();
    if (size > kHeaderSizeMax / 2) return add_damaged(member.name);
    Bytes text(size);
    if (!source.read(text)) return add_damaged(member.name);
    const auto header = HeaderParser(as_text(text)).parse();
    if (!header) {
      return add_omission(member.name,
                          "has a type that rigcal does not read; save plain arrays of numbers");
    }
    list_fields(member, *header, source.position());
  }

  void add_damaged(const std::string& name) { add_omission(name, "is damaged; save it again"); }

  void list_fields(const NumpyMember& member, const NumpyHeader& header,
                   std::uint64_t data_offset) {
    const std::uint64_t room = member.size >= data_offset ? member.size - data_offset : 0;
    std::uint64_t count = std::max<std::size_t>(1, header.element_size);
    const bool is_empty = std::ranges::count(header.shape, 0U) > 0;
    for (const std::uint64_t size : header.shape) {
      if (!is_empty && count > room / size) return add_damaged(member.name);
      count *= size;
    }
    // All fields of a structure are read together.
    if (!is_empty && header.fields.size() > 1 &&
        header.fields.size() * (count / header.element_size) > kArrayNumbersMax) {
      return add_omission(member.name, "has more than " + std::to_string(kArrayNumbersMax) +
                                           " numbers; save a shorter part");
    }
    NumpyData data{member, data_offset, header.element_size, header.is_fortran_order};
    for (const NumpyField& field : header.fields) {
      const std::string name = field.name.empty() ? member.name : member.name + "." + field.name;
      if (!field.type) {
        add_omission(name, "has the type \"" + field.code +
                               "\"; text, complex numbers, Python objects and numbers of more than "
                               "64 bits are not read. Save arrays of numbers");
      } else if (add_array(name, header.shape)) {
        locations_.push_back({data_.size(), data.fields.size(), field.time_unit});
        data.fields.push_back({*field.type, field.offset});
      }
    }
    data_.push_back(std::move(data));
  }

  /// Reads the numbers of a .npy file. Returns nullopt if they are damaged.
  std::optional<std::vector<std::vector<double>>> read_fields(const NumpyData& data,
                                                              std::size_t count) const {
    ByteSource source = source_of(data.member, inflate_budget_);
    if (!source.skip(data.offset)) return std::nullopt;
    return read_records(source, data.fields, count, data.element_size);
  }

  std::optional<std::vector<double>> read_values(std::size_t index) const override {
    const NumpyLocation& location = locations_[index];
    const NumpyData& data = data_[location.data];
    const Array& array = arrays()[index];
    // The fields of a structure are read together, and usually used in their order.
    if (last_read_ != location.data || last_fields_[location.field].empty()) {
      auto fields = read_fields(data, array.count());
      if (!fields) return std::nullopt;
      last_fields_ = std::move(*fields);
      last_read_ = location.data;
    }
    std::vector<double> stored = std::move(last_fields_[location.field]);
    last_fields_[location.field].clear();
    if (location.time_unit > 0.0) {
      // NumPy stores a missing time as the smallest integer.
      constexpr double kMissing = -9223372036854775808.0;
      for (double& value : stored) {
        value = value == kMissing ? std::nan("") : location.time_unit * value;
      }
    }
    return data.is_fortran_order ? stored : to_column_order(array, std::move(stored));
  }

  std::unique_ptr<InputFile> file_;
  std::vector<NumpyData> data_;           // per .npy file
  std::vector<NumpyLocation> locations_;  // per array
  mutable std::size_t last_read_ = SIZE_MAX;
  mutable std::vector<std::vector<double>> last_fields_;  // of data_[last_read_], until used
};

}  // namespace

std::unique_ptr<const ArrayFile> open_numpy_file(const std::string& path) {
  return std::make_unique<const NumpyFile>(path);
}

}  // namespace proto
