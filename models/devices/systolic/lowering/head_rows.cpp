// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/head_rows.h"

#include "sim/base/check.h"

namespace systole::systolic {

HeadRows::Rows HeadRows::rows(Range k) const {
    const std::int64_t group = layout_.group();
    if (group == 1) return {1, 0, k.count, layout_.pitch()};
    if (layout_.even() || k.begin / group == (k.end() - 1) / group) return {1, 0, k.count, layout_.step()};
    SYSTOLE_CHECK(k.begin % group == 0 && k.count % group == 0, "rows {} to {} of groups of {}", k.begin,
                  k.end(), group);
    return {k.count / group, layout_.pitch(), group, layout_.step()};
}

Staging HeadRows::staging(std::int64_t item, Range n, Range k) const {
    return {tensor_, operand_, k.count * layout_.bytes(n.count), layout_.copies(item, k, n)};
}

Transfer HeadRows::from_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const {
    const Rows r = rows(k);
    TensorBox from{layout_.offset(item, k.begin) + layout_.bytes(n.begin), r.rows, layout_.bytes(n.count),
                   r.step};
    if (r.groups > 1) {  // the heads of a position follow each other
        SYSTOLE_CHECK(n.count == layout_.dim(), "{} of {} columns of several groups", n.count, layout_.dim());
        from = {from.offset, r.groups, r.rows * r.step, r.pitch};
    }
    return {flow.region(tensor_, from),
            {Place::WeightFifo, 0, from.row_bytes},
            from.rows,
            from.row_bytes,
            operand_};
}

PassRead HeadRows::read_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const {
    const Rows r = rows(k);
    PassRead read;
    read.address =
        flow.region(tensor_, {layout_.offset(item, k.begin) + layout_.bytes(n.begin), 1, 0, 0}).address;
    read.stream.segments = {{Bytes(0), Bytes(layout_.bytes(n.count))}};
    read.stream.levels[1] = {r.groups, Bytes(r.pitch)};
    read.stream.levels[2] = {r.rows, Bytes(r.step)};
    return read;
}

/// Tiles of whole positions to the end, those of some heads of a position to its end.
std::int64_t HeadRows::uniform_until(Range k) const {
    const std::int64_t group = layout_.group();
    if (layout_.even() || k.count % group == 0) return layout_.rows();
    return (k.begin / group + 1) * group;
}

}  // namespace systole::systolic
