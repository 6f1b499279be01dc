// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/key_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace systole::reference {
namespace {

using config::Question;
using config::ValueKind;

std::string code(const std::string& text) {
    return fmt::format("`{}`", text);
}

std::vector<std::string> codes(const std::vector<std::string>& texts) {
    std::vector<std::string> all;
    for (const std::string& text : texts) all.push_back(code(text));
    return all;
}

/// "mxu.rate.FORMAT" would promise more than is known: any key of the table.
std::string shown_path(const std::string& path) {
    const std::string any = fmt::format(".{}", config::Survey::kAnyKey);
    return path.ends_with(any) ? path.substr(0, path.size() - any.size()) + ".NAME" : path;
}

std::string default_of(const Key& key) {
    if (!key.asked.fallback) return key.is_required ? "**required**" : "optional";
    if (key.asked.fallback->empty()) return "empty";
    const std::string value = code(*key.asked.fallback);
    return key.default_follows ? fmt::format("follows from other keys, such as {}", value) : value;
}

/// " Read where `memory.kind` is `ideal` or `sram`."
std::string condition_of(const Key& key, bool by_kind) {
    std::vector<std::string> parts;
    if (key.section.find('.') != std::string::npos)
        parts.push_back(fmt::format("{} is given", code(key.section)));
    for (const Condition& each : key.when) {
        if (by_kind && each.path == "kind") continue;  // the heading tells it
        if (each.values.empty())
            parts.push_back(fmt::format("{} is given", code(each.path)));
        else
            parts.push_back(fmt::format("{} is {}", code(each.path), fmt::join(codes(each.values), " or ")));
    }
    return parts.empty() ? "" : fmt::format(" Read where {}.", fmt::join(parts, ", and "));
}

std::string uses_of(const Key& key) {
    if (key.uses.empty()) return "–";
    const Use& first = key.uses.front();
    return fmt::format("{}: {} in {}", key.uses.size(), code(first.value), first.document);
}

std::string section_of(const std::string& path) {
    const std::size_t dot = path.find('.');
    return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::string sentence(const std::string& meaning) {
    return meaning.ends_with('.') ? meaning : meaning + '.';
}

std::string table(const std::vector<const Key*>& keys, bool by_kind) {
    std::string text = "| key | takes | default | meaning | shipped |\n|---|---|---|---|---|\n";
    for (const Key* key : keys)
        text += fmt::format("| {} | {} | {} | {} | {} |\n", code(shown_path(key->asked.path)),
                            cell(takes(*key)), cell(default_of(*key)),
                            cell(sentence(key->asked.meaning) + condition_of(*key, by_kind)),
                            cell(uses_of(*key)));
    return text + '\n';
}

/// Sections in the order of their first keys.
std::string tables(const std::vector<const Key*>& keys, bool by_kind) {
    const std::string level = by_kind ? "###" : "##";
    std::vector<std::string> sections;
    for (const Key* key : keys)
        if (std::ranges::find(sections, section_of(key->asked.path)) == sections.end())
            sections.push_back(section_of(key->asked.path));
    std::string text;
    for (const std::string& section : sections) {
        std::vector<const Key*> own;
        std::ranges::copy_if(keys, std::back_inserter(own),
                             [&](const Key* key) { return section_of(key->asked.path) == section; });
        if (sections.size() > 1)
            text += section.empty() ? fmt::format("{} Of the document itself\n\n", level)
                                    : fmt::format("{} {}\n\n", level, code(section));
        if (own.front()->section == section && !section.empty())
            text += fmt::format("Optional. Without {}, what it describes is not there.\n\n", code(section));
        text += table(own, by_kind);
    }
    return text;
}

}  // namespace

std::string takes(const Key& key) {
    const Question& asked = key.asked;
    const std::string within =
        key.limits_follow ? fmt::format("{}, as far as other keys allow", asked.limits) : asked.limits;
    switch (asked.kind) {
        case ValueKind::Count:
            return fmt::format("a whole number, {}", within);
        case ValueKind::Number:
            return fmt::format("a number, {}", within);
        case ValueKind::Quantity:
            return fmt::format("{}, {}", config::name_of(asked.dimension), within);
        case ValueKind::Flag:
        case ValueKind::Choice:
            return fmt::format("{}", fmt::join(codes(asked.names), ", "));
        case ValueKind::List:
            return "a list";
        case ValueKind::Text:
            break;
    }
    return "text";
}

std::string cell(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string key_page(const PageHead& head, const std::vector<Key>& keys) {
    std::string text = fmt::format("# {}\n\n{}\n", head.title, head.text);
    std::vector<std::string> kinds;  // that keys are of alone
    std::vector<const Key*> shared;
    for (const Key& key : keys) {
        const std::vector<std::string> only =
            head.by_kind ? key.only_for("kind") : std::vector<std::string>{};
        if (only.empty()) shared.push_back(&key);
        for (const std::string& kind : only)
            if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
    }
    if (!head.by_kind) return text + tables(shared, false);
    text += "## Of every device\n\n" + tables(shared, true);
    for (const std::string& kind : kinds) {
        std::vector<const Key*> own;
        for (const Key& key : keys)
            if (key.only_for("kind") == std::vector<std::string>{kind}) own.push_back(&key);
        text += fmt::format("## With `kind: {}`\n\n{}", kind, tables(own, true));
    }
    return text;
}

}  // namespace systole::reference
