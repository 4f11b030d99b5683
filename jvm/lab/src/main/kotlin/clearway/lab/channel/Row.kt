// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel

import clearway.lab.codec.Payload
import clearway.lab.protocol.Cell

/**
 * One row of the channel tables: which way, what kind of channel, which codec, what travels. The reply is the same.
 * `words` are those four, of which another process makes the same row.
 */
public class Row private constructor(internal val words: List<String>) {
    /** As the scenario names it. */
    public val direction: String = words[0]
    /** Whether a method is called, in place of a message sent. */
    public val isMethod: Boolean = words[1] == "method"
    /** standard, json or binary. */
    public val codec: String = words[2]
    /** What is sent: a value of the codec's, or a `ByteArray` where that is binary. Not to be changed. */
    public val value: Any? = valueOf(words[3])

    /** Whether the other end answers behind a queue, on another thread than the one that it hears messages on. */
    public val queued: Boolean
        get() = direction.endsWith(", background")

    /** Whether native code asks, and the host answers. */
    public val isAsked: Boolean
        get() = direction == "native to host"

    public val isBinary: Boolean
        get() = codec == "binary"

    /** Whether there is nothing to write: a message that is null. */
    public val isNull: Boolean
        get() = value == null && !isMethod

    internal companion object {
        private val DIRECTIONS =
            setOf(
                "host to native",
                "host to native, background",
                "native to host",
                "host to process",
                "host to process, background",
            )

        fun of(cell: Cell): Row = of(listOf("direction", "channel", "codec", "payload").map { cell.text(it) })

        /** Throws IllegalArgumentException, naming the word, for a row that nobody knows. */
        fun of(words: List<String>): Row {
            val (direction, channel, codec) = words
            require(channel == "message" || channel == "method") { "no such channel: channel=$channel" }
            require(codec in setOf("standard", "json", "binary")) { "no such codec: codec=$codec" }
            require(direction in DIRECTIONS) {
                "no such direction: direction=$direction (${DIRECTIONS.joinToString("; ")})"
            }
            return Row(words)
        }

        /** The bytes of ts/clearway-lab/src/channel/payload.ts, and what the codecs are measured with. */
        private fun valueOf(payload: String): Any? =
            when (payload) {
                "4 KB" -> ByteArray(1 shl 12) { (it * 31).toByte() }
                "1 MB" -> ByteArray(1 shl 20) { (it * 31).toByte() }
                else -> Payload.named(payload)
            }
    }
}
