// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/program/small_program.h"

namespace systole::systolic {
namespace {

using test::check_refused;
using test::kProgram;
using test::parse;
using test::with;

}  // namespace

TEST_CASE("a program reads back as it was written", "[program]") {
    const Program program = parse(kProgram);
    CHECK(program.trace == "with \"quotes\"");
    REQUIRE(program.commands.size() == 5);
    CHECK(program.transfers[1].to.stride == 64);
    CHECK(program.passes[0].origin.k0 == 3);
    CHECK(program.tokens.back() == Token{unit_index(UnitKind::Matrix, 0), 1});
    CHECK(to_text(program) == to_text(parse(to_text(program))));
    // Only the layout of the text may differ from what was read.
    CHECK(parse(to_text(program)).vector_work == program.vector_work);
    CHECK(parse(to_text(program)).passes == program.passes);
    CHECK(parse(to_text(program)).transfers == program.transfers);
}

TEST_CASE("a second operand of another format is named beside the first", "[program]") {
    SystolicSpec spec = test::small_machine(4, 4);
    spec.mxu.mixed_rate[{DType::Int16, DType::Int8}] = MacRate{1, 2};
    std::string text = with("dtype=int8 batch=1", "dtype=int16 second_dtype=int8 batch=1");
    CHECK_THROWS_WITH(parse_program(text, "p.txt", test::small_machine(4, 4)),
                      Catch::Contains("no rate for this number format"));
    text.replace(text.find("dtype=int8 mapping"), 10, "dtype=int16 second_dtype=int8");
    const Program program = parse_program(text, "p.txt", spec);
    CHECK(program.passes[0].second_dtype == DType::Int8);
    CHECK(program.layers[0].second_dtype == DType::Int8);
    CHECK(to_text(program) == to_text(parse_program(to_text(program), "p.txt", spec)));
}

TEST_CASE("a pass may have products that a mask hides", "[program]") {
    std::string text = with("batch=1 m0=2", "masked=28 batch=1 m0=2");  // of 8 x 4 x 4
    text.replace(text.find("macs=128"), 8, "macs=100");
    const Program program = parse(text);
    CHECK(program.passes[0].masked == 28);
    CHECK(program.passes[0].macs() == Macs(100));
    CHECK(parse(to_text(program)).passes == program.passes);
    check_refused(with("batch=1 m0=2", "masked=129 batch=1 m0=2"), "masked");
}

TEST_CASE("a transfer may look rows up in a table", "[program]") {
    const auto looking_up = [](const std::string& lookup) {
        return with("from_stride=16 to_stride=64", "from_stride=16 to_stride=64 lookup=" + lookup);
    };
    const Program program = parse(looking_up("100+7"));
    CHECK(program.transfers[1].lookup == Lookup{100, 7});
    CHECK(parse(to_text(program)).transfers == program.transfers);
    const Program once = parse(looking_up("100+7+once"));
    CHECK(once.transfers[1].lookup == Lookup{100, 7, true});
    CHECK(parse(to_text(once)).transfers == once.transfers);
    for (const std::string wrong : {"0+7", "100", "100+", "+7", "2147483648+0", "1+2+3", "1+2+one"})
        check_refused(looking_up(wrong),
                      "lookup: '" + wrong + "' is not ROWS+FIRST: rows of the table, 1 … ");
    check_refused(looking_up("2147483647+0"), "from: reaches beyond the dram's");
}

TEST_CASE("a vector command may say where it reads and writes", "[program]") {
    const std::string text =
        with("read=0 written=32", "read=32 written=32 reads_at=0:64,0:4096 writes_at=0:49152");
    const Program program = parse(text);
    REQUIRE(program.vector_work[0].reads.size() == 2);
    CHECK(program.vector_work[0].reads[1] == EdgeRead{0, 4096, 0, 8, 0});
    CHECK(program.vector_work[0].write == EdgeRead{0, 49152, 0, 8, 0});
    CHECK(parse(to_text(program)).vector_work == program.vector_work);
    CHECK(parse(kProgram).vector_work[0].write.none());

    const auto refused = [](const std::string& keys, const std::string& message) {
        check_refused(with("written=32", "written=32 " + keys), message);
    };
    refused("writes_at=0", "writes_at: '0' is not of the form STREAM:ADDRESS");
    refused("writes_at=1:0", "there is no stream 1 above; there are 1");
    refused("reads_at=0:0,0:x", "reads_at: '0:x' is not of the form STREAM:ADDRESS");
    refused("reads_at=", "reads_at: '' is not of the form");
    refused("reads_at=0:65536", "'0:65536' lies beyond the scratchpad's 65536 bytes");
    std::string many = with("written=32", "written=32 writes_at=1:0");
    many.insert(many.find("host_in"), "stream levels=65536*0,4096*0,1*0 segments=0+1\n");
    check_refused(many, "writes_at: has more than 2^25 pieces that may meet in a bank");
}

TEST_CASE("comments and empty lines are skipped", "[program]") {
    CHECK(to_text(parse(with("trace", "\n# a remark\ntrace"))) == to_text(parse(kProgram)));
}

TEST_CASE("what a machine cannot do is refused with its place", "[program]") {
    check_refused("hello", "p.txt:1:1: error: not a device program");
    check_refused("", "not a device program");
    check_refused(with("load layer", "laod layer"),
                  "p.txt:7:1: error: unknown unit 'laod'; this machine has: host_in");
    check_refused(with("load layer", "laod layer"), "(did you mean 'load'?)");
    check_refused(with("mxu0 layer", "mxu1 layer"), "unknown unit 'mxu1'");
    check_refused(with("array dataflow=ws\n", ""), "p.txt:10:1: error: no 'array dataflow=' line");
    check_refused(with("array dataflow=ws", "array"), "dataflow: missing");
    check_refused(with("array dataflow=ws", "array dataflow=ws\narray dataflow=ws"),
                  "p.txt:4:1: error: a second 'array' line");
    check_refused(with("array dataflow=ws\n", "") + "array dataflow=ws\n",
                  "p.txt:10:1: error: the 'array' line belongs before the first layer");
    check_refused(with("layer=0 from=host:0", "layer=1 from=host:0"),
                  "layer: '1' is not a whole number from 0 to 0");
    check_refused(with("from=host:0", "from=scratchpad:0"),
                  "'scratchpad:0' is not a place this unit is wired to; expected host:ADDRESS");
    check_refused(with("to=scratchpad:0 rows", "to=scratchpad:65535 rows"),
                  "reaches beyond the scratchpad's 65536 bytes");
    check_refused(with("to_stride=64", "to_stride=4611686018427387903"), "reaches beyond the scratchpad");
    check_refused(with("rows=2", "rows=0"), "rows: '0' is not a whole number from 1");
    check_refused(with("rows=2", "rows=-2"), "rows: '-2'");
    check_refused(with("rows=2", "rows=99999999999999999999"), "rows: '99999999999999999999'");
    check_refused(with(" m=8", " m=65"), "m: '65' is not a whole number from 1 to 64");
    check_refused(with(" k=4", " k=5"), "k: '5' is not a whole number from 1 to 4");
    check_refused(with("accumulator=0 mode", "accumulator=60 mode"), "accumulator: '60'");
    check_refused(with("tile=next", "tile=keep"), "no tile to keep");
    check_refused(with("dtype=int8 batch", "dtype=int4 batch"), "no rate for this number format");
    check_refused(with("mode=set", "mode=sett"),
                  "unknown 'sett', expected one of: set, add (did you mean 'set'?)");
    check_refused(with(" m=8", ""), "m: missing");
    check_refused(with(" m=8", " m=8 colour=red"), "p.txt:9:27: error: unexpected 'colour'");
    check_refused(with("after=load:1", "after=load"), "'load' is not 'unit:count'");
    check_refused(with("after=load:1", "after=nobody:1"), "'nobody:1' is not 'unit:count'");
    check_refused(with("macs=128", "macs=127"), "do 128 MACs, the layer says 127");
    check_refused(with("segments=0+2", "segments=0+0"), "expected 'offset+bytes' pairs");
    check_refused(with("levels=1*0,", "levels="), "expected three 'count*stride'");
    check_refused(with("mapping=\"by hand\"", "mapping=\"by hand"), "a quote is never closed");
    check_refused(
        with("weights0 layer=0 from=scratchpad:24576 to=weight_fifo:0 rows=1 row_bytes=16 operand=weights\n",
             ""),
        "weights0 loads 0 tiles, the passes of mxu0 use 1");
}

namespace {

SystolicSpec direct_machine(Dataflow dataflow) {
    SystolicSpec spec = test::small_machine(4, 4);
    spec.mxu.dataflow = dataflow;
    spec.mxu.weight_fifo_tiles = 0;
    return spec;
}

/// A program of one pass on such a machine; reads patterns of 8 vectors of 4 bytes, and of 4 of them.
std::string direct_program(const std::string& dataflow, int macs, const std::string& pass) {
    return "systole-program 2\ntrace \"t\"\narray dataflow=" + dataflow +
           "\nlayer \"fc\" op=matmul macs=" + std::to_string(macs) +
           " compulsory_dram=80 dtype=int8 mapping=\"\"\nstream levels=1*0,2*16,4*4 segments=0+4\n"
           "stream levels=1*0,1*0,4*4 segments=0+4\nmxu0 layer=0 " +
           pass + " dtype=int8\n";
}

void check_refused_by(const SystolicSpec& spec, const std::string& text, const std::string& message) {
    try {
        parse_program(text, "p.txt", spec);
        FAIL("not refused: " << message);
    } catch (const UserError& error) {
        CHECK_THAT(error.what(), Catch::Contains(message));
    }
}

}  // namespace

TEST_CASE("windows, runs of folds and both edges read back as they were written", "[program]") {
    const SystolicSpec spec = direct_machine(Dataflow::InputStationary);
    const Program program = parse_program(
        direct_program("is", 4 * 4 * 8 * 3,
                       "left=0:64+128 top=0:256+4 top_window=3+4 m=4 k=4 n=8 folds=3 accumulator=0 mode=set "
                       "tile=next second=kv_cache"),
        "p.txt", spec);
    const MatrixPass& pass = program.passes.at(0);
    CHECK(pass.left == EdgeRead{0, 64, 0, 8, 128});
    CHECK(pass.top == EdgeRead{0, 256, 3, 4, 4});
    CHECK(pass.folds == 3);
    CHECK(pass.second == Operand::KvCache);
    CHECK(parse_program(to_text(program), "again.txt", spec).passes == program.passes);
    CHECK(to_text(parse_program(to_text(program), "again.txt", spec)) == to_text(program));
}

TEST_CASE("what an array without a FIFO cannot do is refused", "[program]") {
    const SystolicSpec ws = direct_machine(Dataflow::WeightStationary);
    const SystolicSpec os = direct_machine(Dataflow::OutputStationary);
    const SystolicSpec is = direct_machine(Dataflow::InputStationary);
    const std::string good = "left=0:0 top=1:256 m=8 k=4 n=4 accumulator=0 mode=set tile=next";
    const auto with = [&](const std::string& what, const std::string& instead) {
        std::string text = good;
        return direct_program("ws", 128, text.replace(text.find(what), what.size(), instead));
    };
    CHECK_NOTHROW(parse_program(direct_program("ws", 128, good), "p.txt", ws));
    check_refused_by(test::small_machine(4, 4), direct_program("ws", 128, good),
                     "top: tiles come from the weight FIFO here");
    check_refused_by(os, direct_program("ws", 128, good), "dataflow: this machine's arrays are os");
    check_refused_by(ws, with("top=1:256", ""), "top: missing: a new tile is shifted out of the scratchpad");
    check_refused_by(ws, with("top=1:256", "top=2:256"), "there is no stream 2 above; there are 2");
    check_refused_by(ws, with("top=1:256", "top=1:65536"), "lies beyond the scratchpad's 65536 bytes");
    check_refused_by(ws, with("left=0:0", "left=0:0+8+8"), "not of the form STREAM:ADDRESS");
    check_refused_by(ws, with("left=0:0", "left=0:0 left_window=8+1"),
                     "not FIRST+COUNT within the 8 vectors");
    check_refused_by(ws, with("left=0:0", "left=0:0 left_window=5+4"),
                     "not FIRST+COUNT within the 8 vectors");
    check_refused_by(ws, with("left=0:0", "left=0:0 left_window=0+0"),
                     "not FIRST+COUNT within the 8 vectors");
    check_refused_by(ws, with("n=4", "n=4 folds=0"), "folds: '0' is not a whole number from 1");
    check_refused_by(ws, with("top=1:256", "top=1:256+65000 folds=3"), "the last fold lies beyond");
    check_refused_by(ws, with("tile=next", "tile=keep"), "no tile to keep");
    check_refused_by(ws, with("n=4", "n=4 second=outputs"), "unknown 'outputs', expected one of: weights");
    check_refused_by(
        os, direct_program("os", 128, "left=0:0 top=1:0 m=5 k=4 n=4 accumulator=0 mode=set tile=next"),
        "m: '5' is not a whole number from 1 to 4");
    check_refused_by(
        os, direct_program("os", 128, "left=0:0 top=1:0 m=4 k=8 n=4 accumulator=0 mode=set tile=keep"),
        "an output-stationary pass takes a tile of its own");
    check_refused_by(os, direct_program("os", 128, "left=0:0 m=4 k=8 n=4 accumulator=0 mode=set tile=next"),
                     "an output-stationary array streams its weights");
    check_refused_by(
        is, direct_program("is", 128, "left=0:0 top=1:0 m=5 k=4 n=8 accumulator=0 mode=set tile=next"),
        "m: '5' is not a whole number from 1 to 4");
    check_refused_by(
        is, direct_program("is", 128, "left=0:0 top=1:0 m=4 k=4 n=8 accumulator=57 mode=set tile=next"),
        "accumulator: '57' is not a whole number from 0 to 56");
    check_refused_by(
        ws,
        direct_program("ws", 0, good) +
            "weights0 layer=0 from=scratchpad:0 to=weight_fifo:0 rows=1 row_bytes=16 operand=weights\n",
        "this machine has no weight FIFO");
}

namespace {

/// Program lines of one pass on a direct machine of 4 x 4, over the two patterns given.
std::string edge_program(const std::string& dataflow, std::int64_t macs, const std::string& left,
                         const std::string& top, const std::string& pass) {
    return "systole-program 2\ntrace \"t\"\narray dataflow=" + dataflow +
           "\nlayer \"fc\" op=matmul macs=" + std::to_string(macs) +
           " compulsory_dram=80 dtype=int8 mapping=\"\"\nstream " + left + "\nstream " + top +
           "\nmxu0 layer=0 " + pass + " accumulator=0 mode=set tile=next dtype=int8\n";
}

}  // namespace

TEST_CASE("edges read vectors that fit the extents of their pass", "[program]") {
    const std::string eight = "levels=1*0,2*16,4*4 segments=0+4", four = "levels=1*0,1*0,4*4 segments=0+4";
    const auto refuse = [](Dataflow dataflow, const std::string& left, const std::string& top,
                           const std::string& pass, const std::string& message) {
        check_refused_by(direct_machine(dataflow), edge_program(to_string(dataflow), 1, left, top, pass),
                         message);
    };
    refuse(Dataflow::WeightStationary, four, four, "left=0:0 top=1:0 m=8 k=4 n=4",
           "left: reads 4 vectors of inputs, but m is 8");
    refuse(Dataflow::WeightStationary, eight, eight, "left=0:0 top=1:0 m=8 k=4 n=4",
           "top: reads 8 vectors of the second operand, but k is 4 and n is 4");
    refuse(Dataflow::WeightStationary, eight, four, "left=0:0 top=1:0 m=8 k=4 n=4 left_window=2+3",
           "left: reads 3 vectors");
    refuse(Dataflow::OutputStationary, eight, four, "left=0:0 top=1:0 m=4 k=8 n=4",
           "left: reads 8 vectors of inputs");
    refuse(Dataflow::InputStationary, eight, four, "left=0:0 top=1:0 m=3 k=4 n=8",
           "top: reads 4 vectors of inputs, but m is 3");
    refuse(Dataflow::InputStationary, eight, four, "left=0:0 top=1:0 m=4 k=4 n=7",
           "left: reads 8 vectors of the second operand, but k is 4 and n is 7");
}

TEST_CASE("what the ports of a pass could not be scheduled for is refused", "[program]") {
    SystolicSpec os = direct_machine(Dataflow::OutputStationary);
    const std::string one = "levels=1*0,1*0,1*0 segments=0+4";
    // 1,048,573 * 2,045 vectors at one place, in two pieces.
    const std::string many = "levels=1048573*0,2045*0,1*0 segments=";
    const std::int64_t k = std::int64_t{1'048'573} * 2'045;
    const std::string pass = "left=0:0 top=1:0 m=1 n=1 k=" + std::to_string(k);
    check_refused_by(os, edge_program("os", k, one, many + "0+63,0+63", pass),
                     "top: may take its port more than 2^31 cycles a fold");
    os.scratchpad.weight_port_bytes = Bytes(64);  // one line: no conflicts, and twice as wide as needed
    CHECK_NOTHROW(parse_program(edge_program("os", k, one, many + "0+32,32+32", pass), "p.txt", os));
    check_refused_by(os, edge_program("os", k, one, many + "0+63,0+63", pass),
                     "top: may take its port more than 2^31 cycles a fold");
    check_refused_by(os, edge_program("os", k, one, many + "63+2", pass), "top: may take its port");
    check_refused_by(os,
                     edge_program("os", k / 2045, one, "levels=1048573*1,1*0,1*0 segments=0+1",
                                  "left=0:0 top=1:0 m=1 n=1 k=1048573 folds=2"),
                     "folds: a run of folds");
}

TEST_CASE("a run of folds is bounded by what all of its folds read", "[program]") {
    SystolicSpec ws = direct_machine(Dataflow::WeightStationary);
    ws.mxu.accumulator_rows = 1 << 16;
    ws.scratchpad.capacity = Bytes(1 << 30);
    ws.scratchpad.banks = 32;
    // 65,536 of a pattern's vectors go through a buffer: 512 times that is more than 2^25.
    const auto text = [](int folds, int step) {
        return edge_program("ws", std::int64_t{65'536} * 16 * folds, "levels=1*0,2*4,65536*8 segments=0+4",
                            "levels=1*0,1*0,4*4 segments=0+4",
                            "left=0:0+" + std::to_string(step) +
                                " top=1:0 m=65536 k=4 n=4 left_window=0+65536" +
                                " folds=" + std::to_string(folds));
    };
    const auto accepts = [&](const std::string& program) { parse_program(program, "p.txt", ws); };
    CHECK_NOTHROW(accepts(text(256, 1)));
    // 512 bytes around the banks: folds 4 bytes apart begin at 128 places, those 512 apart at one.
    CHECK_NOTHROW(accepts(text(4096, 4)));
    CHECK_NOTHROW(accepts(text(4096, 512)));
    check_refused_by(ws, text(4096, 3), "left: reads more than 2^25 pieces that may meet in a bank");
}

TEST_CASE("garbage is refused, never a crash", "[program]") {
    check_refused(std::string("systole-program 2\n\0\xff\xfe=\"", 22), "error");
    check_refused("systole-program 2\n" + std::string(100'000, '='), "error");
    std::string many = "systole-program 2\n";
    for (int i = 0; i < 10'000; ++i) many += "nonsense\n";
    check_refused(many, "unknown unit 'nonsense'");
}

}  // namespace systole::systolic
