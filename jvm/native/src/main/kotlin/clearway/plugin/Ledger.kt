// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.util.concurrent.atomic.LongAdder

/** The reasons why bytes are copied between Java and a plugin. */
public enum class CopyReason {
    /** The sender's bytes are not in native memory of Clearway. They are copied into the queue and out of it. */
    NO_MEMORY,
    /**
     * The bytes are in native memory, but there are fewer than 4096 of them. Copying them costs less than lending them.
     */
    SMALL,
    /**
     * The bytes are in the JVM's heap. The garbage collector may move them, so native code cannot use them in place.
     */
    HEAP,
    /** The bytes are in native memory that is read-only or could be closed while native code uses it. */
    NOT_KEPT,
}

/** The bytes that were passed in one direction. A snapshot. */
public class LedgerSide
internal constructor(
    /** The number of bytes that were not copied, in native memory or in lent memory. */
    public val sharedBytes: Long,
    /** The number of bytes that were copied. */
    public val copiedBytes: Long,
    /** The number of copied messages for each reason. A reason without copies is absent. */
    public val copies: Map<CopyReason, Long>,
)

/** The bytes that were passed in both directions. A snapshot. */
public class Ledger internal constructor(public val toNative: LedgerSide, public val fromNative: LedgerSide)

/** The counters of an open plugin. A snapshot. */
public class PluginStats
internal constructor(
    public val ledger: Ledger,
    /**
     * The number of native memories that the garbage collector released. If it is above 0, the application does not
     * close every memory.
     */
    public val leaked: Long,
    /** The counters of the native side. The keys are the field names of `clearway_stats` in clearway_host.h. */
    public val native: Map<String, Long>,
)

/** Counts the bytes of one direction. Any thread may call its methods. */
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
