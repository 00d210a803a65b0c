#pragma once

#include <span>
#include <string>
#include <vector>

#include "estimator/messages/message.hpp"

namespace service {

/// Row of the message table: all texts for users that belong to a message code.
///
/// Texts are templates, filled with the arguments of a message:
/// - `{encoder}`: a name, a count, a number (three significant digits), a quantity (with unit and ±
///   standard deviation), or a list separated by commas;
/// - `{encoder:?}`: a name in double quotes;
/// - `{size:4}`: a number or quantity with four significant digits;
/// - `{causes:, or }`: messages with this separator instead of a semicolon;
/// - `{count|reading|readings}`: the first text if the count is 1 or the flag is true;
/// - `[, at {time}]`: omitted if an argument in it is missing; no brackets within brackets;
/// - `{{`, `}}`, `[[`, `]]`: these characters themselves.
struct MessageRow {
  estimator::MessageCode code;
  const char* id;  ///< stable name in files and in Python; several codes may share one
  const char* sentence;
  const char* advice = "";     ///< action that the reader can take
  const char* treatment = "";  ///< repair that rigcal made
};

/// Returns the row of a message code.
const MessageRow& find_message_row(estimator::MessageCode code);

/// Returns all rows of the message table, one per message code, for the reference page and the
/// tests.
std::vector<MessageRow> message_rows();

/// Return the rows of the message table for messages of one subject.
std::span<const MessageRow> input_message_rows();
std::span<const MessageRow> signal_message_rows();
std::span<const MessageRow> description_message_rows();
std::span<const MessageRow> misfit_message_rows();
std::span<const MessageRow> calibration_message_rows();
std::span<const MessageRow> verdict_message_rows();

/// Replaces the placeholders of a template with the arguments of a message.
/// @throws std::logic_error if an argument outside brackets is missing
std::string fill_template(const std::string& text, const estimator::Message& message);

}  // namespace service
