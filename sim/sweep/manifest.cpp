// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/manifest.h"

#include <fmt/format.h>

#include "sim/base/csv.h"
#include "sim/base/error.h"
#include "sim/sweep/point_identity.h"

namespace systole::sweep {
namespace {

constexpr std::size_t kFirst = 3;  // columns before those of keys

std::string_view line_at(const std::string& text, std::size_t begin) {
    return std::string_view(text).substr(begin, text.find('\n', begin) + 1 - begin);
}

}  // namespace

Manifest::Manifest(const std::vector<std::string>& columns) : columns_(columns) {
    std::vector<std::string> header{"id", "device", "trace"};
    header.insert(header.end(), columns.begin(), columns.end());
    text_ = csv_line(header);
}

Manifest Manifest::parse(std::string text, const std::string& file) {
    Manifest manifest;
    manifest.file_ = file;
    manifest.text_ = std::move(text);
    const std::string& all = manifest.text_;
    if (all.empty() || all.back() != '\n')
        throw UserError({file}, "the manifest ends in the middle of a line");
    const std::vector<CsvRow> header = parse_csv(line_at(all, 0), file);
    if (header.empty() || header[0].cells.size() < kFirst || header[0].cells[0] != "id")
        throw UserError({file, 1, 1}, "expected a manifest, which begins with 'id,device,trace'");
    manifest.columns_.assign(header[0].cells.begin() + kFirst, header[0].cells.end());
    for (std::size_t at = all.find('\n') + 1; at < all.size(); at = all.find('\n', at) + 1) {
        if (line_at(all, at).find(',') != PointIdentity::kDigits)
            throw UserError({file, static_cast<int>(manifest.size()) + 2, 1},
                            fmt::format("expected an id of {} digits", PointIdentity::kDigits));
        manifest.lines_.push_back(at);
    }
    return manifest;
}

void Manifest::add(const Point& point) {
    lines_.push_back(text_.size());
    std::vector<std::string> cells{point.id, point.device, point.trace};
    cells.insert(cells.end(), point.values.begin(), point.values.end());
    text_ += csv_line(cells);
}

std::string_view Manifest::id(std::size_t point) const {
    return std::string_view(text_).substr(lines_[point], PointIdentity::kDigits);
}

Point Manifest::point(std::size_t point) const {
    const std::vector<CsvRow> rows = parse_csv(line_at(text_, lines_[point]), file_);
    if (rows.size() != 1 || rows[0].cells.size() != kFirst + columns_.size())
        throw UserError({file_, static_cast<int>(point) + 2, 1},
                        fmt::format("expected {} cells", kFirst + columns_.size()));
    const std::vector<std::string>& cells = rows[0].cells;
    return {cells[0], cells[1], cells[2], {cells.begin() + kFirst, cells.end()}};
}

std::vector<Setting> Manifest::settings(const Point& point) const {
    std::vector<Setting> settings;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        // Paths hold no ':', names of files may.
        const std::size_t colon = columns_[i].rfind(':');
        const std::string path = columns_[i].substr(colon == std::string::npos ? 0 : colon + 1);
        if (path.find('.') == std::string::npos) continue;
        if (colon != std::string::npos && columns_[i].substr(0, colon) != point.device) continue;
        settings.push_back({path, point.values[i], {"--set " + path}});
    }
    return settings;
}

}  // namespace systole::sweep
