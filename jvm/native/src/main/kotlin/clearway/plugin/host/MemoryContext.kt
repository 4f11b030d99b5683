// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.Counts
import clearway.plugin.ViewKind
import java.lang.foreign.MemorySegment
import java.lang.ref.Cleaner
import java.util.concurrent.atomic.LongAdder

/** The counters, and the kind of views, that all memories of one plugin share. */
internal class MemoryContext(val views: ViewKind) {
    val leaked = LongAdder()
    val toNative = Counts()
    val fromNative = Counts()

    companion object {
        val cleaner: Cleaner = Cleaner.create()

        /** The whole memory of the process. It is used to read bytes at the addresses that libclearway reports. */
        val everything: MemorySegment = MemorySegment.NULL.reinterpret(Long.MAX_VALUE)
    }
}
