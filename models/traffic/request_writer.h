// SPDX-License-Identifier: Apache-2.0
// Writes requests as a trace that RequestReader reads back: plain, or gzipped if the name ends in ".gz".
#pragma once

#include <filesystem>
#include <string>

#include "models/traffic/request_source.h"
#include "sim/account/staged_place.h"

struct gzFile_s;

namespace systole {

class RequestWriter {
public:
    /// The file appears in its place with commit(), complete. Throws UserError if it cannot be written.
    explicit RequestWriter(const std::filesystem::path& target);
    RequestWriter(const RequestWriter&) = delete;
    RequestWriter& operator=(const RequestWriter&) = delete;
    ~RequestWriter();

    void add(const MemoryRequest& request);
    /// Each throws UserError when it cannot: a full disk is noticed in either.
    void close();
    void commit() { place_.commit(); }

private:
    void flush();

    StagedPlace place_;
    gzFile_s* file_;
    std::string text_;  // not yet handed over
};

/// Hands on what another source gives and writes it down.
class RecordedSource : public RequestSource {
public:
    /// Both must outlive this.
    RecordedSource(RequestSource& source, RequestWriter& writer) : source_(source), writer_(writer) {}
    bool next(MemoryRequest& request) override {
        if (!source_.next(request)) return false;
        writer_.add(request);
        return true;
    }

private:
    RequestSource& source_;
    RequestWriter& writer_;
};

}  // namespace systole
