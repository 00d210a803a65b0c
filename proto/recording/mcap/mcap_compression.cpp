#include "proto/recording/mcap/mcap_compression.hpp"

#include <lz4frame.h>
#include <zstd.h>

namespace proto {
namespace {

bool expand_zstd(std::span<const std::uint8_t> records, Bytes& out) {
  const std::size_t written =
      ZSTD_decompress(out.data(), out.size(), records.data(), records.size());
  return ZSTD_isError(written) == 0 && written == out.size();
}

bool expand_lz4(std::span<const std::uint8_t> records, Bytes& out) {
  LZ4F_dctx* context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) return false;
  std::size_t read = 0, written = 0;
  bool fine = true, continues_across_gap = true;
  while (fine && continues_across_gap) {
    std::size_t taken = records.size() - read, made = out.size() - written;
    const std::size_t hint = LZ4F_decompress(context, out.data() + written, &made,
                                             records.data() + read, &taken, nullptr);
    fine = LZ4F_isError(hint) == 0;
    read += taken;
    written += made;
    continues_across_gap = read < records.size() && (taken > 0 || made > 0);
    fine = fine && (continues_across_gap || hint == 0);  // otherwise the frame is incomplete
  }
  LZ4F_freeDecompressionContext(context);
  return fine && read == records.size() && written == out.size();
}

}  // namespace

bool is_known_compression(std::string_view compression) {
  return compression.empty() || compression == "zstd" || compression == "lz4";
}

bool expand_records(std::string_view compression, std::span<const std::uint8_t> records,
                    std::size_t size, Bytes& out) {
  out.resize(size);
  if (compression == "zstd") return expand_zstd(records, out);
  return compression == "lz4" && expand_lz4(records, out);
}

}  // namespace proto
