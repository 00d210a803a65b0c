#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "proto/framing/frame.hpp"
#include "proto/service.pb.h"
#include "service/server/jobs/job_store.hpp"
#include "service/server/sessions/identity.hpp"
#include "service/server/sessions/ingest_session.hpp"
#include "service/server/sessions/service_context.hpp"
#include "service/server/sessions/session_store.hpp"

namespace service {

/// Interface through which a conversation sends frames to its client. Used on the main thread only.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// Sends a frame after all earlier frames; never drops it.
  virtual void send(std::string frame) = 0;
  /// Returns whether this number of bytes may be added to the replies that the client has not yet
  /// read.
  virtual bool can_queue(std::size_t bytes) const = 0;
  /// Sends a live update. If the client reads too slowly, drops the update and sends the number of
  /// dropped updates instead.
  virtual void send_live_update(const LiveFrame& frame) = 0;
  /// Closes the connection after all queued frames are sent.
  virtual void close_after_sending() = 0;
  /// Called when the conversation can accept the client's frames again.
  virtual void resume_reading() = 0;
};

/// The client at the other end of a connection.
struct Peer {
  Identity identity;
  std::string place;  ///< the client's address, for the log
};

/// Server side of the protocol proto/service.proto for one client, without the socket. It accepts
/// frames, answers them in order, and sends the updates that the client subscribed to. Used on the
/// main thread only.
class Conversation final : public RigConnection,
                           public LiveSubscriber,
                           public JobSubscriber,
                           public std::enable_shared_from_this<Conversation> {
 public:
  Conversation(ServiceContext& context, SessionStore& sessions, JobStore& jobs, Peer peer);

  const Peer& peer() const { return peer_; }
  const std::string& identity() const override { return peer_.identity.name; }

  /// Sets the identity that TLS has established for the client. Call this before passing the first
  /// frame.
  void set_identity(Identity identity) { peer_.identity = std::move(identity); }

  /// Refuses the client's first message, because its certificate does not identify it.
  /// @param why  message for the client
  void refuse_client(std::string why) { refusal_ = std::move(why); }

  /// Sets the sink for the frames that the conversation sends. Call this once, before anything
  /// else. The conversation does not use the sink after on_disconnected.
  void attach_sink(FrameSink& sink) { sink_ = &sink; }

  /// Returns whether the conversation can accept the next frame. If not, an answer is in progress
  /// or the disk is too slow, and the caller must wait with further frames.
  bool ready() const;

  /// Sets a function that returns the reason why the service refuses a client's first message now,
  /// or an empty text if the service accepts it.
  void set_refusal_check(std::function<std::string()> check) { refusal_check_ = std::move(check); }

  void on_frame(const proto::Frame& frame);

  /// Reports to the client that it has violated the protocol, and ends the connection.
  void on_protocol_violation(const proto::Error& error);

  void on_disconnected();

  /// Returns true once the client has sent a valid first message.
  bool has_valid_greeting() const { return mode_ != ConversationMode::kGreeting; }

  /// Returns true if the service waits for the client's next message: the first message was valid,
  /// no reply is pending, and the client has no subscription and streams no session.
  bool waits_for_client() const;

  static std::string make_dropped_updates_frame(std::uint64_t batch_count,
                                                std::uint64_t sample_count);

  void on_session_opened(std::uint64_t last_durable_batch, const std::string& secret) override;
  void on_batches_acknowledged(std::uint64_t last_durable_batch) override;
  void on_live_estimate(const rigcal::v1::LiveEstimate& estimate) override;
  void on_stop_requested(const std::string& by) override;
  void on_session_closed(std::uint64_t last_durable_batch) override;
  void on_session_refused(rigcal::v1::SessionRefused::Reason reason,
                          const std::string& text) override;
  void on_connection_superseded() override;
  void on_live_update(const LiveFrame& frame) override;
  void on_live_updates_ended(const std::string& session_id) override;
  void on_job_update(const rigcal::v1::JobInfo& info) override;

 private:
  enum class ConversationMode { kGreeting, kClient, kIngest, kEnded };

  void greet(rigcal::v1::ServiceRequest& request);
  void open_session(const rigcal::v1::OpenSession& request);
  void check_live(const rigcal::v1::CheckLive& request);
  void send_live_check(const std::string& problem);
  void handle_stream_request(rigcal::v1::ServiceRequest& request);
  void append_batch(rigcal::v1::SampleBatch& batch);
  void serve(rigcal::v1::ServiceRequest& request);
  void read_file(const ReplyOrError<std::string>& found, std::uint64_t offset_bytes);
  void read_recording(const rigcal::v1::ReadRecording& request);
  void read_report(const rigcal::v1::ReadReport& request);
  void read_result(const std::string& job_id);

  void send_frame(std::string frame);
  void send(const rigcal::v1::ServiceReply& reply);
  void send_error(const rigcal::v1::ServiceError& fault);
  void send_error_and_close(const rigcal::v1::ServiceError& fault);
  template <typename Reply>
  void send_reply(const ReplyOrError<Reply>& outcome);
  template <typename Reply>
  std::function<void(const ReplyOrError<Reply>&)> deferred_answer();
  /// Answers a request with a frame that another thread makes.
  void send_reply_from_disk(const OwnedPoster& thread, std::function<std::string()> make_frame);

  ServiceContext& context_;
  SessionStore& sessions_;
  JobStore& jobs_;
  Peer peer_;
  FrameSink* sink_ = nullptr;
  ConversationMode mode_ = ConversationMode::kGreeting;
  bool waiting_ = false;  // for a reply that needs the disk
  // Path of the file whose checksum was found correct; empty while the thread checks it.
  std::shared_ptr<std::string> checked_file_;
  std::string refusal_;  // of a client that has no identity
  std::function<std::string()> refusal_check_;
  std::set<std::string> subscriptions_;  // to running jobs and open sessions, by kind and id
  std::shared_ptr<IngestSession> session_;
};

}  // namespace service
