// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.codec

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
