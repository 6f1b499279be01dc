// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/request_writer.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <iterator>
#include <utility>

namespace systole {
namespace {

constexpr std::size_t kChunk = 64 * 1024;

}  // namespace

RequestWriter::RequestWriter(const std::filesystem::path& target)
    : place_(target), file_(gzopen(place_.temporary().c_str(), target.extension() == ".gz" ? "wb" : "wbT")) {
    if (file_ == nullptr) place_.fail(errno);
}

RequestWriter::~RequestWriter() {
    if (file_ != nullptr) gzclose(file_);
}

void RequestWriter::add(const MemoryRequest& request) {
    fmt::format_to(std::back_inserter(text_), "{} {} {:x}\n", request.clock.value(),
                   request.direction == Direction::Read ? 'R' : 'W', request.address);
    if (text_.size() >= kChunk) flush();
}

void RequestWriter::flush() {
    if (text_.empty()) return;
    if (gzwrite(file_, text_.data(), static_cast<unsigned>(text_.size())) == 0) place_.fail(errno);
    text_.clear();
}

void RequestWriter::close() {
    flush();
    if (gzclose(std::exchange(file_, nullptr)) != Z_OK) place_.fail(errno);
}

}  // namespace systole
