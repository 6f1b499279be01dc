// SPDX-License-Identifier: Apache-2.0
// A result.json to be read: whole, small, and by hand.
#pragma once

#include <nlohmann/json.hpp>

namespace systole::test {

/// A row of `slots` slots, `useful` of them useful and the others memory's, that takes so many nanoseconds.
inline nlohmann::ordered_json row_text(double time_ns, std::int64_t useful, std::int64_t slots) {
    nlohmann::ordered_json classes, class_slots, levels;
    for (const char* key : {"useful", "padding", "ramp", "host", "memory", "on_chip", "dependency", "vector",
                            "launch", "tail"}) {
        classes[key] = 0.0;
        class_slots[key] = 0;
    }
    class_slots["useful"] = useful;
    class_slots["memory"] = slots - useful;
    classes["useful"] = static_cast<double>(useful) / static_cast<double>(slots);
    classes["memory"] = static_cast<double>(slots - useful) / static_cast<double>(slots);
    for (const char* key : {"compute", "vector", "on_chip", "memory", "host", "chips"}) levels[key] = 2;
    nlohmann::ordered_json energy;
    for (const char* key :
         {"total", "matrix", "vector", "instructions", "on_chip", "memory", "host", "chips", "static"})
        energy[key] = 1.5;
    return {{"cycles", 10},
            {"time_ns", time_ns},
            {"macs", 7},
            {"matrix_macs", 5},
            {"utilization", classes["useful"]},
            {"compute_cycles", 1.0},
            {"classes", classes},
            {"class_slots", class_slots},
            {"bytes",
             {{"dram_read", 3},
              {"dram_written", 1},
              {"compulsory_dram", 2},
              {"moved", {{{"from", "dram"}, {"to", "scratchpad"}, {"operand", "weights"}, {"bytes", 3}}}}}},
            {"roofline_cycles", 2},
            {"roofline_bound", "memory"},
            {"roofline", levels},
            {"bound_by", "memory"},
            {"energy_pj", energy}};
}

inline nlohmann::ordered_json layer_text(const char* name, double time_ns, std::int64_t useful,
                                         std::int64_t slots) {
    nlohmann::ordered_json row{{"name", name}, {"op", "matmul"}, {"mapping", "one tile"}, {"reused", false}};
    row.update(row_text(time_ns, useful, slots));
    return row;
}

/// One device without layers.
inline nlohmann::ordered_json result_text() {
    return {{"schema", 1},
            {"program", "systole 9.8"},
            {"devices",
             {{{"device", "tiny"},
               {"trace", "net"},
               {"fidelity", "detailed"},
               {"protocol", {{"inputs_at", "host"}}},
               {"clock_hz", 1000},
               {"peak_macs_per_cycle", 16},
               {"ceilings",
                {{"on_chip", nullptr}, {"memory_bytes_per_s", 5}, {"host_bytes_per_s_each_way", nullptr}}},
               {"total", row_text(30, 6, 10)},
               {"critical_path", {{{"class", "memory"}, {"time_ns", 30.0}}}},
               {"layers", nlohmann::ordered_json::array()},
               {"tensors", nlohmann::ordered_json::array()},
               {"choices", nlohmann::ordered_json::array()},
               {"stats", nlohmann::ordered_json::array()},
               {"memory_bus", {{"clocks", 4}, {"transfer", 4}}},
               {"energy", {{"covers", "device"}, {"total_pj", 1.5}, {"entries", {{{"path", "x"}}}}}},
               {"power", nullptr},
               {"config", "kind: systolic"}}}}};
}

/// A layer of a comparison of "big" and "tiny", of which "tiny" takes so much longer, for memory.
inline nlohmann::ordered_json standing_text(const char* name, double fastest_ns, double longer_ns) {
    nlohmann::ordered_json longer;
    for (const char* key :
         {"useful", "padding", "ramp", "host", "memory", "on_chip", "dependency", "vector", "launch", "tail"})
        longer[key] = 0.0;
    longer["memory"] = longer_ns;
    return {{"name", name},
            {"op", "matmul"},
            {"time_ns", {{"tiny", fastest_ns + longer_ns}, {"big", fastest_ns}}},
            {"fastest", "big"},
            {"next", "tiny"},
            {"factor", (fastest_ns + longer_ns) / fastest_ns},
            {"next_longer_ns", longer},
            {"why", "tiny waits longer for memory."}};
}

/// A comparison.json of "tiny" and "big" without layers.
inline nlohmann::ordered_json comparison_text() {
    nlohmann::ordered_json json = result_text();
    json["devices"].push_back(json["devices"][0]);
    json["devices"][1]["device"] = "big";
    json["comparisons"] = {{{"trace", "net"},
                            {"total", standing_text("total", 10, 20)},
                            {"layers", nlohmann::ordered_json::array()}}};
    return json;
}

}  // namespace systole::test
