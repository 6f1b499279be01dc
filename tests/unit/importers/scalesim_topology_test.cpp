// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/scalesim_topology.h"

#include <catch2/catch.hpp>
#include <random>

#include "sim/workload/trace.h"
#include "tests/unit/workload/graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

const std::string kConvolutions =
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n";
const std::string kProducts = "Layer,M,N,K,\n";

Graph network(const std::string& table, const std::vector<TraceOverride>& overrides = {}) {
    return graph_of(import_scalesim_topology(table, "nets/tiny-1.csv").trace, overrides);
}

/// All notes, one a line.
std::string notes(const std::string& table) {
    std::string text;
    for (const ImportNote& note : import_scalesim_topology(table, "t.csv").notes)
        text += to_string(note) + "\n";
    return text;
}

std::string refusal(const std::string& table) {
    try {
        import_scalesim_topology(table, "t.csv");
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a convolution has no padding, and its output is rounded up as the tool's is") {
    const Graph graph =
        network(kConvolutions + "Conv1, 224, 224, 11, 11, 3, 96, 4,\nConv2,27,27,5,5,96,256,1,\n");
    REQUIRE(graph.layers.size() == 2);
    CHECK(graph.name == "tiny_1");
    CHECK(tensor(graph, "Conv1").shape == Shape{1, 55, 55, 96});  // (224 - 11) / 4 + 1 = 54.25
    CHECK(tensor(graph, "Conv2").shape == Shape{1, 23, 23, 256});
    CHECK(macs(layer(graph, "Conv1").op) == Macs(105'415'200));
    CHECK(tensor(graph, "Conv1_in").shape == Shape{1, 224, 224, 3});
    CHECK(tensor(graph, "Conv1_in").dtype == DType::Bf16);
    CHECK(graph.outputs.size() == 2);
    CHECK(notes(kConvolutions + "Conv1, 224, 224, 11, 11, 3, 96, 4,\n").empty());
    const Graph batch =
        network(kConvolutions + "Conv2,27,27,5,5,96,256,1,\n", {{"batch", "4", {}}, {"dtype", "int8", {}}});
    CHECK(macs(batch.layers[0].op) == Macs(4 * 325'017'600));
    CHECK(batch.tensors[batch.layers[0].output].dtype == DType::Int8);
}

TEST_CASE("products are M rows by N columns over K, or several of them") {
    const Graph graph = network(kProducts + "Attn-Q,512,384,64,\n\nQKT,512,1024,64,12,\n");
    CHECK(macs(layer(graph, "Attn_Q").op) == Macs(512 * 384 * 64));
    CHECK(tensor(graph, "Attn_Q").shape == Shape{512, 384});
    CHECK(tensor(graph, "QKT").shape == Shape{12, 512, 1024});
    CHECK(macs(layer(graph, "QKT").op) == Macs(12 * 512 * 1024 * 64));
    CHECK(!layer(graph, "QKT").weights);
    CHECK(layer(graph, "Attn_Q").weights);
}

TEST_CASE("a layer whose name says DP has filters for each channel") {
    const Graph graph = network(kConvolutions + "Conv2_DP,112,112,3,3,32,1,2,\nDP3,8,8,3,3,4,2,1,\n");
    CHECK(std::get<Conv2d>(graph.layers[0].op).groups == 32);
    CHECK(macs(graph.layers[0].op) == Macs(56 * 56 * 9 * 32));
    CHECK(tensor(graph, "DP3").shape == Shape{1, 6, 6, 8});
}

TEST_CASE("weights of which not all are stored keep their ratio") {
    const Graph graph = network(kConvolutions + "a,8,8,3,3,16,8,1,2:4,\nb,8,8,3,3,16,8,1,4:4,\n");
    CHECK(tensor(graph, "a.weights").format.packed());
    CHECK(macs(layer(graph, "a").op).value() * 2 == macs(layer(graph, "b").op).value());
    CHECK_THAT(refusal(kConvolutions + "a,8,8,3,3,6,8,1,2:4,\n"),
               Catch::Contains("t.csv:2:1: error: 'a': a trace cannot say that of every 4"));
    CHECK_THAT(refusal(kProducts + "a,8,8,8,2:4,3,\n"), Catch::Contains("no stored weights to be sparse"));
}

TEST_CASE("names are made a trace's, each once") {
    const Graph graph = network(kProducts + "1x1,8,8,8,\n1x1,8,8,8,\nl1x1_in,8,8,8,\n,8,8,8,\n");
    std::vector<std::string> names;
    for (const Layer& layer : graph.layers) names.push_back(layer.name);
    CHECK(names == std::vector<std::string>{"l1x1", "l1x1_2", "l1x1_in_2", "unnamed"});
}

TEST_CASE("what is forgiven is told once, with the first line and how many more") {
    struct Case {
        const char *rows, *told;
        std::int64_t macs;
    };
    const auto [rows, told, all] = GENERATE(values<Case>({
        {"a,8,8,3,3,4,5,1\nb,8,8,3,3,4,5,1\n",
         "t.csv:2: note: there is no comma behind the last number: SCALE-Sim drops that number (and 1 more "
         "rows)\n",
         2 * 36 * 180},
        {"a,8,8,3,3 4,5,1,\n",
         "t.csv:2: note: a comma is missing between numbers: SCALE-Sim does not load this\n", 36 * 180},
        {"a,8,8,3,3,4,5,\n", "t.csv:2: note: there is no stride; 1 is taken\n", 36 * 180},
        {"a,8,8,3,3,4,5,1,#dw\n", "t.csv:2: note: text behind the numbers is left out\n", 36 * 180},
        {"a,8,8,3,3,4,5,1,1,7,7,\n", "t.csv:2: note: numbers behind the 8 of a layer are left out\n",
         36 * 180},
        {"Stage 1,,,,,,,,\na,8,8,3,3,4,5,1,\n", "t.csv:2: note: a row without numbers is no layer\n",
         36 * 180},
        {"a,8,8,3,3,4,5,1,1\n",
         "t.csv:2: note: there is no comma behind the last number: SCALE-Sim drops that number\n", 36 * 180},
        {"a,8,8,3,3,4,5,1,,,,\n", "", 36 * 180},
    }));
    INFO(rows);
    CHECK(notes(kConvolutions + rows) == told);
    CHECK(total_macs(network(kConvolutions + rows)) == Macs(all));
}

TEST_CASE("a table without headings is told by its numbers") {
    CHECK(total_macs(network("a,8,8,3,3,4,5,1,\n")) == Macs(36 * 180));
    CHECK(total_macs(network("a,8,8,3,\n")) == Macs(8 * 8 * 3));
    CHECK_THAT(notes("a,8,8,3,\n"), Catch::Contains("t.csv:1: note: there is no line of headings"));
}

TEST_CASE("layers that sound as if they took channel by channel are told of") {
    CHECK_THAT(notes(kConvolutions + "DepthwiseConv2D_1,48,48,3,3,8,1,1,\n"),
               Catch::Contains("t.csv:2: note: 'DepthwiseConv2D_1' sounds as if"));
    CHECK(total_macs(network(kConvolutions + "DepthwiseConv2D_1,48,48,3,3,8,1,1,\n")) ==
          Macs(46 * 46 * 9 * 8));
    CHECK(notes(kConvolutions + "Conv2_dw,112,112,3,3,1,1,1,\n").empty());
}

TEST_CASE("rows that cannot be read are refused, all of them, each with its line") {
    CHECK_THAT(refusal(""), Catch::Contains("t.csv:1:1: error: the table is empty"));
    CHECK_THAT(refusal(kConvolutions), Catch::Contains("no layer follows the headings"));
    CHECK_THAT(refusal(kConvolutions + "a,8,8,3,3,4,\n"),
               Catch::Contains("t.csv:2:1: error: 'a' has 5 numbers; expected"));
    CHECK_THAT(refusal(kConvolutions + "a,8,8,9,3,4,5,1,\n"),
               Catch::Contains("a kernel of 9 x 3 is larger than its input of 8 x 8"));
    CHECK_THAT(refusal(kConvolutions + "a,8,8,3,3,4,5,1,2,\n"), Catch::Contains("strides of 1 and 2"));
    CHECK_THAT(refusal(kConvolutions + "a,8,8,3,,4,5,1,\n"), Catch::Contains("column 5 is empty"));
    CHECK_THAT(refusal(kConvolutions + "a,8,8,3,three,4,5,1,\n"),
               Catch::Contains("column 5: expected a whole number, not 'three'"));
    CHECK_THAT(refusal(kConvolutions + "a,8,8,3,3.5,4,5,1,\n"), Catch::Contains("'3.5'"));
    CHECK_THAT(refusal(kConvolutions + "a,0,8,3,3,4,5,1,\n"), Catch::Contains("'a': 0 is no extent"));
    CHECK_THAT(refusal(kProducts + "a,-4,8,3,\n"), Catch::Contains("-4 is no extent"));
    CHECK_THAT(refusal(kProducts + "a,4,8,99999999999,\n"), Catch::Contains("expected 1 to 2147483647"));
    CHECK_THAT(refusal(kProducts + "a,4,8,99999999999999999999,\n"),
               Catch::Contains("expected a whole number"));
    CHECK_THAT(refusal(kProducts + "a,4\nb,4,8,3,\nc,x\n"),
               Catch::Contains("t.csv:2:1") && Catch::Contains("t.csv:4:1"));
    CHECK_THAT(refusal(std::string("\0\1\2", 3)), Catch::Contains("not a text file"));
}

TEST_CASE("what is imported is a trace that can be read, whatever layers are called and however large") {
    const Graph graph = network(kProducts + "null,8,8,8,\nblock_in,8,8,8,\nbatch,8,8,8,\nyes,8,8,8,\n");
    CHECK(layer(graph, "l_null").name == "l_null");
    CHECK(layer(graph, "l_block_in").name == "l_block_in");
    const std::string large = "2147483647";
    CHECK_THAT(refusal(kProducts + "a," + large + "," + large + "," + large + ",\n"),
               Catch::Contains("more elements"));
    CHECK_THAT(refusal(kConvolutions + "a,1,1,1,1," + large + "," + large + ",1,\n"),
               Catch::Contains("more elements"));
    CHECK_THAT(refusal(kProducts + "a,2097152,2097152,1048576,\nb,2097152,2097152,1048576,\n"),
               Catch::Contains("t.csv:3:1"));
    CHECK_THAT(refusal(kConvolutions + "a,8,8,3,3,64,8,1,1:64,\n"),
               Catch::Contains("cannot say that of every 64"));
}

TEST_CASE("a first row with numbers is no line of headings") {
    CHECK_THAT(refusal("conv1,224.0,224,3,3,3,64,1,\nconv2,224,224,3,3,64,64,1,\n"),
               Catch::Contains("t.csv:1:1: error: column 2: expected a whole number, not '224.0'"));
    CHECK(total_macs(network("a,8,8 3 3,4,8,1,\n")) == Macs(36 * 9 * 4 * 8));
    CHECK_THAT(refusal("a;8;8;8\n"), Catch::Contains("columns must be parted by commas"));
}

TEST_CASE("a comma that may be missing behind a name is not guessed") {
    CHECK_THAT(refusal(kConvolutions + "Conv1 224,224,3,3,3,64,1,\n"),
               Catch::Contains("t.csv:2:1: error: 'Conv1 224' ends in a number, and one is missing"));
}

TEST_CASE(
    "many names that are alike for as long as a name may be differ, and many layers to tell of are one "
    "note") {
    std::string table = kProducts, odd = kConvolutions;
    for (int i = 0; i < 20'000; ++i) {
        const std::string number = std::to_string(1'000'000 + i);
        table += std::string(93, 'a') + number + ",1,1,1,\n";
        odd += "dw" + number + ",1,1,1,1,2,1,1,\n";
    }
    CHECK(network(table).layers.size() == 20'000);
    CHECK(import_scalesim_topology(odd, "t.csv").notes.size() == 1);
}

TEST_CASE("bytes at random are read or refused, never worse") {
    const auto seed = GENERATE(take(300, random<std::uint64_t>(1, 1 << 30)));
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    constexpr std::string_view kPieces[] = {",",   ",",  ",",  "\n", "\n", "8", "3",  "a",         " ",
                                            "2:4", "DP", "\"", "-1", ":",  "#", "\t", "9999999999"};
    std::string table = random() % 2 == 0 ? kConvolutions : kProducts;
    for (int i = 0; i < 200; ++i) table += kPieces[random() % std::size(kPieces)];
    try {
        const Imported imported = import_scalesim_topology(table, "t.csv");
        graph_of(imported.trace);
    } catch (const UserError& error) {
        CHECK_THAT(error.what(), Catch::Contains("t.csv:"));
    }
}

TEST_CASE("a trace of what a table says can be read, however large its numbers are") {
    const auto seed = GENERATE(take(400, random<std::uint64_t>(1, 1 << 30)));
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto extent = [&] { return std::to_string((std::uint64_t{1} << random() % 32) - random() % 2); };
    const bool products = random() % 2 == 0;
    std::string table = products ? kProducts : kConvolutions;
    for (std::uint64_t row = 0; row < 1 + random() % 40; ++row) {
        table += (random() % 8 == 0 ? "DP" : "l") + std::to_string(row);
        for (int i = 0; i < (products ? 3 : 7); ++i) table += "," + extent();
        table += products && random() % 3 == 0 ? "," + extent() + ",\n" : ",\n";
    }
    std::string trace;
    try {
        trace = import_scalesim_topology(table, "t.csv").trace;
    } catch (const UserError&) {
        return;
    }
    CHECK_NOTHROW(graph_of(trace));
}

TEST_CASE("tables whose bytes nobody could count are refused") {
    std::string table = kProducts;
    for (int i = 0; i < 40; ++i) table += "a" + std::to_string(i) + ",134217728,1,268435456,\n";  // 2^55 each
    CHECK(refusal(table).empty());
    for (int i = 0; i < 30; ++i) table += "b" + std::to_string(i) + ",134217728,1,268435456,\n";
    CHECK_THAT(refusal(table),
               Catch::Contains("'b24': more elements than 2^56, or, with the layers before, than 2^61"));
}
