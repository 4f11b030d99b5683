// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel

import clearway.lab.codec.Payload
import clearway.lab.protocol.Cell
import com.fasterxml.jackson.databind.ObjectMapper
import org.msgpack.jackson.dataformat.MessagePackFactory

/**
 * One row of the channel tables: direction, kind of channel, codec and payload. The reply equals the payload. `words`
 * are these four parameters; another process can create the same row from them.
 */
public class Row private constructor(internal val words: List<String>) {
    /** The direction, by its name in the scenario file. */
    public val direction: String = words[0]
    /** Whether the row calls a method instead of sending a message. */
    public val isMethod: Boolean = words[1] == "method"
    /** The codec's name: standard, json or binary. */
    public val codec: String = words[2]
    /** The value to send: any value of the codec, or a `ByteArray` if the codec is binary. Do not modify it. */
    public val value: Any? = valueOf(words[3])

    /** Whether the peer answers through a queue, on another thread than the one that reads messages. */
    public val queued: Boolean
        get() = direction.endsWith(", background")

    /** Whether native code makes the call and the host answers. */
    public val isNativeToHost: Boolean
        get() = direction == "native to host"

    public val isBinary: Boolean
        get() = codec == "binary"

    /** Whether the message is null, so that nothing is encoded. */
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

        /**
         * Returns the row of these words. Throws `IllegalArgumentException` for an unknown word; the message contains
         * the word.
         */
        fun of(words: List<String>): Row {
            val (direction, channel, codec) = words
            require(channel == "message" || channel == "method") { "no such channel: channel=$channel" }
            require(codec in setOf("standard", "json", "binary")) { "no such codec: codec=$codec" }
            require(direction in DIRECTIONS) {
                "no such direction: direction=$direction (${DIRECTIONS.joinToString("; ")})"
            }
            return Row(words)
        }

        /**
         * Returns the payload of this name: the bytes of ts/clearway-lab/src/channel/payload.ts, or a value of the
         * codec measurements.
         */
        private fun valueOf(payload: String): Any? =
            when (payload) {
                "4 KB" -> ByteArray(1 shl 12) { (it * 31).toByte() }
                "1 MB" -> ByteArray(1 shl 20) { (it * 31).toByte() }
                else -> Payload.named(payload)
            }
    }
}

/**
 * The codec of the mechanisms without Clearway: MessagePack from a library. Keeps one mapper, as the library's
 * documentation recommends.
 */
internal class MessagePackCodec(private val row: Row) {
    private val mapper = ObjectMapper(MessagePackFactory())

    /** Encodes the row's value, or the value that was received for the row. */
    fun write(value: Any? = row.value): ByteArray =
        when {
            row.isNull -> NOTHING
            row.isMethod -> mapper.writeValueAsBytes(listOf("test", value))
            else -> mapper.writeValueAsBytes(value)
        }

    fun read(message: ByteArray): Any? {
        if (row.isNull) return null
        val value = mapper.readValue(message, Any::class.java)
        return if (row.isMethod) (value as List<*>)[1] else value
    }

    private companion object {
        val NOTHING = ByteArray(0)
    }
}
