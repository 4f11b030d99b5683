// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.host

import java.io.File
import java.io.FileInputStream
import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path

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
