// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.stress;

import clearway.executor.host.SystemClock;
import clearway.executor.model.Placement;
import clearway.executor.model.Plan;
import clearway.executor.run.Batch;
import clearway.executor.run.Body;
import clearway.executor.run.Context;
import clearway.executor.run.Cursor;
import clearway.executor.run.Lifecycle;
import clearway.executor.run.Participant;
import clearway.executor.run.Registry;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import kotlin.Unit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** The races between threads of the executor. */
public class ExecutorStress {
    /**
     * One thread claims items one by one. Another thread claims two items and closes the cursor. Each item must either be
     * claimed once, or be counted by the close.
     */
    @JCStressTest
    @Outcome(id = "5, 0", expect = Expect.ACCEPTABLE, desc = "Each item was claimed once or dropped once.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "An item was lost, or had twice.")
    @State
    public static class CursorStress {
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

    /**
     * An owner runs its chunk with opaque stores while a thief takes back the items that have not begun. Each item must run
     * exactly once. The only barrier between the two threads is the thief's read of the owner's stack.
     */
    @JCStressTest
    @Outcome(id = "4, 0", expect = Expect.ACCEPTABLE, desc = "Each item ran once.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "An item was lost, or ran twice.")
    @State
    public static class RecallStress {
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

    /**
     * Two jobs run one after the other, during a shutdown. The first one enters. The second one only publishes itself, as a
     * trivial batch does. The end must be reported, but never while one of the jobs is inside.
     */
    @JCStressTest
    @Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "The end was reported, and no job was inside.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "The end was not reported, or was reported while a job was inside.")
    @State
    public static class LifecycleStress {
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

    /**
     * One thread joins a batch while another thread cancels it. The batch must end exactly once, whichever thread counts
     * the dropped items. No item may run twice, or after the end.
     */
    @JCStressTest
    @Outcome(id = "1, 0, 0", expect = Expect.ACCEPTABLE, desc = "The batch ended, once, and nothing ran twice or late.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "It did not end, ended again, or an item ran twice or after the end.")
    @State
    public static class CancelStress {
        private static final int SIZE = 4;

        private static final Plan PLAN =
                new Plan(Placement.ELASTIC, 2, 2, true, false, false, false, 0, 1, 0.0, 1, false);
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
}
