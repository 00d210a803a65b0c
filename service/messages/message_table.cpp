#include "service/messages/message_table.hpp"

#include <algorithm>
#include <stdexcept>

#include "proto/notation/number_format.hpp"

namespace service {

using estimator::Argument;
using estimator::Message;
using estimator::MessageCode;
using estimator::Quantity;

namespace {

constexpr int kDigits = 3;

constexpr MessageRow kFrames[] = {
    {MessageCode::kText, "text", "{text}"},
    {MessageCode::kInRecording, "in-recording", "{recording}: {note}"},
};

std::string joined(const std::vector<Message>& clauses, const std::string& separator) {
  std::string list;
  for (const Message& clause : clauses) {
    list += (list.empty() ? "" : separator) +
            fill_template(find_message_row(clause.code).sentence, clause);
  }
  return list;
}

/// Formats one value with a number of significant digits.
struct ValueText {
  int digits;

  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(int count) const { return std::to_string(count); }
  std::string operator()(double number) const { return notation::format_number(number, digits); }
  std::string operator()(bool flag) const { return flag ? "yes" : "no"; }
  std::string operator()(const Quantity& quantity) const {
    return (quantity.deviation >= 0.0
                ? notation::format_with_deviation(quantity.value, quantity.deviation)
                : notation::format_number(quantity.value, digits)) +
           (quantity.unit.empty() || quantity.unit == "-" ? "" : " " + quantity.unit);
  }
  std::string operator()(const std::vector<std::string>& names) const {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    return list;
  }
  std::string operator()(const std::vector<Message>& clauses) const {
    return joined(clauses, "; ");
  }
};

bool is_one(const Argument::Value& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag;
  if (const int* count = std::get_if<int>(&value)) return *count == 1;
  const double* number = std::get_if<double>(&value);
  return number != nullptr && *number == 1.0;
}

/// Returns the text of a placeholder, given without its braces.
std::string fill_placeholder(const std::string& placeholder, const Argument::Value& value) {
  const std::size_t first = placeholder.find('|');
  if (first != std::string::npos) {
    const std::size_t second = placeholder.find('|', first + 1);
    return is_one(value) ? placeholder.substr(first + 1, second - first - 1)
                         : placeholder.substr(second + 1);
  }
  const std::size_t colon = placeholder.find(':');
  if (colon == std::string::npos) return std::visit(ValueText{kDigits}, value);
  const std::string format = placeholder.substr(colon + 1);
  if (format == "?") return '"' + std::visit(ValueText{kDigits}, value) + '"';
  const auto* clauses = std::get_if<std::vector<Message>>(&value);
  return clauses != nullptr ? joined(*clauses, format)
                            : std::visit(ValueText{std::stoi(format)}, value);
}

/// Fills the templates of one message.
class Filler {
 public:
  explicit Filler(const Message& message) : message_(message) {}

  std::string fill(const std::string& text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      const bool is_doubled = at + 1 < text.size() && text[at + 1] == c;
      if (c != '{' && c != '}' && c != '[' && c != ']') {
        out() += c;
      } else if (is_doubled) {
        out() += c;
        ++at;
      } else if (c == '[') {
        is_optional_ = true;
        is_missing_ = false;
        clause_.clear();
      } else if (c == ']') {
        is_optional_ = false;
        if (!is_missing_) out() += clause_;
      } else {
        const std::size_t end = text.find('}', at);
        add(text.substr(at + 1, end - at - 1));
        at = end;
      }
    }
    return text_;
  }

 private:
  std::string& out() { return is_optional_ ? clause_ : text_; }

  void add(const std::string& placeholder) {
    const std::string name = placeholder.substr(0, placeholder.find_first_of(":|"));
    const Argument::Value* const value = message_.find(name);
    if (value != nullptr) {
      out() += fill_placeholder(placeholder, *value);
    } else if (is_optional_) {
      is_missing_ = true;
    } else {
      throw std::logic_error("message \"" + std::string(find_message_row(message_.code).id) +
                             "\" lacks the argument \"" + name + "\"");
    }
  }

  const Message& message_;
  std::string text_, clause_;
  bool is_optional_ = false, is_missing_ = false;
};

}  // namespace

std::vector<MessageRow> message_rows() {
  std::vector<MessageRow> rows(std::begin(kFrames), std::end(kFrames));
  for (const auto section :
       {input_message_rows(), signal_message_rows(), description_message_rows(),
        misfit_message_rows(), calibration_message_rows(), verdict_message_rows()}) {
    rows.insert(rows.end(), section.begin(), section.end());
  }
  return rows;
}

const MessageRow& find_message_row(MessageCode code) {
  static const std::vector<MessageRow> rows = message_rows();
  const auto row = std::ranges::find(rows, code, &MessageRow::code);
  if (row == rows.end()) {
    throw std::logic_error("message code " + std::to_string(static_cast<int>(code)) +
                           " has no row in the message table");
  }
  return *row;
}

std::string fill_template(const std::string& text, const Message& message) {
  return Filler(message).fill(text);
}

}  // namespace service
