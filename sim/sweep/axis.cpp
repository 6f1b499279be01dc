// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/axis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "sim/config/leaf_text.h"
#include "sim/sweep/range.h"

namespace systole::sweep {
namespace {

using config::YamlEntry;
using config::YamlNode;

constexpr std::size_t kMostValues = 1'000'000;
constexpr std::string_view kForms =
    "a list of values, {linear: [FROM, TO, COUNT]}, {log2: [FROM, TO]} or {zip: {PATH: …, PATH: …}}";

bool is_of_path(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

class Reader {
public:
    explicit Reader(const std::vector<std::string>& devices) : devices_(devices) {}

    std::vector<Axis> read(const YamlNode& node) {
        if (node.kind != YamlNode::Kind::Map || node.entries.empty())
            throw UserError(node.where, fmt::format("'axes' must be a map of paths and values, not {}",
                                                    node.entries.empty() && node.kind == YamlNode::Kind::Map
                                                        ? "empty"
                                                        : config::to_string(node.kind)));
        std::vector<Axis> axes;
        for (const YamlEntry& entry : node.entries) axes.push_back(axis(entry));
        if (!mistakes_.empty()) throw UserError(std::move(mistakes_));
        return axes;
    }

private:
    void complain(const SourceMark& where, std::string what) {
        mistakes_.push_back({where, std::move(what)});
    }

    Axis axis(const YamlEntry& entry) {
        const YamlNode* zip = entry.value.kind == YamlNode::Kind::Map ? entry.value.find("zip") : nullptr;
        Axis axis;
        if (!zip) {
            axis.columns.push_back(column(entry, &axis.span));
            return axis;
        }
        if (entry.value.entries.size() > 1) complain(entry.value.where, "a zip has no other keys beside it");
        if (zip->kind != YamlNode::Kind::Map || zip->entries.empty())
            complain(zip->where, "expected a map of paths and values to be taken together");
        for (const YamlEntry& each : zip->entries) axis.columns.push_back(column(each, nullptr));
        for (const Column& each : axis.columns)
            if (each.values.size() != axis.size() && !each.values.empty() && axis.size() > 0)
                complain(each.where,
                         fmt::format("'{}' has {} values and '{}' {}; those of a zip are taken "
                                     "together, so they must be as many",
                                     each.name(), each.values.size(), axis.columns[0].name(), axis.size()));
        if (axis.columns.empty()) axis.columns.emplace_back();  // complained about
        return axis;
    }

    /// `span`: where a range without steps may be put; null: it may not be one.
    Column column(const YamlEntry& entry, std::optional<Span>* span) {
        Column column;
        column.where = entry.where;
        const KeyName name = split_name(entry.key);
        column.path = name.path;
        column.device = name.device;
        if (const std::string what = device_mistake(column.device, devices_); !what.empty())
            complain(entry.where, what);
        if (!seen_.insert(column.name()).second)
            complain(entry.where, fmt::format("'{}' is on two axes", column.name()));
        const bool readable = std::all_of(column.path.begin(), column.path.end(), is_of_path);
        if (!readable || column.path.find('.') == std::string::npos)
            complain(entry.where, fmt::format("'{}' is no path of a key; expected one such as 'mxu.rows', "
                                              "'workload.batch' or 'run.launch'",
                                              column.path));
        const std::size_t before = mistakes_.size();
        values(entry.value, column, span);
        // Of zipped keys, values may repeat.
        if (span && mistakes_.size() == before) refuse_twice(column);
        return column;
    }

    void values(const YamlNode& node, Column& column, std::optional<Span>* span) {
        if (node.kind == YamlNode::Kind::Sequence) return list(node, column);
        if (node.kind == YamlNode::Kind::Map && node.entries.size() == 1) {
            const YamlEntry& range = node.entries.front();
            if (range.key == "linear" || range.key == "log2") return steps(range, column, span);
            if (range.key == "zip")
                return complain(range.where, "a zip within a zip; put its keys beside the others");
            const std::vector<std::string> known{"linear", "log2", "zip"};
            complain(range.where, fmt::format("there is no range '{}'{}; expected {}", range.key,
                                              did_you_mean(range.key, known), kForms));
            return;
        }
        if (node.kind == YamlNode::Kind::Scalar)
            return complain(node.where,
                            fmt::format("'{}' is one value, and an axis has several: write it below "
                                        "'set:', or as the list [{}]",
                                        node.scalar, node.scalar));
        complain(node.where, fmt::format("the axis '{}' has no values; expected {}", column.name(), kForms));
    }

    void list(const YamlNode& node, Column& column) {
        if (node.items.empty())
            complain(node.where,
                     fmt::format("the axis '{}' has no values; expected {}", column.name(), kForms));
        if (node.items.size() > kMostValues)
            return complain(node.where,
                            fmt::format("{} values; the most is {}", node.items.size(), kMostValues));
        for (const YamlNode& item : node.items) {
            if (item.kind == YamlNode::Kind::Scalar && item.scalar.find('\n') != std::string::npos) {
                complain(item.where, "a value of an axis is one line");
            } else if (item.kind == YamlNode::Kind::Scalar) {
                add(column, item.scalar, item.where);
            } else if (item.kind == YamlNode::Kind::Sequence &&
                       std::all_of(item.items.begin(), item.items.end(), [](const YamlNode& each) {
                           return each.kind == YamlNode::Kind::Scalar;
                       })) {
                std::vector<std::string> texts;
                for (const YamlNode& each : item.items) texts.push_back(each.scalar);
                add(column, config::list_text(texts), item.where);
            } else {
                complain(item.where, fmt::format("expected a value, or a list of values for a key that takes "
                                                 "one, not {}",
                                                 config::to_string(item.kind)));
            }
        }
    }

    void steps(const YamlEntry& range, Column& column, std::optional<Span>* span) {
        const YamlNode& ends = range.value;
        const bool linear = range.key == "linear";
        std::vector<std::string> texts;
        if (ends.kind == YamlNode::Kind::Sequence)
            for (const YamlNode& item : ends.items)
                if (item.kind == YamlNode::Kind::Scalar) texts.push_back(item.scalar);
        const bool open = linear && texts.size() == 2;
        if (texts.size() != ends.items.size() || !(open || texts.size() == (linear ? 3U : 2U)))
            return complain(range.value.where,
                            linear ? "expected {linear: [FROM, TO, COUNT]}" : "expected {log2: [FROM, TO]}");
        if (open && !span)
            return complain(range.value.where, "a range of a zip has steps: {linear: [FROM, TO, COUNT]}");
        try {
            if (open) {
                check_span({texts[0], texts[1]}, range.value.where);
                *span = Span{texts[0], texts[1]};
                return;
            }
            const auto values = linear ? linear_values(texts[0], texts[1], texts[2], range.value.where)
                                       : log2_values(texts[0], texts[1], range.value.where);
            for (const std::string& value : values) add(column, value, range.value.where);
        } catch (const UserError& error) {
            for (const Diagnostic& each : error.diagnostics()) mistakes_.push_back(each);
        }
    }

    static void add(Column& column, std::string value, const SourceMark& where) {
        column.values.push_back(std::move(value));
        column.places.push_back(where);
    }

    void refuse_twice(const Column& column) {
        std::set<std::string_view> values;
        for (std::size_t i = 0; i < column.values.size(); ++i)
            if (!values.insert(column.values[i]).second)
                return complain(column.places[i], fmt::format("the axis '{}' has the value {} twice",
                                                              column.name(), column.values[i]));
    }

    const std::vector<std::string>& devices_;
    std::set<std::string> seen_;
    std::vector<Diagnostic> mistakes_;
};

}  // namespace

KeyName split_name(const std::string& text) {
    // Paths hold no ':', names of files may.
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) return {"", text};
    return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string device_mistake(const std::string& device, const std::vector<std::string>& devices) {
    if (device.empty() || std::find(devices.begin(), devices.end(), device) != devices.end()) return "";
    return fmt::format("'{}' is none of this experiment's devices{}", device, did_you_mean(device, devices));
}

std::vector<Axis> read_axes(const YamlNode& node, const std::vector<std::string>& devices) {
    return Reader(devices).read(node);
}

}  // namespace systole::sweep
