// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import clearway.lab.offload.Meters
import clearway.lab.offload.WarmUp
import clearway.lab.offload.median
import clearway.lab.offload.warmUp
import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import clearway.lab.protocol.Samples
import clearway.lab.protocol.Value
import clearway.lab.protocol.WARM_UP_CUT

/** The load of a cell of the scenarios of executors. */
private class WayLoad(cell: Cell) {
    val work = cell.text("work")
    val actions = cell.int("actions")
    val warmMs = cell.number("warmMs")
    /** The number of timed runs of a round. */
    val runs = cell.int("runs")
    /** The time in ms that the timed runs of a round may take. At least one run is timed. */
    val runsMs = cell.number("runsMs")
    /** The time in ms that the observed runs of a round may take. The first round observes at least one run. */
    val countMs = cell.number("countMs")

    init {
        require(actions in 1..1_000) { "a list has 1 to 1000 actions: actions=$actions" }
        require(runs >= 1) { "a round has at least one run: runs=$runs" }
    }
}

/**
 * Measures one way with one work. The pool exists before the measurement, and the way is warm. Each run of the list is
 * one sample, or a mean of several runs if one is short. After the timed runs, further ones count threads and objects.
 */
internal fun measureWays(cell: Cell): Measured {
    val named = Ways.named(cell.mechanism)
    val kind = if (cell.scenario == "executors-cold") named.opened() else named
    val load = WayLoad(cell)
    WayRehearsal.of(load.work, load.actions)
    return kind.open().use { way ->
        val run = ListRun(way, PublishedWorks.named(load.work), load.actions)
        val warmed = warmUpWay(way, load)
        val perSample = perSample(run, warmed, load)
        val allocated = Meters.allocatedBytes()
        val ns = timed(run, load, perSample)
        val bytes = Meters.allocatedBytes() - allocated
        val count = ns.size.toDouble() * perSample
        val medianNs = median(ns)
        val values =
            mapOf(
                "batch" to Value("ms", medianNs / 1e6),
                "perTask" to Value("us", medianNs / 1e3 / load.actions),
                "allocatedBytes" to Value("bytes", bytes / count),
                "batches" to Value("count", count),
                "warmBatches" to Value("count", warmed.batches.toDouble()),
            )
        val result = run.tally()
        val (observed, notes) = observe(run, cell.mechanism, load, medianNs)
        // Work that waits does not become faster with a longer warm-up.
        val computes = PublishedWorks.warmUpOf(load.work) != "storage"
        val cut = if (warmed.isWarm || !computes) emptyMap() else mapOf(WARM_UP_CUT to Value("ms", warmed.ms))
        val samples = mapOf("batchTimes" to Samples("ms", ns, perSample))
        Measured(samples, values + observed + cut, result, notes)
    }
}

private fun warmUpWay(way: Way, load: WayLoad): WarmUp {
    val warm = ListRun(way, PublishedWorks.named(PublishedWorks.warmUpOf(load.work)), load.actions)
    return warmUp(load.warmMs) { warm.run() }
}

/**
 * Returns the number of runs per sample: one, unless a run is too short for the clock. The last runs of the warm-up may
 * have been interrupted, so the number is computed from the fastest of several times.
 */
private fun perSample(run: ListRun, warmed: WarmUp, load: WayLoad): Int {
    if (PublishedWorks.warmUpOf(load.work) == "storage" || warmed.perBatchNs >= SAMPLE_NS) return 1
    var ns = warmed.perBatchNs
    repeat(5) { ns = minOf(ns, run.timeNs(1)) }
    return maxOf(1L, SAMPLE_NS / maxOf(1, ns)).toInt()
}

private fun timed(run: ListRun, load: WayLoad, perSample: Int): LongArray {
    val found = ArrayList<Long>()
    val begin = System.nanoTime()
    val endNs = (load.runsMs * 1e6).toLong()
    do found += run.timeNs(perSample) / perSample while (found.size < load.runs && System.nanoTime() - begin < endNs)
    return found.toLongArray()
}

/** The values and notes of the observed runs of a way. */
private typealias Observation = Pair<Map<String, Value>, List<String>>

/** The latest observation of each way and work in this JVM. */
private val observedBefore = HashMap<Pair<String, String>, Observation>()

/**
 * Returns the number of threads and of objects of further runs, and notes. A JVM observes long runs only once, because
 * a list of `network` takes five seconds on one thread. Later measurements then return the earlier observation.
 */
private fun observe(run: ListRun, way: String, load: WayLoad, runNs: Double): Observation {
    val earlier = observedBefore[way to load.work]
    val leastRuns = if (earlier == null) 1 else 0
    val times = (load.countMs * 1e6 / runNs).toInt().coerceIn(leastRuns, OBSERVED_RUNS)
    if (earlier != null && times == 0) return earlier
    return observe(run, times).also { observedBefore[way to load.work] = it }
}

private fun observe(run: ListRun, times: Int): Observation {
    val observed = run.observe(times)
    val threads = mapOf("threads" to Value("count", observed.threads.toDouble()))
    return when (val objects = observed.objects) {
        is AllocationCount.Objects -> threads + ("allocations" to Value("count", objects.median)) to emptyList()
        is AllocationCount.Absent -> threads to listOf("allocations are not counted: ${objects.why}")
    }
}

/**
 * Intended duration of a sample of short runs, in ns. A clock reading takes about 50 ns, which is a quarter of a
 * percent of this duration.
 */
private const val SAMPLE_NS = 20_000L
/** The number of runs whose objects are counted. The lab keeps their median. */
private const val OBSERVED_RUNS = 3

/**
 * Runs every way for a short time before the first measurement of a JVM. Each way is then measured in a JVM whose code
 * has been compiled for the same rivals. One thread uses it.
 */
internal object WayRehearsal {
    private var done = false

    /** The first call blocks for a second or more; later calls return at once. */
    fun of(work: String, actions: Int) {
        if (done) return
        done = true
        AllocationCount.prepare()
        // Work that waits is rehearsed with the works that only compute, because a rehearsal should be short.
        val works = if (work == "arithmetic" || work == "lists") listOf(work) else listOf("arithmetic", "lists")
        for (kind in Ways.all.filter { it.unavailable == null }) {
            kind.open().use { way ->
                for (each in works) {
                    val run = ListRun(way, PublishedWorks.named(each), actions)
                    val begin = System.nanoTime()
                    do run.run() while (System.nanoTime() - begin < EACH_NS / works.size)
                }
            }
        }
    }

    /** Time in ns for each way. It is enough to compile a list of arithmetic. */
    private const val EACH_NS = 30_000_000L
}
