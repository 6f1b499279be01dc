// SPDX-License-Identifier: Apache-2.0
// Windows that slide over feature maps: convolutions, transposed ones, pools; and other sizes of them. Of
// one, two or three spatial dimensions, wherever the file has them.
#pragma once

#include <string>
#include <string_view>

#include "sim/workload/importers/network/network.h"

namespace systole {

/// Which dimension of a value is what.
struct MapDims {
    std::size_t batch = 0, channel = 1;
    Order spatial;
};

/// [n, c, spatial ..].
MapDims channels_first(std::size_t rank);

/// For each spatial dimension.
struct Windows {
    Shape kernel, stride, dilation, pad_begin, pad_end;

    /// Of `rank` spatial dimensions, without padding.
    static Windows of(const Shape& kernel);
};

struct Filters {
    std::int64_t count = 1, groups = 1;
    bool bias = false;
    std::optional<DType> dtype = {};  ///< where it is not that of the input
};

Value convolve(Network& network, const std::string& name, Value x, const MapDims& dims,
               const Windows& windows, const Filters& filters);
/// Outputs are (in - 1) * stride + reach of the kernel - both pads + `out_pad`.
Value convolve_transposed(Network& network, const std::string& name, Value x, const MapDims& dims,
                          const Windows& windows, const Shape& out_pad, const Filters& filters);
/// `kind` max or average.
Value pool(Network& network, const std::string& name, std::string_view kind, Value x, const MapDims& dims,
           const Windows& windows);
/// `kind` nearest or bilinear; `size` of the spatial dimensions.
Value resize(Network& network, const std::string& name, std::string_view kind, Value x, const MapDims& dims,
             const Shape& size);

}  // namespace systole
