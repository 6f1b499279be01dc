// SPDX-License-Identifier: Apache-2.0
// Takes the results of one column out of the array through its bottom PE: from the cycle after that PE has
// finished, R moves, bottom row first, into a register from which the accumulators take them. Rows beyond the
// tile are dropped.
`default_nettype none

module os_column_shift #(
    parameter R = 4
) (
    input  wire        clock,
    input  wire        bottom_finished,
    input  wire [15:0] tile_rows,   // of the tile that has finished
    input  wire [15:0] first_row,   // its accumulator row of row 0
    input  wire        accumulate,
    output wire        let_go,
    input  wire [31:0] bottom_result,
    input  wire        bottom_moves,
    output reg         valid,
    output reg  [15:0] row,
    output reg         add,
    output reg  [31:0] sum,
    output reg         emptied      // in the clock before, the top row's result left
);
    reg [15:0] rows_left = 0;  // that come after the one that leaves now
    reg [32:0] held = 0;
    wire [32:0] tile = bottom_finished ? {accumulate, tile_rows, first_row} : held;
    wire [15:0] leaving = bottom_finished ? R - 1 : rows_left - 16'd1;

    assign let_go = bottom_finished;

    initial {valid, row, add, sum, emptied} = 0;

    always @(posedge clock) begin
        held <= tile;
        rows_left <= leaving;
        valid <= bottom_moves & leaving < tile[31:16];
        row <= tile[15:0] + leaving;
        add <= tile[32];
        sum <= bottom_result;
        emptied <= bottom_moves & leaving == 0;
    end
endmodule
