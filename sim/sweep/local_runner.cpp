// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/local_runner.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <list>
#include <system_error>

#include "sim/config/quantity.h"
#include "sim/sweep/point_identity.h"
#include "sim/sweep/point_process.h"

namespace systole::sweep {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uintmax_t kLeastSpace = 64 << 10;  // bytes of a disk that is not full
constexpr int kLook = 100;                        // milliseconds between looks at limits and at `stop`

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The last lines of what a process said, as one.
std::string last_words(const std::string& words) {
    constexpr std::size_t kMost = 300;
    const std::size_t end = words.find_last_not_of("\n ");
    if (end == std::string::npos) return "";
    std::string text = words.substr(0, end + 1);
    constexpr std::string_view kPlaceless = "systole: error: ";  // of mistakes that are in no file
    if (text.starts_with(kPlaceless)) text.erase(0, kPlaceless.size());
    if (text.size() > kMost) {
        std::size_t begin = text.size() - kMost;
        while ((static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) ++begin;  // not within a character
        text = "…" + text.substr(begin);
    }
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

/// What a process of a point does: its result, or what the device refuses, becomes a file.
void run_point(const Folder& folder, const Simulator& simulator, const Point& point,
               const std::vector<Setting>& settings) {
    const auto begin = Clock::now();
    PointResult result;
    result.id = point.id;
    try {
        result.figures = simulator.run(point.device, point.trace, settings);
    } catch (const UserError& error) {
        result.refused = true;
        result.error = last_words(error.what());
    }
    result.wall_s = seconds_since(begin);
    folder.write(result);
}

std::string reason_of(const ProcessEnd& end, Bytes memory) {
    const std::string words = last_words(end.words);
    switch (end.kind) {
        case ProcessEnd::Kind::Done:
            return "";
        case ProcessEnd::Kind::OutOfMemory:
            return fmt::format("asked for more memory than the limit of {}",
                               config::format_quantity(memory.value(), config::Dimension::Size));
        case ProcessEnd::Kind::Failed:
            return words.empty() ? "failed without a word" : words;
        case ProcessEnd::Kind::Killed:
            break;
    }
    return fmt::format("crashed by signal {} ({}){}{}", end.signal, ::strsignal(end.signal),
                       words.empty() ? "" : ": ", words);
}

class Runner {
public:
    Runner(const Folder& folder, const Simulator& simulator, const std::vector<std::size_t>& points,
           const RunnerOptions& options)
        : folder_(folder),
          identity_(simulator),
          simulator_(simulator),
          points_(points),
          options_(options),
          had_failed_(folder.failures()) {}

    RunnerReport run() {
        while (next_ < points_.size() || !running_.empty()) {
            if (options_.stop()) {
                report_.stopped = true;
                kill_all();
                break;
            }
            while (next_ < points_.size() && running_.size() < static_cast<std::size_t>(options_.jobs))
                if (!start(points_[next_])) break;
            wait();
            options_.progress(report_.ended, report_.failed);
        }
        return std::move(report_);
    }

private:
    struct Running {
        std::string id;
        PointProcess process;
        Clock::time_point begin;
        bool late = false;
    };

    void kill_all() {
        std::vector<std::string> killed;
        for (const Running& each : running_) killed.push_back(each.id);
        running_.clear();  // which kills them
        for (const std::string& id : killed) folder_.sweep_up(id);
    }

    /// False where the machine has no room for another process now.
    bool start(std::size_t number) {
        const Point point = folder_.manifest().point(number);
        const std::vector<Setting> settings = folder_.manifest().settings(point);
        try {
            if (identity_.id(point.device, point.trace, settings) != point.id)
                throw UserError(
                    "its device, its trace or a file that these name has changed since the sweep was "
                    "planned; plan it again in another folder");
            // A full disk would take no result: nothing is simulated for it.
            if (std::error_code ignored;
                std::filesystem::space(folder_.path(), ignored).available < kLeastSpace)
                throw UserError(
                    fmt::format("its result cannot be written: {}", std::generic_category().message(ENOSPC)));
            running_.push_back(
                {point.id,
                 PointProcess([&] { run_point(folder_, simulator_, point, settings); }, options_.memory),
                 Clock::now()});
        } catch (const UserError& error) {
            end(point.id, last_words(error.what()));
        } catch (const std::system_error& error) {
            if (!running_.empty()) return false;
            end(point.id, fmt::format("no process could be made: {}", error.what()));
        }
        ++next_;
        return true;
    }

    void wait() {
        std::vector<pollfd> waiting;
        for (const Running& each : running_) waiting.push_back({each.process.descriptor(), POLLIN, 0});
        if (waiting.empty()) return;
        ::poll(waiting.data(), waiting.size(), kLook);
        for (auto each = running_.begin(); each != running_.end();) {
            if (!each->late && seconds_since(each->begin) > limit_s()) {
                each->late = true;
                each->process.kill();
            }
            const auto ended = each->process.look();
            if (!ended) {
                ++each;
                continue;
            }
            // A point that came to its end just as it was killed has its result.
            const bool killed = each->late && ended->kind != ProcessEnd::Kind::Done;
            end(each->id,
                killed ? fmt::format("took longer than the limit of {}",
                                     config::format_quantity(options_.time.value(), config::Dimension::Time))
                       : reason_of(*ended, options_.memory));
            each = running_.erase(each);
        }
    }

    double limit_s() const {
        return static_cast<double>(options_.time.value()) / static_cast<double>(kTicksPerSecond);
    }

    void end(const std::string& id, const std::string& reason) {
        ++report_.ended;
        if (!reason.empty()) {
            ++report_.failed, ++report_.failures[reason];
            folder_.sweep_up(id);
        }
        try {
            if (!reason.empty() || had_failed_.contains(id)) folder_.write_failure(id, reason);
        } catch (const UserError&) {
            // A full disk or a read-only folder: the report says it, and the next run finds no result.
            if (!reason.empty()) ++report_.unrecorded[reason];
        }
    }

    const Folder& folder_;
    PointIdentity identity_;
    const Simulator& simulator_;
    const std::vector<std::size_t>& points_;
    const RunnerOptions& options_;
    std::map<std::string, std::string> had_failed_;
    std::size_t next_ = 0;
    std::list<Running> running_;
    RunnerReport report_;
};

}  // namespace

RunnerReport run_points(const Folder& folder, const Simulator& simulator,
                        const std::vector<std::size_t>& points, const RunnerOptions& options) {
    return Runner(folder, simulator, points, options).run();
}

}  // namespace systole::sweep
