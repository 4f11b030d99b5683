// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

/**
 * An open label from [Meter.mark]. [close] ends it, and may run on any thread. A second call of [close] does nothing.
 */
public class Mark internal constructor(private val end: () -> Unit) : AutoCloseable {
    override fun close(): Unit = end()
}
