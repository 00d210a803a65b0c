// MAT files of version 4 and 5 ("MAT-File Format", The MathWorks). libmatio, which writes MAT files
// for `rigcal export`, allocates what a damaged file declares before its caller can check it, and
// does not give the class of MATLAB objects such as timeseries.

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "proto/recording/arrays/array_file.hpp"
#include "proto/recording/arrays/byte_source.hpp"
#include "proto/recording/arrays/number_type.hpp"
#include "proto/recording/mcap/byte_cursor.hpp"
#include "proto/text/input_error.hpp"

namespace proto {
namespace {

constexpr int kNestingMax = 32;
constexpr std::size_t kElementsMax = 200'000;  // matrices in a file, with cells and fields
constexpr std::size_t kNameSizeMax = 4096;
constexpr std::size_t kTextLengthMax = std::size_t{1} << 16;

constexpr std::uint32_t kMatrixType = 14;
constexpr std::uint32_t kCompressedType = 15;

enum MatClass : std::uint32_t {
  kCell = 1,
  kStruct = 2,
  kObject = 3,
  kChar = 4,
  kSparse = 5,
  kDouble = 6,
  kUint64 = 15,
  kFunction = 16,
  kOpaque = 17
};

/// Returns how numbers with a data type of MAT 5 are stored; nullopt if they are not numbers.
std::optional<NumberType> mat5_number_type(std::uint32_t code, bool swapped) {
  using Kind = NumberType::Kind;
  switch (code) {
    case 1:
      return NumberType{Kind::kSigned, 1, swapped};
    case 2:
      return NumberType{Kind::kUnsigned, 1, swapped};
    case 3:
      return NumberType{Kind::kSigned, 2, swapped};
    case 4:
      return NumberType{Kind::kUnsigned, 2, swapped};
    case 5:
      return NumberType{Kind::kSigned, 4, swapped};
    case 6:
      return NumberType{Kind::kUnsigned, 4, swapped};
    case 7:
      return NumberType{Kind::kFloat, 4, swapped};
    case 9:
      return NumberType{Kind::kFloat, 8, swapped};
    case 12:
      return NumberType{Kind::kSigned, 8, swapped};
    case 13:
      return NumberType{Kind::kUnsigned, 8, swapped};
    default:
      return std::nullopt;
  }
}

/// Header of a data element: type and size, and the data themselves if they are short.
struct Element {
  std::uint32_t type = 0;
  std::uint64_t size = 0;
  std::optional<std::array<std::uint8_t, 4>> inlined = {};
};

/// Reads data elements of MAT 5 in order.
class ElementReader {
 public:
  ElementReader(ByteSource& source, bool swapped) : source_(source), swapped_(swapped) {}

  std::uint64_t position() const { return source_.position(); }
  bool swapped() const { return swapped_; }
  bool skip_to(std::uint64_t position) {
    return position >= source_.position() && source_.skip(position - source_.position());
  }

  std::optional<Element> read_header() {
    std::array<std::uint8_t, 8> bytes;
    if (!source_.read(bytes)) return std::nullopt;
    const std::uint32_t first = number_at(bytes.data());
    if (first >> 16 == 0) return Element{first, number_at(bytes.data() + 4)};
    if (first >> 16 > 4) return std::nullopt;
    return Element{first & 0xFFFF, first >> 16, std::array{bytes[4], bytes[5], bytes[6], bytes[7]}};
  }

  /// Reads the data of an element, at most `size_max` bytes, with the padding behind it.
  std::optional<std::vector<std::uint8_t>> read_data(const Element& element,
                                                     std::uint64_t size_max) {
    if (element.size > size_max) return std::nullopt;
    std::vector<std::uint8_t> data(static_cast<std::size_t>(element.size));
    if (element.inlined) {
      std::copy_n(element.inlined->begin(), data.size(), data.begin());
    } else if (!source_.read(data) || !source_.skip((8 - element.size % 8) % 8)) {
      return std::nullopt;
    }
    return data;
  }

  std::optional<std::vector<std::uint8_t>> read_short(std::uint64_t size_max = kNameSizeMax) {
    const auto element = read_header();
    return element ? read_data(*element, size_max) : std::nullopt;
  }

  std::optional<std::string> read_name() {
    const auto bytes = read_short();
    if (!bytes) return std::nullopt;
    return std::string(as_text(*bytes));
  }

  std::uint32_t number_at(const std::uint8_t* bytes) const {
    return static_cast<std::uint32_t>(
        decode_number({NumberType::Kind::kUnsigned, 4, swapped_}, bytes));
  }

 private:
  ByteSource& source_;
  bool swapped_;
};

/// Visits the arrays of a variable, in structures and cells too.
class MatrixWalker {
 public:
  /// What the caller does with the parts; a part that is not used is skipped.
  struct Visitor {
    /// Returns false to end the walk.
    /// @param position  where the numbers begin in the source
    std::function<bool(const std::string& name, std::span<const std::uint64_t> dimensions,
                       const NumberType& type, std::uint64_t position)>
        on_array;
    std::function<void(const std::string& name, std::string text)> on_text;
    std::function<void(const std::string& name, std::string reason)> on_omission;
  };

  MatrixWalker(ElementReader& reader, const Visitor& visitor, std::size_t& elements_left)
      : reader_(reader), visitor_(visitor), elements_left_(elements_left) {}

  /// Visits the content of a matrix element of this size, which begins at the reader's position.
  /// Returns false if it is damaged, or if the visitor ended the walk.
  bool walk(std::uint64_t size, const std::string& path, int depth = 0) {
    if (elements_left_ == 0 || depth > kNestingMax || path.size() > kNameSizeMax) return false;
    --elements_left_;
    if (size == 0) return true;  // an empty cell
    const std::uint64_t end = reader_.position() + size;
    return walk_content(end, path, depth) && reader_.position() <= end && reader_.skip_to(end);
  }

 private:
  bool walk_content(std::uint64_t end, const std::string& path, int depth) {
    const auto flags = reader_.read_short();
    if (!flags || flags->size() < 8) return false;
    const std::uint32_t word = reader_.number_at(flags->data());
    const std::uint32_t kind = word & 0xFF;
    if (kind == kOpaque) return walk_opaque(path);
    std::vector<std::uint64_t> dimensions;
    const auto sizes = reader_.read_short();
    if (!sizes || sizes->size() % 4 != 0 || sizes->size() < 8) return false;
    for (std::size_t k = 0; k < sizes->size(); k += 4) {
      dimensions.push_back(reader_.number_at(sizes->data() + k));
    }
    auto name = reader_.read_name();
    if (!name) return false;
    // The name of a variable; a field or a cell has none.
    const std::string own = path.empty() ? *name : path;
    if (kind >= kDouble && kind <= kUint64) {
      return walk_numbers(own, dimensions, (word & 0x800) != 0, end);
    }
    switch (kind) {
      case kCell:
        return walk_cells(own, dimensions, end, depth);
      case kObject:
        if (!reader_.read_name()) return false;
        return walk_fields(own, dimensions, end, depth);
      case kStruct:
        return walk_fields(own, dimensions, end, depth);
      case kChar:
        return walk_text(own, dimensions);
      default:
        visitor_.on_omission(own, kind == kSparse ? "is a sparse matrix; save full(x)"
                                                  : "is a function; save its values");
        return true;
    }
  }

  bool walk_numbers(const std::string& path, std::span<const std::uint64_t> dimensions,
                    bool is_complex, std::uint64_t end) {
    if (is_complex) {
      visitor_.on_omission(path, "is complex; save its real part, real(x)");
      return true;
    }
    if (std::ranges::count(dimensions, 0U) > 0) return visitor_.on_array(path, dimensions, {}, 0);
    const auto numbers = reader_.read_header();
    if (!numbers) return false;
    const auto type = mat5_number_type(numbers->type, reader_.swapped());
    std::uint64_t count = 1;
    for (const std::uint64_t size : dimensions) {
      if (count > numbers->size / size) return false;
      count *= size;
    }
    const bool fits = numbers->inlined ||
                      (reader_.position() <= end && numbers->size <= end - reader_.position());
    // Short numbers are the second half of their header.
    const std::uint64_t position = reader_.position() - (numbers->inlined ? 4 : 0);
    return type && fits && numbers->size == count * type->size_bytes &&
           visitor_.on_array(path, dimensions, *type, position);
  }

  bool walk_text(const std::string& path, std::span<const std::uint64_t> dimensions) {
    const auto element = reader_.read_header();
    if (!element) return false;
    if (element->size > kTextLengthMax || (dimensions.size() == 2 && dimensions[0] > 1)) {
      return true;
    }
    const auto data = reader_.read_data(*element, kTextLengthMax);
    if (!data) return false;
    const std::size_t width = element->type == 4 || element->type == 17 ? 2 : 1;
    std::string text;
    for (std::size_t k = 0; k + width <= data->size(); k += width) {
      text += static_cast<char>((*data)[k]);
    }
    text.resize(text.find_last_not_of('\0') + 1);
    visitor_.on_text(path, std::move(text));
    return true;
  }

  bool walk_nested(std::uint64_t end, const std::string& path, int depth) {
    const auto element = reader_.read_header();
    return element && element->type == kMatrixType && !element->inlined &&
           reader_.position() <= end && element->size <= end - reader_.position() &&
           walk(element->size, path, depth + 1);
  }

  static std::uint64_t product(std::span<const std::uint64_t> dimensions) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : dimensions) {
      if (size > 0 && count > kElementsMax / size) return kElementsMax + 1;
      count *= size;
    }
    return count;
  }

  bool walk_cells(const std::string& path, std::span<const std::uint64_t> dimensions,
                  std::uint64_t end, int depth) {
    const std::uint64_t count = product(dimensions);
    for (std::uint64_t k = 0; k < count; ++k) {
      if (!walk_nested(end, path + "{" + std::to_string(k + 1) + "}", depth)) return false;
    }
    return true;
  }

  bool walk_fields(const std::string& path, std::span<const std::uint64_t> dimensions,
                   std::uint64_t end, int depth) {
    const auto width_bytes = reader_.read_short();
    const auto names = reader_.read_short(std::uint64_t{1} << 20);
    if (!width_bytes || width_bytes->size() != 4 || !names) return false;
    const std::size_t width = reader_.number_at(width_bytes->data());
    if (width == 0 || width > kNameSizeMax || names->size() % width != 0) return false;
    const std::uint64_t count = product(dimensions);
    if (names->empty()) return true;
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::string element = count == 1 ? path : path + "(" + std::to_string(k + 1) + ")";
      for (std::size_t at = 0; at < names->size(); at += width) {
        std::string field(as_text(std::span(*names).subspan(at, width)));
        field.resize(std::min(field.size(), field.find('\0')));
        if (!walk_nested(end, element + "." + field, depth)) return false;
      }
    }
    return true;
  }

  bool walk_opaque(const std::string& path) {
    const auto name = reader_.read_name();
    const auto system = reader_.read_name();
    const auto class_name = reader_.read_name();
    if (!name || !system || !class_name) return false;
    visitor_.on_omission(path.empty() ? *name : path, describe_matlab_object(*class_name));
    return true;
  }

  ElementReader& reader_;
  const Visitor& visitor_;
  std::size_t& elements_left_;
};

/// A variable in the file.
struct Mat5Variable {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  bool is_compressed = false;
};

/// Where the numbers of an array are.
struct Mat5Location {
  Mat5Variable variable;
  std::uint64_t position = 0;  ///< in the variable, after decompression
  NumberType type;
};

class Mat5File final : public ArrayFile {
 public:
  explicit Mat5File(const std::string& path) : ArrayFile(path) {
    auto file = open_input_file(path);
    if (!file.ok()) throw InputError(file.error().detail);
    file_ = std::move(file.value());
    std::array<std::uint8_t, 128> header{};
    const bool is_long = file_->size_bytes() >= header.size() && file_->read(0, header).ok();
    const std::string_view order = as_text(std::span(header).subspan(126, 2));
    // Version 4 has a zero among its first four bytes, and version 5 a text.
    const bool is_text = std::ranges::count(std::span(header).first(4), 0) == 0;
    if (is_long && is_text && (order == "IM" || order == "MI")) {
      swapped_ = (order == "MI") == (std::endian::native == std::endian::little);
      list_variables();
    } else if (!list_version4()) {
      throw InputError(path + ": is not a MAT, HDF5 or NumPy file, or is damaged; save it again");
    }
  }

 private:
  void list_variables() {
    std::size_t elements_left = kElementsMax;
    for (std::uint64_t at = 128; file_->size_bytes() - at >= 8 && !is_full();) {
      ByteSource header_source(*file_, at, 8, Packing::kNone);
      const auto element = ElementReader(header_source, swapped_).read_header();
      if (!element || element->inlined || element->size > file_->size_bytes() - at - 8) {
        add_omission(at_text(at), "is cut off or damaged; save the file again");
        return;
      }
      at += 8;
      if (element->type == kMatrixType || element->type == kCompressedType) {
        list_variable({at, element->size, element->type == kCompressedType}, elements_left);
        if (inflate_budget_ == 0 || elements_left == 0) return;
      }
      at += element->size;
    }
  }

  static std::string at_text(std::uint64_t offset) { return "byte " + std::to_string(offset); }

  void list_variable(const Mat5Variable& variable, std::size_t& elements_left) {
    bool ends = false;
    const MatrixWalker::Visitor visitor = {
        [&](const std::string& name, std::span<const std::uint64_t> dimensions,
            const NumberType& type, std::uint64_t position) {
          // A nameless variable holds the objects of a file, whose numbers are no signals.
          if (!name.empty() && add_array(name, dimensions)) {
            locations_.push_back({variable, position, type});
          }
          // The numbers of a variable that is an array itself need no decompression.
          ends = name.find_first_of(".{") == std::string::npos || is_full();
          return !ends;
        },
        [&](const std::string& name, std::string text) { add_text(name, std::move(text)); },
        [&](const std::string& name, std::string reason) {
          add_omission(name, std::move(reason));
        }};
    if (walk_variable(variable, elements_left, visitor) || ends) return;
    add_omission(at_text(variable.offset),
                 inflate_budget_ == 0 || elements_left == 0
                     ? "begins a variable that is too large: "
                       "the compressed structures expand to more than 1 GiB; save only the signals"
                     : "begins a damaged variable; save the file again");
  }

  std::unique_ptr<ByteSource> source_of(const Mat5Variable& variable) const {
    return std::make_unique<ByteSource>(*file_, variable.offset, variable.size,
                                        variable.is_compressed ? Packing::kZlib : Packing::kNone,
                                        &inflate_budget_);
  }

  bool walk_variable(const Mat5Variable& variable, std::size_t& elements_left,
                     const MatrixWalker::Visitor& visitor) const {
    const auto source = source_of(variable);
    ElementReader reader(*source, swapped_);
    std::uint64_t size = variable.size;
    if (variable.is_compressed) {
      const auto element = reader.read_header();
      if (!element || element->type != kMatrixType || element->inlined) return false;
      size = element->size;
    }
    return MatrixWalker(reader, visitor, elements_left).walk(size, "");
  }

  std::optional<std::vector<double>> read_values(std::size_t index) const override {
    const Mat5Location& location = locations_[index];
    // The arrays of a compressed structure are usually read in their order: continue there.
    if (!source_ || source_offset_ != location.variable.offset ||
        source_->position() > location.position) {
      source_ = source_of(location.variable);
      source_offset_ = location.variable.offset;
    }
    if (!source_->skip(location.position - source_->position())) return std::nullopt;
    return read_numbers(*source_, location.type, arrays()[index].count());
  }

  /// Lists the variables of a file of version 4. Returns whether it is one.
  bool list_version4() {
    constexpr std::size_t kHeaderSize = 20;
    for (std::uint64_t at = 0; at < file_->size_bytes() && !is_full();) {
      std::array<std::uint8_t, kHeaderSize> header{};
      if (file_->size_bytes() - at < kHeaderSize || !file_->read(at, header).ok()) return false;
      const auto word = [&](std::size_t k, bool swapped) {
        return static_cast<std::uint32_t>(
            decode_number({NumberType::Kind::kUnsigned, 4, swapped}, header.data() + 4 * k));
      };
      const bool swapped = word(0, false) > 4052;  // the largest type in this computer's order
      const std::uint32_t type = word(0, swapped);
      const auto stored = version4_type(type / 10 % 10, swapped);
      const std::uint64_t rows = word(1, swapped), columns = word(2, swapped);
      const std::uint64_t name_size = word(4, swapped);
      at += kHeaderSize;
      if (type > 4052 || type / 100 % 10 != 0 || !stored || type % 10 > 2 || name_size == 0 ||
          name_size > kNameSizeMax || name_size > file_->size_bytes() - at) {
        return false;
      }
      std::string name(name_size, '\0');
      std::vector<std::uint8_t> bytes(name_size);
      if (!file_->read(at, bytes).ok()) return false;
      name = as_text(bytes);
      name.resize(std::min(name.size(), name.find('\0')));
      at += name_size;
      const bool is_complex = word(3, swapped) != 0;
      const std::uint64_t parts = is_complex ? 2 : 1;
      const std::uint64_t room = (file_->size_bytes() - at) / (parts * stored->size_bytes);
      if (rows > 0 && columns > room / rows) return false;
      const std::uint64_t size = rows * columns * stored->size_bytes;
      const std::array<std::uint64_t, 2> dimensions = {rows, columns};
      if (type % 10 == 0 && !is_complex && add_array(name, dimensions)) {
        locations_.push_back({{at, size, false}, 0, *stored});
      } else if (is_complex) {
        add_omission(name, "is complex; save its real part, real(x)");
      }
      at += parts * size;
    }
    return !arrays().empty() || !omissions().empty();
  }

  static std::optional<NumberType> version4_type(std::uint32_t code, bool swapped) {
    constexpr std::uint32_t kMat5Codes[] = {9, 7, 5, 3, 4, 2};
    return code < std::size(kMat5Codes) ? mat5_number_type(kMat5Codes[code], swapped)
                                        : std::nullopt;
  }

  std::unique_ptr<InputFile> file_;
  bool swapped_ = false;
  std::vector<Mat5Location> locations_;         // per array
  mutable std::unique_ptr<ByteSource> source_;  // of the array that was read last
  mutable std::uint64_t source_offset_ = 0;
};

}  // namespace

std::unique_ptr<const ArrayFile> open_mat5_file(const std::string& path) {
  return std::make_unique<const Mat5File>(path);
}

}  // namespace proto
