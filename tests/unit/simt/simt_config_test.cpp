// SPDX-License-Identifier: Apache-2.0
// Values that no GPU can have, each refused at its place.
#include "models/devices/simt/spec/simt_config.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "tests/unit/simt/gpu_config.h"

namespace systole::simt {
namespace {

/// An A100 with one line of its own: the fourth.
std::string with(const std::string& line) {
    return "device: Mine\nkind: simt\nextends: a100\n" + line + "\n";
}

/// What is said about that line; nothing where it is fine.
std::string complaint_about(const std::string& line) {
    try {
        test::gpu_spec(with(line));
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

struct Mistake {
    std::string line;
    std::string said;  ///< a part of the message
};

/// Each is refused, in the fourth line of the file, with these words and no other complaint.
void refuse(const std::vector<Mistake>& mistakes) {
    for (const Mistake& mistake : mistakes) {
        const std::string complaint = complaint_about(mistake.line);
        CAPTURE(mistake.line, complaint);
        CHECK(complaint.starts_with("mine.yaml:4:"));
        CHECK(complaint.find(": error: ") != std::string::npos);
        CHECK(complaint.find(mistake.said) != std::string::npos);
        CHECK(complaint.find('\n') == std::string::npos);
    }
}

}  // namespace

TEST_CASE("a GPU is read as it is written", "[simt]") {
    const SimtSpec spec = test::gpu_spec(
        with("sm: {count: 7, gpcs: [4, 2], cluster_latency: 17, scheduling: lrr, engine: warps, fp32: "
             "{interval: 3, "
             "latency: 5}, lsu_interval: 2, sub_core_lsu_interval: 6, lsu_queue: 64, "
             "barrier_latency: 11, bulk_copy_issue: 12, register_unit: 512, ctas: 9, "
             "tensor: {latency: 13, macs: {int16: 8}}, l1: {capacity: 120 KiB, latency: 14, width: 64 B}, "
             "shared: {capacity: 100 KiB, most_of_cta: 90 KiB, reserved_of_cta: 2 KiB, width: 32 B, latency: "
             "15}}\n"
             "tlb: {page: 64 KiB, reach: 1 MiB, latency: 40}\n"
             "l2: {capacity: 4 MiB, usable: 3 MiB, dirty: 1 MiB, ways: 8, line: 256 B, sector: 64 B, "
             "read_width: 1 KiB, "
             "write_width: "
             "512 B, sm_read_width: 48 B, sm_write_width: 16 B, latency: 100, memory_latency: 200}\n"
             "launch: {graph: 1 us, stream: 2 us, cta: 33, cta_interval: 700 ps}\n"
             "calibrated: {kernel_overhead: {value: 3 us, calibrated: some rows, range: 1..4 us}, "
             "memory_share: {value: 0.5, calibrated: some rows, range: 0.4..1}, larger_tiles: {value: 0.125, "
             "calibrated: some rows, range: 0..1}, l2_loads: {value: 0.25, calibrated: some rows, range: "
             "0..1}}"));
    CHECK(spec.name == "mine");
    CHECK(spec.sm.count == 7);
    CHECK(spec.sm.gpcs == std::vector<int>{4, 2, 1});  // in turn, and the last is cut off
    CHECK(spec.sm.cluster_latency == Cycles(17));
    CHECK(spec.sm.scheduling == WarpScheduling::LooseRoundRobin);
    CHECK(spec.sm.engine == SmEngine::Warps);
    CHECK(spec.sm.fp32.interval == Cycles(3));
    CHECK(spec.sm.fp32.latency == Cycles(5));
    CHECK(spec.sm.integer.latency == Cycles(4));
    CHECK(spec.sm.special.interval == Cycles(8));
    CHECK(spec.sm.lsu_interval == Cycles(2));
    CHECK(spec.sm.lsu_interval_of_sub_core == Cycles(6));
    CHECK(spec.sm.lsu_queue == Cycles(64));
    CHECK(spec.sm.barrier_latency == Cycles(11));
    CHECK(spec.sm.bulk_copy_issue == Cycles(12));
    CHECK(spec.sm.register_unit == 512);
    CHECK(spec.sm.registers_of_thread == 255);
    CHECK(spec.sm.ctas == 9);
    CHECK(spec.sm.tensor.latency == Cycles(13));
    CHECK(spec.macs_per_cycle(DType::Int16) == 7 * 4 * 8);
    CHECK(spec.macs_per_cycle(DType::Bf16) == 7 * 4 * 256);
    CHECK(spec.macs_per_cycle(DType::Fp8) == 0);
    CHECK(spec.macs_per_cycle(DType::Fp32) == 7 * 4 * 10);  // a warp every third cycle
    CHECK(spec.sm.l1_capacity == Bytes(120 * 1024));
    CHECK(spec.sm.l1_latency == Cycles(14));
    CHECK(spec.sm.l1_bytes_per_cycle == Bytes(64));
    CHECK(spec.sm.shared.capacity == Bytes(100 * 1024));
    CHECK(spec.sm.shared.most_of_cta == Bytes(90 * 1024));
    CHECK(spec.sm.shared.reserved_of_cta == Bytes(2048));
    CHECK(spec.sm.shared.bytes_per_cycle == Bytes(32));
    CHECK(spec.sm.shared.latency == Cycles(15));
    CHECK(spec.tlb.page == Bytes(1 << 16));
    CHECK(spec.tlb.reach == Bytes(1 << 20));
    CHECK(spec.tlb.latency == Cycles(40));
    CHECK(spec.l2.capacity == Bytes(4 << 20));
    CHECK(spec.l2.usable == Bytes(3 << 20));
    CHECK(spec.l2.dirty == Bytes(1 << 20));
    CHECK(spec.l2.ways == 8);
    CHECK(spec.l2.line == Bytes(256));
    CHECK(spec.l2.sector == Bytes(64));
    CHECK(spec.l2.bytes_per_cycle == Bytes(1024));
    CHECK(spec.l2.write_bytes_per_cycle == Bytes(512));
    CHECK(spec.l2.sm_read_per_cycle == Bytes(48));
    CHECK(spec.l2.sm_write_per_cycle == Bytes(16));
    CHECK(spec.l2.latency == Cycles(100));
    CHECK(spec.l2.memory_latency == Cycles(200));
    CHECK(spec.launch.graph == Ticks(1'000'000));
    CHECK(spec.launch.stream == Ticks(2'000'000));
    CHECK(spec.launch.cta == Cycles(33));
    CHECK(spec.launch.cta_interval == Ticks(700));
    CHECK(spec.copy.setup_cycles == Cycles(500));
    CHECK(spec.calibrated.kernel_overhead == Ticks(3'000'000));
    CHECK(spec.l2.memory_share == 0.5);
    CHECK(spec.calibrated.larger_tiles == 0.125);
    CHECK(spec.calibrated.l2_loads == 0.25);
}

TEST_CASE("a library's kernels with parts of K and Winograd's are as the configuration says", "[simt]") {
    CHECK(test::gpu_spec(with("")).kernels.split_k == SplitK::Offered);
    CHECK(test::gpu_spec(with("kernels: {split_k: never}")).kernels.split_k == SplitK::Never);
    CHECK(test::gpu_spec(with("kernels: {split_k: cudnn7}")).kernels.split_k == SplitK::Cudnn7);
    CHECK(test::gpu_spec(with("")).kernels.winograd);
    CHECK_FALSE(test::gpu_spec(with("kernels: {winograd: false}")).kernels.winograd);
    CHECK(test::gpu_spec(with("sm: {tensor: {issue: quad_pair}}")).sm.tensor.issue == TensorIssue::QuadPair);
}

TEST_CASE("a library's stream-K kernels are never, offered or always taken, and not in warps", "[simt]") {
    CHECK(test::gpu_spec(with("kernels: {stream_k: never}")).kernels.stream_k == StreamK::Never);
    CHECK(test::gpu_spec(with("kernels: {stream_k: offered}")).kernels.stream_k == StreamK::Offered);
    CHECK(test::gpu_spec(with("kernels: {stream_k: always}")).kernels.stream_k == StreamK::Always);
    CHECK(test::gpu_spec(with("kernels: {stream_k: never}\nsm: {engine: warps}")).sm.engine ==
          SmEngine::Warps);
    const std::string said = "kernels.stream_k: SMs in warps (sm.engine) run no shared tiles, expected never";
    refuse({{"kernels: {stream_k: always}\nsm: {engine: warps}", said},
            {"kernels: {stream_k: offered}\nsm: {engine: warps}", said}});
}

TEST_CASE("constants that were found by measuring are nothing where they are not given", "[simt]") {
    const SimtSpec spec = test::gpu_spec(
        "device: Mine\nextends: a100\ncalibrated: {kernel_overhead: 0 s, replay_gap: 0 s, memory_share: 1, "
        "larger_tiles: 0}\n");
    CHECK(spec.kernels.stream_k == StreamK::Never);
    CHECK(spec.kernels.persistent);
    CHECK(spec.kernels.layers == Library::PyTorch);
    CHECK(test::gpu_spec("device: Mine\nextends: h100\nkernels: {layers: vllm}\n").kernels.layers ==
          Library::Vllm);
    CHECK_FALSE(
        test::gpu_spec("device: Mine\nextends: h100\nkernels: {persistent: false}\n").kernels.persistent);
    CHECK(spec.calibrated.kernel_overhead == Ticks(0));
    CHECK(spec.calibrated.replay_gap == Ticks(0));
    CHECK(spec.l2.memory_share == 1);
    CHECK(spec.calibrated.larger_tiles == 0);
    CHECK(spec.calibrated.l2_loads == 0);
}

TEST_CASE("an SM that could hold no warp, or not divide itself, is refused", "[simt]") {
    refuse({
        {"sm: {count: 0}", "sm.count"},
        {"sm: {count: 1025}", "the most is 1024"},
        {"sm: {sub_cores: 17}", "sm.sub_cores"},
        {"sm: {warps: 62}", "62, expected a multiple of sub_cores (4)"},
        {"sm: {registers: 65535}", "65535, expected a multiple of sub_cores (4)"},
        {"sm: {warps: 2}", "2, expected a multiple of sub_cores (4)"},
        {"sm: {ctas: 0}", "sm.ctas"},
        {"sm: {registers_of_thread: 513}",
         "a warp of 32 threads with 513 registers takes 16640 in units of 256, a sub-core has 16384"},
        {"sm: {scheduling: oldest}", "gto"},
        {"sm: {warp_threads: 16}", "sm.warp_threads"},
        {"sm: {issue_interval: 0}", "sm.issue_interval"},
        {"sm: {one_pipe: 4}", "sm.one_pipe"},
        {"sm: {l1: {apart: 16 KiB}}", "sm.l1.apart"},
        {"sm: {engine: grid}", "warps"},
        {"sm: {register_unit: 0}", "sm.register_unit"},
        {"sm: {lsu_interval: 0}", "sm.lsu_interval"},
        {"sm: {sub_core_lsu_interval: 1025}", "sm.sub_core_lsu_interval"},
        {"sm: {lsu_queue: 0}", "sm.lsu_queue"},
        {"sm: {barrier_latency: -1}", "sm.barrier_latency"},
        {"sm: {bulk_copy_issue: 100001}", "sm.bulk_copy_issue"},
    });
    CHECK(complaint_about("sm: {registers_of_thread: 512}").empty());
    CHECK(complaint_about("sm: {warp_threads: 64, registers_of_thread: 128, tensor: {issue: wave}}").empty());
    CHECK(complaint_about("sm: {l1: {capacity: 16 KiB, apart: true}}").empty());
    CHECK_THAT(complaint_about("sm: {warp_threads: 48}"),
               Catch::Matchers::Contains("48 threads, expected 32 or 64"));
    CHECK_THAT(complaint_about("sm: {tensor: {issue: wave}}"),
               Catch::Matchers::Contains("expected sm.warp_threads: 64"));
    // The value that is now too large is the preset's own.
    CHECK_THAT(complaint_about("sm: {register_unit: 32768}"),
               Catch::Matchers::StartsWith("configs/devices/a100.yaml:") &&
                   Catch::Matchers::Contains("takes 32768 in units of 32768"));
}

TEST_CASE("pipelines and tensor cores that could not work are refused", "[simt]") {
    refuse({
        {"sm: {fp32: {interval: 0}}", "sm.fp32.interval"},
        {"sm: {special: {latency: 7}}", "7 cycles, expected at least the interval of 8"},
        {"sm: {tensor: {issue: threads}}", "did you mean 'thread'?"},
        {"sm: {tensor: {issue: thread}}", "expected sm.tensor.memory"},
        {"sm: {tensor: {memory: {capacity: 1000 B, width: 64 B, latency: 30}}}", "whole columns of 512"},
        {"sm: {tensor: {memory: {capacity: 256 KiB, width: 0 B, latency: 30}}}", "sm.tensor.memory.width"},
        {"sm: {tensor: {memory: {capacity: 2 GiB, width: 64 B, latency: 30}}}", "sm.tensor.memory.capacity"},
        {"sm: {tensor: {memory: {capacity: 256 KiB, width: 64 B, latency: 0}}}", "sm.tensor.memory.latency"},
        {"sm: {sub_cores: 2, tensor: {issue: thread, memory: {capacity: 1 KiB, width: 8 B, latency: 9}}}",
         "tensor memory's lanes"},
        {"sm: {sub_cores: 2, tensor: {issue: warp_group}}", "four sub-cores, and the SM has 2"},
        {"sm: {tensor: {macs: {bf61: 256}}}", "did you mean 'bf16'?"},
        {"sm: {tensor: {macs: {bf16: 65537}}}", "sm.tensor.macs.bf16"},
        {"sm: {tensor: {macs: {bf16: 1.5}}}", "sm.tensor.macs.bf16"},
        {"sm: {tensor: {latency: 1 ns}}", "sm.tensor.latency"},
    });
    const std::string none = complaint_about("sm: {tensor: {macs: {fp16: 0, bf16: 0, int8: 0, int4: 0}}}");
    CAPTURE(none);
    CHECK(none.starts_with("mine.yaml:4:"));
    CHECK(none.find("at least one number format") != std::string::npos);
}

TEST_CASE("GPCs without SMs, or that are no numbers, are refused", "[simt]") {
    refuse({
        {"sm: {gpcs: []}", "expected the SMs of at least one GPC, such as [18, 16]"},
        {"sm: {gpcs: [16, 0]}", "SMs of a GPC: "},
        {"sm: {gpcs: [16, 1025]}", "the most is 1024"},
        {"sm: {gpcs: [16, sixteen]}", "'sixteen'"},
        {"sm: {gpcs: 16}", "expected a list"},
        {"sm: {cluster_latency: -1}", "sm.cluster_latency"},
    });
    CHECK(test::gpu_spec(with("sm: {gpcs: [16, 1024]}")).sm.gpcs == std::vector<int>{16, 92});
}

TEST_CASE("shared memory that no CTA could have is refused", "[simt]") {
    refuse({
        {"sm: {shared: {most_of_cta: 164 KiB}}",
         "167936 bytes and the 1024 that are reserved for every CTA are more than the SM's 167936"},
        {"sm: {shared: {capacity: 0 B, most_of_cta: 1 B, reserved_of_cta: 0 B}}", "sm.shared.capacity"},
        {"sm: {shared: {width: 128}}", "unit"},
        {"sm: {shared: {width: 128 KiB}}", "sm.shared.width"},
        {"sm: {shared: {latency: 0}}", "sm.shared.latency"},
        {"sm: {l1: {capacity: 100 KiB}}", "of which sm.shared.capacity is 167936"},
        {"sm: {l1: {width: 0 B}}", "sm.l1.width"},
        {"sm: {l1: {latency: 0}}", "sm.l1.latency"},
    });
}

TEST_CASE("a TLB that holds no whole pages, or too many, is refused", "[simt]") {
    refuse({
        {"tlb: {page: 4095 B}", "tlb.page"},
        {"tlb: {page: 2 GiB}", "tlb.page"},
        {"tlb: {reach: 3 MiB}", "3145728 bytes, expected a multiple of the page of 2097152"},
        {"tlb: {reach: 256 GiB}", "274877906944 bytes, more than 65536 pages of 2097152"},
        {"tlb: {reach: 32}", "unit"},
        {"tlb: {latency: -1}", "tlb.latency"},
        {"tlb: {latency: 100001}", "tlb.latency"},
        {"tlb: {reech: 2 MiB}", "did you mean"},
    });
    CHECK(complaint_about("tlb: {reach: 0 B}").empty());
    CHECK(complaint_about("tlb: {reach: 128 GiB}").empty());
}

TEST_CASE("an L2 whose parts do not fit together is refused", "[simt]") {
    refuse({
        {"l2: {ways: 1025}", "the most is 1024"},
        {"l2: {dirty: 1025 GiB}", "l2.dirty"},
        {"l2: {dirty: 12}", "unit"},
        {"l2: {usable: 41 MiB}", "42991616 bytes, more than the capacity of 41943040"},
        {"l2: {capacity: 80 MiB}", "l2.capacity: its 'usable', 28.00 MB, stands in another document"},
        {"l2: {line: 96 B}", "96 bytes, expected a power of two"},
        {"l2: {sector: 24 B}", "24 bytes, expected a power of two"},
        {"l2: {sector: 256 B}", "256 bytes, expected a part of the line of 128"},
        {"l2: {usable: 127 B}", "127 bytes do not hold a line of 128"},
        {"l2: {usable: 1 KiB}", "1024 bytes do not hold 64 sectors of 32"},
        {"l2: {line: 4 KiB}", "4096 bytes, more than 64 sectors of 32"},
        {"l2: {capacity: 1025 GiB, usable: 64 B, line: 1 B, sector: 1 B}", "l2.capacity"},
        {"l2: {read_width: 0 B}", "l2.read_width"},
        {"l2: {write_width: 17 MiB}", "l2.write_width"},
        {"l2: {sm_read_width: 0 B}", "l2.sm_read_width"},
        {"l2: {sm_write_width: 17 MiB}", "l2.sm_write_width"},
        {"l2: {latency: 0}", "l2.latency"},
        {"l2: {memory_latency: 100001}", "l2.memory_latency"},
    });
    CHECK(complaint_about("l2: {capacity: 80 MiB, usable: 60 MiB}").empty());
    CHECK(complaint_about("l2: {usable: 20 MiB}").empty());
}

TEST_CASE("a chip of several dies, and the cache behind their L2s, are read as they are written", "[simt]") {
    CHECK(test::gpu_spec(with("")).chiplets.count == 1);
    CHECK_FALSE(test::gpu_spec(with("")).memory_side_cache);
    const SimtSpec spec = test::gpu_spec(
        with("chiplets: {count: 4}\nkernels: {neighbours_on_die: true}\nl2: {read_width: 100 B, write_width: "
             "50 B, "
             "memory_latency: 5}\n"
             "memory_side_cache: {capacity: 64 MiB, usable: 60 MiB, dirty: 1 MiB, ways: 8, line: 256 B, "
             "sector: 64 B, "
             "read_width: 1 KiB, write_width: 512 B, chiplet_read_width: 96 B, chiplet_write_width: 48 B, "
             "latency: 70, "
             "memory_latency: 30}\n"
             "calibrated: {memory_share: {value: 0.5, calibrated: some rows, range: 0.4..1}}"));
    CHECK(spec.chiplets.count == 4);
    CHECK(spec.sms_of_chiplet() == 27);
    CHECK(spec.kernels.neighbours_on_die);
    CHECK(spec.l2_bytes_per_cycle() == Bytes(400));
    CHECK(spec.l2_write_bytes_per_cycle() == Bytes(200));
    REQUIRE(spec.memory_side_cache);
    CHECK(spec.memory_side_cache->usable == Bytes(60 << 20));
    CHECK(spec.memory_side_cache->sm_read_per_cycle == Bytes(96));
    CHECK(spec.memory_side_cache->sm_write_per_cycle == Bytes(48));
    CHECK(spec.miss_latency() == Cycles(5 + 70 + 30));
    // Who reads the memory does so at its share.
    CHECK(spec.memory_side_cache->memory_share == 0.5);
    CHECK(spec.l2.memory_share == 1);
}

TEST_CASE("dies that SMs or kernels cannot be dealt to, and caches that do not fit, are refused", "[simt]") {
    refuse({
        {"chiplets: {count: 0}", "chiplets.count"},
        {"chiplets: {count: 65}", "the most is 64"},
        {"chiplets: {count: 5}", "5 dies, among which 108 SMs (sm.count) cannot be shared evenly"},
        {"chiplets: {cuont: 4}", "did you mean"},
        {"kernels: {stream_k: always}\nchiplets: {count: 4}", "share no tiles, expected never"},
        {"chiplets: {count: 4}\nsm: {tensor: {issue: warp_group}}", "CTAs of a cluster share an L2"},
        {"kernels: {neighbours_on_die: 3}", "kernels.neighbours_on_die"},
        {"kernels: {neighbours_on_die: true}", "one die (chiplets.count) has all tiles, expected false"},
        {"sm: {tensor: {block_scales: on}}", "only a thread's products"},
    });
    const auto cache = [](const std::string& change) {
        return "memory_side_cache: {capacity: 64 MiB, usable: 64 MiB, dirty: 1 MiB, ways: 8, line: 128 B, "
               "sector: 64 "
               "B, read_width: 1 KiB, write_width: 512 B, chiplet_read_width: 96 B, chiplet_write_width: 48 "
               "B, "
               "latency: 70, memory_latency: 30" +
               change + "}";
    };
    CHECK(complaint_about(cache("")).empty());
    CHECK(complaint_about("memory_side_cache: {capacity: 64}").find("has no unit") != std::string::npos);
    CHECK(complaint_about(cache(", sm_read_width: 64 B")).find("sm_read_width") != std::string::npos);
    CHECK(complaint_about("memory_side_cache: {capacity: 64 MiB}").find("usable") != std::string::npos);
}

TEST_CASE("clocks, launches, copies and constants beyond any machine are refused", "[simt]") {
    refuse({
        {"core: {clock: 999 kHz}", "the least is 1 MHz"},
        {"core: {clock: 101 GHz}", "the most is 100 GHz"},
        {"core: {clock: 1410}", "unit"},
        {"kernels: {stream_k: sometimes}", "kernels.stream_k"},
        {"kernels: {layers: tensorflow}", "kernels.layers"},
        {"kernels: {persistent: 7}", "kernels.persistent"},
        {"kernels: {streamk: always}", "streamk"},
        {"launch: {graph: 1001 ms}", "longer than a second"},
        {"launch: {stream: 2 s}", "longer than a second"},
        {"launch: {cta: 100001}", "launch.cta"},
        {"launch: {cta_interval: 1.1 us}", "longer than a microsecond"},
        {"copy: {payload: 256 KiB}", "262144 bytes, more than the memory's largest transaction of 131072"},
        {"copy: {in_flight: 0 B}", "copy.in_flight"},
        {"host: {generation: 7}", "host.generation"},
        {"memory: {channels: 40}", "channels"},
        {"sm: {kernel_overhead: 1 us}", "kernel_overhead"},
        {"calibrated: {kernel_overhead: {value: 2 s, calibrated: some rows, range: 0..3 s}}",
         "longer than a second"},
        {"calibrated: {tile_efficiency: {value: 2, calibrated: some rows, range: 0..3}}", "tile_efficiency"},
    });
}

TEST_CASE("all mistakes of a file are told at once", "[simt]") {
    const std::string complaint =
        complaint_about("sm: {warps: 62, scheduling: fifo}\nl2: {line: 96 B}\nlaunch: {graph: 2 s}");
    CAPTURE(complaint);
    for (const char* const place : {"mine.yaml:4:13:", "mine.yaml:4:29:", "mine.yaml:5:", "mine.yaml:6:"})
        CHECK(complaint.find(place) != std::string::npos);
}

TEST_CASE("the largest machine that can be written leaves no product outside 64 bits", "[simt]") {
    const SimtSpec spec =
        test::gpu_spec(with("sm: {count: 1024, sub_cores: 16, warps: 1024, ctas: 1024, registers: 16777216, "
                            "register_unit: 16, registers_of_thread: 4096, tensor: {macs: {int4: 65536}}}\n"
                            "core: {clock: 100 GHz}\nl2: {read_width: 16 MiB}"));
    CHECK(spec.macs_per_cycle(DType::Int4) == std::int64_t{1} << 30);
    CHECK(spec.longest_run() == Ticks((std::int64_t{1} << 33) - 1));  // 2^63 - 1 over 2^30
    CHECK(spec.l2.bytes_per_cycle.value() <=
          std::numeric_limits<std::int64_t>::max() / spec.core_clock.value());
}

}  // namespace systole::simt
