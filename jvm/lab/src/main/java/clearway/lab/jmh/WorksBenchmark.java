// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.jmh;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Measures a batch of one workload with one strategy through JMH: the method of the full profile. In Java because JMH
 * generates Java around its benchmarks. {@code measureByJmh} runs it and sets the parameters.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class WorksBenchmark {
    /** The cell that the lab sent, as one line of JSON. */
    @Param("{}")
    public String cell;

    private JmhTrial trial;

    /** Opens the strategy and runs its first batch, which {@code JmhTrial} times. */
    @Setup(Level.Trial)
    public void open() {
        trial = JmhTrial.open(cell);
    }

    /** Returns the actions' results for JMH's blackhole. */
    @Benchmark
    public double[] batch() {
        return trial.batch();
    }

    @TearDown(Level.Trial)
    public void close() {
        trial.close();
    }
}
