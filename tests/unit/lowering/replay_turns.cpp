// SPDX-License-Identifier: Apache-2.0
// Transposes: a chunk of the output is made of the very bytes of the input that the definition names,
// whatever their order on the way.
#include <fmt/format.h>

#include <algorithm>

#include "tests/unit/lowering/replay.h"

namespace systole::systolic::test {

/// The address of the input's byte that belongs to byte `at` of the output, from the indices of its element.
std::int64_t Replay::turned_origin(std::int64_t at) const {
    const auto& op = std::get<Transpose>(layer().op);
    const std::int64_t width = element_bytes(layer().output);
    std::vector<std::int64_t> index(op.shape.size());
    std::int64_t rest = at / width;
    for (std::size_t d = op.permutation.size(); d-- > 0;) {
        const auto from = static_cast<std::size_t>(op.permutation[d]);
        index[from] = rest % op.shape[from];
        rest /= op.shape[from];
    }
    std::int64_t element = 0;
    for (std::size_t d = 0; d < index.size(); ++d) element = element * op.shape[d] + index[d];
    return address_of(layer().inputs[0], element * width + at % width);
}

void Replay::note_turned(const VectorWork& work) {
    const bool in_place = lowered_.placements[layer().inputs[0]].space == Space::Scratchpad;
    std::vector<std::int64_t> sources, written;
    for (const EdgeRead& access : work.reads)
        visit_rows(access, [&](std::int64_t at, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i)
                sources.push_back(in_place ? at + i : scratchpad().holds[static_cast<std::size_t>(at + i)]);
        });
    const Placement& out = lowered_.placements[layer().output];
    if (out.space == Space::Dram) {
        turned_[{core(), work.write.address}] = sources;
        return;
    }
    visit_rows(work.write, [&](std::int64_t at, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i)
            written.push_back(share_begin(layer().output) + at + i - out.address);
    });
    compare_turned(written, sources);
}

void Replay::check_turned(const Transfer& t) {
    std::vector<std::int64_t> written;
    for (std::int64_t row = 0; row < t.rows; ++row)
        for (std::int64_t byte = 0; byte < t.row_bytes; ++byte)
            written.push_back(t.to.address + row * t.to.stride + byte -
                              lowered_.placements[layer().output].address);
    compare_turned(written, turned_[{core(), t.from.address}]);
}

void Replay::compare_turned(const std::vector<std::int64_t>& written,
                            const std::vector<std::int64_t>& sources) {
    std::vector<std::int64_t> wanted, got = sources;
    for (const std::int64_t at : written) wanted.push_back(turned_origin(at));
    std::ranges::sort(wanted);
    std::ranges::sort(got);
    if (wanted != got)
        fault(
            fmt::format("turns {} bytes that are not those of the {} it writes", got.size(), wanted.size()));
}

}  // namespace systole::systolic::test
