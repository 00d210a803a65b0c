#include "proto/text/text_file.hpp"

#include <google/protobuf/io/tokenizer.h>

#include <algorithm>
#include <cctype>

#include "proto/check/number_check.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"

namespace proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::TextFormat;

/// Keeps the first error; what follows is mostly its echo.
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

 private:
  bool failed_ = false;
  int line_ = 0;
  int column_ = 0;
  std::string message_;
};

/// Text between the first pair of `open` and the following `close`.
std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t begin = text.find(open);
  if (begin == std::string::npos) return "";
  const std::size_t start = begin + open.size();
  const std::size_t end = text.find(close, start);
  return end == std::string::npos ? "" : text.substr(start, end - start);
}

/// What to do about an unknown field: the fields there are.
std::string advise_fields(const Descriptor& root, const std::string& error) {
  const Descriptor* type =
      root.file()->pool()->FindMessageTypeByName(between(error, "Message type \"", "\""));
  const std::string field = between(error, "has no field named \"", "\"");
  if (type == nullptr || field.empty()) return "";
  std::string advice = "unknown field '" + field + "' in a " + type->name() + "; use one of";
  for (int i = 0; i < type->field_count(); ++i) {
    advice += (i == 0 ? " " : ", ") + type->field(i)->name();
  }
  return advice;
}

/// Messages of a schema, and of those that it imports.
std::vector<const Descriptor*> messages_of(const google::protobuf::FileDescriptor& schema) {
  std::vector<const Descriptor*> messages;
  const auto append = [&](const google::protobuf::FileDescriptor& file) {
    for (int i = 0; i < file.message_type_count(); ++i) messages.push_back(file.message_type(i));
  };
  append(schema);
  for (int i = 0; i < schema.dependency_count(); ++i) append(*schema.dependency(i));
  return messages;
}

/// What to do about an unknown enumerator: those there are.
std::string advise_enumerators(const Descriptor& root, const std::string& error) {
  const std::string value = between(error, "value of \"", "\"");
  const std::string field = between(error, "for field \"", "\"");
  if (value.empty() || field.empty()) return "";
  std::string advice = "'" + value + "' is no value of '" + field + "'";
  for (const Descriptor* message : messages_of(*root.file())) {
    const auto* found = message->FindFieldByName(field);
    if (found == nullptr || found->enum_type() == nullptr) continue;
    if (found->enum_type()->FindValueByName(value) != nullptr) continue;
    advice += "; in a " + message->name() + " use one of";
    for (int k = 0; k < found->enum_type()->value_count(); ++k) {
      if (found->enum_type()->value(k)->name() == "UNIT_UNSPECIFIED") continue;
      advice += " " + found->enum_type()->value(k)->name();
    }
  }
  return advice;
}

/// A message of a text whose brace is open.
struct OpenMessage {
  std::string field;
  int line;  ///< from 1
};

/// The messages that are open where a text ends, the outermost first. Braces in quotes and comments
/// do not count.
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
      quote = '\0';  // a text ends with its line
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

/// Whether nothing follows a place in a text, counted from 0.
bool is_at_end(const std::string& text, int line, int column) {
  std::size_t at = 0;
  for (int k = 0; k < line && at != std::string::npos; ++k) {
    at = text.find('\n', at);
    if (at != std::string::npos) ++at;
  }
  if (at == std::string::npos) return true;
  const std::size_t place = at + static_cast<std::size_t>(std::max(column, 0));
  return text.find_first_not_of(" \t\r\n", place) == std::string::npos;
}

/// What to do about a text that ends before it is whole; empty where it does not.
std::string advise_ending(const std::string& text, const FirstError& error) {
  const std::vector<OpenMessage> open = open_messages(text);
  const bool ends = error.message().ends_with("got: ") ||  // nothing
                    (!open.empty() && is_at_end(text, error.line(), error.column()));
  if (!ends) return "";
  if (open.empty()) return "the file ends too early: a value is missing at its end";
  const OpenMessage& last = open.back();
  return "the file ends too early: " + last.field + " { of line " + std::to_string(last.line) +
         " is not closed; write the '}' that is missing, at its end or within it";
}

std::string explain(const Descriptor& root, const std::string& text, const FirstError& fault) {
  const std::string& error = fault.message();
  std::string advice = advise_ending(text, fault);
  if (advice.empty()) advice = advise_fields(root, error);
  if (advice.empty()) advice = advise_enumerators(root, error);
  if (!advice.empty()) return advice;
  return error + " (correct the text; " + root.file()->name() + " documents the fields)";
}

}  // namespace

TextLocator::TextLocator(const std::string& path, const Descriptor* type, const Tree* tree)
    : path_(&path), type_(type), tree_(tree) {}

TextLocator TextLocator::at(const std::string& field, int index) const {
  TextLocator located = *this;
  const auto* descriptor = type_ == nullptr ? nullptr : type_->FindFieldByName(field);
  // A repeated field as a whole has no place of its own, only its elements have.
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
                google::protobuf::Message& message, TextLocator::Tree& tree) {
  FirstError error;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.WriteLocationsTo(&tree);
  if (!parser.ParseFromString(std::string(without_byte_order_mark(text)), &message)) {
    throw InputError(path + ":" + std::to_string(error.line() + 1) + ":" +
                     std::to_string(error.column() + 1) + ": " +
                     explain(*message.GetDescriptor(), text, error));
  }
  const std::optional<NumberFault> fault = find_number_fault(message);
  if (!fault) return;
  TextLocator place(path, message.GetDescriptor(), &tree);
  for (const FieldStep& step : fault->path) place = place.at(step.field->name(), step.index);
  place.fail(fault->sentence);
}

}  // namespace proto
