// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

/**
 * Credit that never runs out. It is used if an end grants or needs no credit. A quarter of the largest Long leaves room
 * for additions without overflow.
 */
internal const val UNBOUNDED = Long.MAX_VALUE / 4

/**
 * The producer's credit: how many values and bytes it may still send. The producer may send a value while both numbers
 * are above zero. A value of any size can therefore be sent, and the number of bytes may become negative.
 */
internal class SendCredit {
    private var items = 0L
    private var bytes = 0L

    // Adds credit that the consumer granted. The maximum prevents a hostile peer from overflowing the numbers.
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
 * The consumer's credit: the values and the bytes that were taken since the last grant. The consumer batches its
 * grants. It sends a grant when half of the window was taken, in values or in bytes.
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

    /** Counts a value that the consumer took. Calls `grant` when half of the window was taken since the last grant. */
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
