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

/** What the JVM tells of processor time, threads and allocations. Each reading takes some microseconds. */
internal object Meters {
    private val system = ManagementFactory.getOperatingSystemMXBean() as OperatingSystemMXBean
    private val threads = ManagementFactory.getThreadMXBean() as ThreadMXBean

    /** From JDK 21 on the JVM adds up what all threads allocated, those that have ended included. */
    private val total: MethodHandle? =
        try {
            val type = MethodType.methodType(Long::class.java)
            MethodHandles.publicLookup().findVirtual(ThreadMXBean::class.java, "getTotalThreadAllocatedBytes", type)
        } catch (absent: NoSuchMethodException) {
            null // An older JDK.
        }

    /**
     * Processor time of the whole process, the compiler's and the collector's threads included, ns. The JVM knows it in
     * steps of 10 ms; Linux tells of each thread by the nanosecond, as long as it lives.
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
            if (task.exists()) null else 0 // A kernel that does not tell, or a thread that has just ended.
        }
    }

    /** Bytes allocated since the process began; before JDK 21 only by threads that still live. */
    fun allocatedBytes(): Long {
        val whole = total
        if (whole != null) return whole.invoke(threads) as Long
        return threads.getThreadAllocatedBytes(threads.allThreadIds).sumOf { maxOf(0, it) }
    }

    /** Platform threads that live now. Virtual threads are not among them; their carriers are. */
    fun threadCount(): Int = threads.threadCount

    fun resetPeak() = threads.resetPeakThreadCount()

    /** The most platform threads since [resetPeak]. */
    fun peakThreads(): Int = threads.peakThreadCount
}
