// SPDX-License-Identifier: Apache-2.0
// SMs for tests: round figures near those of an A100 and an H100, so that expectations can be worked out by
// hand.
#pragma once

#include "models/devices/simt/spec/spec.h"

namespace systole::simt::test {

inline SmSpec warp_mma_sm() {
    SmSpec sm;
    sm.count = 108;
    sm.fp32 = {Cycles(2), Cycles(4)};
    sm.integer = {Cycles(2), Cycles(4)};
    sm.special = {Cycles(8), Cycles(20)};
    sm.tensor.issue = TensorIssue::Warp;
    sm.tensor.macs[static_cast<std::size_t>(DType::Bf16)] = 256;
    sm.tensor.macs[static_cast<std::size_t>(DType::Int8)] = 512;
    sm.tensor.latency = Cycles(25);
    sm.shared = {Bytes(164 * 1024), Bytes(163 * 1024), Bytes(1024), Bytes(128), Cycles(29)};
    sm.lsu_interval = Cycles(1);
    sm.lsu_queue = Cycles(32);
    sm.barrier_latency = Cycles(20);
    sm.l1_latency = Cycles(36);
    sm.l1_bytes_per_cycle = Bytes(128);
    sm.store_bytes_per_cycle = Bytes(16);
    return sm;
}

inline SmSpec group_mma_sm() {
    SmSpec sm = warp_mma_sm();
    sm.count = 132;
    sm.fp32.interval = Cycles(1);
    sm.tensor.issue = TensorIssue::WarpGroup;
    sm.tensor.macs[static_cast<std::size_t>(DType::Bf16)] = 512;
    sm.tensor.macs[static_cast<std::size_t>(DType::Fp8)] = 1024;
    sm.shared.capacity = Bytes(228 * 1024);
    sm.shared.most_of_cta = Bytes(227 * 1024);
    sm.bulk_copy_issue = Cycles(40);
    return sm;
}

/// Near a B200's: one thread issues products for all four tensor cores, whose sums lie in tensor memory.
inline SmSpec thread_mma_sm() {
    SmSpec sm = group_mma_sm();
    sm.count = 148;
    sm.tensor.issue = TensorIssue::Thread;
    sm.tensor.macs[static_cast<std::size_t>(DType::Bf16)] = 1024;
    sm.tensor.macs[static_cast<std::size_t>(DType::Fp8)] = 2048;
    sm.tensor.memory = {Bytes(256 * 1024), Bytes(64), Cycles(30)};
    sm.store_bytes_per_cycle = Bytes(32);
    return sm;
}

/// Near an MI210's CU: 16 lanes of one pipeline, wavefronts of 64, an instruction of each every fourth cycle.
inline SmSpec wave_mma_sm() {
    SmSpec sm = warp_mma_sm();
    sm.count = 104;
    sm.warp_threads = 64;
    sm.warps = 32;
    sm.ctas = 16;
    sm.registers = 131072;
    sm.register_unit = 512;
    sm.registers_of_thread = 512;
    sm.issue_interval = Cycles(4);
    sm.one_pipe = true;
    sm.fp32 = sm.integer = {Cycles(4), Cycles(4)};
    sm.special = {Cycles(16), Cycles(16)};
    sm.tensor.issue = TensorIssue::Wave;
    sm.tensor.macs = {};
    sm.tensor.macs[static_cast<std::size_t>(DType::Bf16)] = 128;
    sm.tensor.macs[static_cast<std::size_t>(DType::Int8)] = 128;
    sm.tensor.latency = Cycles(8);
    sm.shared = {Bytes(64 * 1024), Bytes(64 * 1024), Bytes(0), Bytes(128), Cycles(64)};
    sm.lsu_interval = Cycles(4);
    sm.lsu_queue = Cycles(64);
    sm.l1_capacity = Bytes(16 * 1024);
    sm.l1_apart = true;
    sm.l1_bytes_per_cycle = Bytes(64);
    sm.store_bytes_per_cycle = Bytes(64);
    return sm;
}

/// Near a V100's SM: 16 FP32 lanes of a sub-core, tensor cores for fp16 only.
inline SmSpec quad_pair_sm() {
    SmSpec sm = warp_mma_sm();
    sm.count = 80;
    sm.fp32 = sm.integer = {Cycles(2), Cycles(4)};
    sm.tensor.issue = TensorIssue::QuadPair;
    sm.tensor.macs = {};
    sm.tensor.macs[static_cast<std::size_t>(DType::Fp16)] = 128;
    sm.tensor.latency = Cycles(8);
    sm.shared = {Bytes(96 * 1024), Bytes(96 * 1024), Bytes(0), Bytes(128), Cycles(19)};
    sm.l1_capacity = Bytes(128 * 1024);
    return sm;
}

}  // namespace systole::simt::test
