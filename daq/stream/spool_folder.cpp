#include "daq/stream/spool_folder.hpp"

#include <filesystem>
#include <utility>

#include "proto/stream.pb.h"
#include "proto/stream/session_secret.hpp"
#include "proto/stream/stream_limits.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"

namespace daq {
namespace {

namespace fs = std::filesystem;
using rigcal::v1::OpenSession;

std::string session_path(const std::string& folder) {
  return (fs::path(folder) / "session.pb").string();
}

std::string ended_path(const std::string& folder) { return (fs::path(folder) / "ended").string(); }

std::string session_bytes(const proto::StreamSession& session) {
  OpenSession message;
  message.set_protocol_version(proto::kStreamVersion);
  message.set_session_id(session.id);
  message.set_epoch_unix_ns(session.epoch_unix_ns);
  message.mutable_metadata()->insert(session.metadata.begin(), session.metadata.end());
  message.set_secret(session.secret);
  return message.SerializeAsString();
}

proto::Status save(const std::string& path, const std::string& bytes) {
  try {
    proto::write_file(path, bytes);
  } catch (const proto::InputError& error) {
    return proto::Error{proto::ErrorCode::kInputOutput, error.what()};
  }
  return proto::success();
}

// Makes a folder private, because the secret in it opens the session.
void make_private(const std::string& folder) {
  std::error_code ignored;  // for file systems without permissions
  fs::permissions(folder, fs::perms::owner_all, ignored);
}

proto::Result<proto::StreamSession> read_session(const std::string& folder) {
  const std::string path = session_path(folder);
  if (!fs::exists(path)) {
    return proto::Error{proto::ErrorCode::kNotFound,
                        folder +
                            ": is not a spool folder; give the folder RECORDING.spool that "
                            "rigcal-daq run printed at its end"};
  }
  OpenSession message;
  if (!message.ParseFromString(proto::read_file(path)) ||
      !proto::is_session_id(message.session_id())) {
    return proto::Error{proto::ErrorCode::kDamaged,
                        path + ": is damaged; the recording next to it has the same samples"};
  }
  return proto::StreamSession{message.session_id(),
                              {message.metadata().begin(), message.metadata().end()},
                              message.epoch_unix_ns(),
                              message.secret()};
}

}  // namespace

proto::Result<SpoolFolder> create_spool_folder(const std::string& folder,
                                               const proto::StreamSession& session) {
  if (fs::exists(folder)) {
    return proto::Error{proto::ErrorCode::kExists,
                        folder +
                            ": contains unsent samples of an earlier run; send them "
                            "with rigcal-daq send, or choose another name"};
  }
  auto spool = proto::Spool::open(folder);
  if (!spool.ok()) return spool.error();
  make_private(folder);
  SpoolFolder made{std::move(spool.value()), session};
  if (made.session.secret.empty()) made.session.secret = proto::make_secret();
  if (proto::Status saved = save(session_path(folder), session_bytes(made.session)); !saved.ok()) {
    remove_spool_folder(folder);
    return saved.error();
  }
  return made;
}

proto::Status mark_ended(const std::string& folder) { return save(ended_path(folder), ""); }

proto::Result<SpoolFolder> open_spool_folder(const std::string& folder) {
  auto session = read_session(folder);
  if (!session.ok()) return session.error();
  auto spool = proto::Spool::open(folder);
  if (!spool.ok()) return spool.error();
  SpoolFolder opened{std::move(spool.value()), std::move(session.value()),
                     fs::exists(ended_path(folder))};
  if (!opened.session.secret.empty()) return opened;
  opened.ended = true;
  opened.session.secret = proto::make_secret();
  make_private(folder);
  // Saved before it is sent to the service, because a later process needs it.
  if (proto::Status saved = save(ended_path(folder), ""); !saved.ok()) return saved.error();
  if (proto::Status saved = save(session_path(folder), session_bytes(opened.session));
      !saved.ok()) {
    return saved.error();
  }
  return opened;
}

void remove_spool_folder(const std::string& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

}  // namespace daq
