// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

/** An open label of [Meter.mark]. Ends by [close], on any thread; harmless if closed twice. */
public class Mark internal constructor(private val end: () -> Unit) : AutoCloseable {
    override fun close(): Unit = end()
}
