// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.codec

import clearway.channel.codec.Codecs
import clearway.lab.offload.Meters
import clearway.lab.offload.blackhole
import clearway.lab.offload.median
import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import clearway.lab.protocol.Value
import com.fasterxml.jackson.databind.ObjectMapper
import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.ObjectInputStream
import java.io.ObjectOutputStream
import java.nio.ByteBuffer
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import org.msgpack.jackson.dataformat.MessagePackFactory
import org.openjdk.jmh.infra.Blackhole

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

/**
 * The values that the lab's scenarios for channels encode. They are the same on every host
 * (ts/clearway-lab/src/channel/payload.ts).
 */
internal object Payload {
    private val makers =
        mapOf(
            "null" to { null },
            "int" to { 7 },
            "string" to { "hello world, how are you" },
            "list" to { listOf(1, "two", 3.5, true, null) },
            "map" to { mapOf("a" to 1, "b" to "x", "c" to listOf(true)) },
            "2 KB" to ::mixed,
            "1000 items" to ::items,
        )

    val names: Set<String>
        get() = makers.keys

    fun named(name: String): Any? {
        val make = requireNotNull(makers[name]) { "no such value: value=$name (${names.joinToString()})" }
        return make()
    }

    /** Returns a value of about 2 KB with most types of the standard codec. */
    private fun mixed(): Any? =
        mapOf(
            "id" to 123_456,
            "name" to "Zoë Müller",
            "active" to true,
            "score" to 98.6,
            "none" to null,
            "big" to (1L shl 40),
            "tags" to listOf("alpha", "beta", "gamma", "delta", "epsilon"),
            "bytes" to ByteArray(512) { it.toByte() },
            "ints" to IntArray(64) { it * 1000 },
            "floats" to DoubleArray(32) { it / 3.0 },
            "nested" to
                mapOf(
                    "a" to listOf(1, 2, 3, listOf(4, 5, listOf(6))),
                    "b" to mapOf("c" to "text of some length", "d" to -1, "e" to (1L shl 31)),
                ),
            "rows" to
                List(10) { mapOf("id" to it, "title" to "Row $it", "price" to 9.99 + it, "stock" to (it % 2 == 0)) },
            "text" to "A clearway is a stretch of road on which nobody may stop. An app's main thread should be one.",
        )

    private fun items(): Any? {
        val kinds =
            listOf(1, 0, 1234.0, null, listOf(1234), mapOf("hello" to 1234), "this is a test", true, ByteArray(64))
        return List(1000) { kinds[it % kinds.size] }
    }
}

/**
 * Returns a value in a form that is equal for all codecs. Integers become longs. Arrays and buffers of numbers or bytes
 * become lists. JSON returns bytes as base64 text; `bytesAsText` converts bytes to that text here.
 */
internal fun plain(value: Any?, bytesAsText: Boolean): Any? =
    when (value) {
        is ByteArray ->
            if (bytesAsText) java.util.Base64.getEncoder().encodeToString(value) else value.map { it.toLong() }
        is java.nio.ByteBuffer -> List(value.remaining()) { value.get(value.position() + it).toLong() }
        is java.nio.IntBuffer -> List(value.remaining()) { value.get(value.position() + it).toLong() }
        is java.nio.DoubleBuffer -> List(value.remaining()) { value.get(value.position() + it) }
        is IntArray -> value.map { it.toLong() }
        is DoubleArray -> value.toList()
        is Int -> value.toLong()
        is List<*> -> value.map { plain(it, bytesAsText) }
        is Map<*, *> -> value.mapValues { (_, each) -> plain(each, bytesAsText) }
        else -> value
    }

/**
 * Measures one codec with one value. Encodes and decodes many times on one thread, and sends nothing. Runs in a
 * separate JVM.
 */
internal fun measureCodec(cell: Cell): Measured {
    val codec = LabCodecs.named(cell.mechanism)
    val value = Payload.named(cell.text("value"))
    val batches = cell.int("batches")
    val into = blackhole()
    // Copies the message, because the codec may overwrite its memory.
    val written = codec.encode(value)
    val message = ByteBuffer.wrap(ByteArray(written.remaining()).also { written.get(it) })
    val equal = plain(value, codec.bytesAsText) == plain(codec.decode(message), codec.bytesAsText)
    val encodeUs = timeUs(batches, into) { codec.encode(value) }
    val decodeUs = timeUs(batches, into) { codec.decode(message) }
    val before = Meters.allocatedBytes()
    repeat(COUNTED) {
        into.consume(codec.encode(value))
        into.consume(codec.decode(message))
    }
    val allocated = (Meters.allocatedBytes() - before) / COUNTED.toDouble()
    val values =
        mapOf(
            "encode" to Value("us", encodeUs),
            "decode" to Value("us", decodeUs),
            "both" to Value("us", encodeUs + decodeUs),
            "messageBytes" to Value("bytes", message.remaining().toDouble()),
            "allocatedBytes" to Value("bytes", allocated),
        )
    return Measured(emptyMap(), values, buildJsonObject { put("equal", JsonPrimitive(equal)) })
}

/** Returns the time of one call in us: the median of `batches` batches, each long enough for the clock. */
private fun timeUs(batches: Int, into: Blackhole, call: () -> Any?): Double {
    fun batchNs(count: Int): Long {
        val begin = System.nanoTime()
        repeat(count) { into.consume(call()) }
        return System.nanoTime() - begin
    }
    var count = 1
    var calls = 0
    val begin = System.nanoTime()
    while (calls < WARM_UP_CALLS || System.nanoTime() - begin < WARM_UP_NS) {
        // Doubles the calls until a batch is long enough. The code is compiled before the timed batches.
        if (batchNs(count) < BATCH_NS_MIN) count *= 2
        calls += count
        if (System.nanoTime() - begin > WARM_UP_NS_MAX) break
    }
    return median(LongArray(batches) { batchNs(count) }) / count / 1e3
}

/** Minimum duration of a batch, in ns: two thousand steps of a clock with steps of 50 ns. */
private const val BATCH_NS_MIN = 100_000L
/**
 * Minimum number of calls of the warm-up. C2 compiles a method after ten thousand calls, on a thread that may have to
 * wait for a processor.
 */
private const val WARM_UP_CALLS = 12_000
private const val WARM_UP_NS = 100_000_000L
private const val WARM_UP_NS_MAX = 1_000_000_000L
private const val COUNTED = 2_000
