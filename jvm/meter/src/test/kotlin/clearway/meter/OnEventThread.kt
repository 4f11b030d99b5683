// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.util.concurrent.CompletableFuture
import javax.swing.SwingUtilities

/**
 * Runs on Swing's event thread; returns when that is over, with what it gave. Not by `invokeAndWait`: at its end the
 * event thread takes a lock that the waiting thread holds until it waits, which on busy cores was up to 4.5 ms later.
 * To complete a future takes none.
 */
internal fun <T> onEventThread(run: () -> T): T =
    CompletableFuture.supplyAsync({ run() }, SwingUtilities::invokeLater).get()
