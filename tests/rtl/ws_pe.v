// SPDX-License-Identifier: Apache-2.0
// One weight-stationary PE: multiplies the activation that passes by with the weight that stays and adds the
// product to the sum that falls through. Weights come from above as words that know how many rows they still
// have to go; a word that has arrived stays. With SHADOW they wait in a register of their own until the swap
// mark, which travels with the first vector of a pass, puts them to work.
`default_nettype none

module ws_pe #(
    parameter SHADOW = 1
) (
    input  wire               clock,
    // left to right
    input  wire signed [7:0]  activation_in,
    input  wire               swap_in,
    output reg  signed [7:0]  activation_out,
    output reg                swap_out,
    // top to bottom
    input  wire signed [7:0]  weight_in,
    input  wire        [15:0] hops_in,  // rows to go, this one included; 0: no word comes
    output wire signed [7:0]  weight_out,
    output reg         [15:0] hops_out,
    input  wire signed [31:0] sum_in,
    output reg  signed [31:0] sum_out
);
    reg signed [7:0] weight = 0;    // the one multiplied with
    wire signed [7:0] in_use;       // likewise, in this cycle
    wire weight_comes = hops_in != 0;

    generate
        if (SHADOW != 0) begin : double
            reg signed [7:0] shadow = 0;
            assign in_use = swap_in ? shadow : weight;
            assign weight_out = shadow;
            always @(posedge clock) begin
                weight <= in_use;
                if (weight_comes) shadow <= weight_in;
            end
        end else begin : single
            assign in_use = weight;
            assign weight_out = weight;
            always @(posedge clock) if (weight_comes) weight <= weight_in;
        end
    endgenerate

    initial {activation_out, swap_out, hops_out, sum_out} = 0;

    always @(posedge clock) begin
        activation_out <= activation_in;
        swap_out <= swap_in;
        hops_out <= weight_comes ? hops_in - 16'd1 : 16'd0;
        sum_out <= sum_in + activation_in * in_use;
    end
endmodule
