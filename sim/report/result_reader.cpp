// SPDX-License-Identifier: Apache-2.0
#include "sim/report/result_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/account/classes.h"
#include "sim/account/energy_ledger.h"
#include "sim/account/roofline.h"
#include "sim/base/error.h"
#include "sim/base/schema.h"
#include "sim/report/layer_limit.h"
#include "sim/report/result_check.h"
#include "sim/report/standing_limit.h"

namespace systole::report {
namespace {

using Json = nlohmann::ordered_json;

void check_moved(const Json& moved, const Check& check) {
    std::size_t i = 0;
    for (const Json& movement : moved) {
        const Check here = check.at(i++);
        for (const char* key : {"from", "to", "operand"}) here.text(movement, key);
        here.number(movement, "bytes");
    }
}

void check_energy(const Json& row, const Check& check) {
    const Json& energy = check.member(row, "energy_pj");
    if (energy.is_null()) return;
    const Check here = check.at("energy_pj");
    here.number(energy, "total");
    for (std::size_t i = 0; i < kEnergyParts; ++i)
        here.number(energy, std::string(to_string(static_cast<EnergyPart>(i))).c_str());
}

/// A layer or the total.
void check_row(const Json& row, const Check& check) {
    for (const char* key : {"cycles", "time_ns", "macs", "matrix_macs", "utilization", "roofline_cycles"})
        check.number(row, key);
    for (const char* key : {"roofline_bound", "bound_by"}) check.text(row, key);
    for (const char* key : {"classes", "class_slots"}) {
        const Json& shares = check.member(row, key);
        for (std::size_t i = 0; i < kSlotClasses; ++i)
            check.at(key).number(shares, std::string(to_string(static_cast<SlotClass>(i))).c_str());
    }
    const Json& levels = check.member(row, "roofline");
    for (std::size_t i = 0; i < kLevels; ++i)
        check.at("roofline").number(levels, std::string(to_string(static_cast<Level>(i))).c_str());
    const Json& bytes = check.member(row, "bytes");
    for (const char* key : {"dram_read", "dram_written", "compulsory_dram"})
        check.at("bytes").number(bytes, key);
    check_moved(check.at("bytes").list(bytes, "moved"), check.at("bytes").at("moved"));
    check_energy(row, check);
}

void check_layer(const Json& layer, const Check& check) {
    for (const char* key : {"name", "op", "mapping"}) check.text(layer, key);
    if (!check.member(layer, "reused").is_boolean()) check.at("reused").fail("expected true or false");
    check_row(layer, check);
}

void check_ceilings(const Json& device, const Check& check) {
    const Json& ceilings = check.member(device, "ceilings");
    const Check here = check.at("ceilings");
    for (const char* key : {"memory_bytes_per_s", "host_bytes_per_s_each_way"})
        here.number(ceilings, key, true);
    if (const Json& on_chip = here.member(ceilings, "on_chip"); !on_chip.is_null())
        here.at("on_chip").number(on_chip, "bytes_per_cycle");
}

/// Of the trace; results of older versions have none.
void check_parameters(const Json& device, const Check& check) {
    const auto parameters = device.find("parameters");
    if (parameters == device.end()) return;
    const Check here = check.at("parameters");
    if (!parameters->is_object()) here.fail("expected an object");
    for (const auto& [name, value] : parameters->items())
        if (!value.is_number_integer() && !value.is_string())
            here.at(name).fail("expected a whole number or a number format");
}

/// How well its time is known; results of older versions do not say.
void check_reuse(const Json& device, const Check& check) {
    const auto reuse = device.find("reuse");
    if (reuse == device.end() || reuse->is_null()) return;
    check.at("reuse").number(*reuse, "time_known_to");
    check.at("reuse").number(*reuse, "confidence", true);
}

/// What the page shows of a device besides its rows.
void check_device(const Json& device, const Check& check) {
    for (const char* key : {"device", "trace", "fidelity", "config"}) check.text(device, key);
    check.number(device, "clock_hz", false, 1);
    check.number(device, "peak_macs_per_cycle");
    check_ceilings(device, check);
    if (!check.member(device, "protocol").is_object()) check.at("protocol").fail("expected an object");
    check_parameters(device, check);
    check_reuse(device, check);
    std::size_t i = 0;
    for (const Json& step : check.list(device, "critical_path")) {
        const Check here = check.at("critical_path").at(i++);
        here.text(step, "class");
        here.number(step, "time_ns");
    }
    const Json& bus = check.member(device, "memory_bus");
    check.at("memory_bus").number(bus, "clocks");
    for (const auto& [owner, clocks] : bus.items()) check.at("memory_bus").number(bus, owner.c_str());
    const Json& energy = check.member(device, "energy");
    check.at("energy").text(energy, "covers");
    check.at("energy").number(energy, "total_pj", true);
    if (const Json& power = check.member(device, "power"); !power.is_null())
        for (const char* key : {"average_w", "peak_w", "tops_per_w"}) check.at("power").number(power, key);
    for (const char* key : {"choices", "stats"}) check.list(device, key);
    check_row(check.member(device, "total"), check.at("total"));
}

/// Takes layers, of devices and of comparisons, out of the document while it is read, so that a hundred
/// thousand of them never lie in memory at once.
class LayerCatcher {
public:
    LayerCatcher(const std::string& file, std::size_t most) : file_(file), most_(most) {}

    bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
        // The document is at depth 0, `devices` at 1, a device at 2, its `layers` at 3, a layer at 4.
        if (event == Json::parse_event_t::key) {
            if (depth == 1) outer_ = parsed.get<std::string>();
            if (depth == 3) inner_ = parsed.get<std::string>();
            return true;
        }
        if (outer_ != "devices" && outer_ != "comparisons") return true;
        if (event == Json::parse_event_t::object_start && depth == 2) begin_entry();
        if (inner_ != "layers" || depth != 4) return true;
        if (event != Json::parse_event_t::object_end && event != Json::parse_event_t::value) return true;
        return outer_ == "devices" ? take_layer(parsed) : take_standing(parsed);
    }

    LayerLimit& limit(std::size_t device) { return limits_.at(device); }
    StandingLimit& standings(std::size_t comparison) { return standings_.at(comparison); }

private:
    void begin_entry() {
        inner_.clear();
        if (outer_ == "devices") limits_.emplace_back(most_);
        if (outer_ == "comparisons") standings_.emplace_back(most_);
    }
    bool take_layer(Json& parsed) {
        if (limits_.empty()) return true;
        const std::size_t device = limits_.size() - 1;
        check_layer(parsed,
                    Check(file_, fmt::format("devices[{}].layers[{}]", device, limits_[device].count())));
        limits_[device].add(std::move(parsed));
        return false;
    }
    bool take_standing(Json& parsed) {
        if (standings_.empty()) return true;
        const std::size_t i = standings_.size() - 1;
        check_standing(parsed,
                       Check(file_, fmt::format("comparisons[{}].layers[{}]", i, standings_[i].count())));
        standings_[i].add(std::move(parsed));
        return false;
    }

    const std::string& file_;
    std::size_t most_;
    std::string outer_, inner_;
    std::vector<LayerLimit> limits_;
    std::vector<StandingLimit> standings_;
};

/// Line and column, from 1, of byte `byte` (from 1) of `text`.
SourceMark place_of(const std::string& text, std::size_t byte, const std::string& file) {
    const std::size_t end = std::min(byte > 0 ? byte - 1 : 0, text.size());
    const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    const std::size_t last = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
    const std::size_t column = last == std::string::npos ? end : end - last - 1;
    return {file, static_cast<int>(lines) + 1, static_cast<int>(column) + 1};
}

Json parse(const std::string& text, const std::string& file, LayerCatcher& catcher) {
    if (text.find_first_not_of(" \t\r\n") == std::string::npos)
        throw UserError({file}, "the file is empty; expected a result.json of systole");
    try {
        return Json::parse(text, std::ref(catcher));
    } catch (const Json::parse_error& error) {
        const SourceMark place = place_of(text, error.byte, file);
        if (error.byte > text.size())
            throw UserError(place, "the file ends in the middle of its JSON; it was cut off");
        throw UserError(place, "this is not JSON; expected a result.json of systole");
    } catch (const Json::exception&) {
        throw UserError({file}, "this is not JSON that systole writes; expected a result.json");
    }
}

/// Which of `names` one of a comparison's devices is.
std::size_t place_in(const std::vector<std::string>& names, const Json& standing, const char* key,
                     const Check& check) {
    const std::string& name = check.text(standing, key).get_ref<const std::string&>();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) check.at(key).fail("it is none of the comparison's devices");
    return static_cast<std::size_t>(found - names.begin());
}

/// A layer or the total with devices by their numbers.
Json by_number(Json standing, const std::vector<std::string>& names, const Check& check) {
    const Json times = std::move(standing["time_ns"]);
    standing.erase("time_ns");
    Json by_device = Json::array();
    for (const std::string& name : names) {
        check.at("time_ns").number(times, name.c_str());
        by_device.push_back(times[name]);
    }
    standing["times_ns"] = std::move(by_device);
    for (const char* key : {"fastest", "next"}) standing[key] = place_in(names, standing, key, check);
    return standing;
}

/// The comparison of the runs from `first_run` on, which have to be its devices on its trace.
ComparisonData comparison_of(Json& json, std::size_t first_run, const std::vector<RunData>& runs,
                             StandingLimit& limit, const Check& check) {
    check.text(json, "trace");
    check.list(json, "layers");
    check_standing(check.member(json, "total"), check.at("total"));
    ComparisonData comparison{json["trace"], first_run, {}, {}, {}, {}};
    for (const auto& [name, time] : json["total"]["time_ns"].items()) {
        const std::size_t run = first_run + comparison.devices.size();
        if (run >= runs.size() || runs[run].name() != name || runs[run].trace() != comparison.trace)
            check.fail("its devices are not those of 'devices', in their order");
        comparison.devices.push_back(name);
    }
    if (comparison.devices.empty()) check.at("total").at("time_ns").fail("it is empty");
    comparison.total = by_number(std::move(json["total"]), comparison.devices, check.at("total"));
    const std::size_t all = limit.count();
    for (Json& layer : limit.finish())
        comparison.layers.push_back(by_number(std::move(layer), comparison.devices, check.at("layers")));
    comparison.left_out = all - comparison.layers.size();
    return comparison;
}

/// None in a result.json; in a comparison.json one for each trace, whose devices follow each other.
std::vector<ComparisonData> comparisons_of(Json& document, const std::vector<RunData>& runs,
                                           LayerCatcher& catcher, const Check& check) {
    std::vector<ComparisonData> comparisons;
    if (!document.contains("comparisons")) return comparisons;
    check.list(document, "comparisons");
    std::size_t first_run = 0, i = 0;
    for (Json& json : document["comparisons"]) {
        const Check here = check.at("comparisons").at(i);
        if (!json.is_object()) here.fail("expected an object");
        comparisons.push_back(comparison_of(json, first_run, runs, catcher.standings(i), here));
        first_run += comparisons.back().devices.size();
        ++i;
    }
    return comparisons;
}

}  // namespace

std::string RunData::name() const {
    return device.at("device").get<std::string>();
}
std::string RunData::trace() const {
    return device.at("trace").get<std::string>();
}

ReadResults read_results(const std::string& text, const std::string& file, std::size_t most_layers) {
    LayerCatcher catcher(file, most_layers);
    Json document = parse(text, file, catcher);
    const Check check(file, "");
    if (!document.is_object() || !document.contains("schema"))
        check.fail("this is no result.json of systole: expected an object with the key 'schema'");
    const Json& schema = document["schema"];
    if (!schema.is_number_integer()) check.fail("schema: expected a number, such as 1");
    if (const std::string complaint = schema_complaint(kResultSchema, schema.get<std::int64_t>());
        !complaint.empty())
        check.fail(complaint);
    ReadResults results;
    results.program = check.text(document, "program").get<std::string>();
    std::size_t i = 0;
    check.list(document, "devices");
    for (Json& device : document["devices"]) {
        const Check here = check.at("devices").at(i);
        check_device(device, here);
        here.list(device, "layers");
        LayerLimit::Rows layers = catcher.limit(i).finish();
        device.erase("layers");
        results.runs.push_back({std::move(device), std::move(layers.rows), std::move(layers.row_of_layer)});
        ++i;
    }
    if (results.runs.empty()) check.at("devices").fail("it is empty: there is nothing to show");
    results.comparisons = comparisons_of(document, results.runs, catcher, check);
    return results;
}

}  // namespace systole::report
