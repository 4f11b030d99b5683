// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.stress;

import clearway.executor.run.Body;
import clearway.executor.run.Participant;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * An owner runs its chunk with opaque stores while a thief takes back the items that have not begun. Each item must run
 * exactly once. The only barrier between the two threads is the thief's read of the owner's stack.
 */
@JCStressTest
@Outcome(id = "4, 0", expect = Expect.ACCEPTABLE, desc = "Each item ran once.")
@Outcome(expect = Expect.FORBIDDEN, desc = "An item was lost, or ran twice.")
@State
public class RecallStress {
    private final int[] owners = new int[4];
    private final int[] thiefs = new int[4];
    private volatile Participant owner;

    @Actor
    public void runs() {
        Participant me = new Participant(Thread.currentThread());
        me.begin(0, 4);
        owner = me;
        Body body = item -> owners[item]++;
        body.runFrom(me, 0);
        me.done(4);
    }

    @Actor
    public void takesBack() {
        Participant seen = owner;
        if (seen == null) return;
        var taken = seen.recall();
        if (taken == null) return;
        for (int item = taken.getFirst(); item <= taken.getLast(); item++) thiefs[item]++;
    }

    @Arbiter
    public void counts(II_Result result) {
        for (int item = 0; item < 4; item++) {
            int ran = owners[item] + thiefs[item];
            result.r1 += ran;
            if (ran != 1) result.r2++;
        }
    }
}
