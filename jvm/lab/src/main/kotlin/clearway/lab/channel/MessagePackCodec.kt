// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel

import com.fasterxml.jackson.databind.ObjectMapper
import org.msgpack.jackson.dataformat.MessagePackFactory

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
