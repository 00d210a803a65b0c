#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/recording/recording_types.hpp"
#include "proto/service.pb.h"
#include "service/server/sessions/live_fits.hpp"
#include "service/server/sessions/service_context.hpp"
#include "service/server/storage/session_log.hpp"

namespace service {

/// Interface through which a streamed session uses the connection of its rig computer. The session
/// stops using the connection after on_session_refused, on_connection_superseded and
/// on_session_closed.
class RigConnection {
 public:
  virtual ~RigConnection() = default;
  virtual const std::string& identity() const = 0;  ///< name of the rig computer's Identity
  /// Called when the session is open. `secret` is empty unless the service created the secret for a
  /// new session.
  virtual void on_session_opened(std::uint64_t last_durable_batch, const std::string& secret) = 0;
  virtual void on_batches_acknowledged(std::uint64_t last_durable_batch) = 0;
  /// Called with new estimates of the rig's parameters. May drop them.
  virtual void on_live_estimate(const rigcal::v1::LiveEstimate& estimate) = 0;
  /// Called when a client requests the end of the run.
  virtual void on_stop_requested(const std::string& by) = 0;
  virtual void on_session_closed(std::uint64_t last_durable_batch) = 0;
  virtual void on_session_refused(rigcal::v1::SessionRefused::Reason reason,
                                  const std::string& text) = 0;
  virtual void on_connection_superseded() = 0;  ///< called when the rig computer has reconnected
};

/// Frame of a live update, shared by all subscribers.
struct LiveFrame {
  std::shared_ptr<const std::string> bytes;
  std::uint64_t sample_count = 0;
};

class LiveSubscriber {
 public:
  virtual ~LiveSubscriber() = default;
  virtual void on_live_update(const LiveFrame& frame) = 0;
  virtual void on_live_updates_ended(const std::string& session_id) = 0;
};

/// A session that a rig computer streams to the service, from its opening until its recording is
/// stored. The session accepts each batch of samples once and in order, writes batches to disk in
/// groups, and acknowledges a batch when it is durable. A batch that is sent again is acknowledged
/// only if the stored batch is identical. After closing, the recording of the session is written.
///
/// If the recording cannot be written, the session retries a few times at growing intervals; on a
/// full disk it retries without limit. If the disk has damaged the log of batches, the session ends
/// and the readable batches are stored.
///
/// A session runs on the main thread; one storage thread accesses its log. Batches that arrive
/// while a group is being written form the next group, so one fsync serves all of them.
class IngestSession : public std::enable_shared_from_this<IngestSession> {
 public:
  /// @param record   the stored record of the session, or the record to store for a new session
  /// @param is_new   true if the session is not yet on disk
  /// @param changed  called with true when the session has been stored or has failed, and with
  /// false when it could not be created and should be removed
  IngestSession(ServiceContext& context, std::string folder, rigcal::v1::SessionRecord record,
                bool is_new, std::function<void(bool)> changed);

  /// Sets the rig file that a new session stores. To be called before start().
  void set_rig_file(std::string text) { rig_text_ = std::move(text); }

  /// Starts the session from the state of its files on disk.
  void start();

  /// Returns whether a rig computer with this secret may open the session again.
  bool accepts_secret(const std::string& secret) const;

  /// Opens the session for a rig computer, also after a reconnect. An earlier connection of the
  /// session is closed.
  /// @param request  its secret is stored if the session has none. If it requests estimates of the
  ///                 rig's parameters, they start with the session and end with it
  void open(const std::shared_ptr<RigConnection>& owner, const rigcal::v1::OpenSession& request);
  /// Returns the reason why there are no estimates although the rig computer requested them, for
  /// people; empty if there are.
  const std::string& live_problem() const { return live_problem_; }
  /// Requests that the next reply to an opening of this session contain the secret that the service
  /// created.
  void send_secret_at_next_opening() { send_secret_ = true; }
  void append_batch(const RigConnection& owner, rigcal::v1::SampleBatch& batch);
  void close(const RigConnection& owner, const rigcal::v1::CloseSession& request);
  void disconnect_rig(const RigConnection& owner);

  /// Returns true while the rig computer should pause sending batches.
  bool is_congested() const;

  /// Closes the session. The recording then contains the durable batches and is marked as
  /// interrupted.
  /// @return reason if it cannot be closed
  std::optional<std::string> end();

  /// Requests that the rig computer stop the rig. The request is repeated if the rig computer
  /// reconnects before the end of the run.
  /// @param by  identity that requests it
  /// @return reason if the request does not reach a running rig
  std::optional<std::string> stop(const std::string& by);

  /// @param estimates  whether to send estimates of the rig's parameters, too
  void add_subscriber(const std::shared_ptr<LiveSubscriber>& subscriber, bool estimates);

  /// Tries again to store the recording if storing failed and the waiting time has passed.
  void retry();

  /// Returns true if the session is closed and storing its recording has failed so far.
  bool has_store_failed() const {
    return phase_ == SessionPhase::kClosed && store_at_ != Clock::time_point();
  }

  /// Frees memory and closes files if no rig computer has been connected for a while.
  void unload_if_disconnected();

  /// Returns true if a connected rig computer is silent and the service has no pending work for it.
  /// Silent means: no batch since it opened the session, or no batch for kSilence.
  bool is_rig_silent() const;
  static constexpr std::chrono::seconds kSilence{10};
  /// Returns the time at which the silence of the rig computer began; no value if it is not silent.
  std::chrono::steady_clock::time_point silent_since() const { return last_used_at_; }
  /// Disconnects a silent rig computer, which may connect again. The session stays open.
  void disconnect_silent_rig();

  /// Returns the identity name of the connected rig computer; empty if none is connected.
  std::string connected_rig_identity_name() const;

  /// Returns the expected size of the session's recording on disk, from the batches so far [byte].
  std::uint64_t expected_recording_size_bytes() const;

  bool is_open() const { return info_.state() == rigcal::v1::SESSION_OPEN; }
  rigcal::v1::SessionInfo info() const;
  const rigcal::v1::SessionInfo& stored_info() const { return info_; }  ///< without `connected`

 private:
  using Clock = std::chrono::steady_clock;
  enum class SessionPhase { kUnloaded, kLoading, kOpen, kClosing, kClosed, kStoring, kStored };

  struct LoadedLog;
  struct BatchGroup {  // batches made durable together
    std::vector<std::string> batches;
    std::vector<std::uint64_t> sample_counts;
    Clock::time_point since;  // arrival of the first one
    // Batches sent again, to be compared with the stored ones.
    std::vector<std::pair<std::uint64_t, std::string>> resent_batches;
    std::weak_ptr<RigConnection> resent_by;

    std::size_t size() const { return batches.size() + resent_batches.size(); }
  };
  struct CommitOutcome;

  void load();
  void on_log_loaded(proto::Result<LoadedLog> outcome);
  void send_opening_reply();
  void close_damaged_session(const proto::Error& error);
  void append_new_batch(rigcal::v1::SampleBatch& batch);
  void drop_resent_batches();
  void commit_next_group();
  static CommitOutcome commit_group(SessionLog& log, const BatchGroup& group,
                                    const proto::Status& space);
  void on_group_committed(const CommitOutcome& outcome, const BatchGroup& group);
  void count_durable_batches(const CommitOutcome& outcome, const BatchGroup& group);
  void publish_live_update(std::uint64_t sequence, const std::string& batch);
  void start_live_fit(const rigcal::v1::OpenSession& request);
  void continue_live_fit();
  void publish_estimate(rigcal::v1::LiveEstimate estimate);
  void continue_closing();
  void begin_closing();
  void on_closing_saved(const proto::Status& saved, const rigcal::v1::SessionInfo& info);
  void store();
  void on_recording_stored(const proto::Status& status, const rigcal::v1::SessionInfo& info);
  void on_store_failed(const proto::Error& error, const rigcal::v1::SessionInfo& info);
  void set_final_state(const rigcal::v1::SessionInfo& info);
  void refuse_connection(rigcal::v1::SessionRefused::Reason reason, const std::string& text);
  void report_error(const std::string& what, const proto::Error& error);
  proto::RecordingHeader recording_header() const;

  ServiceContext& context_;
  std::string folder_;
  rigcal::v1::SessionInfo info_;
  std::string secret_;  // empty: created by a version without secrets
  std::string rig_text_;              // of a new session, until it is stored
  std::uint64_t rig_size_bytes_ = 0;  // of the stored rig file
  bool is_new_;
  std::function<void(bool)> changed_;
  Poster storage_;
  std::shared_ptr<std::optional<SessionLog>> log_;  // used by the storage thread only
  proto::RecordingHeader names_;                    // of joints, sensors and motors

  SessionPhase phase_ = SessionPhase::kUnloaded;
  BatchValidator check_;
  std::uint64_t durable_ = 0;
  std::uint64_t next_ = 1;  // number of the next batch
  BatchGroup pending_;
  std::uint64_t pending_bytes_ = 0;
  bool committing_ = false;

  std::weak_ptr<RigConnection> owner_;
  const RigConnection* owner_identity_ = nullptr;
  bool sent_batch_ = false;           // by the connected rig
  Clock::time_point last_used_at_{};  // last use by a rig, or loading
  bool open_asked_ = false;
  bool send_secret_ = false;
  bool close_asked_ = false;
  bool interrupted_ = false;  // closed without a declared end

  int store_tries_ = 0;  // failures other than a full disk
  std::chrono::duration<double> store_delay_;
  Clock::time_point store_at_{};
  struct Subscription {
    std::weak_ptr<LiveSubscriber> subscriber;
    bool estimates = false;
  };
  std::vector<Subscription> subscribers_;

  std::unique_ptr<LiveFitRun> live_fit_;  // null: no estimates
  std::uint64_t fit_next_ = 1;            // number of the next batch for the live fit
  bool reading_for_fit_ = false;          // stored batches are being read for the live fit
  std::string live_problem_;
  bool rig_wants_estimates_ = false;
  bool rig_accepts_stop_ = false;
  std::string stop_requested_by_;
};

}  // namespace service
