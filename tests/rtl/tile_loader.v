// SPDX-License-Identifier: Apache-2.0
// Shifts waiting tiles into the array one after another, bottom row first, a row a cycle. A tile begins as
// soon as the register it goes to is free: with SHADOW when a pass takes the tile before out of it, otherwise
// when the last pass on the tile before has drained.
`default_nettype none

module tile_loader #(
    parameter R = 4,
    parameter SHADOW = 1
) (
    input  wire        clock,
    input  wire        tile_waiting,
    input  wire        taken,     // a pass starts on the tile that is in
    input  wire        released,  // the last pass on a tile has drained
    output wire        begins,    // the waiting tile begins to be shifted in
    output wire [15:0] hops,      // row hops - 1 of the tile enters in this cycle; 0: none
    output reg         tile_in
);
    reg occupied = 0;
    reg [15:0] rows_left = 0;

    wire freed = SHADOW != 0 ? taken : released;
    assign begins = tile_waiting & (~occupied | freed);
    assign hops = begins ? R : rows_left;

    initial tile_in = 0;

    always @(posedge clock) begin
        occupied <= begins | (occupied & ~freed);
        rows_left <= hops != 0 ? hops - 16'd1 : 16'd0;
        tile_in <= hops == 1 | (tile_in & ~taken);
    end
endmodule
