// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.bench

import org.msgpack.core.MessagePack
import org.msgpack.core.MessagePacker
import org.msgpack.core.MessageUnpacker
import org.msgpack.value.ValueType

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
