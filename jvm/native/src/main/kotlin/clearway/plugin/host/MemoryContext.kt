// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.Counts
import clearway.plugin.ViewKind
import java.lang.foreign.MemorySegment
import java.lang.ref.Cleaner
import java.util.concurrent.atomic.LongAdder

/** The counters and views that all memories of one opening share. */
internal class MemoryContext(val views: ViewKind) {
    val leaked = LongAdder()
    val toNative = Counts()
    val fromNative = Counts()

    companion object {
        val cleaner: Cleaner = Cleaner.create()

        /** All of the process's memory, to copy from where clearway.h has said that bytes are. */
        val everything: MemorySegment = MemorySegment.NULL.reinterpret(Long.MAX_VALUE)
    }
}
