// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.metrics

import clearway.meter.Stall
import java.util.function.Consumer

/**
 * The stalls of one thread. Pass it to [clearway.meter.MeterOptions.onStall], or give it the stalls of a report. It
 * throws no exception, and after [close] it does nothing. Thread-safe.
 */
public interface StallScope : Consumer<Stall>, AutoCloseable {
    /** Counts a stall. */
    override fun accept(stall: Stall)

    /** Ends the scope. Further calls do nothing. */
    override fun close()
}
