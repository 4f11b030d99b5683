// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.codec

import clearway.channel.codec.Codecs
import com.fasterxml.jackson.databind.ObjectMapper
import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.ObjectInputStream
import java.io.ObjectOutputStream
import java.nio.ByteBuffer
import org.msgpack.jackson.dataformat.MessagePackFactory

/** A codec that is measured. One thread uses it. `encode` may return a view of memory that the next call overwrites. */
internal abstract class LabCodec(val name: String, val bytesAsText: Boolean = false) {
    abstract fun encode(value: Any?): ByteBuffer

    /** Decodes a message without changing it. */
    abstract fun decode(message: ByteBuffer): Any?
}

internal object LabCodecs {
    val names = listOf("java-serialization", "jackson-json", "jackson-msgpack", "clearway", "clearway-into")

    fun named(name: String): LabCodec =
        when (name) {
            "java-serialization" -> Serialization()
            "jackson-json" -> Jackson(name, ObjectMapper(), bytesAsText = true)
            "jackson-msgpack" -> Jackson(name, ObjectMapper(MessagePackFactory()), bytesAsText = false)
            "clearway" -> Standard()
            "clearway-into" -> StandardInto()
            else -> throw IllegalArgumentException("no such codec: $name (${names.joinToString()})")
        }
}

private class Serialization : LabCodec("java-serialization") {
    override fun encode(value: Any?): ByteBuffer {
        val bytes = ByteArrayOutputStream()
        ObjectOutputStream(bytes).use { it.writeObject(value) }
        return ByteBuffer.wrap(bytes.toByteArray())
    }

    override fun decode(message: ByteBuffer): Any? =
        ObjectInputStream(ByteArrayInputStream(message.array(), message.position(), message.remaining())).readObject()
}

/** Keeps one mapper, as Jackson's documentation recommends. Decodes without application classes, as a channel does. */
private class Jackson(name: String, private val mapper: ObjectMapper, bytesAsText: Boolean) :
    LabCodec(name, bytesAsText) {
    override fun encode(value: Any?): ByteBuffer = ByteBuffer.wrap(mapper.writeValueAsBytes(value))

    override fun decode(message: ByteBuffer): Any? =
        mapper.readValue(message.array(), message.position(), message.remaining(), Any::class.java)
}

private class Standard : LabCodec("clearway") {
    override fun encode(value: Any?): ByteBuffer = ByteBuffer.wrap(Codecs.STANDARD.encode(value))

    override fun decode(message: ByteBuffer): Any? = Codecs.STANDARD.decode(message.array())
}

/** Encodes into memory that it keeps, and decodes lists of numbers as views of the message. */
private class StandardInto : LabCodec("clearway-into") {
    private val kept = ByteBuffer.allocate(1 shl 17)

    override fun encode(value: Any?): ByteBuffer {
        kept.clear()
        check(Codecs.STANDARD.encodeInto(value, kept)) { "the message does not fit: capacity=${kept.capacity()}" }
        return kept.flip()
    }

    override fun decode(message: ByteBuffer): Any? = Codecs.STANDARD.decodeOwned(message)
}
