// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.jmh

import clearway.lab.fork.Fork
import clearway.lab.offload.Batches
import clearway.lab.offload.CpuReading
import clearway.lab.offload.Meters
import clearway.lab.offload.Rehearsal
import clearway.lab.offload.Strategies
import clearway.lab.offload.Strategy
import clearway.lab.offload.WorksLoad
import clearway.lab.offload.median
import clearway.lab.offload.resultOf
import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import clearway.lab.protocol.Samples
import clearway.lab.protocol.Value
import java.io.PrintStream
import kotlin.io.path.createTempFile
import kotlin.io.path.deleteIfExists
import kotlin.io.path.readLines
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import org.openjdk.jmh.infra.BenchmarkParams
import org.openjdk.jmh.infra.IterationParams
import org.openjdk.jmh.profile.InternalProfiler
import org.openjdk.jmh.results.AggregationPolicy
import org.openjdk.jmh.results.IterationResult
import org.openjdk.jmh.results.Result
import org.openjdk.jmh.results.RunResult
import org.openjdk.jmh.results.ScalarResult
import org.openjdk.jmh.runner.Runner
import org.openjdk.jmh.runner.format.OutputFormatFactory
import org.openjdk.jmh.runner.options.Options
import org.openjdk.jmh.runner.options.OptionsBuilder
import org.openjdk.jmh.runner.options.TimeValue
import org.openjdk.jmh.runner.options.VerboseMode

/**
 * Measures one cell of `works` through JMH, in a separate process. Uses the cell's times for warm-up and measurement,
 * and takes one sample per batch. Blocks. The lab repeats the call for each round, interleaved with the other cells.
 */
internal fun measureByJmh(cell: Cell): Measured {
    Strategies.named(cell.mechanism)
    // JMH's lock is machine-wide, so another project's benchmark would make this one fail. The lab measures one cell at
    // a time anyway.
    System.setProperty("jmh.ignoreLock", "true")
    val resultFile = createTempFile("clearway-jmh")
    try {
        val output = OutputFormatFactory.createFormatInstance(PrintStream(System.err), VerboseMode.SILENT)
        val run = Runner(optionsOf(cell, resultFile.toString()), output).runSingle()
        val (cold, threads, result) = resultFile.readLines()
        val ns = timesOf(run)
        val medianNs = median(ns)
        val values =
            mapOf(
                "coldBatch" to Value("ms", cold.toLong() / 1e6),
                "batch" to Value("ms", medianNs / 1e6),
                "perTask" to Value("us", medianNs / 1e3 / cell.int("actions")),
                "cpuTime" to Value("ms", secondary(run, CpuProfiler.CPU) / 1e6),
                "allocatedBytes" to Value("bytes", secondary(run, CpuProfiler.BYTES)),
                "peakThreads" to Value("count", maxOf(0.0, threads.toDouble())),
                "batches" to Value("count", ns.size.toDouble()),
            )
        val samples = mapOf("batchTimes" to Samples("ms", ns))
        return Measured(samples, values, Json.parseToJsonElement(result), listOf())
    } finally {
        resultFile.deleteIfExists()
    }
}

private fun optionsOf(cell: Cell, resultFile: String): Options {
    val warmMs = cell.number("warmMs").toLong()
    val eachMs = maxOf(1L, cell.number("batchesMs").toLong() / ITERATIONS)
    return OptionsBuilder()
        .include(Regex.escape(WorksBenchmark::class.java.name))
        .param("cell", cell.toJson().toString())
        .forks(1)
        .warmupIterations(1)
        .warmupTime(TimeValue.milliseconds(warmMs))
        .measurementIterations(ITERATIONS)
        .measurementTime(TimeValue.milliseconds(eachMs))
        .addProfiler(CpuProfiler::class.java)
        .jvmArgs(*Fork.options.toTypedArray(), "-D${JmhTrial.RESULT_PROPERTY}=$resultFile")
        .shouldFailOnError(true)
        .build()
}

/** Returns all samples of JMH, but not in their order: JMH keeps only the count of each value. */
private fun timesOf(run: RunResult): LongArray {
    val found = ArrayList<Long>()
    for ((ns, count) in run.primaryResult.statistics.rawData.asSequence().map { it.key to it.value }) {
        repeat(count.toInt()) { found += ns.toLong() }
    }
    check(found.isNotEmpty()) { "JMH took no sample: raise batchesMs" }
    return found.toLongArray()
}

private fun secondary(run: RunResult, name: String): Double =
    checkNotNull(run.secondaryResults[name]) { "JMH has no result of $name, but of ${run.secondaryResults.keys}" }.score

/**
 * Number of iterations. A garbage collection then disturbs only one of several, and JMH can report how far they differ.
 */
private const val ITERATIONS = 3

/** The state of a benchmark in one of JMH's forks. It is public only because Java code uses it. */
public class JmhTrial private constructor(private val strategy: Strategy, private val batches: Batches) :
    AutoCloseable {
    /** Runs one batch and returns its results. The next batch overwrites them. Blocks. */
    public fun batch(): DoubleArray = batches.run()

    /**
     * Writes the lab's other figures to the file that the property [RESULT_PROPERTY] names, and closes the strategy.
     */
    override fun close() {
        java.io
            .File(System.getProperty(RESULT_PROPERTY))
            .writeText("$coldNs\n${Meters.peakThreads() - before}\n$result\n")
        strategy.close()
    }

    public companion object {
        internal const val RESULT_PROPERTY: String = "clearway.lab.jmh.result"
        private var coldNs = 0L
        private var result = ""
        private var before = 0

        /** Opens the strategy that `cell` names, and times its first batch. */
        @JvmStatic
        public fun open(cell: String): JmhTrial {
            val requested = Cell.of(Json.parseToJsonElement(cell) as JsonObject)
            val load = WorksLoad(requested)
            load.rehearse()
            Rehearsal.letSharedThreadsEnd(requested.mechanism)
            before = Meters.threadCount()
            Meters.resetPeak()
            val begin = System.nanoTime()
            val strategy = Strategies.named(requested.mechanism).open()
            val batches = Batches(strategy, load.action, load.seeds)
            val first = batches.run()
            coldNs = System.nanoTime() - begin
            result = resultOf(first).toString()
            return JmhTrial(strategy, batches)
        }
    }
}

/** Reports CPU time and allocations per operation, in JMH's forks. JMH instantiates it by its class name. */
public class CpuProfiler : InternalProfiler {
    private var cpu: CpuReading? = null
    private var bytes = 0L

    override fun getDescription(): String = "processor time of the process, and bytes allocated, an operation"

    override fun beforeIteration(benchmark: BenchmarkParams, iteration: IterationParams) {
        cpu = Meters.cpu()
        bytes = Meters.allocatedBytes()
    }

    override fun afterIteration(
        benchmark: BenchmarkParams,
        iteration: IterationParams,
        result: IterationResult,
    ): Collection<Result<*>> {
        // Reading the CPU time allocates, so the bytes are read first.
        val allocated = Meters.allocatedBytes() - bytes
        val cpuNs = Meters.cpu().since(cpu!!)
        val operations = maxOf(1L, result.metadata.allOps).toDouble()
        return listOf(
            ScalarResult(CPU, cpuNs / operations, "ns/op", AggregationPolicy.AVG),
            ScalarResult(BYTES, allocated / operations, "B/op", AggregationPolicy.AVG),
        )
    }

    internal companion object {
        const val CPU = "clearway.cpu"
        const val BYTES = "clearway.bytes"
    }
}
