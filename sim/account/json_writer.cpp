// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "sim/account/device_energy.h"
#include "sim/account/serving_rates.h"
#include "sim/account/writers.h"
#include "sim/base/schema.h"

namespace systole {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = kResultSchema.current;
constexpr const char* kProgram = "systole " SYSTOLE_VERSION;  // the build's project version

/// A whole number where it is one.
Json per_cycle(const MacRate& rate) {
    return rate.macs % rate.cycles == 0 ? Json(rate.macs / rate.cycles) : Json(rate.per_cycle());
}

/// Nanoseconds; exact up to 2^53 ps (2.5 hours).
double nanoseconds(Ticks time) {
    return static_cast<double>(time.value()) / 1000;
}

Json moved(const std::vector<Movement>& movements, const DeviceResult& result) {
    Json list = Json::array();
    for (const Movement& movement : movements)
        list.push_back({{"from", place_name(result, movement.from)},
                        {"to", place_name(result, movement.to)},
                        {"operand", to_string(movement.operand)},
                        {"bytes", movement.bytes.value()}});
    return list;
}

/// Cycles by level.
Json levels(const Roofline& roofline) {
    Json json = Json::object();
    for (std::size_t i = 0; i < kLevels; ++i)
        json[std::string(to_string(static_cast<Level>(i)))] = roofline.cycles[i].value();
    return json;
}

/// The roofs: what a level can do in a cycle or a second; of a path that is none, null.
Json ceilings(const DeviceResult& result) {
    const Peaks& peaks = result.peaks;
    Json compute = Json::object();
    for (const DtypePeak& peak : result.dtypes) compute[peak.dtype] = per_cycle(peak.macs);
    const auto rate = [](BytesPerSecond bytes) {
        return bytes == BytesPerSecond() || bytes == BytesPerSecond::max() ? Json() : Json(bytes.value());
    };
    Json on_chip;
    if (peaks.on_chip)
        on_chip = {{"bytes_per_cycle", peaks.on_chip->bytes_per_cycle},
                   {"each_way", !peaks.on_chip->both_ways}};
    return {{"macs_per_cycle", std::move(compute)},
            {"lanes", peaks.lanes},
            {"on_chip", std::move(on_chip)},
            {"memory_bytes_per_s", rate(peaks.dram)},
            {"host_bytes_per_s_each_way", rate(peaks.host)},
            {"chips_bytes_per_s_each_way", rate(peaks.chips)}};
}

double picojoules(Femtojoules energy) {
    return static_cast<double>(energy.value()) / 1000;
}

/// By part, and all; null where it is not known.
Json energy_parts(const ResultRow& row, bool known) {
    if (!known) return nullptr;
    Json json = {{"total", picojoules(energy_of(row))}};
    for (std::size_t part = 0; part < kEnergyParts; ++part)
        json[std::string(to_string(static_cast<EnergyPart>(part)))] = picojoules(row.energy[part]);
    return json;
}

/// Appends what a layer and the total have in common.
void add_row(Json& json, const ResultRow& row, const DeviceResult& result) {
    json["cycles"] = row.cycles.value();
    json["time_ns"] = nanoseconds(row.time());
    json["macs"] = row.macs.value();
    json["matrix_macs"] = row.matrix_macs.value();
    json["lane_cycles"] = row.lane_cycles;
    json["utilization"] = row.utilization();
    json["compute_cycles"] = row.compute_cycles();
    Json classes = Json::object(), slots = Json::object();
    for (std::size_t i = 0; i < kSlotClasses; ++i) {
        const auto slot_class = static_cast<SlotClass>(i);
        const std::string key(to_string(slot_class));
        classes[key] = row.fraction(slot_class);
        slots[key] = row.slots[i];
    }
    json["classes"] = std::move(classes);
    json["class_slots"] = std::move(slots);
    json["bytes"] = {{"dram_read", row.dram_read.value()},
                     {"dram_written", row.dram_written.value()},
                     {"compulsory_dram", row.compulsory_dram.value()},
                     {"moved", moved(row.movements, result)}};
    json["roofline_cycles"] = row.roofline.floor().value();
    json["roofline_bound"] = row.roofline.bound();
    json["roofline"] = levels(row.roofline);
    json["bound_by"] = row.bound_by;
    json["energy_pj"] = energy_parts(row, result.energy_is_whole);
}

Json total(const DeviceResult& result) {
    Json json = Json::object();
    add_row(json, result.total, result);
    return json;
}

Json layers(const DeviceResult& result) {
    Json list = Json::array();
    for (const ResultRow& row : result.layers) {
        Json json = {{"name", row.name}, {"op", row.op}, {"mapping", row.mapping}, {"reused", row.reused}};
        add_row(json, row, result);
        list.push_back(std::move(json));
    }
    return list;
}

/// Keys inside "protocol" go without the path's first word.
Json protocol(const std::vector<std::pair<std::string, std::string>>& entries) {
    Json json = Json::object();
    for (const auto& [key, value] : entries) json[key.starts_with("run.") ? key.substr(4) : key] = value;
    return json;
}

Json critical_path(const std::vector<CriticalStep>& steps) {
    Json list = Json::array();
    for (const CriticalStep& step : steps)
        list.push_back({{"class", to_string(step.owner)}, {"time_ns", nanoseconds(step.time)}});
    return list;
}

Json tensors(const std::vector<TensorPlace>& places) {
    Json list = Json::array();
    for (const TensorPlace& place : places)
        list.push_back({{"name", place.tensor},
                        {"space", place.space},
                        {"layout", place.layout},
                        {"address", place.address},
                        {"bytes", place.bytes.value()}});
    return list;
}

Json stats(const std::vector<Stat>& stats) {
    Json list = Json::array();
    for (const Stat& stat : stats)
        list.push_back({{"path", stat.path},
                        {"name", stat.name},
                        {"unit", stat.unit},
                        {"value", stat.value},
                        {"meaning", stat.meaning}});
    return list;
}

/// Clocks of the data buses by owner, and all of them.
Json memory_bus(const std::vector<BusClocks>& owners) {
    std::int64_t all = 0;
    for (const BusClocks& bus : owners) all += bus.clocks;
    Json json = {{"clocks", all}};
    for (const BusClocks& bus : owners) json[bus.owner] = bus.clocks;
    return json;
}

/// No figures: no total either, which is not the same as zero.
Json energy(const DeviceResult& result) {
    const EnergyLedger& ledger = result.energy;
    Json entries = Json::array();
    for (const EnergyEntry& entry : ledger.entries())
        entries.push_back({{"path", entry.path},
                           {"part", to_string(entry.part)},
                           {"event", entry.event},
                           {"unit", entry.unit},
                           {"count", entry.count},
                           {"each_fj", entry.each.value()},
                           {"energy_pj", picojoules(entry.energy())}});
    Json total = ledger.empty() ? Json() : Json(picojoules(ledger.total()));
    return {{"covers", result.energy_is_whole ? "device"
                       : ledger.empty()       ? "nothing"
                                              : "memory"},
            {"total_pj", std::move(total)},
            {"entries", std::move(entries)}};
}

/// Null where the energy of the whole device is not known.
Json power(const DeviceResult& result) {
    const std::optional<PowerDrawn> drawn = power_drawn(result);
    if (!drawn) return nullptr;
    return {{"average_w", drawn->average_w},
            {"peak_w", drawn->peak_w},
            {"tops_per_w", drawn->operations_per_joule / 1e12}};
}

Json choices(const std::vector<ChosenSetting>& choices) {
    Json list = Json::array();
    for (const ChosenSetting& choice : choices)
        list.push_back({{"key", choice.key}, {"value", choice.value}, {"why", choice.why}});
    return list;
}

/// Null unless the trace is a step of a language model.
Json serving(const DeviceResult& result) {
    if (!result.serving) return nullptr;
    using Phase = ServingStep::Phase;
    const ServingStep& step = *result.serving;
    const Ticks time = result.total.time();
    const ServingRates rates = serving_rates(step, time);
    Json json = {{"phase", to_string(step.phase)},
                 {"batch", step.batch},
                 {"context", step.context},
                 {"new_tokens", step.new_tokens},
                 {"tensor_parallel", step.tensor_parallel},
                 {"data_parallel", step.data_parallel},
                 {"time_to_first_token_ns", nullptr},
                 {"time_per_output_token_ns", nullptr},
                 {"tokens_per_s", rates.tokens_per_s},
                 {"tokens_per_s_per_chip", rates.tokens_per_s_per_chip}};
    if (step.phase == Phase::Prefill) json["time_to_first_token_ns"] = nanoseconds(time);
    if (step.phase == Phase::Decode) json["time_per_output_token_ns"] = rates.token_seconds * 1e9;
    return json;
}

/// Null unless the trace says so.
Json batch_of(const std::optional<BatchOf>& batch) {
    if (!batch) return nullptr;
    return {{"what", to_string(batch->item)}, {"count", batch->count}};
}

/// {"batch": 1, "dtype": "bf16"}
Json parameters(const std::vector<TraceParameter>& all) {
    Json json = Json::object();
    for (const TraceParameter& one : all)
        std::visit([&](const auto& value) { json[one.name] = value; }, one.value);
    return json;
}

/// Null unless it was asked for.
Json cost(const DeviceResult& result) {
    if (!result.cost) return nullptr;
    const auto figure = [](const std::optional<double>& usd) { return usd ? Json(*usd) : Json(); };
    const bool images = result.batch_of && result.batch_of->item == BatchOf::Item::Images;
    Json prices = Json::array();
    for (const CostShare& share : result.cost->prices)
        prices.push_back({{"price", share.bought ? "purchase" : "rent"},
                          {"on", share.origin.on.empty() ? Json() : Json(share.origin.on)},
                          {"source", share.origin.source},
                          {"usd_per_hour", share.usd_per_hour},
                          {"usd_per_run", share.usd_per_run},
                          {"electricity_usd_per_run", figure(share.electricity_usd_per_run)},
                          {"usd_per_million_tokens", figure(share.usd_per_million_tokens)},
                          {"usd_per_1000_images", images ? figure(share.usd_per_1000_items) : Json()},
                          {"usd_per_1000_items", figure(share.usd_per_1000_items)},
                          {"usd_per_step", figure(share.usd_per_step)}});
    return {{"utilization", result.cost->utilization}, {"prices", std::move(prices)}};
}

/// Null where everything was simulated.
Json reuse(const DeviceResult& result) {
    if (!result.reuse) return nullptr;
    const auto time = static_cast<double>(result.total.time().value());
    return {{"time_known_to", time == 0 ? 0 : static_cast<double>(result.reuse->off.value()) / time},
            {"confidence", result.reuse->by_chance ? Json(0.95) : Json()}};
}

Json device(const DeviceResult& result) {
    return {{"device", result.device},
            {"trace", result.trace},
            {"fidelity", to_string(result.fidelity)},
            {"memory", result.memory},
            {"parameters", parameters(result.parameters)},
            {"serving", serving(result)},
            {"batch_of", batch_of(result.batch_of)},
            {"protocol", protocol(result.protocol)},
            {"clock_hz", result.clock.value()},
            {"peak_macs_per_cycle", per_cycle(result.peaks.macs)},
            {"ceilings", ceilings(result)},
            {"total", total(result)},
            {"critical_path", critical_path(result.critical_path)},
            {"layers", layers(result)},
            {"reuse", reuse(result)},
            {"tensors", tensors(result.tensors)},
            {"choices", choices(result.choices)},
            {"stats", stats(result.stats)},
            {"memory_bus", memory_bus(result.memory_bus)},
            {"energy", energy(result)},
            {"power", power(result)},
            {"cost", cost(result)},
            {"config", result.effective_config}};
}

Json standing(const Standing& one, const std::vector<DeviceResult>& devices) {
    Json times = Json::object(), longer = Json::object();
    for (std::size_t i = 0; i < devices.size(); ++i) times[devices[i].device] = nanoseconds(one.times[i]);
    for (std::size_t c = 0; c < kSlotClasses; ++c)
        longer[std::string(to_string(static_cast<SlotClass>(c)))] = one.longer[c] / 1000;
    return {{"name", one.name},
            {"op", one.op},
            {"time_ns", std::move(times)},
            {"fastest", devices[one.winner].device},
            {"next", devices[one.next].device},
            {"factor", one.factor > 0 ? Json(one.factor) : Json()},
            {"next_longer_ns", std::move(longer)},
            {"why", one.why}};
}

Json compared(const Comparison& comparison) {
    Json layers = Json::array();
    for (const Standing& one : comparison.layers) layers.push_back(standing(one, comparison.devices));
    return {{"trace", comparison.trace},
            {"total", standing(comparison.total, comparison.devices)},
            {"layers", std::move(layers)}};
}

std::string written(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

std::string to_json(const std::vector<DeviceResult>& devices) {
    Json list = Json::array();
    for (const DeviceResult& result : devices) list.push_back(device(result));
    return written({{"schema", kSchema}, {"program", kProgram}, {"devices", std::move(list)}});
}

std::string to_json(const std::vector<Comparison>& comparisons) {
    Json devices = Json::array(), list = Json::array();
    for (const Comparison& comparison : comparisons) {
        for (const DeviceResult& result : comparison.devices) devices.push_back(device(result));
        list.push_back(compared(comparison));
    }
    return written({{"schema", kSchema},
                    {"program", kProgram},
                    {"devices", std::move(devices)},
                    {"comparisons", std::move(list)}});
}

}  // namespace systole
