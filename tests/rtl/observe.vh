// SPDX-License-Identifier: Apache-2.0
// What both testbenches do alike: note what leaves the array, run the clock, and read every accumulator in the
// end. Included in a testbench with parameters C, ROWS and CYCLES, its registers, a task `read_case` that
// reads the case file and a task `observe_control` that notes what begins and ends.

    // In the middle of a cycle. What stands below the array left it with the clock edge that ended the cycle
    // before.
    task observe;
        begin
            observe_control;
            for (j = 0; j < C; j = j + 1) begin
                if (sum_valid[j])
                    $display("out %0d %0d %0d %0d", cycle - 1, j, sum_row[16*j +: 16],
                        $signed(sum[32*j +: 32]));
                if (too_young[j]) $display("young %0d %0d %0d", cycle - 1, j, sum_row[16*j +: 16]);
            end
        end
    endtask

    initial begin
        numbers.open;
        read_case;
        while (cycle < CYCLES) begin
            #1 observe;
            #1 clock = 1;
            #2 clock = 0;
        end
        for (n = 0; n < ROWS; n = n + 1) begin
            read_row = n;
            #1 for (j = 0; j < C; j = j + 1)
                $display("accumulator %0d %0d %0d", n, j, $signed(read_sum[32*j +: 32]));
        end
        $finish;
    end
