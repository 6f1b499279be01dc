// SPDX-License-Identifier: Apache-2.0
#include "sim/account/writers.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/account/sample_result.h"

namespace systole {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys(const Json& object) {
    std::vector<std::string> names;
    for (const auto& [key, value] : object.items()) names.push_back(key);
    return names;
}

const std::vector<std::string> kRowKeys{
    "cycles",          "time_ns",        "macs",     "matrix_macs", "lane_cycles",
    "utilization",     "compute_cycles", "classes",  "class_slots", "bytes",
    "roofline_cycles", "roofline_bound", "roofline", "bound_by",    "energy_pj"};

}  // namespace

TEST_CASE("the text table of a small result") {
    CHECK(to_text(test::sample_result()) == R"(tiny_tpu  tiny  1000 MHz  run.inputs_at=host  run.launch=none

layer  op      cycles      time  util %  useful   pad  ramp  host   mem   vec  DRAM read  written  roofline  roof     bound by
-----  ------  ------  --------  ------  ------  ----  ----  ----  ----  ----  ---------  -------  --------  -------  --------
conv1  conv2d      60  60.00 ns    37.5    37.5  12.5  10.0   0.0  40.0   0.0   2.050 kB     50 B        23  compute  compute
fc *   matmul      40  40.00 ns     6.2     6.2   0.0   0.0  31.2   0.0  62.5       30 B     30 B         3  host     vector
-----  ------  ------  --------  ------  ------  ----  ----  ----  ----  ----  ---------  -------  --------  -------  --------
total             100  100.0 ns    25.0    25.0   7.5   6.0  12.5  24.0  25.0   2.080 kB     80 B        25  compute  compute

Classes in % of matrix capacity; roofline in cycles. Not shown, 0.0 in every row: onchip, dep, launch, tail.
* taken over from equal turns, steps or CTAs, at least in part, instead of simulated
The critical path is 40 % vector, 30 % memory and 30 % compute; others below 1 %.
Roofline by level, in cycles: compute 25, vector 2, on_chip 12, memory 22, host 13.
Ceilings: 0.008 TOPS in int8, 0.004 TOPS in bf16, vector 4 lane-cycles a cycle, on_chip 1.000 GB/s each way (ridge 4), memory 21.60 GB/s (ridge 0.1852), host 500.0 MB/s each way (ridge 8); ridges in MACs a byte at the rate of int8.
Energy 61.18 nJ: 94.6 % read, 5.4 % background. Of the memory only: the device has no figures (energy).
)");
}

TEST_CASE("a run of which some was taken over says how well its time is known") {
    DeviceResult result = test::sample_result();  // 100,000 ps
    CHECK(Json::parse(to_json({result}))["devices"][0]["reuse"].is_null());
    const auto text_and_json = [&result](std::int64_t off, bool by_chance) {
        result.reuse = KnownTime{Ticks(off), by_chance};
        const std::string text = to_text(result);
        const std::size_t begin = text.find("  of the whole run ");
        REQUIRE(begin != std::string::npos);
        return std::pair(text.substr(begin, text.find('\n', begin) - begin),
                         Json::parse(to_json({result}))["devices"][0]["reuse"]);
    };
    CHECK(text_and_json(60, false) ==
          std::pair(std::string("  of the whole run the time is known to about 0.06 %"),
                    Json{{"time_known_to", 0.0006}, {"confidence", nullptr}}));
    CHECK(text_and_json(150, true) ==
          std::pair(std::string("  of the whole run the time is known to about 0.15 % in 19 of 20 cases"),
                    Json{{"time_known_to", 0.0015}, {"confidence", 0.95}}));
    CHECK(text_and_json(4, false).first == "  of the whole run the time is known to about 0.01 %");
}

TEST_CASE("a class that shows in the total only has its column") {
    DeviceResult result = test::sample_result();
    result.total.slots[9] = 1000;
    CHECK(to_text(result).find("  tail") != std::string::npos);
    CHECK(to_text(result).find("in every row: onchip, dep, launch.") != std::string::npos);
}

TEST_CASE("a step of a language model is told in tokens") {
    DeviceResult result = test::sample_result();
    CHECK(Json::parse(to_json({result}))["devices"][0]["serving"].is_null());
    const double seconds = static_cast<double>(result.total.time().value()) * 1e-12;
    using Phase = ServingStep::Phase;
    result.serving = ServingStep{Phase::Decode, 16, 4096, 2, 4, 1};
    Json serving = Json::parse(to_json({result}))["devices"][0]["serving"];
    CHECK(keys(serving) == std::vector<std::string>{"phase", "batch", "context", "new_tokens",
                                                    "tensor_parallel", "data_parallel",
                                                    "time_to_first_token_ns", "time_per_output_token_ns",
                                                    "tokens_per_s", "tokens_per_s_per_chip"});
    CHECK(serving["phase"] == "decode");
    CHECK(serving["time_to_first_token_ns"].is_null());
    CHECK(serving["time_per_output_token_ns"].get<double>() == Approx(seconds / 2 * 1e9));
    CHECK(serving["tokens_per_s"].get<double>() == Approx(32 / seconds));
    CHECK(serving["tokens_per_s_per_chip"].get<double>() == Approx(8 / seconds));
    CHECK_THAT(to_text(result),
               Catch::Contains("Decode of 16 sequences, 4,096 tokens each with the new one, on 4 chips: "));
    result.serving = ServingStep{Phase::Train, 2, 100, 1, 4, 8};
    serving = Json::parse(to_json({result}))["devices"][0]["serving"];
    CHECK(serving["tokens_per_s"].get<double>() == Approx(1600 / seconds));
    CHECK(serving["tokens_per_s_per_chip"].get<double>() == Approx(50 / seconds));
    CHECK_THAT(to_text(result), Catch::Contains("Training on 16 x 100 tokens on 32 chips: "));
    result.serving = ServingStep{Phase::Prefill, 2, 100, 1, 1, 1};
    serving = Json::parse(to_json({result}))["devices"][0]["serving"];
    CHECK(serving["time_to_first_token_ns"].get<double>() == Approx(seconds * 1e9));
    CHECK(serving["tokens_per_s"].get<double>() == Approx(200 / seconds));
}

TEST_CASE("the json of a result has the parameters of its trace: numbers and number formats") {
    DeviceResult result = test::sample_result();
    CHECK(Json::parse(to_json({result}))["devices"][0]["parameters"] == Json::object());
    result.parameters = {{"seq", 128}, {"batch", 2}, {"dtype", "bf16"}};
    CHECK(Json::parse(to_json({result}))["devices"][0]["parameters"].dump() ==
          R"({"seq":128,"batch":2,"dtype":"bf16"})");
}

TEST_CASE("the json of a result has the keys of the formats, in their order") {
    const Json json = Json::parse(to_json({test::sample_result(), test::sample_result()}));
    CHECK(keys(json) == std::vector<std::string>{"schema", "program", "devices"});
    REQUIRE(json["devices"].size() == 2);
    const Json& device = json["devices"][0];
    CHECK(keys(device) == std::vector<std::string>{
                              "device",   "trace",    "fidelity",      "memory",     "parameters",
                              "serving",  "batch_of", "protocol",      "clock_hz",   "peak_macs_per_cycle",
                              "ceilings", "total",    "critical_path", "layers",     "reuse",
                              "tensors",  "choices",  "stats",         "memory_bus", "energy",
                              "power",    "cost",     "config"});
    CHECK(keys(device["total"]) == kRowKeys);
    std::vector<std::string> layer_keys{"name", "op", "mapping", "reused"};
    layer_keys.insert(layer_keys.end(), kRowKeys.begin(), kRowKeys.end());
    CHECK(keys(device["layers"][1]) == layer_keys);
    CHECK(keys(device["total"]["bytes"]) ==
          std::vector<std::string>{"dram_read", "dram_written", "compulsory_dram", "moved"});
}

TEST_CASE("the json of a result says what the result says") {
    const Json json = Json::parse(to_json({test::sample_result()}));
    CHECK(json["schema"] == 1);
    CHECK(json["program"].get<std::string>().starts_with("systole "));
    const Json& device = json["devices"][0];
    CHECK(device["protocol"].dump() == R"({"inputs_at":"host","launch":"none"})");
    CHECK(device["clock_hz"] == 1'000'000'000);
    const Json& total = device["total"];
    CHECK(total["cycles"] == 100);
    CHECK(total["time_ns"] == 100.0);
    CHECK(total["utilization"] == 0.25);
    CHECK(total["compute_cycles"] == 38.5);
    CHECK(
        total["class_slots"].dump() ==
        R"({"useful":100000,"padding":30000,"ramp":24000,"host":50000,"memory":96000,"on_chip":0,"dependency":0,)"
        R"("vector":100000,"launch":0,"tail":0})");
    CHECK(total["classes"]["memory"] == 0.24);
    CHECK(total["bytes"]["compulsory_dram"] == 2080);
    CHECK(total["lane_cycles"] == 8);
    CHECK(total["roofline_cycles"] == 25);
    CHECK(total["roofline"].dump() ==
          R"({"compute":25,"vector":2,"on_chip":12,"memory":22,"host":13,"chips":0})");
    CHECK(
        device["ceilings"].dump() ==
        R"({"macs_per_cycle":{"int8":4,"bf16":2},"lanes":4,"on_chip":{"bytes_per_cycle":1,"each_way":true},)"
        R"("memory_bytes_per_s":21600000000,"host_bytes_per_s_each_way":500000000,"chips_bytes_per_s_each_way":null})");
    CHECK(total["bytes"]["moved"][1].dump() ==
          R"({"from":"dram","to":"host","operand":"outputs","bytes":30})");
    CHECK(device["layers"][0]["mapping"] == "im2col, \"packed\"");
    CHECK(device["layers"][0]["reused"] == false);
    CHECK(device["layers"][1]["bound_by"] == "vector");
    CHECK(device["critical_path"][0].dump() == R"({"class":"vector","time_ns":40.1})");
    CHECK(device["tensors"][0].dump() ==
          R"({"name":"conv1.weights","space":"dram","layout":"row-major","address":4096,"bytes":2000})");
    CHECK(device["energy"]["total_pj"] == 61182.5);
    CHECK(
        device["energy"]["entries"][0].dump() ==
        R"({"path":"tiny_tpu.dram","part":"memory","event":"read","unit":"bursts","count":65,"each_fj":890500,"energy_pj":57882.5})");
    CHECK(device["config"] == "device: tiny\nmxu: {rows: 2}\n");
}

TEST_CASE("integers beyond the range of doubles survive the json") {
    const Json json = Json::parse(to_json({test::sample_result()}));
    const Json& value = json["devices"][0]["stats"][0]["value"];
    CHECK(value.is_number_integer());
    CHECK(value.get<std::int64_t>() == 9'007'199'254'740'993);
}

TEST_CASE("empty lists are lists, and names that are not UTF-8 do not stop the json") {
    DeviceResult result;
    result.trace =
        "tr\xff"
        "ace";
    const Json device = Json::parse(to_json({result}))["devices"][0];
    for (const char* key : {"layers", "critical_path", "tensors", "stats"})
        CHECK(device[key] == Json::array());
    CHECK(device["total"]["bytes"]["moved"] == Json::array());
    CHECK(device["energy"].dump() == R"({"covers":"nothing","total_pj":null,"entries":[]})");
    CHECK(device["protocol"] == Json::object());
    CHECK(device["ceilings"].dump() ==
          R"({"macs_per_cycle":{},"lanes":0,"on_chip":null,"memory_bytes_per_s":null,)"
          R"("host_bytes_per_s_each_way":null,"chips_bytes_per_s_each_way":null})");
    CHECK(device["trace"] ==
          "tr\xef\xbf\xbd"
          "ace");
}

TEST_CASE("layers.csv has a row a layer and the total") {
    CHECK(
        to_csv(test::sample_result()) ==
        R"(name,op,cycles,time_ns,utilization,useful,padding,ramp,host,memory,on_chip,dependency,vector,launch,tail,dram_read,dram_written,roofline_cycles,roofline_bound,roofline_compute,roofline_vector,roofline_on_chip,roofline_memory,roofline_host,roofline_chips,energy_pj,energy_matrix_pj,energy_vector_pj,energy_instructions_pj,energy_on_chip_pj,energy_memory_pj,energy_host_pj,energy_chips_pj,energy_static_pj,bound_by,mapping,fidelity
conv1,conv2d,60,60,0.375,0.375,0.125,0.1,0,0.4,0,0,0,0,0,2050,50,23,compute,23,0,11,20,10,0,,,,,,,,,,compute,"im2col, ""packed""",detailed
fc,matmul,40,40,0.0625,0.0625,0,0,0.3125,0,0,0,0.625,0,0,30,30,3,host,1,2,1,2,3,0,,,,,,,,,,vector,,detailed
total,,100,100,0.25,0.25,0.075,0.06,0.125,0.24,0,0,0.25,0,0,2080,80,25,compute,25,2,12,22,13,0,,,,,,,,,,compute,,detailed
)");
}

TEST_CASE("what is an outline says so ahead of its figures, in every form") {
    DeviceResult result = test::sample_result();
    CHECK(fidelity_sentence(result.fidelity).empty());
    result.fidelity = Fidelity::Outline;
    const std::string sentence =
        "Outline: published facts do not carry a detailed model of this chip; figures show the order of "
        "magnitude.";
    CHECK(fidelity_sentence(result.fidelity) == sentence);
    CHECK_THAT(fidelity_sentence(result.fidelity, "tiny_tpu"), Catch::Contains("model of tiny_tpu;"));
    const std::string text = to_text(result);
    CHECK(text.find(sentence) < text.find("layer  op"));
    CHECK(Json::parse(to_json({result}))["devices"][0]["fidelity"] == "outline");
    CHECK_THAT(to_csv(result), Catch::EndsWith(",outline\n"));
    CHECK_THAT(to_text(compare({result}), false),
               Catch::Contains(fidelity_sentence(result.fidelity, "tiny_tpu")));
    CHECK_THAT(to_csv(std::vector{compare({result})}), Catch::EndsWith(",outline\n"));
}

TEST_CASE("memory on the chip goes by its own name") {
    DeviceResult result = test::sample_result();
    CHECK_THAT(to_text(result), Catch::Contains("DRAM read"));
    result.memory = "sram";
    CHECK_THAT(to_text(result), Catch::Contains("SRAM read") && !Catch::Contains("DRAM"));
    const Json device = Json::parse(to_json({result}))["devices"][0];
    CHECK(device["memory"] == "sram");
    CHECK(device["layers"][0]["bytes"]["moved"][1]["from"] == "sram");
}

TEST_CASE("the same result gives the same bytes") {
    CHECK(to_text(test::sample_result()) == to_text(test::sample_result()));
    CHECK(to_json({test::sample_result()}) == to_json({test::sample_result()}));
    CHECK(to_csv(test::sample_result()) == to_csv(test::sample_result()));
}

}  // namespace systole
