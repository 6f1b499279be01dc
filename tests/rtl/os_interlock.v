// SPDX-License-Identifier: Apache-2.0
// When an output-stationary array can take the next pass. Without SHADOW sums and results share a register:
// new sums wait until the old ones have left. The results of two tiles share the way out of a column,
// registers or bus, which takes a row a cycle: the last vectors of two tiles are fed at least R cycles apart.
// A pass cannot be held up once it runs, so it waits at its start.
`default_nettype none

module os_interlock #(
    parameter R = 4,
    parameter SHADOW = 1
) (
    input  wire        clock,
    input  wire        new_tile,
    input  wire        last_use,
    input  wire [15:0] span,       // cycles from the pass's first vector to its last
    input  wire        start,
    input  wire        tile_last,  // the last vector of a tile is fed
    input  wire        tile_left,  // the results of a tile have left
    output wire        may_start
);
    reg occupied = 0;
    reg [15:0] apart = 0;  // cycles for which no last vector of a tile may be fed

    wire sums_wait = SHADOW == 0 & new_tile & occupied & ~tile_left;
    wire way_out_wait = last_use & span < apart;
    assign may_start = ~sums_wait & ~way_out_wait;

    always @(posedge clock) begin
        occupied <= (start & new_tile) | (occupied & ~tile_left);
        if (tile_last) apart <= R - 1;
        else if (apart != 0) apart <= apart - 16'd1;
    end
endmodule
