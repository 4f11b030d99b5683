// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import java.io.IOException
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.Path
import java.nio.file.StandardOpenOption.READ

/**
 * Counts how long one thread was ready without a core. Linux keeps that time in the thread's file `schedstat`: the time
 * run in ns, the time waited in ns, and the number of turns. The counted thread opens the file, and one other thread
 * reads it. A reading is a system call of about 2 us.
 */
internal class RunQueue private constructor(private val file: FileChannel) : Waiting {
    private val bytes = ByteBuffer.allocateDirect(96)
    private var waitedMs = 0.0

    init {
        takeMs()
    }

    override fun takeMs(): Double {
        val now = read()
        if (now.isNaN()) return 0.0
        val since = now - waitedMs
        waitedMs = now
        return since
    }

    private fun read(): Double {
        bytes.clear()
        try {
            if (file.read(bytes, 0) <= 0) return Double.NaN
        } catch (_: IOException) {
            return Double.NaN // The thread has ended.
        }
        bytes.flip()
        return waitedNs(bytes) / 1e6
    }

    override fun close(): Unit = file.close()

    companion object {
        /** Opens the counter of the calling thread. Returns null if the host does not count it. */
        fun ofThisThread(): RunQueue? =
            try {
                RunQueue(FileChannel.open(Path.of("/proc/thread-self/schedstat"), READ))
            } catch (_: IOException) {
                null
            } catch (_: SecurityException) {
                null
            }

        /** Returns the second number of a `schedstat` line: the time waited, in ns. */
        fun waitedNs(line: ByteBuffer): Double {
            while (line.hasRemaining() && line.get() != SPACE) Unit
            var ns = 0.0
            while (line.hasRemaining()) {
                val digit = line.get() - ZERO
                if (digit !in 0..9) break
                ns = ns * 10 + digit
            }
            return ns
        }

        private const val SPACE = ' '.code.toByte()
        private const val ZERO = '0'.code.toByte()
    }
}
