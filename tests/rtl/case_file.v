// SPDX-License-Identifier: Apache-2.0
// The numbers of the case file named by +case=FILE, one after another.
`default_nettype none

module case_file;
    reg [8*512-1:0] path;
    integer file;

    task open;
        begin
            if (!$value$plusargs("case=%s", path)) give_up("no case file: +case=FILE");
            file = $fopen(path, "r");
            if (file == 0) give_up("the case file cannot be opened");
        end
    endtask

    task next(output integer number);
        if ($fscanf(file, "%d", number) != 1) give_up("the case file ends early");
    endtask

    task give_up(input [8*64-1:0] why);
        begin
            $display("error %0s", why);
            $finish;
        end
    endtask
endmodule
