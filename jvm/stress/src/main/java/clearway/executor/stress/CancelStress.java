// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.stress;

import clearway.executor.host.SystemClock;
import clearway.executor.model.Placement;
import clearway.executor.model.Plan;
import clearway.executor.run.Batch;
import clearway.executor.run.Context;
import clearway.executor.run.Registry;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * One thread joins a batch while another thread cancels it. The batch must end exactly once, whichever thread counts
 * the dropped items. No item may run twice, or after the end.
 */
@JCStressTest
@Outcome(id = "1, 0, 0", expect = Expect.ACCEPTABLE, desc = "The batch ended, once, and nothing ran twice or late.")
@Outcome(expect = Expect.FORBIDDEN, desc = "It did not end, ended again, or an item ran twice or after the end.")
@State
public class CancelStress {
    private static final int SIZE = 4;

    private static final Plan PLAN = new Plan(Placement.ELASTIC, 2, 2, true, false, false, false, 0, 1, 0.0, 1, false);
    // All states share the registry, because it keeps a lane for every thread that ever joined.
    private static final Registry REGISTRY = new Registry();
    private static final Context CONTEXT = new Context(List.of(), Thread.currentThread());

    private final AtomicInteger[] ran = new AtomicInteger[SIZE];
    private final AtomicInteger ended = new AtomicInteger();
    private final AtomicInteger late = new AtomicInteger();
    private final Batch batch;

    public CancelStress() {
        for (int item = 0; item < SIZE; item++) ran[item] = new AtomicInteger();
        batch = new Batch(
                PLAN,
                SIZE,
                this::runItem,
                SystemClock.INSTANCE,
                CONTEXT,
                true,
                REGISTRY,
                over -> ended.incrementAndGet(),
                false);
    }

    private void runItem(int item) {
        ran[item].incrementAndGet();
        if (ended.get() > 0) late.incrementAndGet();
    }

    @Actor
    public void joins() {
        batch.run();
    }

    // Has two actors, not three: jcstress runs nothing if a test has more actors than the machine has processors.
    @Actor
    public void cancelsAndJoins() {
        batch.cancel(new CancellationException());
        batch.run();
    }

    @Arbiter
    public void counts(III_Result result) {
        result.r1 = ended.get();
        for (AtomicInteger times : ran) if (times.get() > 1) result.r2++;
        result.r3 = late.get();
    }
}
