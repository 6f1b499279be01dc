// SPDX-License-Identifier: Apache-2.0
// A weight-stationary matrix unit: tile loader, pass sequencer, array, accumulators. Around it lie a weight
// FIFO that shows its next tile row by row, a queue that shows its next pass, and an operand buffer that
// shows the vector asked for.
`default_nettype none

module ws_mxu #(
    parameter R = 4,
    parameter C = 4,
    parameter SHADOW = 1,
    parameter LATENCY = 1,
    parameter ROWS = 16
) (
    input  wire            clock,
    // weight FIFO
    input  wire            tile_waiting,
    output wire            tile_begins,
    output wire [15:0]     weight_hops,      // row weight_hops - 1 is read; 0: none
    input  wire [8*C-1:0]  weight_row,
    // pass queue
    input  wire            pass_waiting,
    input  wire            pass_new_tile,    // runs on the next tile, not on that of the pass before
    input  wire            pass_last_use,    // the next pass has a new tile
    input  wire            pass_accumulate,
    input  wire [15:0]     pass_row,         // accumulator row of vector 0
    input  wire [15:0]     pass_vectors,
    output wire            pass_start,
    output wire            pass_done,        // the last sum left in the cycle before
    // operand port
    output wire [15:0]     vector,
    output wire            vector_last,
    input  wire [15:0]     vector_busy,
    input  wire [8*R-1:0]  activation,
    // sums below the array, each where it stands in the cycle after it was computed
    output wire [C-1:0]    sum_valid,
    output wire [16*C-1:0] sum_row,
    output wire [32*C-1:0] sum,
    // accumulators
    output wire [C-1:0]    too_young,        // added onto a sum that could not be read yet
    input  wire [15:0]     read_row,
    output wire [32*C-1:0] read_sum
);
    localparam TAG = 20;

    wire feed, first, tile_in, tile_drained;
    wire [TAG*C-1:0] sum_tag;
    wire [15:0] row = pass_row + vector;

    tile_loader #(.R(R), .SHADOW(SHADOW)) loader(.clock(clock), .tile_waiting(tile_waiting),
        .taken(pass_start & pass_new_tile), .released(tile_drained), .begins(tile_begins),
        .hops(weight_hops), .tile_in(tile_in));

    pass_sequencer sequencer(.clock(clock), .pass_waiting(pass_waiting),
        .may_start(tile_in | ~pass_new_tile), .vectors(pass_vectors), .busy(vector_busy),
        .start(pass_start), .feed(feed), .vector(vector), .first(first), .last(vector_last));

    ws_array #(.R(R), .C(C), .SHADOW(SHADOW), .TAG(TAG)) array(.clock(clock), .vector(activation),
        .swap(first & pass_new_tile),
        .tag({vector_last & pass_last_use, vector_last, pass_accumulate, row, feed}),
        .weight_row(weight_row), .weight_hops(weight_hops), .sum(sum), .sum_tag(sum_tag));

    genvar j;
    generate
        for (j = 0; j < C; j = j + 1) begin : column
            wire tile_end, pass_end, accumulate;
            assign {tile_end, pass_end, accumulate, sum_row[16*j +: 16], sum_valid[j]} =
                sum_tag[TAG*j +: TAG];
            accumulator_bank #(.ROWS(ROWS), .LATENCY(LATENCY)) bank(.clock(clock), .valid(sum_valid[j]),
                .accumulate(accumulate), .row(sum_row[16*j +: 16]), .sum(sum[32*j +: 32]),
                .too_young(too_young[j]), .read_row(read_row), .read_sum(read_sum[32*j +: 32]));
        end
    endgenerate
    assign tile_drained = column[C-1].tile_end;
    assign pass_done = column[C-1].pass_end;
endmodule
