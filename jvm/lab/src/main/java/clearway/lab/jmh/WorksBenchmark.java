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
 * Measures batches of one workload with one strategy through JMH, as the full profile does. This class is in Java
 * because JMH generates Java code around its benchmarks. {@code measureByJmh} runs it and sets the parameter.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class WorksBenchmark {
    /** The cell (one measurement) that the lab sent, as one line of JSON. */
    @Param("{}")
    public String cell;

    private JmhTrial trial;

    /** Opens the strategy. {@code JmhTrial} runs and times its first batch. */
    @Setup(Level.Trial)
    public void open() {
        trial = JmhTrial.open(cell);
    }

    /** Runs one batch. Returns the actions' results for JMH's blackhole. */
    @Benchmark
    public double[] batch() {
        return trial.batch();
    }

    @TearDown(Level.Trial)
    public void close() {
        trial.close();
    }
}
