// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

/**
 * Credit that never runs out, for an end that grants or needs none. A quarter of the maximum leaves room for additions
 * without overflow.
 */
internal const val UNBOUNDED = Long.MAX_VALUE / 4

/**
 * The producer's credit: how many values and bytes it may still send. The producer may send a value while both counts
 * are above zero. A large value can therefore always be sent. The byte count may then be negative.
 */
internal class SendCredit {
    private var items = 0L
    private var bytes = 0L

    // The cap keeps the grants of a hostile end from overflowing the counts.
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

/**
 * The consumer's credit: the number of values and bytes taken and not yet granted again. The consumer batches grants:
 * it sends one after it has taken half of the window, in values or in bytes.
 */
internal class ReceiveCredit(private val items: Long, private val bytes: Long) {
    private val out = SendCredit().apply { grant(items, bytes) }
    private var owedItems = 0L
    private var owedBytes = 0L

    /** Counts a value that arrived. Returns false, and counts nothing, if the producer had no credit for it. */
    fun arrived(bytes: Long): Boolean {
        if (!out.maySend) return false
        out.spend(bytes)
        return true
    }

    /** Counts a value that the consumer took. Calls `grant` if half of the window is owed. */
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
