#include "tests/firmware_iface/fault_hooks.hpp"

#include <utility>

#include "firmware_iface/wire/coding/bytes.h"
#include "firmware_iface/wire/coding/cobs.h"
#include "firmware_iface/wire/message_type.h"

namespace firmware_iface::fault_hooks {

std::optional<Bytes> plain_of(const Bytes& frame) {
  Bytes plain(frame.size() + 1);
  std::size_t size_bytes = 0;
  if (!cobs_decode(frame.data(), frame.size(), plain.data(), plain.size(), &size_bytes)) {
    return std::nullopt;
  }
  plain.resize(size_bytes);
  return plain;
}

std::optional<Bytes> message_in(const Bytes& frame) {
  auto plain = plain_of(frame);
  if (!plain || plain->size() < 5) return std::nullopt;
  plain->resize(plain->size() - 4);
  return plain;
}

std::uint32_t crc_in(const Bytes& frame) {
  const Bytes plain = *plain_of(frame);
  return get_u32(plain.data() + plain.size() - 4);
}

void put(Bytes& frame, const Bytes& message) {
  frame = conformance::encode_cobs_frame(conformance::append_crc(message));
  frame.pop_back();
}

Plant before_frame(decltype(BoardFault::before_frame) hook) {
  return [hook](BoardFault& fault) { fault.before_frame = hook; };
}

Plant before_message(decltype(BoardFault::before_message) hook) {
  return [hook](BoardFault& fault) { fault.before_message = hook; };
}

Plant after_message(decltype(BoardFault::after_message) hook) {
  return [hook](BoardFault& fault) { fault.after_message = hook; };
}

Plant after_tick(decltype(BoardFault::after_tick) hook) {
  return [hook](BoardFault& fault) { fault.after_tick = hook; };
}

Plant before_sending(decltype(BoardFault::before_sending) hook) {
  return [hook](BoardFault& fault) { fault.before_sending = hook; };
}

Plant on_command(std::function<void(unit&, command_request&)> change) {
  return before_message([change](unit& core, Bytes& message) {
    command_request command{};
    const std::uint8_t motors = core.description.motor_count;
    if (!command_request_decode(message.data(), message.size(), motors, &command)) return;
    change(core, command);
    message = encode_message(command, motors);
  });
}

Plant on_configure(std::function<void(unit&, configure_request&)> change) {
  return before_message([change](unit& core, Bytes& message) {
    configure_request request{};
    if (!configure_request_decode(message.data(), message.size(), &request)) return;
    change(core, request);
    message = encode_message(request);
  });
}

Plant on_clear(std::function<void(unit&, clear_request&)> change) {
  return before_message([change](unit& core, Bytes& message) {
    clear_request request{};
    if (!clear_request_decode(message.data(), message.size(), &request)) return;
    change(core, request);
    message = encode_message(request);
  });
}

Plant on_sending(std::uint8_t type, std::function<bool(unit&, Bytes&)> change) {
  return before_sending([type, change](unit& core, Bytes& message) {
    return message[0] != type || change(core, message);
  });
}

Plant on_reply(std::uint8_t type, std::function<void(unit&, Bytes&)> change) {
  return on_sending(type, [change](unit& core, Bytes& message) {
    change(core, message);
    return true;
  });
}

Plant on_sample(std::function<void(unit&, Bytes&)> change) {
  return on_reply(MESSAGE_SAMPLE, std::move(change));
}

bool enables(const command_request& command) { return (command.flags & COMMAND_ENABLE) != 0; }

std::uint32_t newest(const unit& core) { return core.stream_samples - 1U; }

std::uint64_t latch_us(const unit& core, std::uint32_t sample) {
  return core.latch_us[sample % UNIT_ANSWERABLE_SAMPLES];
}

}  // namespace firmware_iface::fault_hooks
