// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.bench

import clearway.channel.codec.Codecs
import com.fasterxml.jackson.databind.ObjectMapper
import java.lang.management.ManagementFactory
import java.nio.ByteBuffer
import java.util.Random
import org.msgpack.core.MessagePack
import org.msgpack.core.MessagePacker
import org.msgpack.core.MessageUnpacker
import org.msgpack.value.ValueType

/** A codec under measurement: encodes values and decodes messages. */
private class Peer(val name: String, val encode: (Any) -> ByteArray, val decode: (ByteArray) -> Any?)

private val mapper = ObjectMapper()
private val peers =
    listOf(
        Peer("clearway", Codecs.STANDARD::encode, Codecs.STANDARD::decode),
        Peer("clearway, views", Codecs.STANDARD::encode) { Codecs.STANDARD.decodeOwned(ByteBuffer.wrap(it)) },
        Peer("msgpack-java", ::msgpack, ::unmsgpack),
        Peer("Jackson JSON", mapper::writeValueAsBytes) { mapper.readValue(it, Any::class.java) },
    )

private const val ROUNDS = 60
private const val COUNT = 2_000
private const val WARM = 15

/**
 * Compares the codec with msgpack-java and with Jackson's JSON on the mixed message of 2 KB. All of them create the
 * same Java maps and lists. The rounds of all codecs are interleaved, in random order. Prints medians, the middle half
 * of the ratios to Clearway's time, and the bytes allocated for encoding and decoding one message. `node
 * scripts/jvm.mjs bench-codec` runs it.
 */
fun main() {
    val random = Random(1)
    val samples = peers.associate { it.name to Array(3) { ArrayList<Double>() } }
    val allocated = HashMap<String, Long>()
    for (round in -WARM until ROUNDS) {
        for (peer in peers.shuffled(random)) {
            val message = peer.encode(mixed)
            val encode = timeUs { peer.encode(mixed) }
            val decode = timeUs { peer.decode(message) }
            if (round < 0) continue
            samples.getValue(peer.name).zip(listOf(encode, decode, encode + decode)) { to, sample -> to += sample }
            if (round == ROUNDS - 1) allocated[peer.name] = bytes { peer.decode(peer.encode(mixed)) }
        }
    }
    val ours = samples.getValue("clearway")[2]
    println(
        "mixed, ${Codecs.STANDARD.encode(mixed).size} bytes; JDK ${System.getProperty("java.version")}; us, medians of $ROUNDS rounds"
    )
    for (peer in peers) {
        val (encode, decode, both) = samples.getValue(peer.name).map { median(it) }
        val ratios = samples.getValue(peer.name)[2].zip(ours) { theirs, own -> theirs / own }.sorted()
        println(
            "%-16s %5d bytes  encode %6.2f  decode %6.2f  both %6.2f  ratio %.2f (%.2f to %.2f)  allocates %d bytes"
                .format(
                    peer.name,
                    peer.encode(mixed).size,
                    encode,
                    decode,
                    both,
                    median(ratios),
                    ratios[ratios.size / 4],
                    ratios[ratios.size * 3 / 4],
                    allocated[peer.name],
                )
        )
    }
}

private fun median(samples: List<Double>) = samples.sorted()[samples.size / 2]

/** Keeps the last result, so that the JIT compiler cannot remove the work. */
@Volatile private var kept: Any? = null

private inline fun timeUs(run: () -> Any?): Double {
    val start = System.nanoTime()
    for (each in 0 until COUNT) kept = run()
    return (System.nanoTime() - start) / 1e3 / COUNT
}

private inline fun bytes(run: () -> Any?): Long {
    val threads = ManagementFactory.getThreadMXBean() as com.sun.management.ThreadMXBean
    val before = threads.getThreadAllocatedBytes(Thread.currentThread().id)
    for (each in 0 until COUNT) kept = run()
    return (threads.getThreadAllocatedBytes(Thread.currentThread().id) - before) / COUNT
}

/**
 * Encodes any value with msgpack-java, in the way that its documentation recommends. MessagePack has no typed lists of
 * numbers, so such lists become ordinary lists.
 */
fun msgpack(value: Any): ByteArray =
    MessagePack.newDefaultBufferPacker().use { packer ->
        pack(packer, value)
        packer.toByteArray()
    }

private fun pack(packer: MessagePacker, value: Any?) {
    when (value) {
        null -> packer.packNil()
        is String -> packer.packString(value)
        is Int -> packer.packInt(value)
        is Double -> packer.packDouble(value)
        is Boolean -> packer.packBoolean(value)
        is Long -> packer.packLong(value)
        is Map<*, *> -> {
            packer.packMapHeader(value.size)
            for ((key, each) in value) {
                pack(packer, key)
                pack(packer, each)
            }
        }
        is List<*> -> {
            packer.packArrayHeader(value.size)
            for (each in value) pack(packer, each)
        }
        is ByteArray -> packer.packBinaryHeader(value.size).writePayload(value)
        is IntArray -> {
            packer.packArrayHeader(value.size)
            for (each in value) packer.packInt(each)
        }
        is DoubleArray -> {
            packer.packArrayHeader(value.size)
            for (each in value) packer.packDouble(each)
        }
        else -> error("no form for ${value.javaClass}")
    }
}

fun unmsgpack(message: ByteArray): Any? = MessagePack.newDefaultUnpacker(message).use(::unpack)

private fun unpack(unpacker: MessageUnpacker): Any? =
    when (unpacker.nextFormat.valueType) {
        ValueType.NIL -> unpacker.unpackNil().let { null }
        ValueType.BOOLEAN -> unpacker.unpackBoolean()
        ValueType.INTEGER -> unpacker.unpackLong()
        ValueType.FLOAT -> unpacker.unpackDouble()
        ValueType.STRING -> unpacker.unpackString()
        ValueType.BINARY -> unpacker.readPayload(unpacker.unpackBinaryHeader())
        ValueType.ARRAY -> {
            val size = unpacker.unpackArrayHeader()
            ArrayList<Any?>(size).apply { repeat(size) { add(unpack(unpacker)) } }
        }
        ValueType.MAP -> {
            val size = unpacker.unpackMapHeader()
            val map = LinkedHashMap<Any?, Any?>(size * 4 / 3 + 1)
            repeat(size) { map[unpack(unpacker)] = unpack(unpacker) }
            map
        }
        else -> error("no such type")
    }

/** The same message as in ts/clearway/bench/codec/mixed.mjs: about 2 KB, with every type. */
val mixed: Map<String, Any?> =
    linkedMapOf(
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
            linkedMapOf(
                "a" to listOf(1, 2, 3, listOf(4, 5, listOf(6))),
                "b" to linkedMapOf("c" to "text of some length", "d" to -1, "e" to (1L shl 31)),
            ),
        "rows" to
            List(10) { linkedMapOf("id" to it, "title" to "Row $it", "price" to 9.99 + it, "stock" to (it % 2 == 0)) },
        "text" to "A clearway is a stretch of road on which nobody may stop. An app's main thread should be one.",
    )
