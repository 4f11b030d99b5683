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

/**
 * Measures one site (a place that submits work) whose work changes from arithmetic to storage and back to arithmetic.
 * The strategy is not notified of the changes.
 */
internal fun measureChanging(cell: Cell): Measured {
    val count = cell.int("batches")
    val seeds = seedsOf(cell.text("order", "ascending"), cell.number("actions", 100.0).toInt())
    val phases = listOf("arithmetic", "storage", "arithmetic").map { Works.named(it) }
    val into = blackhole()
    var checksum = 0.0
    Rehearsal.of(seeds, Changing(phases[0]), Changing(phases[1]))
    val found =
        Strategies.named(cell.mechanism).open().use { strategy ->
            val changing = Changing(phases.first())
            val batches = Batches(strategy, changing, seeds)
            // Lets the strategy learn the site before the site's work changes.
            batches.timeNs(count, into)
            phases.map { phase ->
                changing.phase = phase
                LongArray(count) { batches.timeNs(1, into) }.also { checksum += tally(batches.run()).second }
            }
        }
    val (before, during, back) = found
    val values =
        mapOf(
            "total" to Value("ms", found.sumOf { it.sum() } / 1e6),
            "before" to Value("ms", settled(before) / 1e6),
            "firstAfter" to Value("ms", during.first() / 1e6),
            "after" to Value("ms", settled(during) / 1e6),
            "recover" to Value("count", recovery(during).toDouble()),
            "firstBack" to Value("ms", back.first() / 1e6),
            "back" to Value("ms", settled(back) / 1e6),
            "recoverBack" to Value("count", recovery(back).toDouble()),
        )
    val result = buildJsonObject {
        put("phases", JsonPrimitive(phases.size))
        put("checksum", JsonPrimitive(Math.round(checksum)))
    }
    return Measured(emptyMap(), values, result)
}

/** An action that delegates to the action of the current phase. Strategy and compiler see one action in all phases. */
private class Changing(@Volatile var phase: Action) : Action {
    override fun run(seed: Int): Double = phase.run(seed)
}

/** Returns the median of the second half of the times: the strategy's steady state. */
internal fun settled(ns: LongArray): Double = median(ns.copyOfRange(ns.size / 2, ns.size))

/**
 * Returns how many batches the strategy needs to recover. It has recovered when two consecutive batches are at most a
 * quarter slower than the steady state. These two are not counted. Returns the number of all batches if it never
 * recovers.
 */
internal fun recovery(ns: LongArray): Int {
    val near = settled(ns) * 1.25
    for (at in 0 until ns.size - 1) if (ns[at] <= near && ns[at + 1] <= near) return at
    return ns.size
}

/** Actions that only compute, in decades from 10 ns to 100 ms. They show the size from which other threads help. */
internal object Sizes {
    val names = listOf("10ns", "100ns", "1us", "10us", "100us", "1ms", "10ms", "100ms")

    fun ns(at: Int): Double = 10.0 * Math.pow(10.0, at.toDouble())

    /** Number of steps of the loop per nanosecond. Measured once per process, with compiled code. */
    private val stepsPerNs: Double by lazy {
        var best = Double.POSITIVE_INFINITY
        repeat(CALIBRATIONS) {
            val begin = System.nanoTime()
            sink = spin(CALIBRATION_STEPS)
            best = minOf(best, (System.nanoTime() - begin) / CALIBRATION_STEPS.toDouble())
        }
        1 / best
    }

    fun steps(at: Int): Int = maxOf(1, (ns(at) * stepsPerNs).toInt())

    /**
     * Runs xorshift steps. Each step depends on the step before, so neither compiler nor processor can shorten the
     * loop.
     */
    fun spin(steps: Int): Int {
        var x = 0x9E3779B9.toInt()
        repeat(steps) {
            x = x xor (x shl 13)
            x = x xor (x ushr 17)
            x = x xor (x shl 5)
        }
        return x
    }

    @Volatile private var sink = 0
    private const val CALIBRATIONS = 30
    private const val CALIBRATION_STEPS = 200_000
}

/** The action of one size. Runs its loop, and then returns the index of the size, which depends on the loop. */
private class Spinning(private val steps: Int, private val size: Int) : Action {
    // This generator never reaches zero, so the result is the index of the size. The compiler does not know that.
    override fun run(seed: Int): Double = if (Sizes.spin(steps) == 0) -1.0 else size.toDouble()
}

/** Measures every size with one strategy and one pool, which is warm for each size. */
internal fun measureSizes(cell: Cell): Measured {
    val most = cell.int("actions")
    val sweepNs = cell.number("sweepMs") * 1e6
    val into = blackhole()
    val values = LinkedHashMap<String, Value>()
    var right = 0
    Rehearsal.of(seedsOf("ascending", most), Spinning(Sizes.steps(0), 0))
    Strategies.named(cell.mechanism).open().use { strategy ->
        for (at in Sizes.names.indices) {
            val action = Spinning(Sizes.steps(at), at)
            // Runs fewer actions if they are long, so that a batch ends in time.
            val count = Math.round(sweepNs / Sizes.ns(at)).coerceIn(2, most.toLong()).toInt()
            val batches = Batches(strategy, action, IntArray(count) { it })
            timed(batches, sweepNs / 4, into)
            values["task" + Sizes.names[at]] = Value("us", median(timed(batches, sweepNs / 4, into)) / 1e3 / count)
            if (batches.run().all { it == at.toDouble() }) right++
        }
    }
    return Measured(emptyMap(), values, buildJsonObject { put("sizes", JsonPrimitive(right)) })
}

private fun timed(batches: Batches, forNs: Double, into: Blackhole): LongArray {
    val found = ArrayList<Long>()
    val begin = System.nanoTime()
    do found += batches.timeNs(1, into) while (System.nanoTime() - begin < forNs)
    return found.toLongArray()
}
