// SPDX-License-Identifier: Apache-2.0
// The accumulators below one column: read, add, write, through a pipeline. A sum that enters is readable, by
// the next sum or by the read port, LATENCY cycles later.
`default_nettype none

module accumulator_bank #(
    parameter ROWS = 16,
    parameter LATENCY = 1
) (
    input  wire               clock,
    input  wire               valid,
    input  wire               accumulate,  // add to the row instead of overwriting it
    input  wire        [15:0] row,
    input  wire signed [31:0] sum,
    input  wire        [15:0] read_row,
    output wire signed [31:0] read_sum
);
    reg signed [31:0] sums [0:ROWS-1];
    wire signed [31:0] total = sum + (accumulate ? sums[row] : 32'sd0);
    wire write;
    wire [15:0] write_row;
    wire signed [31:0] write_sum;

    delay_line #(.WIDTH(49), .DEPTH(LATENCY - 1)) pipeline(.clock(clock), .in({valid, row, total}),
        .out({write, write_row, write_sum}));

    assign read_sum = sums[read_row];
    always @(posedge clock) if (write) sums[write_row] <= write_sum;

    integer n;
    initial for (n = 0; n < ROWS; n = n + 1) sums[n] = 0;
endmodule
