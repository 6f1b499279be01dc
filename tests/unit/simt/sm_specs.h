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

}  // namespace systole::simt::test
