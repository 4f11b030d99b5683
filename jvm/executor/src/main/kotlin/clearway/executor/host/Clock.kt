// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.host

import java.io.File
import java.io.FileInputStream
import java.io.IOException
import java.lang.management.GarbageCollectorMXBean
import java.lang.management.ManagementFactory
import java.lang.management.ThreadMXBean
import java.nio.file.Files
import java.nio.file.Path

/** The executor's clocks. Tests use their own implementation. No function blocks. */
internal interface Clock {
    fun nanoTime(): Long

    /**
     * Returns the CPU time of the current thread in ns, or -1 if unavailable. The JVM counts no CPU time for a virtual
     * thread.
     */
    fun threadCpuNs(): Long

    /** Returns the CPU time of `thread` in ns, or -1. */
    fun cpuNsOf(thread: Thread): Long

    /** Returns the CPU time of the whole process in ns, or -1. */
    fun processCpuNs(): Long

    /**
     * Returns how long, in ns, the current thread has waited for a processor since it started. Returns -1 if unknown.
     * This time distinguishes a preempted thread from a sleeping one. Takes about 5 us.
     */
    fun waitedForProcessorNs(): Long = -1

    /** Returns the system's number of the current thread, or -1. Pass it to [waitedForProcessorNs] later. */
    fun threadNumber(): Long = -1

    /**
     * Returns how long, in ns, the thread with this system number has waited for a processor since it started. Returns
     * -1 if unknown.
     */
    fun waitedForProcessorNs(threadNumber: Long): Long = -1

    /** Returns a number that grows with every garbage collection that may have stopped the threads. */
    fun collections(): Long
}

/** The JVM's own clocks. */
internal object SystemClock : Clock {
    private val threads: ThreadMXBean? =
        ManagementFactory.getThreadMXBean().takeIf { it.isCurrentThreadCpuTimeSupported && it.isThreadCpuTimeEnabled }
    private val collectors: Array<GarbageCollectorMXBean> =
        ManagementFactory.getGarbageCollectorMXBeans().toTypedArray()
    private val process: ProcessClock? =
        try {
            ProcessClock()
        } catch (_: LinkageError) {
            null
        }

    override fun nanoTime(): Long = System.nanoTime()

    override fun threadCpuNs(): Long =
        if (threads == null || VirtualThreads.isVirtual(Thread.currentThread())) -1 else threads.currentThreadCpuTime

    override fun cpuNsOf(thread: Thread): Long =
        if (threads == null || VirtualThreads.isVirtual(thread)) -1 else threads.getThreadCpuTime(idOf(thread))

    override fun processCpuNs(): Long = process?.cpuNs() ?: -1

    override fun waitedForProcessorNs(): Long =
        if (VirtualThreads.isVirtual(Thread.currentThread())) -1 else Scheduler.waitedNs()

    override fun threadNumber(): Long =
        if (VirtualThreads.isVirtual(Thread.currentThread())) -1 else Scheduler.threadNumber()

    override fun waitedForProcessorNs(threadNumber: Long): Long = Scheduler.waitedNs(threadNumber)

    override fun collections(): Long {
        var sum = 0L
        for (collector in collectors) sum += collector.collectionCount
        return sum
    }

    // JDK 19 replaced this property by `threadId()`, which JDK 17 does not have.
    @Suppress("DEPRECATION") private fun idOf(thread: Thread): Long = thread.id
}

/** Reads the process's CPU time. This is a separate class, because not every JVM has the module `jdk.management`. */
private class ProcessClock {
    private val system = ManagementFactory.getOperatingSystemMXBean() as? com.sun.management.OperatingSystemMXBean

    /** Returns the CPU time in ns, or -1. */
    fun cpuNs(): Long = system?.processCpuTime ?: -1
}

/**
 * Reads the Linux scheduler's counters of a thread from `schedstat`. The functions return -1 if there is no such file.
 */
internal object Scheduler {
    private const val OWN = "/proc/thread-self"
    private val available = File("$OWN/schedstat").canRead()

    /** Returns the system's number of the current thread, or -1. Takes about 5 us. */
    fun threadNumber(): Long {
        if (!available) return -1
        return try {
            Files.readSymbolicLink(Path.of(OWN)).fileName.toString().toLongOrNull() ?: -1
        } catch (unreadable: IOException) {
            -1
        }
    }

    /**
     * Returns how long, in ns, the current thread has waited for a processor. Returns -1 if the system does not count
     * it. Allocates; takes about 5 us.
     */
    fun waitedNs(): Long = waitedNs(OWN)

    /**
     * Returns how long, in ns, another thread of this process has waited for a processor. `number` is the thread's
     * system number. Returns -1 if that thread has ended.
     */
    fun waitedNs(number: Long): Long = if (number < 0) -1 else waitedNs("/proc/self/task/$number")

    private fun waitedNs(folder: String): Long {
        if (!available) return -1
        return try {
            val bytes = ByteArray(96)
            val length = FileInputStream("$folder/schedstat").use { it.read(bytes) }
            if (length <= 0) -1 else second(String(bytes, 0, length, Charsets.ISO_8859_1))
        } catch (unreadable: IOException) {
            -1
        }
    }

    /**
     * Returns the second field of a line `ran waited slices`: the waiting time in ns. Returns -1 for another format.
     */
    fun second(line: String): Long = line.trim().split(' ').getOrNull(1)?.toLongOrNull() ?: -1
}
