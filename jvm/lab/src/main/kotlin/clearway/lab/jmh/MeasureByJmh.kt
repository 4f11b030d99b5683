// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.jmh

import clearway.lab.fork.Fork
import clearway.lab.offload.Strategies
import clearway.lab.offload.median
import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import clearway.lab.protocol.Samples
import clearway.lab.protocol.Value
import java.io.PrintStream
import kotlin.io.path.createTempFile
import kotlin.io.path.deleteIfExists
import kotlin.io.path.readLines
import kotlinx.serialization.json.Json
import org.openjdk.jmh.results.RunResult
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
