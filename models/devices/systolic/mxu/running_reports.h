// SPDX-License-Identifier: Apache-2.0
// The passes of a tile engine that are not taken yet: their reports are known from the start, and told when
// their time has come.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>

#include "models/devices/systolic/mxu/matrix_engine.h"

namespace systole {

class RunningReports {
public:
    /// `tile` on an array as `spec` says, with `times` for `pass`.
    void start(const ArraySpec& spec, const Tile& tile, const Pass& pass, const PassTimes& times) {
        const std::int64_t used = std::int64_t{tile.rows} * tile.cols;
        const std::int64_t all = std::int64_t{spec.rows} * spec.cols;
        reports_.push_back({times, pass.vectors * used, pass.vectors * (all - used)});
    }
    /// The oldest, if both the array and the port are through with it.
    std::optional<PassReport> take_finished(Cycles now) {
        if (reports_.empty() || finish(reports_.front()) > now) return std::nullopt;
        const PassReport report = reports_.front();
        reports_.pop_front();
        return report;
    }
    /// When the next one after `now` finishes; kNever: none runs.
    Cycles next_finish(Cycles now) const {
        const auto later = [now](const PassReport& report) { return finish(report) > now; };
        const auto running = std::find_if(reports_.begin(), reports_.end(), later);
        return running == reports_.end() ? kNever : finish(*running);
    }

private:
    static Cycles finish(const PassReport& report) {
        return std::max(report.times.done, report.times.stream_end);
    }

    std::deque<PassReport> reports_;
};

}  // namespace systole
