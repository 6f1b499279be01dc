// SPDX-License-Identifier: Apache-2.0
// R x C output-stationary PEs with the skew registers along their edges: row i of the left edge and column j
// of the top edge are i and j registers late. A tag rides with every vector as its bottom row does; it stands
// below a column in the cycle after that column's bottom PE added its product.
`default_nettype none

module os_array #(
    parameter R = 4,
    parameter C = 4,
    parameter TAG = 1
) (
    input  wire              clock,
    input  wire [8*R-1:0]    left,   // element i is for row i
    input  wire [8*C-1:0]    top,    // element j is for column j
    input  wire              valid,
    input  wire              first,  // vector of a tile
    input  wire              last,   // vector of a tile
    input  wire [TAG-1:0]    tag,
    output wire [TAG*C-1:0]  column_tag,
    // results shifted down
    input  wire [C-1:0]      let_go,
    output wire [32*C-1:0]   result,
    output wire [C-1:0]      result_moves,
    // for a bus per column: the sums of all PEs, column by column, and which are finished
    output wire [32*R*C-1:0] sum,
    output wire [R*C-1:0]    finished
);
    wire signed [7:0] activation [0:R*(C+1)-1];
    wire valids [0:R*(C+1)-1], firsts [0:R*(C+1)-1], lasts [0:R*(C+1)-1];
    wire signed [7:0] weight [0:(R+1)*C-1];
    wire signed [31:0] results [0:(R+1)*C-1];
    wire moves [0:(R+1)*C-1];

    genvar i, j;
    generate
        for (i = 0; i < R; i = i + 1) begin : left_edge
            delay_line #(.WIDTH(11), .DEPTH(i)) skew(.clock(clock), .in({valid, first, last, left[8*i +: 8]}),
                .out({valids[i*(C+1)], firsts[i*(C+1)], lasts[i*(C+1)], activation[i*(C+1)]}));
        end

        for (j = 0; j < C; j = j + 1) begin : top_edge
            delay_line #(.WIDTH(8), .DEPTH(j)) skew(.clock(clock), .in(top[8*j +: 8]), .out(weight[j]));
            assign results[j] = 0;
            assign moves[j] = 0;
        end

        for (i = 0; i < R; i = i + 1) begin : row
            for (j = 0; j < C; j = j + 1) begin : col
                os_pe pe(.clock(clock),
                    .activation_in(activation[i*(C+1) + j]), .activation_out(activation[i*(C+1) + j+1]),
                    .valid_in(valids[i*(C+1) + j]), .valid_out(valids[i*(C+1) + j+1]),
                    .first_in(firsts[i*(C+1) + j]), .first_out(firsts[i*(C+1) + j+1]),
                    .last_in(lasts[i*(C+1) + j]), .last_out(lasts[i*(C+1) + j+1]),
                    .weight_in(weight[i*C + j]), .weight_out(weight[(i+1)*C + j]),
                    .result_in(results[i*C + j]), .result_out(results[(i+1)*C + j]),
                    .moves_in(moves[i*C + j]), .moves_out(moves[(i+1)*C + j]), .let_go(let_go[j]),
                    .sum(sum[32*(j*R + i) +: 32]), .finished(finished[j*R + i]));
            end
        end

        for (j = 0; j < C; j = j + 1) begin : bottom_edge
            assign result[32*j +: 32] = results[R*C + j];
            assign result_moves[j] = moves[R*C + j];
            if (j == 0) delay_line #(.WIDTH(TAG), .DEPTH(R)) ride(.clock(clock), .in(tag),
                .out(column_tag[0 +: TAG]));
            else delay_line #(.WIDTH(TAG), .DEPTH(1)) ride(.clock(clock), .in(column_tag[TAG*(j-1) +: TAG]),
                .out(column_tag[TAG*j +: TAG]));
        end
    endgenerate
endmodule
