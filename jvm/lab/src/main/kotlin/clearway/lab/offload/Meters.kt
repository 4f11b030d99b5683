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

/** The JVM's counters of processor time, threads and allocations. Each reading takes some microseconds. */
internal object Meters {
    private val system = ManagementFactory.getOperatingSystemMXBean() as OperatingSystemMXBean
    private val threads = ManagementFactory.getThreadMXBean() as ThreadMXBean

    /** From JDK 21 on the JVM sums the allocations of all threads, including those that have ended. */
    private val total: MethodHandle? =
        try {
            val type = MethodType.methodType(Long::class.java)
            MethodHandles.publicLookup().findVirtual(ThreadMXBean::class.java, "getTotalThreadAllocatedBytes", type)
        } catch (absent: NoSuchMethodException) {
            null // A JDK older than 21.
        }

    /**
     * Returns the processor time of the whole process in ns, including the compiler's and the collector's threads. The
     * JVM counts it in steps of 10 ms. Linux counts each thread in ns, as long as the thread lives.
     */
    fun cpuNs(): Long {
        val tasks = File("/proc/self/task").listFiles() ?: return system.processCpuTime
        return tasks.sumOf { task -> scheduledNs(task) ?: return system.processCpuTime }
    }

    private fun scheduledNs(task: File): Long? {
        val schedstat = File(task, "schedstat")
        return try {
            schedstat.readText().substringBefore(' ').toLong()
        } catch (ended: IOException) {
            if (task.exists()) null else 0 // Null if the kernel does not count; 0 if the thread has just ended.
        }
    }

    /** Returns the bytes allocated since the process started. Before JDK 21 it counts only threads that still live. */
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
