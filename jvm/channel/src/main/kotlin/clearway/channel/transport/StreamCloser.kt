// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import java.io.Closeable
import java.io.IOException
import java.util.concurrent.atomic.AtomicBoolean

/** Closes a stream of an application, once. Thread-safe. */
internal class StreamCloser(private val stream: Closeable) {
    private val taken = AtomicBoolean()

    /** The exception that the stream has thrown before it was closed; null if there is none. */
    @Volatile var failed: Throwable? = null

    /** Whether a thread has closed the stream, or is about to. */
    val isTaken: Boolean
        get() = taken.get()

    /** Returns true to the first caller, which must call [close]. */
    fun take(): Boolean = taken.compareAndSet(false, true)

    /**
     * Closes the stream. Blocks as long as the stream's `close` does. Never throws: adds an exception to [failed] as
     * suppressed. Without an earlier exception, passes it to [uncaught], unless it is an IOException. The other end may
     * have gone first, and the transport has already reported its end.
     */
    fun close() {
        try {
            stream.close()
        } catch (thrown: Throwable) {
            val first = failed
            if (first != null && first !== thrown) first.addSuppressed(thrown)
            if (first == null && thrown !is IOException) uncaught(thrown)
        }
    }
}
