// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.stress;

import clearway.executor.run.Lifecycle;
import kotlin.Unit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * Two jobs run one after the other, during a shutdown. The first one enters. The second one only publishes itself, as a
 * trivial batch does. The end must be reported, but never while one of the jobs is inside.
 */
@JCStressTest
@Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "The end was reported, and no job was inside.")
@Outcome(expect = Expect.FORBIDDEN, desc = "The end was not reported, or was reported while a job was inside.")
@State
public class LifecycleStress {
    private volatile boolean published;
    private final Lifecycle lifecycle = new Lifecycle(() -> !published, () -> Unit.INSTANCE);
    private boolean countedSawTheEnd;
    private boolean trivialSawTheEnd;

    @Actor
    public void works() {
        if (lifecycle.enter()) {
            countedSawTheEnd = lifecycle.isOver();
            lifecycle.leave();
        }
        published = true;
        if (!lifecycle.isShut()) trivialSawTheEnd = lifecycle.isOver();
        published = false;
        if (lifecycle.isShut()) lifecycle.check();
    }

    @Actor
    public void shuts() {
        lifecycle.shut();
    }

    @Arbiter
    public void reads(ZZ_Result result) {
        result.r1 = lifecycle.isOver();
        result.r2 = countedSawTheEnd || trivialSawTheEnd;
    }
}
