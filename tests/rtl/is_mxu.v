// SPDX-License-Identifier: Apache-2.0
// An input-stationary matrix unit: the weight-stationary one with its operands exchanged. Tiles of inputs are
// shifted in and stay, weights stream over them. Here the roles of the ports get their names.
`default_nettype none

module is_mxu #(
    parameter R = 4,
    parameter C = 4,
    parameter SHADOW = 1,
    parameter LATENCY = 1,
    parameter ROWS = 16
) (
    input  wire            clock,
    // input FIFO
    input  wire            tile_waiting,
    output wire            tile_begins,
    output wire [15:0]     input_hops,
    input  wire [8*C-1:0]  input_row,
    // pass queue
    input  wire            pass_waiting,
    input  wire            pass_new_tile,
    input  wire            pass_last_use,
    input  wire            pass_accumulate,
    input  wire [15:0]     pass_row,
    input  wire [15:0]     pass_vectors,
    output wire            pass_start,
    output wire            pass_done,
    // weight port
    output wire [15:0]     vector,
    output wire            vector_last,
    input  wire [15:0]     vector_busy,
    input  wire [8*R-1:0]  weight,
    // sums and accumulators
    output wire [C-1:0]    sum_valid,
    output wire [16*C-1:0] sum_row,
    output wire [32*C-1:0] sum,
    output wire [C-1:0]    too_young,        // added onto a sum that could not be read yet
    input  wire [15:0]     read_row,
    output wire [32*C-1:0] read_sum
);
    ws_mxu #(.R(R), .C(C), .SHADOW(SHADOW), .LATENCY(LATENCY), .ROWS(ROWS)) exchanged(.clock(clock),
        .tile_waiting(tile_waiting), .tile_begins(tile_begins),
        .weight_hops(input_hops), .weight_row(input_row),
        .pass_waiting(pass_waiting), .pass_new_tile(pass_new_tile), .pass_last_use(pass_last_use),
        .pass_accumulate(pass_accumulate), .pass_row(pass_row), .pass_vectors(pass_vectors),
        .pass_start(pass_start), .pass_done(pass_done),
        .vector(vector), .vector_last(vector_last), .vector_busy(vector_busy), .activation(weight),
        .sum_valid(sum_valid), .sum_row(sum_row), .sum(sum), .too_young(too_young),
        .read_row(read_row), .read_sum(read_sum));
endmodule
