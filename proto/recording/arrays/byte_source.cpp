#include "proto/recording/arrays/byte_source.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace proto {

struct Inflater {
  explicit Inflater(Packing packing) {
    // Negative window bits mean deflate data without the header of zlib.
    ready = inflateInit2(&stream, packing == Packing::kZlib ? MAX_WBITS : -MAX_WBITS) == Z_OK;
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
  bool ready = false;
};

namespace {
constexpr std::size_t kPieceSize = std::size_t{1} << 16;  // read or discarded at once [byte]
}

ByteSource::ByteSource(const InputFile& file, std::uint64_t offset, std::uint64_t size,
                       Packing packing, std::uint64_t* budget)
    : file_(file), offset_(offset), end_(offset + size), budget_(budget) {
  if (packing == Packing::kNone) return;
  inflater_ = std::make_unique<Inflater>(packing);
  ok_ = inflater_->ready;
}

ByteSource::~ByteSource() = default;

std::uint64_t ByteSource::remaining_max() const {
  return inflater_ ? (budget_ == nullptr ? UINT64_MAX : *budget_) : end_ - offset_;
}

bool ByteSource::fill() {
  packed_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPieceSize, end_ - offset_)));
  if (packed_.empty() || !file_.read(offset_, packed_).ok()) return false;
  offset_ += packed_.size();
  inflater_->stream.next_in = packed_.data();
  inflater_->stream.avail_in = static_cast<uInt>(packed_.size());
  return true;
}

bool ByteSource::read(std::span<std::uint8_t> out) {
  if (!ok_) return false;
  if (!inflater_) {
    ok_ = out.size() <= end_ - offset_ && file_.read(offset_, out).ok();
    offset_ += ok_ ? out.size() : 0;
  } else if (budget_ != nullptr && *budget_ < out.size()) {
    *budget_ = 0;
    ok_ = false;
  } else {
    if (budget_ != nullptr) *budget_ -= out.size();
    std::span<std::uint8_t> rest = out;
    while (ok_ && !rest.empty()) {
      z_stream& stream = inflater_->stream;
      if (stream.avail_in == 0 && !fill()) return ok_ = false;
      const std::size_t wanted = std::min(rest.size(), kPieceSize);
      stream.next_out = rest.data();
      stream.avail_out = static_cast<uInt>(wanted);
      const int status = inflate(&stream, Z_NO_FLUSH);
      rest = rest.subspan(wanted - stream.avail_out);
      ok_ = status == Z_OK || (status == Z_STREAM_END && rest.empty());
    }
  }
  position_ += ok_ ? out.size() : 0;
  return ok_;
}

bool ByteSource::skip(std::uint64_t size) {
  if (!inflater_) {
    ok_ = ok_ && size <= end_ - offset_;
    offset_ += ok_ ? size : 0;
    position_ += ok_ ? size : 0;
    return ok_;
  }
  std::array<std::uint8_t, kPieceSize> unused;
  for (std::uint64_t left = size; ok_ && left > 0;) {
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(left, kPieceSize));
    read(std::span(unused).first(piece));
    left -= piece;
  }
  return ok_;
}

}  // namespace proto
