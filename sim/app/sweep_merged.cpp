// SPDX-License-Identifier: Apache-2.0
#include "sim/app/sweep_merged.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "sim/account/output_files.h"
#include "sim/app/files.h"
#include "sim/app/sweep_text.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"
#include "sim/base/schema.h"
#include "sim/sweep/sqlite_table.h"

namespace systole::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kSummary = "summary.json";
constexpr std::size_t kLargestSummary = 1 << 20;

}  // namespace

sweep::MergedTable merge_results(const Session& session) {
    const Progress progress("merging results");
    return sweep::merge(session.folder, session.experiment, session.simulator);
}

Conclusion write_merged(const Session& session, const sweep::MergedTable& table) {
    const fs::path& path = session.folder.path();
    Conclusion conclusion{summary_text(session.experiment, table),
                          table.tally.done == table.tally.points ? 0 : kSomePointsFailed};
    std::vector<OutputFile> files{{"points.csv", sweep::to_csv(table)}};
    if (!session.experiment.objectives.empty()) files.push_back({"front.csv", sweep::front_csv(table)});
    write_files(path, files);
    sweep::write_sqlite(table, path / "points.sqlite");
    // It comes last: where it is, the others are.
    const Json json{{"schema", kSweepSchema.current},
                    {"finished", table.tally.done + table.tally.refused},
                    {"exit_code", conclusion.code},
                    {"summary", conclusion.summary}};
    write_file(path / kSummary, json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
    return conclusion;
}

std::vector<std::string> sweep_files() {
    return {"experiment.yaml", "manifest.csv",  "sweep.json", "points", "failed", "slurm", "lock",
            "points.csv",      "points.sqlite", "front.csv",  kSummary};
}

std::optional<Conclusion> still_merged(const Session& session) {
    const fs::path& path = session.folder.path();
    std::error_code error;
    for (const char* name : {"points.csv", "points.sqlite"})
        if (!fs::exists(path / name, error)) return {};
    if (!session.experiment.objectives.empty() && !fs::exists(path / "front.csv", error)) return {};
    try {
        const Json json = Json::parse(read_text((path / kSummary).string(), kLargestSummary));
        if (session.folder.results_after(fs::last_write_time(path / kSummary))) return {};
        if (json.at("finished") != session.folder.manifest().size()) return {};
        for (const int code : {0, kSomePointsFailed})
            if (json.at("exit_code") == code) return Conclusion{json.at("summary").get<std::string>(), code};
        return {};
    } catch (const Json::exception&) {
        return {};
    } catch (const UserError&) {
        return {};
    } catch (const fs::filesystem_error&) {
        return {};
    }
}

}  // namespace systole::app
