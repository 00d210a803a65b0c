#include "firmware_iface/firmware/core/unit.h"

#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/inertial.h"
#include "firmware_iface/wire/message_type.h"
#include "firmware_iface/wire/sample.h"
#include "firmware_iface/wire/session.h"

enum { RING_MASK = UNIT_ANSWERABLE_SAMPLES - 1, COMPACT_ANSWERS_MASK = 0xFFFFFF };

static sample_shape shape_of_stream(const unit* self) {
  const sample_shape shape = {self->description.encoder_count, self->description.motor_count,
                              (self->stream_flags & STREAM_MARKS) != 0};
  return shape;
}

/* A frame is queued completely or not at all: half a frame would damage the next one too. */
static void send(unit* self, const uint8_t* message, size_t size_bytes) {
  uint8_t frame[FRAME_SIZE_BYTES_MAX];
  const size_t frame_size = frame_encode(message, size_bytes, frame, sizeof(frame));
  if (frame_size > UNIT_TRANSMIT_SIZE_BYTES - self->transmit_size) {
    ++self->counters.frames_dropped;
    return;
  }
  for (size_t k = 0; k < frame_size; ++k) {
    self->transmit[(self->transmit_begin + self->transmit_size) % UNIT_TRANSMIT_SIZE_BYTES] =
        frame[k];
    ++self->transmit_size;
  }
}

size_t unit_transmit(unit* self, uint8_t* out, size_t capacity_bytes) {
  const size_t size_bytes =
      self->transmit_size < capacity_bytes ? self->transmit_size : capacity_bytes;
  for (size_t k = 0; k < size_bytes; ++k) {
    out[k] = self->transmit[self->transmit_begin];
    self->transmit_begin = (self->transmit_begin + 1) % UNIT_TRANSMIT_SIZE_BYTES;
  }
  self->transmit_size -= size_bytes;
  return size_bytes;
}

/* xorshift32 [G. Marsaglia, Journal of Statistical Software 8(14), 2003]; never 0. */
static uint32_t next_random(unit* self) {
  uint32_t x = self->random_state;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  self->random_state = x;
  return x;
}

static void switch_off(unit* self) {
  self->output.is_enabled = false;
  for (size_t k = 0; k < MOTORS_MAX; ++k) self->output.command_q15[k] = 0;
}

static bool is_driving(const unit* self) { return self->output.is_enabled || self->ttl_runs; }

void unit_trip(unit* self, uint8_t cause, int32_t detail, uint64_t now_us) {
  switch_off(self);
  self->ttl_runs = false;
  self->pending.flags = 0; /* it preceded the trip and must not act after a CLEAR */
  const bool is_new = (self->fault_flags & cause) == 0;
  self->fault_flags = (uint8_t)(self->fault_flags | cause);
  if (!is_new) return;
  for (size_t bit = 0; bit < 8; ++bit) {
    if (((cause >> bit) & 1U) != 0) ++self->counters.trips[bit];
  }
  const fault_report report = {self->fault_flags, cause,
                               (uint16_t)((self->stream_samples - 1U) & 0xFFFFU),
                               (uint32_t)(now_us & 0xFFFFFFFFU), detail};
  uint8_t message[FAULT_SIZE_BYTES];
  fault_report_encode(&report, message);
  send(self, message, sizeof(message));
}

void unit_init(unit* self, const unit_description* description, const unit_memory* memory,
               uint32_t random_seed, uint64_t now_us) {
  uint8_t* bytes = (uint8_t*)self; /* avoids a zeroed unit of kilobytes on the stack */
  for (size_t k = 0; k < sizeof(*self); ++k) bytes[k] = 0;
  self->description = *description;
  self->memory = *memory;
  ++self->memory.boot_count;
  self->random_state = random_seed == 0 ? 1 : random_seed;
  self->next_tick_us = now_us;
  self->fault_flags = FAULT_BOOT; /* reported by HELLO_REPLY and every sample; no FAULT is sent */
  self->counters.trips[0] = 1;
}

static void end_stream(unit* self) {
  self->is_streaming = false;
  self->sample_is_due = false;
}

static void handle_hello(unit* self, const hello_head* head, uint64_t now_us) {
  const unit_description* own = &self->description;
  ++self->counters.hellos;
  if (is_driving(self)) unit_trip(self, FAULT_SESSION, 0, now_us);
  end_stream(self);
  self->has_session = true;
  self->is_configured = false;
  hello_reply reply = {0};
  reply.protocol_version = PROTOCOL_VERSION;
  reply.layout_hash = LAYOUT_HASH;
  reply.nonce = head->nonce;
  reply.unit_id = own->unit_id;
  reply.boot_count = self->memory.boot_count;
  reply.tick_rate_Hz = own->tick_rate_Hz;
  reply.ttl_max_ms = own->ttl_max_ms;
  reply.capabilities = own->capabilities;
  reply.fault_flags = self->fault_flags;
  reply.stream_count = self->memory.stream_count;
  reply.samples_sent = self->memory.samples_of_last_stream;
  reply.encoder_count = own->encoder_count;
  reply.motor_count = own->motor_count;
  reply.inertial_count = own->inertial_count;
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
    reply.inertial_ticks[k] = own->inertial_ticks[k];
  }
  reply.configuration_hash = unit_configuration_hash(&reply, own->encoder, own->motor);
  uint8_t message[HELLO_REPLY_SIZE_BYTES];
  hello_reply_encode(&reply, message);
  send(self, message, sizeof(message));
}

static void handle_describe(unit* self, const describe_request* request) {
  const unit_description* own = &self->description;
  describe_reply reply = {request->part, request->index, {PART_MISSING, 0, 0, 0}};
  if (request->part == PART_ENCODER && request->index < own->encoder_count) {
    reply.description = own->encoder[request->index];
  } else if (request->part == PART_MOTOR && request->index < own->motor_count) {
    reply.description = own->motor[request->index];
  }
  uint8_t message[DESCRIBE_REPLY_SIZE_BYTES];
  describe_reply_encode(&reply, message);
  send(self, message, sizeof(message));
}

static bool can_stream(const unit* self, const configure_request* request) {
  const unit_description* own = &self->description;
  unsigned possible = STREAM_ON;
  if ((own->capabilities & UNIT_CAN_COMPACT) != 0) possible |= STREAM_COMPACT;
  if ((own->capabilities & UNIT_CAN_HOST_PACED) != 0) possible |= STREAM_HOST_PACED;
  if ((own->capabilities & UNIT_CAN_MARKS) != 0) possible |= STREAM_MARKS;
  if ((request->flags & ~possible) != 0) return false;
  const sample_shape shape = {own->encoder_count, own->motor_count,
                              (request->flags & STREAM_MARKS) != 0};
  if ((request->flags & STREAM_COMPACT) != 0 && !sample_shape_is_compact(shape)) return false;
  if (request->divider == 0 || request->command_age_ticks == 0) return false;
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
    const unsigned ticks = (unsigned)request->inertial_divider[k] * request->divider;
    if (ticks == 0) continue;
    if (k >= own->inertial_count || own->inertial_ticks[k] == 0) return false;
    if (ticks % own->inertial_ticks[k] != 0) return false;
  }
  return true;
}

static void change_stream(unit* self, const configure_request* request, configure_reply* answer,
                          uint64_t now_us) {
  if (is_driving(self)) unit_trip(self, FAULT_SESSION, 0, now_us);
  if (self->is_streaming) answer->samples_sent = self->stream_samples;
  end_stream(self);
  self->is_streaming = (request->flags & STREAM_ON) != 0;
  self->stream_flags = request->flags;
  self->divider = request->divider;
  self->command_age_ticks = request->command_age_ticks;
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
    self->inertial_divider[k] = request->inertial_divider[k];
  }
  answer->flags = request->flags;
  answer->divider = request->divider;
  answer->start_tick_us = (uint32_t)(self->next_tick_us & 0xFFFFFFFFU);
  if (!self->is_streaming) return;
  ++self->counters.streams;
  answer->stream_count = ++self->memory.stream_count;
  self->memory.samples_of_last_stream = 0;
  self->stream_samples = 0;
  self->answerable_count = 0;
  self->ticks_to_sample = 0;
  self->has_pending = false;
  self->command_seen = false;
  self->command_rejected = false;
  self->has_answered = false;
}

static void handle_configure(unit* self, const configure_request* request, uint64_t now_us) {
  configure_reply answer = {
      request->sequence,        CONFIGURE_DONE, self->stream_flags, self->divider, 0, 0,
      self->memory.stream_count};
  if (self->is_configured && self->configure_answer.sequence == request->sequence) {
    answer = self->configure_answer; /* repetition: its answer was lost */
  } else if (!self->has_session) {
    answer.result = CONFIGURE_NO_SESSION;
  } else if (!can_stream(self, request)) {
    answer.result = CONFIGURE_UNSUPPORTED;
  } else {
    change_stream(self, request, &answer, now_us);
    self->is_configured = true;
    self->configure_answer = answer;
  }
  uint8_t message[CONFIGURE_REPLY_SIZE_BYTES];
  configure_reply_encode(&answer, message);
  send(self, message, sizeof(message));
}

static void handle_clear(unit* self, const clear_request* request, uint64_t now_us) {
  clear_reply reply = {request->step, CLEAR_DONE, request->token, 0};
  if (request->step == 1) {
    self->clear_token = (uint16_t)(1U + next_random(self) % 0xFFFFU);
    self->clear_until_us = now_us + 1000U * CLEAR_WINDOW_MS;
    reply.token = self->clear_token;
  } else if (request->step != 2) {
    reply.result = CLEAR_WRONG_STEP;
  } else if (self->clear_token != 0 && request->token == self->clear_token &&
             now_us <= self->clear_until_us) {
    self->fault_flags = self->causes_present;
    if (unit_is_tripped(self)) {
      reply.result = CLEAR_CAUSE_PRESENT;
    } else {
      ++self->counters.clears;
      self->cleared_token = self->clear_token;
    }
    self->clear_token = 0;
  } else if (request->token == 0 || request->token != self->cleared_token ||
             unit_is_tripped(self)) {
    reply.result = CLEAR_WRONG_TOKEN;
  }
  reply.fault_flags = self->fault_flags;
  uint8_t message[CLEAR_REPLY_SIZE_BYTES];
  clear_reply_encode(&reply, message);
  send(self, message, sizeof(message));
}

/* Returns whether an enabling command answers a sample that is recent enough, and writes the
 * number of that sample. */
static bool answers_recent_sample(const unit* self, const command_request* request,
                                  uint32_t answers_mask, uint64_t now_us, uint32_t* answered) {
  const uint32_t newest = self->stream_samples - 1U;
  const uint32_t behind = (newest - request->answers) & answers_mask;
  if (!self->is_streaming || behind >= self->answerable_count) return false;
  if (self->has_answered && behind > newest - self->answered) return false; /* superseded */
  *answered = newest - behind;
  const uint64_t latch_us = self->latch_us[*answered & RING_MASK];
  /* Latches are rounded to microseconds, so tick lengths may be off by up to 1 us. */
  const uint64_t age_us = self->latch_us[newest & RING_MASK] - latch_us;
  const uint64_t age_ticks_1e6 = (age_us - (age_us > 0 ? 1U : 0U)) * self->description.tick_rate_Hz;
  if (age_ticks_1e6 > (uint64_t)self->command_age_ticks * 1000000U) return false;
  return now_us - latch_us < 1000U * (uint64_t)request->ttl_ms;
}

static void handle_command(unit* self, const command_request* request, uint32_t answers_mask,
                           uint64_t now_us) {
  ++self->counters.commands;
  if (self->is_streaming && (self->stream_flags & STREAM_HOST_PACED) != 0) {
    self->sample_is_due = true;
  }
  const bool enables = (request->flags & COMMAND_ENABLE) != 0;
  if ((request->flags & COMMAND_TRIP) != 0) {
    unit_trip(self, FAULT_HOST, request->sequence, now_us);
  } else if (enables && (request->ttl_ms == 0 || request->ttl_ms > self->description.ttl_max_ms)) {
    unit_trip(self, FAULT_COMMAND, request->ttl_ms, now_us);
    return;
  }
  uint32_t answered = 0;
  if (enables && !answers_recent_sample(self, request, answers_mask, now_us, &answered)) {
    ++self->counters.commands_rejected;
    self->command_rejected = true;
    return;
  }
  self->pending = *request;
  self->has_pending = true;
  self->ttl_runs = false;
  if (enables) {
    self->has_answered = true;
    self->answered = answered;
  }
  if (unit_is_tripped(self)) self->pending.flags = 0;
  if ((self->pending.flags & COMMAND_ENABLE) == 0) return;
  self->ttl_runs = true;
  self->ttl_ms = request->ttl_ms;
  self->ttl_end_us = self->latch_us[answered & RING_MASK] + 1000U * (uint64_t)request->ttl_ms;
}

static void handle_message(unit* self, const uint8_t* data, size_t size_bytes, uint64_t now_us) {
  hello_head hello;
  describe_request describe;
  configure_request configure;
  clear_request clear;
  command_request command;
  switch (data[0]) {
    case MESSAGE_HELLO:
      if (hello_head_decode(data, size_bytes, &hello)) handle_hello(self, &hello, now_us);
      break;
    case MESSAGE_DESCRIBE:
      if (describe_request_decode(data, size_bytes, &describe)) handle_describe(self, &describe);
      break;
    case MESSAGE_CONFIGURE:
      if (configure_request_decode(data, size_bytes, &configure)) {
        handle_configure(self, &configure, now_us);
      }
      break;
    case MESSAGE_CLEAR:
      if (clear_request_decode(data, size_bytes, &clear)) handle_clear(self, &clear, now_us);
      break;
    case MESSAGE_COMMAND:
      if (command_request_decode(data, size_bytes, self->description.motor_count, &command)) {
        handle_command(self, &command, 0xFFFFFFFFU, now_us);
      }
      break;
    case MESSAGE_COMMAND_COMPACT:
      if (self->description.motor_count == 1 &&
          command_compact_decode(data, size_bytes, &command)) {
        handle_command(self, &command, COMPACT_ANSWERS_MASK, now_us);
      }
      break;
    default:
      break; /* a message type of the unit itself, e.g. echoed by a shorted line */
  }
}

void unit_receive(unit* self, uint8_t byte, uint64_t now_us) {
  const frame_status status = frame_receiver_push(&self->receiver, byte);
  if (status == FRAME_OK) {
    handle_message(self, self->receiver.message, self->receiver.message_size_bytes, now_us);
  } else if (status != FRAME_PENDING) {
    ++self->counters.frames_damaged;
  }
}

/* Rounds to the upper bits that a converter uses, so that samples report the exact output. */
static int16_t converted(const unit* self, int16_t command_q15) {
  const unsigned bits = self->description.command_bits;
  if (bits == 0 || bits >= 16) return command_q15;
  const int32_t step = (int32_t)(1U << (16U - bits));
  const int32_t most = (int32_t)(1U << (bits - 1U)) - 1;
  const int32_t magnitude = command_q15 < 0 ? -(int32_t)command_q15 : (int32_t)command_q15;
  int32_t steps = (magnitude + step / 2) / step;
  if (steps > most) steps = most;
  return (int16_t)(command_q15 < 0 ? -steps * step : steps * step);
}

static void put_command_in_force(unit* self) {
  if (!self->has_pending) return;
  self->has_pending = false;
  self->command_seen = true;
  self->command_sequence = self->pending.sequence;
  switch_off(self);
  self->output.is_enabled = !unit_is_tripped(self) && (self->pending.flags & COMMAND_ENABLE) != 0;
  if (!self->output.is_enabled) return;
  for (size_t k = 0; k < self->description.motor_count; ++k) {
    self->output.command_q15[k] = converted(self, self->pending.command_q15[k]);
  }
}

void unit_tick(unit* self, uint64_t now_us) {
  self->next_tick_us = now_us + 1000000U / self->description.tick_rate_Hz;
  if (self->ttl_runs && now_us >= self->ttl_end_us) {
    unit_trip(self, FAULT_TTL, self->ttl_ms, now_us);
  }
  put_command_in_force(self);
  if (!self->is_streaming || (self->stream_flags & STREAM_HOST_PACED) != 0) return;
  if (self->ticks_to_sample == 0) {
    self->sample_is_due = true;
    self->ticks_to_sample = self->divider;
  }
  --self->ticks_to_sample;
}

bool unit_sample_is_due(const unit* self) { return self->sample_is_due; }

uint8_t unit_inertial_due(const unit* self) {
  unsigned due = 0;
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
    const uint32_t divider = self->inertial_divider[k]; /* 0 for a sensor that the unit lacks */
    if (divider != 0 && self->stream_samples % divider == 0) due |= 1U << k;
  }
  return (uint8_t)due;
}

static void send_inertial(unit* self, const unit_latch* latch) {
  inertial_report report = {0};
  report.sequence = (uint16_t)(self->stream_samples & 0xFFFFU);
  report.sensors = (uint8_t)(unit_inertial_due(self) & latch->inertial_read);
  if (report.sensors == 0) return;
  for (size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
    for (size_t axis = 0; axis < INERTIAL_AXES; ++axis) {
      report.counts[k][axis] = latch->inertial[k][axis];
    }
  }
  uint8_t message[INERTIAL_SIZE_BYTES_MAX];
  send(self, message, inertial_report_encode(&report, message));
}

void unit_send_sample(unit* self, const unit_latch* latch, uint64_t now_us) {
  if (!self->sample_is_due) return;
  self->sample_is_due = false;
  put_command_in_force(self); /* host-paced: the command that triggered this sample */
  sample_report report = {0};
  report.sequence = (uint16_t)(self->stream_samples & 0xFFFFU);
  report.tick_us = (uint32_t)(now_us & 0xFFFFFFFFU);
  report.command_sequence = self->command_sequence;
  report.encoders_valid = latch->encoders_valid;
  report.status = (uint8_t)((unit_is_tripped(self) ? STATUS_TRIPPED : 0) |
                            (self->output.is_enabled ? STATUS_DRIVING : 0) |
                            (self->command_seen ? STATUS_COMMAND_SEEN : 0) |
                            (self->command_rejected ? STATUS_COMMAND_REJECTED : 0));
  report.fault_flags = self->fault_flags;
  report.error_count = (uint8_t)(self->counters.frames_damaged & 0xFFU);
  for (size_t k = 0; k < MOTORS_MAX; ++k) report.command_q15[k] = self->output.command_q15[k];
  for (size_t k = 0; k < ENCODERS_MAX; ++k) report.encoder_counts[k] = latch->encoder_counts[k];
  report.index_passed = latch->index_passed;
  report.home_closed = latch->home_closed;
  self->command_rejected = false;

  uint8_t message[SAMPLE_SIZE_BYTES_MAX];
  const sample_shape shape = shape_of_stream(self);
  const size_t size_bytes = (self->stream_flags & STREAM_COMPACT) != 0
                                ? sample_compact_encode(&report, shape, message)
                                : sample_report_encode(&report, shape, message);
  send(self, message, size_bytes);
  send_inertial(self, latch);
  self->latch_us[self->stream_samples & RING_MASK] = now_us;
  ++self->stream_samples;
  if (self->answerable_count < UNIT_ANSWERABLE_SAMPLES) ++self->answerable_count;
  self->memory.samples_of_last_stream = self->stream_samples;
  ++self->counters.samples;
}
