// SPDX-License-Identifier: Apache-2.0
// Takes the results of one column over a bus: each PE drives it in the cycle after its last product, one row
// after the other, top row first. What the accumulators need to know goes down beside them. Rows beyond the
// tile are dropped.
`default_nettype none

module os_column_bus #(
    parameter R = 4
) (
    input  wire            clock,
    input  wire [R-1:0]    finished,
    input  wire [32*R-1:0] sums,
    input  wire [15:0]     tile_rows,   // as the top PE multiplies the last vector of a tile
    input  wire [15:0]     first_row,
    input  wire            accumulate,
    output reg             valid,
    output reg  [15:0]     row,
    output reg             add,
    output reg  [31:0]     sum
);
    // What goes down: stage i stands beside row i while its PE drives the bus.
    wire [33*(R+1)-1:0] beside;
    assign beside[0 +: 33] = {accumulate, tile_rows, first_row};

    genvar i;
    generate
        for (i = 0; i < R; i = i + 1) begin : stage
            delay_line #(.WIDTH(33), .DEPTH(1)) down(.clock(clock), .in(beside[33*i +: 33]),
                .out(beside[33*(i+1) +: 33]));
        end
    endgenerate

    integer n;
    always @* begin
        {valid, row, add, sum} = 0;
        for (n = 0; n < R; n = n + 1)
            if (finished[n]) begin
                valid = valid | n < beside[33*(n+1) + 16 +: 16];
                row = row | (beside[33*(n+1) +: 16] + n);
                add = add | beside[33*(n+1) + 32];
                sum = sum | sums[32*n +: 32];
            end
    end
endmodule
