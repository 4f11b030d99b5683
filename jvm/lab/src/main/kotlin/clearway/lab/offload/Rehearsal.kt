// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import com.sun.management.OperatingSystemMXBean
import com.sun.management.ThreadMXBean
import java.io.File
import java.io.IOException
import java.lang.invoke.MethodHandle
import java.lang.invoke.MethodHandles
import java.lang.invoke.MethodType
import java.lang.management.ManagementFactory

/**
 * Rehearses the strategies: runs each of them for a short time before the measurements of a JVM. The first batch of a
 * new pool then measures the pool, not class loading and compilation. All strategies run before the first one is
 * measured, so each is compiled in a JVM that has run the same rivals. One thread uses it.
 */
internal object Rehearsal {
    private var done = false
    private var sharedUsedNs: Long? = null

    /** Runs `actions` with each strategy. The first call blocks for a second or more; later calls return at once. */
    fun of(seeds: IntArray, vararg actions: Action) {
        if (done) return
        done = true
        val into = blackhole()
        // Runs the strategies that share the coroutines' threads first. Those threads are then idle while the other
        // strategies run, so `letSharedThreadsEnd` waits less.
        for (kind in Strategies.all.sortedBy { !sharesThreads(it.name) }.filter { it.unavailable == null }) {
            kind.open().use { strategy ->
                for (action in actions) {
                    val batches = Batches(strategy, action, seeds)
                    val begin = System.nanoTime()
                    do into.consume(batches.run()) while (System.nanoTime() - begin < EACH_NS / actions.size)
                }
            }
            used(kind.name)
        }
    }

    fun used(strategy: String) {
        if (sharesThreads(strategy)) sharedUsedNs = System.nanoTime()
    }

    /**
     * Waits until the threads of Dispatchers.Default and IO have ended. A JVM cannot create these dispatchers again,
     * but their threads end after a while. Blocks.
     */
    fun letSharedThreadsEnd(strategy: String) {
        val last = sharedUsedNs
        if (!sharesThreads(strategy) || last == null) return
        val leftMs = KEEP_ALIVE_MS - (System.nanoTime() - last) / 1_000_000
        if (leftMs > 0) Thread.sleep(leftMs)
    }

    private fun sharesThreads(strategy: String): Boolean =
        strategy in
            setOf(
                "coroutines-launch-default",
                "coroutines-launch-default-limited",
                "flow-flatmapmerge-default",
                "flow-flatmapmerge-cores",
                "coroutines-launch-io",
                "flow-flatmapmerge-io",
            )

    /**
     * Time in ns for each strategy. It is enough to compile a batch of arithmetic. For eighteen strategies, these times
     * add up to half a second. A rehearsal takes longer, because it also opens and closes each strategy, and each
     * strategy finishes its last batch.
     */
    private const val EACH_NS = 30_000_000L

    /**
     * Time in ms after which idle coroutine threads have ended. The JVMs are started with a keep-alive of 1 s (default:
     * 60 s); this adds a margin.
     */
    private const val KEEP_ALIVE_MS = 1_150L
}

/**
 * The result of a warm-up. [isWarm] is false if batches were still becoming faster, or if there were too few windows to
 * decide. [perBatchNs] is the mean time of a batch in the last window.
 */
internal class WarmUp(val batches: Int, val ms: Double, val isWarm: Boolean, val perBatchNs: Long)

/** Runs batches, one after another, until the time is over. Runs at least one batch. */
internal fun warmUp(warmMs: Double, nowNs: () -> Long = System::nanoTime, batch: () -> Unit): WarmUp {
    val windowNs = (warmMs * 1e6 / WINDOWS).toLong()
    val perBatchNs = ArrayList<Long>()
    val beginNs = nowNs()
    var fromNs = beginNs
    var ran = 0
    do {
        val before = ran
        var ns: Long
        do {
            batch()
            ran++
            ns = nowNs() - fromNs
        } while (ns < windowNs)
        fromNs += ns
        perBatchNs += ns / (ran - before)
    } while (fromNs - beginNs < warmMs * 1e6)
    return WarmUp(ran, (fromNs - beginNs) / 1e6, areWarm(perBatchNs.toLongArray()), perBatchNs.last())
}

/**
 * Whether batches have stopped becoming faster. Each element is the mean time of a batch in one window of time. Returns
 * false if the median of the last quarter of windows is more than 5 % faster than the fastest window of the quarter
 * before.
 *
 * Windows of a pool on busy cores differ by chance. Without the 5 %, such windows would fail in one case of twelve: of
 * ten windows, the three fastest are among the last five. With the 5 %, they fail less often.
 */
private fun areWarm(windowsNs: LongArray): Boolean {
    if (windowsNs.size < WINDOWS_MIN) return false
    val quarter = windowsNs.size / 4
    val last = windowsNs.copyOfRange(windowsNs.size - quarter, windowsNs.size)
    val before = windowsNs.copyOfRange(windowsNs.size - 2 * quarter, windowsNs.size - quarter)
    return median(last) >= before.min() * (1 - GAIN_MIN)
}

private const val WINDOWS = 20
/** Minimum number of windows: three per quarter. */
private const val WINDOWS_MIN = 12
private const val GAIN_MIN = 0.05

/**
 * Two counts of a process's CPU time. [livingThreadsNs] has steps of 1 ns, but only the threads that live, because
 * Linux forgets a thread's count when it ends. [processNs] has all threads, in steps of 10 ms.
 */
internal class CpuReading(private val livingThreadsNs: Long?, private val processNs: Long) {
    /** Returns the CPU time since [before], in ns. It is never negative. */
    fun since(before: CpuReading): Long {
        val process = maxOf(0, processNs - before.processNs)
        if (livingThreadsNs == null || before.livingThreadsNs == null) return process
        val living = livingThreadsNs - before.livingThreadsNs
        // Threads have ended since if the first count lacks more than the steps of the second one explain.
        return if (living < process - 2 * STEP_NS) process else maxOf(0, living)
    }

    private companion object {
        const val STEP_NS = 10_000_000L
    }
}

/** Reads the JVM's counters of CPU time, threads and allocations. Each reading takes some microseconds. */
internal object Meters {
    private val system = ManagementFactory.getOperatingSystemMXBean() as OperatingSystemMXBean
    private val threads = ManagementFactory.getThreadMXBean() as ThreadMXBean

    /** Reads the JVM's sum of the allocations of all threads, including threads that have ended. Null before JDK 21. */
    private val total: MethodHandle? =
        try {
            val type = MethodType.methodType(Long::class.java)
            MethodHandles.publicLookup().findVirtual(ThreadMXBean::class.java, "getTotalThreadAllocatedBytes", type)
        } catch (absent: NoSuchMethodException) {
            null // A JDK older than 21.
        }

    /** Reads the CPU time of the whole process, including the threads of the compiler and the collector. */
    fun cpu(): CpuReading = CpuReading(livingThreadsNs(), system.processCpuTime)

    /** Returns null where the system does not count each thread. */
    private fun livingThreadsNs(): Long? {
        val tasks = File("/proc/self/task").listFiles() ?: return null
        return tasks.sumOf { task -> scheduledNs(task) ?: return null }
    }

    private fun scheduledNs(task: File): Long? {
        val schedstat = File(task, "schedstat")
        return try {
            schedstat.readText().substringBefore(' ').toLong()
        } catch (ended: IOException) {
            if (task.exists()) null else 0 // Null if the kernel does not count; 0 if the thread has just ended.
        }
    }

    /**
     * Returns the number of bytes allocated since the process started. Before JDK 21, it covers only threads that still
     * live.
     */
    fun allocatedBytes(): Long {
        val whole = total
        if (whole != null) return whole.invoke(threads) as Long
        return threads.getThreadAllocatedBytes(threads.allThreadIds).sumOf { maxOf(0, it) }
    }

    /**
     * Returns the number of live platform threads. Includes the carriers of virtual threads, but not the virtual
     * threads.
     */
    fun threadCount(): Int = threads.threadCount

    fun resetPeak() = threads.resetPeakThreadCount()

    /** Returns the peak number of platform threads since [resetPeak]. */
    fun peakThreads(): Int = threads.peakThreadCount
}
