// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "sim/account/output_files.h"
#include "sim/base/error.h"
#include "sim/base/schema.h"
#include "sim/sweep/digest.h"
#include "sim/sweep/point_identity.h"

namespace systole::sweep {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr auto kStale = std::chrono::minutes(10);

/// A file's bytes, or why there are none.
struct FileText {
    std::optional<std::string> text;
    int error = 0;
};

FileText read_file(const fs::path& file) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "rb"), std::fclose);
    if (!stream) return {{}, errno};
    std::string text;
    std::array<char, 16384> buffer;
    std::size_t got = 0;
    while ((got = std::fread(buffer.data(), 1, buffer.size(), stream.get())) > 0)
        text.append(buffer.data(), got);
    if (std::ferror(stream.get()) != 0) return {{}, errno};
    return {std::move(text), 0};
}

std::string read_part(const fs::path& file) {
    FileText read = read_file(file);
    if (!read.text)
        throw UserError({file.string()},
                        fmt::format("cannot be read ({}); expected a folder of 'systole sweep', whole",
                                    std::generic_category().message(read.error)));
    return std::move(*read.text);
}

/// A file's object; nothing if it is broken.
std::optional<Json> read_json(const fs::path& file) {
    const auto [text, error] = read_file(file);
    if (!text) return {};
    Json json = Json::parse(*text, nullptr, false);
    if (!json.is_object()) return {};
    return json;
}

void make_directories(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error)
        throw UserError(fmt::format("cannot make the folder '{}': {}", path.string(), error.message()));
}

bool is_id(const std::string& text) {
    return text.size() == PointIdentity::kDigits &&
           text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// 0 for what is no count.
std::size_t positive(const Json& json) {
    constexpr std::uint64_t kMost = 1'000'000'000;
    if (!json.is_number_unsigned() || json.get<std::uint64_t>() > kMost) return 0;
    return json.get<std::size_t>();
}

void write_identity(const fs::path& path, const FolderIdentity& identity, const Manifest& manifest) {
    std::error_code ignored;  // then it is the directory as it is
    const Json json{{"schema", kSweepSchema.current},
                    {"program", identity.program},
                    {"build", identity.build},
                    {"points", manifest.size()},
                    {"chunk_points", identity.chunk_points},
                    {"chunks_are_fixed", identity.chunks_are_fixed},
                    {"directory", fs::proximate(identity.directory, path, ignored).string()},
                    {"experiment_sha256", sha256(identity.experiment)},
                    {"manifest_sha256", sha256(manifest.text())}};
    try {
        write_file(path / "sweep.json", json.dump(2) + '\n');
    } catch (const Json::type_error&) {
        throw UserError(
            fmt::format("the way from '{}' to its experiment has a name that is no UTF-8; expected a "
                        "folder beside it",
                        path.string()));
    }
}

}  // namespace

Folder::Folder(fs::path path, FolderIdentity identity, Manifest manifest)
    : path_(std::move(path)), identity_(std::move(identity)), manifest_(std::move(manifest)) {}

Folder Folder::open(const fs::path& path) {
    const fs::path file = path / "sweep.json";
    if (std::error_code ignored; !fs::exists(file, ignored))
        throw UserError(
            fmt::format("'{}' is no folder of a sweep: there is no sweep.json in it; 'systole sweep "
                        "EXPERIMENT -o DIR' makes one",
                        path.string()));
    const UserError strange({file.string()}, "this is not what 'systole sweep' writes");
    const auto json = read_json(file);
    if (!json) throw strange;
    FolderIdentity identity;
    std::string of_manifest, of_experiment;
    try {
        const Json& schema = json->at("schema");
        // A conversion of 1e+99 to a whole number has no defined result.
        if (!schema.is_number_integer()) throw strange;
        if (const std::string complaint = schema_complaint(kSweepSchema, schema.get<std::int64_t>());
            !complaint.empty())
            throw UserError({file.string()}, complaint);
        identity.program = json->at("program").get<std::string>();
        identity.build = json->at("build").get<std::string>();
        identity.directory =
            (fs::canonical(path) / json->at("directory").get<std::string>()).lexically_normal();
        identity.chunk_points = positive(json->at("chunk_points"));
        identity.chunks_are_fixed = json->at("chunks_are_fixed").get<bool>();
        of_manifest = json->at("manifest_sha256").get<std::string>();
        of_experiment = json->at("experiment_sha256").get<std::string>();
    } catch (const Json::exception&) {
        throw strange;
    }
    if (identity.chunk_points == 0) throw strange;
    const auto part = [&](const char* name, const std::string& planned) {
        std::string text = read_part(path / name);
        if (sha256(text) != planned)
            throw UserError({(path / name).string()},
                            "it is not as it was planned (sweep.json has another digest of it)");
        return text;
    };
    identity.experiment = part("experiment.yaml", of_experiment);
    std::string text = part("manifest.csv", of_manifest);
    return {path, std::move(identity), Manifest::parse(std::move(text), (path / "manifest.csv").string())};
}

void Folder::refuse_other(const fs::path& path, const FolderIdentity& identity, const Manifest& manifest) {
    std::error_code ignored;
    if (fs::exists(path / "sweep.json", ignored)) {
        const Folder there = open(path);
        if (there.identity_.program != identity.program)
            throw UserError(fmt::format("'{}' was planned by {}, and this is {}; give another folder with -o",
                                        path.string(), there.identity_.program, identity.program));
        if (there.identity_.experiment != identity.experiment || there.manifest_.text() != manifest.text())
            throw UserError(fmt::format(
                "'{}' belongs to another experiment, or to this one with devices or traces that have "
                "changed since; give another folder with -o",
                path.string()));
        return;
    }
    // What an interrupted plan of this sweep left is its own.
    const std::map<std::string, const std::string*> own{{"experiment.yaml", &identity.experiment},
                                                        {"manifest.csv", &manifest.text()}};
    for (fs::directory_iterator entry(path, ignored), end; entry != end; entry.increment(ignored)) {
        const std::string name = entry->path().filename().string();
        if (name == "lock" || name.starts_with('.')) continue;
        const auto part = own.find(name);
        if (part == own.end() || read_file(entry->path()).text != *part->second)
            throw UserError(fmt::format("'{}' holds other files ('{}'); a sweep wants a folder of its own",
                                        path.string(), name));
    }
}

Folder Folder::create(const fs::path& path, const FolderIdentity& identity, const Manifest& manifest) {
    refuse_other(path, identity, manifest);
    if (std::error_code ignored; fs::exists(path / "sweep.json", ignored)) return open(path);
    make_directories(path);
    // sweep.json comes last: it makes the folder a sweep.
    write_file(path / "experiment.yaml", identity.experiment);
    write_file(path / "manifest.csv", manifest.text());
    write_identity(path, identity, manifest);
    return open(path);
}

void Folder::fix_chunk_points(std::size_t points) {
    if (identity_.chunks_are_fixed && identity_.chunk_points == points) return;
    if (identity_.chunks_are_fixed)
        throw UserError(
            fmt::format("chunks of '{}' have {} points, by whose numbers they may be queued; give "
                        "another folder for chunks of {}",
                        path_.string(), identity_.chunk_points, points));
    identity_.chunk_points = points;
    identity_.chunks_are_fixed = true;
    write_identity(path_, identity_, manifest_);
}

fs::path Folder::place(std::string_view id) const {
    return path_ / "points" / id.substr(0, 2) / fmt::format("{}.json", id);
}

std::vector<fs::path> Folder::result_files() const {
    std::vector<fs::path> files;
    std::error_code ignored;  // no folder yet: nothing is finished
    for (fs::directory_iterator shelf(path_ / "points", ignored), end; shelf != end;
         shelf.increment(ignored)) {
        std::error_code error;
        for (fs::directory_iterator file(shelf->path(), error); file != end; file.increment(error))
            if (file->path().extension() == ".json" && is_id(file->path().stem().string()) &&
                file->is_regular_file(ignored))
                files.push_back(file->path());
    }
    return files;
}

std::vector<std::string> Folder::finished() const {
    std::vector<std::string> ids;
    for (const fs::path& file : result_files()) ids.push_back(file.stem().string());
    std::sort(ids.begin(), ids.end());
    return ids;
}

bool Folder::results_after(fs::file_time_type time) const {
    return std::ranges::any_of(result_files(), [time](const fs::path& file) {
        std::error_code gone;
        const fs::file_time_type written = fs::last_write_time(file, gone);
        return gone || written > time;
    });
}

std::optional<PointResult> Folder::result(std::string_view id) const {
    const fs::path file = place(id);
    const auto [text, cause] = read_file(file);
    if (!text && (cause == ENOENT || cause == ENOTDIR)) return {};
    if (!text) throw UserError("its result cannot be read: " + std::generic_category().message(cause));
    try {
        const Json json = Json::parse(*text);
        PointResult result;
        result.id = json.at("id").get<std::string>();
        const auto status = json.at("status").get<std::string>();
        result.refused = status == "refused";
        if (result.refused) result.error = json.at("error").get<std::string>();
        for (const auto& [name, value] : json.at("figures").items())
            result.figures.push_back({name, value.get<std::string>()});
        result.wall_s = json.at("wall_s").get<double>();
        if (result.id == id && (result.refused || status == "done")) return result;
    } catch (const Json::exception&) {
        // broken, as one of another point is
    }
    std::error_code ignored;  // then the point's next result takes its place
    fs::remove(file, ignored);
    return {};
}

void Folder::write(const PointResult& result) const {
    Json figures = Json::object();
    for (const Metric& figure : result.figures) figures[figure.name] = figure.value;
    Json json{{"id", result.id}, {"status", result.refused ? "refused" : "done"}};
    if (result.refused) json["error"] = result.error;
    json["figures"] = std::move(figures);
    json["wall_s"] = result.wall_s;
    const fs::path file = place(result.id);
    try {
        make_directories(file.parent_path());
        write_file(file, json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n');
    } catch (const UserError& error) {
        // Of thousands of points that a full disk stops, one reason: without their names.
        const std::string& message = error.diagnostics().front().message;
        throw UserError("its result cannot be written: " + message.substr(message.rfind(": ") + 2));
    }
}

std::map<std::string, std::string> Folder::failures() const {
    std::map<std::string, std::string> reasons;
    std::error_code ignored;
    for (fs::directory_iterator file(path_ / "failed", ignored), end; file != end; file.increment(ignored)) {
        const std::string id = file->path().stem().string();
        if (!is_id(id) || file->path().extension() != ".json") continue;
        const auto json = read_json(file->path());
        reasons[id] = json && json->contains("reason") && json->at("reason").is_string()
                          ? json->at("reason").get<std::string>()
                          : "failed; why was not recorded";
    }
    return reasons;
}

void Folder::write_failure(std::string_view id, const std::string& reason) const {
    const fs::path file = path_ / "failed" / fmt::format("{}.json", id);
    if (reason.empty()) {
        std::error_code ignored;
        fs::remove(file, ignored);
        return;
    }
    make_directories(file.parent_path());
    const Json json{{"id", id}, {"reason", reason}};
    write_file(file, json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n');
}

void Folder::sweep_up() const {
    std::error_code ignored;
    const auto before = fs::file_time_type::clock::now() - kStale;
    for (fs::recursive_directory_iterator file(path_, ignored), end; file != end; file.increment(ignored)) {
        const std::string name = file->path().filename().string();
        std::error_code error;
        if (name.starts_with('.') && name.ends_with(".tmp") &&
            fs::last_write_time(file->path(), error) < before && !error)
            fs::remove(file->path(), error);
    }
}

void Folder::sweep_up(std::string_view id) const {
    std::error_code ignored;
    const std::string begin = fmt::format(".{}.json.", id);
    for (fs::directory_iterator file(place(id).parent_path(), ignored), end; file != end;
         file.increment(ignored)) {
        const std::string name = file->path().filename().string();
        std::error_code error;
        if (name.starts_with(begin) && name.ends_with(".tmp")) fs::remove(file->path(), error);
    }
}

}  // namespace systole::sweep
