// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import com.sun.management.ThreadMXBean
import java.lang.invoke.MethodHandle
import java.lang.invoke.MethodHandles
import java.lang.invoke.MethodType
import java.lang.management.ManagementFactory
import java.util.concurrent.locks.LockSupport
import kotlin.math.pow
import org.openjdk.jmh.infra.Blackhole

/** One action of a batch. Does the work of its seed, and returns a number that proves it. Thread-safe. */
internal fun interface Action {
    fun run(seed: Int): Double
}

/** The workloads of an arm's batches. */
internal object Works {
    /** Returns the workload of this name. `network` sleeps for the seed times `networkUs`, in us. */
    fun named(name: String, networkUs: Double = 1000.0): Action =
        when (name) {
            "arithmetic" -> Action(::arithmetic)
            "lists" -> Action(::lists)
            "storage" -> Action(::storage)
            "network" -> Action { network(it, networkUs) }
            "mixed" -> Action { mixed(it, networkUs) }
            "bimodal" -> Action(::bimodal)
            else -> throw IllegalArgumentException("no such work: work=$name ($NAMES)")
        }

    private const val NAMES = "arithmetic, lists, storage, network, mixed, bimodal"

    private fun arithmetic(seed: Int): Double = seed.toDouble().pow(seed)

    private fun lists(seed: Int): Double =
        List(seed) { it }
            .map { it.toDouble() }
            .map { it + 0.3 }
            .associateBy { it.toString() }
            .mapValues { (_, value) -> value * value }
            .filter { (_, value) -> value > 5 }
            .size
            .toDouble()

    private fun storage(seed: Int): Double {
        waitNs((500 + 10 * seed) * 1_000L)
        return seed.toDouble()
    }

    private fun network(seed: Int, networkUs: Double): Double {
        waitNs((seed * networkUs * 1_000).toLong())
        return seed.toDouble()
    }

    private fun mixed(seed: Int, networkUs: Double): Double =
        when {
            seed % 5 == 0 -> network(seed, networkUs)
            seed % 3 == 0 -> storage(seed)
            seed % 2 == 0 -> lists(seed)
            else -> arithmetic(seed)
        }

    private fun bimodal(seed: Int): Double =
        if (seed % 10 == 0) seed.toDouble().also { waitNs(5_000_000) } else arithmetic(seed)

    /** Parks for `ns`, like a driver that waits for a device. Parks again after an early wake. */
    private fun waitNs(ns: Long) {
        val end = System.nanoTime() + ns
        while (true) {
            val left = end - System.nanoTime()
            if (left <= 0) return
            LockSupport.parkNanos(left)
        }
    }
}

/** Returns the seeds of a batch in the given order. The shuffled order is the same on every host. */
internal fun seedsOf(order: String, actions: Int): IntArray {
    val seeds = IntArray(actions) { it }
    when (order) {
        "ascending" -> Unit
        "shuffled" ->
            for (i in actions - 1 downTo 1) {
                val j = (i * 7919 + 17) % (i + 1)
                val held = seeds[i]
                seeds[i] = seeds[j]
                seeds[j] = held
            }
        else -> throw IllegalArgumentException("no such order: order=$order (ascending, shuffled)")
    }
    return seeds
}

/**
 * Returns JMH's blackhole, which the compiler cannot optimize away. JMH requires this text from code that creates a
 * blackhole itself.
 */
internal fun blackhole(): Blackhole =
    Blackhole("Today's password is swordfish. I understand instantiating Blackholes directly is dangerous.")

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

/** Reads the JVM's count of allocations. A reading takes some microseconds. */
internal object Meters {
    private val threads = ManagementFactory.getThreadMXBean() as ThreadMXBean

    /** Reads the JVM's sum of the allocations of all threads, including threads that have ended. Null before JDK 21. */
    private val total: MethodHandle? =
        try {
            val type = MethodType.methodType(Long::class.java)
            MethodHandles.publicLookup().findVirtual(ThreadMXBean::class.java, "getTotalThreadAllocatedBytes", type)
        } catch (absent: NoSuchMethodException) {
            null // A JDK older than 21.
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
}

internal fun median(ns: LongArray): Double {
    val sorted = ns.sorted()
    val middle = sorted.size / 2
    return if (sorted.size % 2 == 1) sorted[middle].toDouble() else (sorted[middle - 1] + sorted[middle]) / 2.0
}
