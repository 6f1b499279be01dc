// SPDX-License-Identifier: Apache-2.0
// DEPTH registers in a row: what enters in one cycle leaves DEPTH cycles later. DEPTH 0 is a wire.
`default_nettype none

module delay_line #(
    parameter WIDTH = 8,
    parameter DEPTH = 1
) (
    input  wire             clock,
    input  wire [WIDTH-1:0] in,
    output wire [WIDTH-1:0] out
);
    generate
        if (DEPTH == 0) begin : none
            assign out = in;
        end else begin : some
            reg [WIDTH*DEPTH-1:0] stages = 0;
            wire [WIDTH*(DEPTH+1)-1:0] line = {stages, in};
            always @(posedge clock) stages <= line[WIDTH*DEPTH-1:0];
            assign out = line[WIDTH*DEPTH +: WIDTH];
        end
    endgenerate
endmodule
