#include "proto/text/text_file.hpp"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cctype>
#include <utility>

#include "proto/notation/number_format.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/renamed_fields.hpp"
#include "proto/text/spelling_suggestions.hpp"

namespace proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::TextFormat;

/// Keeps only the first error, as later ones are mostly its consequences.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (failed_) return;
    failed_ = true;
    line_ = line;
    column_ = column;
    message_ = message;
  }

  int line() const { return line_; }
  int column() const { return column_; }
  const std::string& message() const { return message_; }
  void move_to(int line, int column) {
    line_ = line;
    column_ = column;
  }

 private:
  bool failed_ = false;
  int line_ = 0;
  int column_ = 0;
  std::string message_;
};

/// Returns the text between the first `open` and the next `close`.
std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t begin = text.find(open);
  if (begin == std::string::npos) return "";
  const std::size_t start = begin + open.size();
  const std::size_t end = text.find(close, start);
  return end == std::string::npos ? "" : text.substr(start, end - start);
}

std::string with_article(const std::string& name) {
  return (std::string("AEIOU").find(name.front()) == std::string::npos ? "a " : "an ") + name;
}

/// Returns the advice for an unknown field: its new name, or the existing fields.
/// @param path of the file
std::string advise_fields(const Descriptor& root, const std::string& error,
                          const std::string& path) {
  const Descriptor* type =
      root.file()->pool()->FindMessageTypeByName(between(error, "Message type \"", "\""));
  const std::string field = between(error, "has no field named \"", "\"");
  if (type == nullptr || field.empty()) return "";
  if (const RenamedField* renamed = find_renamed_field(*type, field)) {
    return describe_renamed_field(field, renamed->new_name, path);
  }
  std::string advice =
      "unknown field \"" + field + "\" in " + with_article(type->name()) + "; use one of";
  for (int i = 0; i < type->field_count(); ++i) {
    advice += (i == 0 ? " " : ", ") + type->field(i)->name();
  }
  return advice;
}

/// A message whose brace is open.
struct OpenMessage {
  std::string field;
  int line;  ///< from 1
};

/// Returns the messages open at the end of a text, outermost first; ignores quotes and comments.
std::vector<OpenMessage> open_messages(const std::string& text) {
  std::vector<OpenMessage> open;
  std::string word;
  int line = 1;
  char quote = '\0';
  bool comment = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '\n') {
      ++line;
      comment = false;
      quote = '\0';  // a quoted text ends with its line
    } else if (quote != '\0') {
      if (c == '\\') ++k;
      if (c == quote) quote = '\0';
    } else if (comment) {
      continue;
    } else if (c == '#') {
      comment = true;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '{' || c == '<') {
      open.push_back({word, line});
      word.clear();
    } else if (c == '}' || c == '>') {
      if (!open.empty()) open.pop_back();
      word.clear();
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      if (k > 0 && std::isspace(static_cast<unsigned char>(text[k - 1])) != 0) word.clear();
      word += c;
    }
  }
  return open;
}

/// Returns the byte at a line and column, both from 0; tabs advance to multiples of eight columns.
std::size_t offset_of(const std::string& text, int line, int column) {
  std::size_t at = 0;
  for (int k = 0; k < line; ++k) {
    at = text.find('\n', at);
    if (at == std::string::npos) return text.size();
    ++at;
  }
  for (int k = 0; k < column && at < text.size() && text[at] != '\n'; ++at) {
    k = text[at] == '\t' ? (k / 8 + 1) * 8 : k + 1;
  }
  return at;
}

/// Returns whether nothing follows a location in a text.
bool is_at_end(const std::string& text, int line, int column) {
  return text.find_first_not_of(" \t\r\n", offset_of(text, line, column)) == std::string::npos;
}

/// Returns the innermost message at the end of a text; null if its fields are unknown.
const Descriptor* innermost(const Descriptor& root, const std::string& text) {
  const Descriptor* message = &root;
  for (const OpenMessage& open : open_messages(text)) {
    const auto* field = message->FindFieldByName(open.field);
    message = field == nullptr ? nullptr : field->message_type();
    if (message == nullptr) break;
  }
  return message;
}

/// Returns the advice for an unknown enumerator: a list of the existing enumerators.
std::string advise_enumerators(const Descriptor& root, const std::string& text,
                               const FirstError& error) {
  const std::string value = between(error.message(), "value of \"", "\"");
  const std::string name = between(error.message(), "for field \"", "\"");
  if (value.empty() || name.empty()) return "";
  const Descriptor* message =
      innermost(root, text.substr(0, offset_of(text, error.line(), error.column())));
  const auto* field = message == nullptr ? nullptr : message->FindFieldByName(name);
  const std::string fault = "\"" + value + "\" is not a value of \"" + name + "\"";
  if (field == nullptr || field->enum_type() == nullptr) return fault;
  std::vector<std::string> values;
  std::string list;
  for (int k = 0; k < field->enum_type()->value_count(); ++k) {
    const std::string& other = field->enum_type()->value(k)->name();
    if (other == "UNIT_UNSPECIFIED") continue;
    values.push_back(other);
    list += (list.empty() ? "" : ", ") + other;
  }
  return fault + " in " + with_article(message->name()) + "; use one of " + list +
         suggest_spelling(value, values);
}

/// Returns the advice for a number with a comma, which separates fields in text format.
std::string suggest_decimal_point(const std::string& text, const FirstError& error) {
  constexpr std::string_view kStray = "Expected identifier, got: ";
  const std::string& message = error.message();
  const std::size_t place = offset_of(text, error.line(), error.column());
  if (!message.starts_with(kStray) || place < 2 || text[place - 1] != ',') return "";
  const std::string decimals = message.substr(kStray.size());
  std::size_t begin = place - 1;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
  const bool digits = std::isdigit(static_cast<unsigned char>(decimals.front())) != 0;
  if (begin == place - 1 || !digits) return "";
  const std::string whole = text.substr(begin, place - 1 - begin);
  return "\"" + whole + "," + decimals + "\" is not a number; write a decimal point: " + whole +
         "." + decimals;
}

/// Returns the advice for an incomplete text; empty if it is complete.
std::string advise_ending(const std::string& text, const FirstError& error) {
  const std::vector<OpenMessage> open = open_messages(text);
  const bool ends = error.message().ends_with("got: ") ||  // nothing
                    (!open.empty() && is_at_end(text, error.line(), error.column()));
  if (!ends) return "";
  if (open.empty()) return "the file is incomplete: the last value is missing";
  const OpenMessage& last = open.back();
  return "the file is incomplete: " + last.field + " { of line " + std::to_string(last.line) +
         " is not closed; add the missing '}' at its end or within it";
}

/// Moves an unknown field's error to its name; the parser gives the location of the next token.
void move_to_unknown_field(const std::string& text, FirstError& error) {
  if (between(error.message(), "has no field named \"", "\"").empty()) return;
  if (is_at_end(text, error.line(), error.column())) return;  // an incomplete file
  FirstError ignored;
  google::protobuf::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
  google::protobuf::io::Tokenizer tokens(&stream, &ignored);
  tokens.set_comment_style(google::protobuf::io::Tokenizer::SH_COMMENT_STYLE);
  tokens.set_require_space_after_number(false);
  const auto is_before = [&](const google::protobuf::io::Tokenizer::Token& token) {
    return std::pair(token.line, token.column) < std::pair(error.line(), error.column());
  };
  while (tokens.Next() && is_before(tokens.current())) {
  }
  error.move_to(tokens.previous().line, tokens.previous().column);
}

std::string explain(const Descriptor& root, const std::string& text, const FirstError& fault,
                    const std::string& path) {
  const std::string& error = fault.message();
  if (const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
      first != std::string::npos && text[first] == '<') {
    return "this is XML; "
           "rigcal import FILE --out rig.textproto converts a robot description (URDF, MJCF)";
  }
  std::string advice = advise_ending(text, fault);
  if (advice.empty()) advice = advise_fields(root, error, path);
  if (advice.empty()) advice = advise_enumerators(root, text, fault);
  if (advice.empty()) advice = suggest_decimal_point(text, fault);
  if (!advice.empty()) return advice;
  return error + " (correct the text; " + root.file()->name() + " documents the fields)";
}

}  // namespace

TextLocator::TextLocator(const std::string& path, const Descriptor* type, const Tree* tree)
    : path_(&path), type_(type), tree_(tree) {}

TextLocator TextLocator::at(const std::string& field, int index) const {
  TextLocator located = *this;
  const auto* descriptor = type_ == nullptr ? nullptr : type_->FindFieldByName(field);
  // A repeated field has no location itself, only its elements have.
  if (descriptor == nullptr || descriptor->is_repeated() != (index >= 0)) return located;
  located.steps_.push_back({descriptor, index});
  if (descriptor->message_type() != nullptr) located.type_ = descriptor->message_type();
  if (tree_ == nullptr) return located;
  const auto location = tree_->GetLocation(descriptor, index);
  if (location.line >= 0) {
    located.line_ = location.line;
    located.column_ = location.column;
  }
  if (descriptor->message_type() != nullptr) {
    located.tree_ = location.line < 0 ? nullptr : tree_->GetTreeForNested(descriptor, index);
  }
  return located;
}

std::string TextLocator::where() const {
  if (line_ < 0) return *path_;
  return *path_ + ":" + std::to_string(line_ + 1) + ":" + std::to_string(column_ + 1);
}

void TextLocator::fail(const std::string& what) const { throw InputError(where() + ": " + what); }

void parse_text(const std::string& path, const std::string& text,
                google::protobuf::Message& message, TextLocator::Tree& tree,
                std::span<const NumberRange> ranges) {
  const std::string plain(strip_byte_order_mark(text));
  FirstError error;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.WriteLocationsTo(&tree);
  if (!parser.ParseFromString(plain, &message)) {
    const std::string advice = explain(*message.GetDescriptor(), plain, error, path);
    move_to_unknown_field(plain, error);
    throw InputError("{}:{}:{}: {}", path, error.line() + 1, error.column() + 1, advice);
  }
  const std::optional<NumberError> fault = find_number_error(message, ranges);
  if (!fault) return;
  TextLocator place(path, message.GetDescriptor(), &tree);
  for (const FieldStep& step : fault->path) place = place.at(step.field->name(), step.index);
  place.fail(fault->sentence);
}

double read_control_max(const std::string& unit, double stated, const TextLocator& motor) {
  if (unit != kDutyUnit) return stated;
  if (stated > 1.0) {
    motor.at("control_max")
        .fail("control_max is {}, but a duty is at most 1; lower it, or correct control_unit",
              notation::format_number(stated));
  }
  return stated == 0.0 ? 1.0 : stated;
}

}  // namespace proto
