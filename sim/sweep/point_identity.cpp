// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/point_identity.h"

#include <algorithm>
#include <limits>

#include "sim/config/quantity.h"
#include "sim/sweep/digest.h"

namespace systole::sweep {
namespace {

/// A number or a quantity as everybody writes it, so that "1 GHz" and "1000 MHz" are one value; what is
/// neither, as it is.
std::string canonical(const std::string& text) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    if (text.empty() || text.front() < '-' || text.front() > '9') return text;  // a word, a list
    if (const auto number = config::parse_number(text, -1e300, 1e300); number.value)
        return text.find('.') == std::string::npos ? text : config::format_number(*number.value);
    for (const config::Dimension dimension :
         {config::Dimension::Frequency, config::Dimension::Size, config::Dimension::Bandwidth,
          config::Dimension::Time, config::Dimension::Energy, config::Dimension::Power,
          config::Dimension::Price, config::Dimension::PricePerHour, config::Dimension::PricePerEnergy,
          config::Dimension::Years})
        if (const auto quantity = config::parse_quantity(text, dimension, 0, kMost); quantity.value)
            return config::format_quantity(*quantity.value, dimension);
    return text;
}

/// Lengths stand before texts, so that no two lists of texts are written alike.
void write(std::string& out, const std::string& text) {
    out += std::to_string(text.size()) + ':' + text;
}

/// `values` with the settings in their place, by path.
void write(std::string& out, const std::map<std::string, std::string>& values,
           const std::vector<Setting>& settings) {
    std::vector<const Setting*> moved;
    for (const Setting& setting : settings) moved.push_back(&setting);
    std::sort(moved.begin(), moved.end(),
              [](const Setting* a, const Setting* b) { return a->path < b->path; });
    auto next = moved.begin();
    for (const auto& [path, value] : values) {
        for (; next != moved.end() && (*next)->path < path; ++next)
            write(out, (*next)->path), write(out, canonical((*next)->value));
        const bool is_moved = next != moved.end() && (*next)->path == path;
        write(out, path), write(out, is_moved ? canonical((*next)->value) : value);
        if (is_moved) ++next;
    }
    for (; next != moved.end(); ++next) write(out, (*next)->path), write(out, canonical((*next)->value));
}

std::map<std::string, std::string> by_path(const Values& values) {
    std::map<std::string, std::string> known;
    for (const auto& [path, value] : values) known[path] = canonical(value);
    return known;
}

std::string text_of(const std::vector<Setting>& settings) {
    std::string text;
    for (const Setting& setting : settings) write(text, setting.path), write(text, setting.value);
    return text;
}

}  // namespace

SortedSettings::SortedSettings(const std::vector<Setting>& settings) {
    for (const Setting& setting : settings)
        (setting.path.starts_with("workload.") ? workload
         : setting.path.starts_with("run.")    ? run
                                               : device)
            .push_back(setting);
}

std::string PointIdentity::id(const std::string& device_name, const std::string& trace_name,
                              const std::vector<Setting>& settings) {
    const SortedSettings sorted(settings);
    const Base& of_device = device_or_own(device_name, sorted.device);
    const Base& of_trace = trace(trace_name);
    std::string text;
    text.reserve(16 << 10);
    for (const std::string& each : {simulator_.program, device_name, of_device.digest}) write(text, each);
    write(text, of_device.values, sorted.device);
    for (const std::string& each : {trace_name, of_trace.digest}) write(text, each);
    write(text, of_trace.values, sorted.workload);
    try {
        write(text, protocol(sorted.run).values, {});
    } catch (const UserError&) {
        write(text, protocol({}).values, sorted.run);  // as of a document that fits with nothing
    }
    return sha256(text).substr(0, kDigits);
}

std::optional<std::string> PointIdentity::value(const std::string& device_name, const std::string& trace_name,
                                                const std::string& path,
                                                const std::vector<Setting>& settings) {
    const SortedSettings sorted(settings);
    const Known& known = path.starts_with("workload.") ? trace(trace_name).values
                         : path.starts_with("run.")    ? protocol(sorted.run).values
                                                       : device(device_name, sorted.device).values;
    const auto found = known.find(path);
    if (found == known.end()) return {};
    return found->second;
}

std::vector<std::string> PointIdentity::paths(const std::string& device_name, const std::string& trace_name) {
    std::vector<std::string> all;
    for (const Known* known :
         {&device(device_name, {}).values, &trace(trace_name).values, &protocol({}).values})
        for (const auto& [path, value] : *known) all.push_back(path);
    return all;
}

const PointIdentity::Base& PointIdentity::device(const std::string& name,
                                                 const std::vector<Setting>& settings) {
    std::vector<Setting> documents;
    for (const Setting& setting : settings)
        if (setting.path.ends_with(".preset")) documents.push_back(setting);
    const std::string key = name + '\n' + text_of(documents);
    const auto found = devices_.find(key);
    if (found != devices_.end()) return found->second;
    try {
        const Resolved resolved = simulator_.device(name, documents);
        return devices_[key] = {by_path(resolved.values), resolved.digest};
    } catch (const UserError&) {
        if (documents.empty()) throw;
    }
    // A document may fit only with the other settings.
    const std::string whole = key + '\n' + text_of(settings);
    const auto known = devices_.find(whole);
    if (known != devices_.end()) return known->second;
    const Resolved resolved = simulator_.device(name, settings);
    return devices_[whole] = {by_path(resolved.values), resolved.digest};
}

/// Of a document that fits with nothing: its settings tell the point from others, and the device refuses it
/// when it runs.
const PointIdentity::Base& PointIdentity::device_or_own(const std::string& name,
                                                        const std::vector<Setting>& settings) {
    try {
        return device(name, settings);
    } catch (const UserError&) {
        return device(name, {});
    }
}

const PointIdentity::Base& PointIdentity::trace(const std::string& name) {
    const auto found = traces_.find(name);
    if (found != traces_.end()) return found->second;
    const Resolved resolved = simulator_.trace(name, {});
    return traces_[name] = {by_path(resolved.values), resolved.digest};
}

/// Settings of the protocol may stand for several values (`run.protocol`), so each is asked for.
const PointIdentity::Base& PointIdentity::protocol(const std::vector<Setting>& settings) {
    const std::string key = text_of(settings);
    const auto found = protocols_.find(key);
    if (found != protocols_.end()) return found->second;
    const Resolved resolved = simulator_.protocol(settings);
    return protocols_[key] = {by_path(resolved.values), resolved.digest};
}

}  // namespace systole::sweep
