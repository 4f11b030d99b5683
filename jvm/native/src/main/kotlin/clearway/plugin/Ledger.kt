// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.util.concurrent.atomic.LongAdder

/** Why bytes were copied at the boundary. */
public enum class CopyReason {
    /** The other side sent bytes without native memory. The bytes are copied into the queue and out of it. */
    NO_MEMORY,
    /** The native memory has fewer than 4096 bytes. Copying it costs less than lending it. */
    SMALL,
    /** The bytes are in the JVM's heap. The garbage collector moves them, so native code cannot see them. */
    HEAP,
    /** The native memory could be closed while native code uses it, or is read-only. */
    NOT_KEPT,
}

/** The bytes that crossed in one direction. A snapshot. */
public class LedgerSide
internal constructor(
    /** Bytes that both sides saw at the same time, in native memory or in lent memory. */
    public val sharedBytes: Long,
    /** Bytes that were copied. */
    public val copiedBytes: Long,
    /** The number of copied messages by reason. A reason without copies is absent. */
    public val copies: Map<CopyReason, Long>,
)

/** The bytes that crossed in both directions. A snapshot. */
public class Ledger internal constructor(public val toNative: LedgerSide, public val fromNative: LedgerSide)

/** Counters of an open plugin. A snapshot. */
public class PluginStats
internal constructor(
    public val ledger: Ledger,
    /** Native memories that the garbage collector released. Above 0, the application does not close every memory. */
    public val leaked: Long,
    /** Counters of the native side, by the names of `clearway_stats` in clearway_host.h. */
    public val native: Map<String, Long>,
)

/** Counts the bytes of one direction. Any thread may count. */
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
