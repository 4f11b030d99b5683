// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.host

import java.io.File
import java.io.FileInputStream
import java.io.IOException

/** What Linux's scheduler tells of a thread in `schedstat`; nothing where there is no such file. */
internal object Scheduler {
    private const val PATH = "/proc/thread-self/schedstat"
    private val told = File(PATH).canRead()

    /** Time in ns that the current thread was ready and did not run; -1 where nobody tells. Allocates, some 5 us. */
    fun waitedNs(): Long {
        if (!told) return -1
        return try {
            val bytes = ByteArray(96)
            val length = FileInputStream(PATH).use { it.read(bytes) }
            if (length <= 0) -1 else second(String(bytes, 0, length, Charsets.ISO_8859_1))
        } catch (unreadable: IOException) {
            -1
        }
    }

    /** Of "ran waited slices", in ns; -1 where it reads otherwise. */
    fun second(line: String): Long = line.trim().split(' ').getOrNull(1)?.toLongOrNull() ?: -1
}
