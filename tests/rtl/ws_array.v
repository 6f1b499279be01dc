// SPDX-License-Identifier: Apache-2.0
// R x C weight-stationary PEs with the skew registers along their edges: row i of the left edge and column j
// of the top edge are i and j registers late. A tag rides with every vector as its bottom row does and leaves
// with the sums, column by column.
`default_nettype none

module ws_array #(
    parameter R = 4,
    parameter C = 4,
    parameter SHADOW = 1,
    parameter TAG = 1
) (
    input  wire            clock,
    input  wire [8*R-1:0]  vector,      // element i is for row i
    input  wire            swap,        // the vector is the first on new weights
    input  wire [TAG-1:0]  tag,
    input  wire [8*C-1:0]  weight_row,  // element j is for column j
    input  wire [15:0]     weight_hops, // rows it has to go, 1 ... R; 0: none enters
    output wire [32*C-1:0] sum,
    output wire [TAG*C-1:0] sum_tag
);
    wire signed [7:0] activation [0:R*(C+1)-1];
    wire swaps [0:R*(C+1)-1];
    wire signed [7:0] weight [0:(R+1)*C-1];
    wire [15:0] hops [0:(R+1)*C-1];
    wire signed [31:0] sums [0:(R+1)*C-1];

    genvar i, j;
    generate
        for (i = 0; i < R; i = i + 1) begin : left_edge
            delay_line #(.WIDTH(9), .DEPTH(i)) skew(.clock(clock), .in({swap, vector[8*i +: 8]}),
                .out({swaps[i*(C+1)], activation[i*(C+1)]}));
        end

        for (j = 0; j < C; j = j + 1) begin : top_edge
            delay_line #(.WIDTH(24), .DEPTH(j)) skew(.clock(clock), .in({weight_hops, weight_row[8*j +: 8]}),
                .out({hops[j], weight[j]}));
            assign sums[j] = 0;
        end

        for (i = 0; i < R; i = i + 1) begin : row
            for (j = 0; j < C; j = j + 1) begin : col
                ws_pe #(.SHADOW(SHADOW)) pe(.clock(clock),
                    .activation_in(activation[i*(C+1) + j]), .activation_out(activation[i*(C+1) + j+1]),
                    .swap_in(swaps[i*(C+1) + j]), .swap_out(swaps[i*(C+1) + j+1]),
                    .weight_in(weight[i*C + j]), .weight_out(weight[(i+1)*C + j]),
                    .hops_in(hops[i*C + j]), .hops_out(hops[(i+1)*C + j]),
                    .sum_in(sums[i*C + j]), .sum_out(sums[(i+1)*C + j]));
            end
        end

        for (j = 0; j < C; j = j + 1) begin : bottom_edge
            assign sum[32*j +: 32] = sums[R*C + j];
            if (j == 0) delay_line #(.WIDTH(TAG), .DEPTH(R)) ride(.clock(clock), .in(tag),
                .out(sum_tag[0 +: TAG]));
            else delay_line #(.WIDTH(TAG), .DEPTH(1)) ride(.clock(clock), .in(sum_tag[TAG*(j-1) +: TAG]),
                .out(sum_tag[TAG*j +: TAG]));
        end
    endgenerate
endmodule
