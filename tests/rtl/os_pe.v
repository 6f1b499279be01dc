// SPDX-License-Identifier: Apache-2.0
// One output-stationary PE: multiplies the activation from the left with the weight from above and keeps the
// sum. The mark of a tile's first vector clears the sum before; the mark of its last one copies it, finished,
// to the result register. There it stays until the column lets go, then moves down, a row a cycle. What moves
// is marked, because the result of the next tile may already stand in the rows that were left.
// `finished` tells that in the clock before the last product was added: so a bus knows when to take the sum.
`default_nettype none

module os_pe (
    input  wire               clock,
    // left to right
    input  wire signed [7:0]  activation_in,
    input  wire               valid_in,
    input  wire               first_in,
    input  wire               last_in,
    output reg  signed [7:0]  activation_out,
    output reg                valid_out,
    output reg                first_out,
    output reg                last_out,
    // top to bottom
    input  wire signed [7:0]  weight_in,
    output reg  signed [7:0]  weight_out,
    input  wire signed [31:0] result_in,
    input  wire               moves_in,   // the result from above is on its way down
    output reg  signed [31:0] result_out,
    output wire               moves_out,
    input  wire               let_go,     // every result of the column that stays begins to move
    // for a bus
    output reg  signed [31:0] sum,
    output wire               finished
);
    wire signed [31:0] total = (first_in ? 32'sd0 : sum) + activation_in * weight_in;

    reg moving = 0;

    assign moves_out = moving | let_go;
    assign finished = valid_out & last_out;

    initial {activation_out, valid_out, first_out, last_out, weight_out, result_out, sum} = 0;

    always @(posedge clock) begin
        activation_out <= activation_in;
        valid_out <= valid_in;
        first_out <= first_in;
        last_out <= last_in;
        weight_out <= weight_in;
        if (valid_in) sum <= total;
        if (valid_in & last_in) result_out <= total;
        else if (moves_in) result_out <= result_in;
        moving <= moves_in;
    end
endmodule
