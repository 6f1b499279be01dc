// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/packed_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "sim/base/error.h"

namespace systole {
namespace {

constexpr std::size_t kRaw = 128 * 1024;
constexpr int kGzip = 15 + 16;  // inflateInit2: the largest window, and a gzip header

[[noreturn]] void cannot_read(const std::string& name) {
    throw UserError(fmt::format("cannot read '{}': {}", name, std::generic_category().message(errno)));
}

}  // namespace

PackedFile::PackedFile(const std::string& path, std::string name)
    : name_(std::move(name)),
      descriptor_(path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      raw_(kRaw),
      stream_(std::make_unique<z_stream>()) {
    if (descriptor_ < 0) cannot_read(name_);
    if (inflateInit2(stream_.get(), kGzip) != Z_OK) {
        ::close(descriptor_);
        throw std::bad_alloc();
    }
}

PackedFile::~PackedFile() {
    inflateEnd(stream_.get());
    ::close(descriptor_);
}

std::size_t PackedFile::read(char* to, std::size_t size) {
    for (;;) switch (state_) {
            case State::Begin:
                begin();
                break;
            case State::Plain:
                return read_plain(to, size);
            case State::Member:
                if (const std::size_t got = inflate(to, size); got > 0) return got;
                break;
            case State::Between:
                go_on();
                break;
            case State::End:
                return 0;
        }
}

/// Reads until there are `least` bytes, or all there are.
void PackedFile::read_raw(std::size_t least) {
    if (end_ - begin_ >= least) return;
    std::memmove(raw_.data(), raw_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    while (end_ < least) {
        const ssize_t got = ::read(descriptor_, raw_.data() + end_, raw_.size() - end_);
        if (got == 0) return;
        if (got > 0)
            end_ += static_cast<std::size_t>(got);
        else if (errno != EINTR)
            cannot_read(name_);
    }
}

bool PackedFile::at_member() const {
    return end_ - begin_ >= 2 && raw_[begin_] == 0x1F && raw_[begin_ + 1] == 0x8B;
}

void PackedFile::begin() {
    read_raw(2);
    state_ = at_member() ? State::Member : State::Plain;
}

/// Behind a member comes another, or the end, perhaps behind zeros (files from tapes are filled up so).
void PackedFile::go_on() {
    for (read_raw(2); begin_ < end_ && raw_[begin_] == 0; read_raw(2)) ++begin_;
    if (at_member()) {
        inflateReset(stream_.get());
        state_ = State::Member;
        return;
    }
    stop(begin_ == end_ ? "" : "behind the end of the gzip file follows something else; was it damaged?");
}

std::size_t PackedFile::read_plain(char* to, std::size_t size) {
    read_raw(1);
    const std::size_t got = std::min(size, end_ - begin_);
    std::memcpy(to, raw_.data() + begin_, got);
    begin_ += got;
    return got;
}

/// Unpacks what it can; 0 once the member ends or goes wrong, or before there is anything.
std::size_t PackedFile::inflate(char* to, std::size_t size) {
    read_raw(1);
    if (begin_ == end_) {
        stop("the gzip file ends early; was it truncated?");
        return 0;
    }
    stream_->next_in = raw_.data() + begin_;
    stream_->avail_in = static_cast<uInt>(end_ - begin_);
    stream_->next_out = reinterpret_cast<unsigned char*>(to);
    stream_->avail_out = static_cast<uInt>(size);
    const int status = ::inflate(stream_.get(), Z_NO_FLUSH);
    begin_ = end_ - stream_->avail_in;
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_STREAM_END)
        state_ = State::Between;
    else if (status != Z_OK && status != Z_BUF_ERROR)
        stop(fmt::format("the gzip file is damaged: {}",
                         stream_->msg ? stream_->msg : "no data format of gzip"));
    return size - stream_->avail_out;
}

void PackedFile::stop(std::string fault) {
    state_ = State::End;
    fault_ = std::move(fault);
}

}  // namespace systole
