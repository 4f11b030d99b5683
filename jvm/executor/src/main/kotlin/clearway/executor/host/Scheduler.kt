// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.host

import java.io.File
import java.io.FileInputStream
import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path

/** The times that Linux's scheduler counts for a thread in `schedstat`; nothing without that file. */
internal object Scheduler {
    private const val OWN = "/proc/thread-self"
    private val told = File("$OWN/schedstat").canRead()

    /** The system's number of the current thread, or -1. Some 5 us. */
    fun threadNumber(): Long {
        if (!told) return -1
        return try {
            Files.readSymbolicLink(Path.of(OWN)).fileName.toString().toLongOrNull() ?: -1
        } catch (unreadable: IOException) {
            -1
        }
    }

    /** Time in ns that the current thread was ready and did not run; -1 if unknown. Allocates, takes about 5 us. */
    fun waitedNs(): Long = waitedNs(OWN)

    /** The same of the thread of this process that has `number`; -1 when it has ended. */
    fun waitedNs(number: Long): Long = if (number < 0) -1 else waitedNs("/proc/self/task/$number")

    private fun waitedNs(folder: String): Long {
        if (!told) return -1
        return try {
            val bytes = ByteArray(96)
            val length = FileInputStream("$folder/schedstat").use { it.read(bytes) }
            if (length <= 0) -1 else second(String(bytes, 0, length, Charsets.ISO_8859_1))
        } catch (unreadable: IOException) {
            -1
        }
    }

    /** Of "ran waited slices", in ns; -1 where it reads otherwise. */
    fun second(line: String): Long = line.trim().split(' ').getOrNull(1)?.toLongOrNull() ?: -1
}
