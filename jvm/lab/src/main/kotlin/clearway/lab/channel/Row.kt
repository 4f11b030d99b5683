// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel

import clearway.lab.codec.Payload
import clearway.lab.protocol.Cell

/** One row of the channel tables: which way, what kind of channel, which codec, what travels. The reply is the same. */
public class Row
internal constructor(
    /** Whether the other end runs on another thread, so that a call's answer comes later. */
    public val queued: Boolean,
    /** Whether a method is called, in place of a message sent. */
    public val isMethod: Boolean,
    /** standard, json or binary. */
    public val codec: String,
    /** What is sent: a value of the codec's, or a `ByteArray` where that is binary. Not to be changed. */
    public val value: Any?,
) {
    public val isBinary: Boolean
        get() = codec == "binary"

    /** Whether there is nothing to write: a message that is null. */
    public val isNull: Boolean
        get() = value == null && !isMethod

    internal companion object {
        fun of(cell: Cell): Row {
            val channel = cell.text("channel")
            val codec = cell.text("codec")
            require(channel == "message" || channel == "method") { "no such channel: channel=$channel" }
            require(codec in setOf("standard", "json", "binary")) { "no such codec: codec=$codec" }
            val direction = cell.text("direction")
            require(direction in DIRECTIONS) {
                "no such direction: direction=$direction (${DIRECTIONS.joinToString()})"
            }
            val queued = direction != DIRECTIONS.first()
            return Row(queued, channel == "method", codec, payload(cell.text("payload")))
        }

        private val DIRECTIONS = listOf("host to native", "host to native, background", "host to process")

        /** The bytes of ts/clearway-lab/src/channel/payload.ts, and what the codecs are measured with. */
        private fun payload(name: String): Any? =
            when (name) {
                "4 KB" -> ByteArray(1 shl 12) { (it * 31).toByte() }
                "1 MB" -> ByteArray(1 shl 20) { (it * 31).toByte() }
                else -> Payload.named(name)
            }
    }
}
