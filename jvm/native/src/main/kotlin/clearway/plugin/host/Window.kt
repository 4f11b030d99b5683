// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.abi.Layout
import java.lang.foreign.MemorySegment

/** The limits of a stream: events, bytes, and the policy for a full queue. */
internal class Window(val items: Int, val whenFull: Int, val bytes: Long) {

    fun write(to: MemorySegment) {
        to.set(Layout.LONG, Layout.WINDOW_SIZE, Layout.WINDOW_BYTES)
        to.set(Layout.INT, Layout.WINDOW_ITEMS, items)
        to.set(Layout.INT, Layout.WINDOW_WHEN_FULL, whenFull)
        to.set(Layout.LONG, Layout.WINDOW_MEMORY, bytes)
        to.set(Layout.LONG, Layout.WINDOW_CREDIT, items.toLong())
    }
}
