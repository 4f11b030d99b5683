// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.stress;

import clearway.executor.run.Cursor;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * One thread claims items one by one. Another thread claims two items and closes the cursor. Each item must either be
 * claimed once, or be counted by the close.
 */
@JCStressTest
@Outcome(id = "5, 0", expect = Expect.ACCEPTABLE, desc = "Each item was claimed once or dropped once.")
@Outcome(expect = Expect.FORBIDDEN, desc = "An item was lost, or had twice.")
@State
public class CursorStress {
    private final Cursor cursor = new Cursor(5);
    private final int[] one = new int[5];
    private final int[] two = new int[5];
    private int dropped;

    @Actor
    public void claims() {
        for (int first = cursor.claim(1); first >= 0; first = cursor.claim(1)) one[first]++;
    }

    @Actor
    public void claimsAndCloses() {
        int first = cursor.claim(2);
        if (first >= 0) for (int item = first; item < cursor.end(first, 2); item++) two[item]++;
        dropped = cursor.close();
    }

    @Arbiter
    public void counts(II_Result result) {
        int claimed = 0;
        int wrong = 0;
        for (int item = 0; item < 5; item++) {
            claimed += one[item] + two[item];
            if (one[item] + two[item] > 1) wrong++;
        }
        result.r1 = claimed + dropped;
        result.r2 = wrong;
    }
}
