// SPDX-License-Identifier: Apache-2.0
// The gradients that a step computes, against differences of the loss of the network alone: what the layers
// of the step make of random numbers is what a small change of each weight does to the sum over rows of
// log(sum(exp(row))), whose gradient the shares of the softmax are.
#pragma once

#include <string>

namespace systole::test {

/// Every stored tensor that can be learnt, `updates` of them, has an update; its gradient is what the loss
/// does. `trace`: of a network in fp32; `more`: further keys of its training.
void expect_gradients(const std::string& trace, std::size_t updates, const std::string& more = "");

}  // namespace systole::test
