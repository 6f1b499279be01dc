// SPDX-License-Identifier: Apache-2.0
// Convolutions, of maps and of volumes, and their transposes: plain values, as all of operators.h. Feature
// maps are NHWC.
#pragma once

#include <optional>
#include <vector>

#include "sim/base/units.h"
#include "sim/workload/function.h"
#include "sim/workload/weight_format.h"

namespace systole {

/// The third dimension of a convolution of volumes, the slowest: depth, or time.
struct ConvDepth {
    std::int64_t in = 1, kernel = 1, stride = 1, pad = 0, dilation = 1;

    std::int64_t out() const { return (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1; }
    friend bool operator==(const ConvDepth&, const ConvDepth&) = default;
};

/// Of windows that do not move across as they do down, or whose input is not padded alike on all sides: what
/// differs from `stride`, `dilation` and `pad` of their operator.
struct Uneven {
    std::optional<std::int64_t> stride_w = {}, dilation_w = {}, pad_left = {}, pad_bottom = {},
                                pad_right = {};
    friend bool operator==(const Uneven&, const Uneven&) = default;
};

/// out[n,p,q,k] = post(bias[k] + sum over r,s,c of in[n, p*stride+r*dilation-pad, ...] * w[k,r,s,c]). With a
/// depth it is conv3d: volumes NDHWC, w[k,t,r,s,c].
struct Conv2d {
    std::int64_t batch = 1, in_h = 1, in_w = 1, in_c = 1;
    std::int64_t out_c = 1, kernel_h = 1, kernel_w = 1;
    std::int64_t stride = 1, pad = 0, dilation = 1, groups = 1;
    bool bias = false;
    Function post = Function::None;
    /// Output sizes round up: a last window that reaches beyond the padding counts, on zeros. With a stride
    /// beyond the kernel it may even begin there, and reads nothing else.
    bool round_up = false;
    WeightFormat format = {};  ///< of w, whose K is (t, r, s, c of the group)
    std::optional<ConvDepth> depth = {};
    Uneven uneven = {};

    std::int64_t stride_w() const { return uneven.stride_w.value_or(stride); }
    std::int64_t dilation_w() const { return uneven.dilation_w.value_or(dilation); }
    std::int64_t left() const { return uneven.pad_left.value_or(pad); }
    std::int64_t padded_h() const { return in_h + pad + uneven.pad_bottom.value_or(pad); }
    std::int64_t padded_w() const { return in_w + left() + uneven.pad_right.value_or(pad); }
    /// The widest padding of any side.
    std::int64_t most_pad() const;
    std::int64_t out_d() const { return depth ? depth->out() : 1; }
    std::int64_t out_h() const { return outputs(padded_h(), dilation * (kernel_h - 1) + 1, stride); }
    std::int64_t out_w() const { return outputs(padded_w(), dilation_w() * (kernel_w - 1) + 1, stride_w()); }
    std::int64_t outputs(std::int64_t padded, std::int64_t reach, std::int64_t step) const {
        const std::int64_t room = padded - reach;
        return (round_up ? ceil_div(room, step) : room / step) + 1;
    }
    std::int64_t kernel_d() const { return depth ? depth->kernel : 1; }
    /// Of the kernel: the pixels under it.
    std::int64_t taps() const { return kernel_d() * kernel_h * kernel_w; }
    /// Output pixels of all images, or volumes.
    std::int64_t pixels() const { return batch * out_d() * out_h() * out_w(); }
    std::vector<std::int64_t> input_shape() const;
    std::vector<std::int64_t> output_shape() const;
    bool depthwise() const { return groups == in_c && groups > 1; }
    friend bool operator==(const Conv2d&, const Conv2d&) = default;
};

/// Of one dimension of a transposed convolution: its outputs first, first + stride, … (`out` of them) meet
/// every stride-th tap of the kernel, `taps` of them. They are a convolution of stride 1 whose first window
/// begins `pad` inputs before the first one (or behind it, where that is negative).
struct ConvPhase {
    std::int64_t first = 0, taps = 1, out = 1, pad = 0;
};

/// out[n,y,x,k] = post(bias[k] + sum over in[n,p,q,c] * w[k,r,s,c] with y = p*stride + r - pad and
/// x = q*stride + s - pad): what a convolution makes of gradients, and how networks grow feature maps.
struct ConvTranspose {
    std::int64_t batch = 1, in_h = 1, in_w = 1, in_c = 1;
    std::int64_t out_c = 1, kernel_h = 1, kernel_w = 1;
    std::int64_t stride = 1, pad = 0;
    std::int64_t out_pad = 0;  ///< rows and columns more, at the bottom and the right
    bool bias = false;
    Function post = Function::None;

    std::int64_t out_h() const { return (in_h - 1) * stride + kernel_h - 2 * pad + out_pad; }
    std::int64_t out_w() const { return (in_w - 1) * stride + kernel_w - 2 * pad + out_pad; }
    /// Of the height and of the width. Expects a kernel of at least the stride, and an output.
    std::vector<ConvPhase> phases_h() const { return phases(out_h(), kernel_h); }
    std::vector<ConvPhase> phases_w() const { return phases(out_w(), kernel_w); }
    friend bool operator==(const ConvTranspose&, const ConvTranspose&) = default;

private:
    std::vector<ConvPhase> phases(std::int64_t out, std::int64_t kernel) const;
};

}  // namespace systole
