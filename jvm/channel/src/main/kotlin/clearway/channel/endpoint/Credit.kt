// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

/** For an end that gives no credit, or needs none. Far from where adding to it would overflow. */
internal const val UNBOUNDED = Long.MAX_VALUE / 4

/**
 * The producer's half: how much it may still send. A value may be sent while both credits are above zero, so that a
 * large one can always travel, and the bytes may go below zero once.
 */
internal class SendCredit {
    private var items = 0L
    private var bytes = 0L

    // What a hostile end grants beyond all measure counts as unbounded.
    fun grant(items: Long, bytes: Long) {
        this.items = minOf(this.items + items, UNBOUNDED)
        this.bytes = minOf(this.bytes + bytes, UNBOUNDED)
    }

    fun grant(other: SendCredit): Unit = grant(other.items, other.bytes)

    fun spend(bytes: Long) {
        items -= 1
        this.bytes -= bytes
    }

    val maySend: Boolean
        get() = items > 0 && bytes > 0
}

/** The consumer's half: what it has taken and not yet given back. Grants are batched: one message for half a window. */
internal class ReceiveCredit(private val items: Long, private val bytes: Long) {
    private val out = SendCredit().apply { grant(items, bytes) }
    private var owedItems = 0L
    private var owedBytes = 0L

    /** A value arrived; false when the producer had no credit for it. */
    fun arrived(bytes: Long): Boolean {
        if (!out.maySend) return false
        out.spend(bytes)
        return true
    }

    /** A value was taken by the consumer; calls `grant` when it is time for one. */
    inline fun taken(size: Long, grant: (items: Long, bytes: Long) -> Unit) {
        owedItems++
        owedBytes += size
        if (owedItems * 2 < items && owedBytes * 2 < bytes) return
        out.grant(owedItems, owedBytes)
        grant(owedItems, owedBytes)
        owedItems = 0
        owedBytes = 0
    }
}
