#pragma once

#include <functional>
#include <memory>
#include <string>

#include "proto/result.hpp"
#include "proto/service.pb.h"
#include "proto/stream/content_name.hpp"
#include "service/server/outcome.hpp"
#include "service/server/service_context.hpp"

namespace service {

/// A recording that a client sends as a file. Parts are made durable one by one; the last one gives
/// the file its name, if the content is what the upload's id promises (see OpenUpload); else
/// nothing of it is kept.
///
/// After a part that could not be written or made durable the upload is to be opened again, and
/// begins again at byte 0: nothing on the disk tells good bytes from those that were lost, as a
/// spool's checksums do, and the client has the file until it is complete.
class Upload : public std::enable_shared_from_this<Upload> {
 public:
  using Answer = std::function<void(const Outcome<rigcal::v1::UploadState>&)>;

  /// @param ended  called when the file is complete, or gone: then is_stored() tells no
  Upload(ServiceContext& context, std::string folder, rigcal::v1::SessionRecord record,
         std::function<void(const Upload&)> ended);

  /// Makes its folder, or finds how far it came.
  void open(const Answer& answer);
  void append(std::uint64_t offset_bytes, std::string data, const Answer& answer);

  bool is_stored() const { return record_.info().state() == rigcal::v1::SESSION_STORED; }
  const rigcal::v1::SessionRecord& record() const { return record_; }

 private:
  /// How far it came on the disk.
  struct Progress {
    proto::Status status;
    std::uint64_t durable_bytes = 0;
    rigcal::v1::SessionRecord record{};
  };
  void finished(const Progress& progress, const Answer& answer);
  bool checks_content() const;

  ServiceContext& context_;
  std::string folder_;
  rigcal::v1::SessionRecord record_;
  std::function<void(const Upload&)> ended_;
  Poster storage_;
  std::shared_ptr<proto::ContentName> content_;  // of the durable bytes, once it is open
  std::uint64_t durable_bytes_ = 0;
  bool opened_ = false;
  bool busy_ = false;  // one thing at a time is under way
};

}  // namespace service
