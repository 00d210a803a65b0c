#include "daq/stream/spool_folder.hpp"

#include <filesystem>
#include <utility>

#include "proto/stream.pb.h"
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

std::string session_bytes(const proto::StreamSession& session) {
  OpenSession message;
  message.set_protocol_version(proto::kStreamVersion);
  message.set_session_id(session.id);
  message.set_epoch_unix_ns(session.epoch_unix_ns);
  message.mutable_metadata()->insert(session.metadata.begin(), session.metadata.end());
  return message.SerializeAsString();
}

proto::Result<proto::StreamSession> read_session(const std::string& folder) {
  const std::string path = session_path(folder);
  if (!fs::exists(path)) {
    return proto::Error{proto::ErrorCode::kNotFound,
                        folder +
                            ": is not the spool of a run; give the folder RECORDING.spool "
                            "that rigcal-daq run named at its end"};
  }
  OpenSession message;
  if (!message.ParseFromString(proto::read_file(path)) ||
      !proto::is_session_id(message.session_id())) {
    return proto::Error{proto::ErrorCode::kDamaged, path +
                                                        ": is damaged; the recording beside it "
                                                        "holds the same samples"};
  }
  return proto::StreamSession{message.session_id(),
                              {message.metadata().begin(), message.metadata().end()},
                              message.epoch_unix_ns()};
}

}  // namespace

proto::Result<SpoolFolder> create_spool_folder(const std::string& folder,
                                               const proto::StreamSession& session) {
  if (fs::exists(folder)) {
    return proto::Error{proto::ErrorCode::kExists,
                        folder +
                            ": an earlier run left samples for the service there; send them "
                            "with rigcal-daq send, or choose another name"};
  }
  auto spool = proto::Spool::open(folder);
  if (!spool.ok()) return spool.error();
  try {
    proto::write_file(session_path(folder), session_bytes(session));
  } catch (const proto::InputError& error) {
    remove_spool_folder(folder);
    return proto::Error{proto::ErrorCode::kInputOutput, error.what()};
  }
  return SpoolFolder{std::move(spool.value()), session};
}

proto::Result<SpoolFolder> open_spool_folder(const std::string& folder) {
  auto session = read_session(folder);
  if (!session.ok()) return session.error();
  auto spool = proto::Spool::open(folder);
  if (!spool.ok()) return spool.error();
  return SpoolFolder{std::move(spool.value()), std::move(session.value())};
}

void remove_spool_folder(const std::string& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

}  // namespace daq
