// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.bench

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
