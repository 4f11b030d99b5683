// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import clearway.lab.protocol.Samples
import clearway.lab.protocol.Value
import clearway.lab.protocol.WARM_UP_CUT
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import org.openjdk.jmh.infra.Blackhole

/** The load of a cell of the scenario `works`. */
internal class WorksLoad(cell: Cell) {
    val work = cell.text("work")
    val action = Works.named(work, cell.number("networkUs", 1000.0))
    val seeds = seedsOf(cell.text("order"), cell.int("actions"))
    val warmMs = cell.number("warmMs")
    val batches = cell.int("batches")
    val batchesMs = cell.number("batchesMs")

    init {
        val waits = cell.text("waits", "none")
        require(waits != "async") { "the JVM's actions wait by blocking their thread: waits=async is JavaScript's" }
    }

    /**
     * Rehearses the strategies ([Rehearsal]) with this load. With a workload that waits, the rehearsal would take long,
     * so it uses `arithmetic` instead.
     */
    fun rehearse() = Rehearsal.of(seeds, if (Works.waits(work)) Works.named("arithmetic") else action)
}

/**
 * Measures one strategy with one workload. Times the first batch of a new pool, and then warm batches until there are
 * enough or the time is over. The JVM has already run the strategy in a rehearsal. So the pool is new, but its code is
 * already compiled.
 */
internal fun measureWorks(cell: Cell): Measured {
    val kind = Strategies.named(cell.mechanism)
    val load = WorksLoad(cell)
    load.rehearse()
    Rehearsal.letSharedThreadsEnd(kind.name)
    val before = Meters.threadCount()
    Meters.resetPeak()
    val into = blackhole()
    val begin = System.nanoTime()
    return kind.open().use { strategy ->
        val batches = Batches(strategy, load.action, load.seeds)
        val first = batches.run()
        val coldNs = System.nanoTime() - begin
        val result = resultOf(first)
        val warmed = warmUp(load.warmMs) { into.consume(batches.run()) }
        val perSample = perSample(batches, warmed, into)
        val cpu = Meters.cpu()
        val allocated = Meters.allocatedBytes()
        val ns = timed(batches, load, perSample, into)
        // Reading the CPU time allocates, so the bytes are read first.
        val bytes = Meters.allocatedBytes() - allocated
        val cpuNs = Meters.cpu().since(cpu)
        val count = ns.size.toDouble() * perSample
        val medianNs = median(ns)
        val values =
            mapOf(
                "coldBatch" to Value("ms", coldNs / 1e6),
                "batch" to Value("ms", medianNs / 1e6),
                "perTask" to Value("us", medianNs / 1e3 / load.seeds.size),
                "cpuTime" to Value("ms", cpuNs / 1e6 / count),
                "allocatedBytes" to Value("bytes", bytes / count),
                "peakThreads" to Value("count", maxOf(0, Meters.peakThreads() - before).toDouble()),
                "batches" to Value("count", count),
                "warmBatches" to Value("count", 1.0 + warmed.batches),
            )
        // Work that waits does not become faster with a longer warm-up.
        val cut =
            if (warmed.isWarm || Works.waits(load.work)) emptyMap() else mapOf(WARM_UP_CUT to Value("ms", warmed.ms))
        val samples = mapOf("batchTimes" to Samples("ms", ns, perSample))
        val notes = if (kind.name == "virtual-threads") listOf(VIRTUAL_NOTE) else emptyList()
        Measured(samples, values + cut, result, notes).also { Rehearsal.used(kind.name) }
    }
}

/**
 * Returns the result that the scenario checks. Pass the results of the first batch: later batches overwrite the array,
 * so a missing result would not show.
 */
internal fun resultOf(results: DoubleArray): JsonElement {
    val (done, sum) = tally(results)
    return buildJsonObject {
        put("done", JsonPrimitive(done))
        put("checksum", JsonPrimitive(Math.round(sum)))
    }
}

/**
 * Returns the number of batches per sample. The last batches of the warm-up may have been interrupted. If they were
 * short, the number is computed from the fastest of several times.
 */
private fun perSample(batches: Batches, warmed: WarmUp, into: Blackhole): Int {
    var ns = warmed.perBatchNs
    if (ns < SAMPLE_NS) repeat(5) { ns = minOf(ns, batches.timeNs(1, into)) }
    return maxOf(1L, SAMPLE_NS / maxOf(1, ns)).toInt()
}

private fun timed(batches: Batches, load: WorksLoad, perSample: Int, into: Blackhole): LongArray {
    val found = ArrayList<Long>()
    val begin = System.nanoTime()
    val endNs = (load.batchesMs * 1e6).toLong()
    while (found.size < BATCHES_MIN || (found.size < load.batches && System.nanoTime() - begin < endNs)) {
        found += batches.timeNs(perSample, into) / perSample
    }
    return found.toLongArray()
}

internal fun median(ns: LongArray): Double {
    val sorted = ns.sorted()
    val middle = sorted.size / 2
    return if (sorted.size % 2 == 1) sorted[middle].toDouble() else (sorted[middle - 1] + sorted[middle]) / 2.0
}

/**
 * Intended duration of a sample of short batches, in ns. The number of batches is rounded down, so a sample may be
 * shorter. A clock reading takes about 50 ns, which is a quarter of a percent of this duration.
 */
private const val SAMPLE_NS = 20_000L
private const val BATCHES_MIN = 2
private const val VIRTUAL_NOTE = "peakThreads counts the carriers of virtual threads, not the virtual threads"
