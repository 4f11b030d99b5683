// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.util.concurrent.atomic.LongAdder

/** Why bytes were copied at the boundary. */
public enum class CopyReason {
    /** The other side gave bytes without memory of their own. They are copied into the queue, and out of it. */
    NO_MEMORY,
    /** So few bytes (under 4096) that copying them costs less than lending them. */
    SMALL,
    /** Bytes of the JVM's heap, which its collector moves: native code cannot see them. */
    HEAP,
    /** Native memory that somebody could close while native code has it, or that must not be written to. */
    NOT_KEPT,
}

/** Bytes that crossed one way. A snapshot. */
public class LedgerSide
internal constructor(
    /** Bytes that both sides saw at the same time: in native memory, or lent. */
    public val sharedBytes: Long,
    /** Bytes that were copied. */
    public val copiedBytes: Long,
    /** How many messages were copied, by reason; a reason without any is not there. */
    public val copies: Map<CopyReason, Long>,
)

/** Both ways. A snapshot: it does not change afterwards. */
public class Ledger internal constructor(public val toNative: LedgerSide, public val fromNative: LedgerSide)

/** Counters of an open plugin. A snapshot. */
public class PluginStats
internal constructor(
    public val ledger: Ledger,
    /** Native memories that the garbage collector released. Above 0, a `close` is missing somewhere. */
    public val leaked: Long,
    /** Counters of the native side, by the names of `clearway_stats` in clearway_host.h. */
    public val native: Map<String, Long>,
)

/** Counted from any thread. */
internal class Counts {
    private val shared = LongAdder()
    private val copied = LongAdder()
    private val counts = Array(CopyReason.entries.size) { LongAdder() }

    fun shared(bytes: Long) = shared.add(bytes)

    fun copied(reason: CopyReason, bytes: Long) {
        copied.add(bytes)
        counts[reason.ordinal].increment()
    }

    fun side(): LedgerSide {
        val copies = CopyReason.entries.associateWith { counts[it.ordinal].sum() }.filterValues { it > 0 }
        return LedgerSide(shared.sum(), copied.sum(), copies)
    }
}
