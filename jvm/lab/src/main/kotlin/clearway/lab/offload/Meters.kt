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
