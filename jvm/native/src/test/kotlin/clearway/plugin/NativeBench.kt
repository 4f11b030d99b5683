// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.plugin.abi.Abi
import java.lang.foreign.Arena
import java.lang.foreign.FunctionDescriptor
import java.lang.foreign.Linker
import java.lang.foreign.MemorySegment
import java.lang.foreign.SymbolLookup
import java.lang.foreign.ValueLayout.ADDRESS
import java.lang.foreign.ValueLayout.JAVA_BYTE
import java.lang.foreign.ValueLayout.JAVA_INT
import java.lang.foreign.ValueLayout.JAVA_LONG
import java.lang.invoke.MethodHandle
import java.nio.ByteBuffer
import org.junit.jupiter.api.Test

/**
 * Measures the cost of calls between Java and a plugin. `node scripts/jvm.mjs bench-native` runs it. In each round, all
 * ways of one table run in turn. The order rotates, so that disturbances of the machine affect all ways. A ratio
 * compares two times of the same round. The middle half of the ratios is printed.
 */
@NeedsPlugins
class NativeBench {
    private val plugin = Plugin.load(Built.example("c", "example"))

    /** One way to do something. `run` returns nanoseconds for each repetition. */
    private fun interface Way {
        fun run(): Double
    }

    private fun timed(times: Int, once: () -> Unit) = Way {
        val begin = System.nanoTime()
        repeat(times) { once() }
        (System.nanoTime() - begin).toDouble() / times
    }

    /**
     * Measures access to memory that was just touched. The first, unmeasured run replaces whatever other ways have left
     * in the caches.
     */
    private fun warm(once: () -> Unit) = Way {
        once()
        val begin = System.nanoTime()
        repeat(2) { once() }
        (System.nanoTime() - begin) / 2.0
    }

    private fun compare(title: String, rounds: Int, ways: List<Pair<String, Way>>) {
        repeat(maxOf(3, rounds / 4)) { for ((_, way) in ways) way.run() }
        val times = List(ways.size) { DoubleArray(rounds) }
        for (round in 0 until rounds) {
            for (step in ways.indices) {
                val at = (round + step) % ways.size
                times[at][round] = ways[at].second.run()
            }
        }
        println("\n| $title | time | over `${ways[0].first}` (middle half) |\n|---|---:|---:|")
        for ((at, way) in ways.withIndex()) {
            val ratios = DoubleArray(rounds) { times[at][it] / times[0][it] }.sorted()
            val (low, middle, high) = listOf(rounds / 4, rounds / 2, rounds * 3 / 4).map { ratios[it] }
            val spread = "%.3f (%.3f to %.3f)".format(middle, low, high)
            println("| ${way.first} | ${shown(times[at].sorted()[rounds / 2])} | $spread |")
        }
    }

    private fun shown(ns: Double) =
        if (ns < 10_000) "%.0f ns".format(ns)
        else if (ns < 1e6) "%.1f us".format(ns / 1e3) else "%.2f ms".format(ns / 1e6)

    @Test
    fun run() {
        plugin.use {
            fill()
            calls()
            large()
            views()
            events()
        }
    }

    private val size = 8 shl 20

    private fun fill() {
        val symbols = SymbolLookup.libraryLookup(Built.example("c", "example"), Arena.global())
        val signature = FunctionDescriptor.ofVoid(ADDRESS, JAVA_LONG, JAVA_INT)
        val inC = Linker.nativeLinker().downcallHandle(symbols.find("clearway_example_fill").get(), signature)
        val memset = plugin.channel("memset/shared")
        val value = Payload.of(MemorySegment.ofBuffer(ByteBuffer.allocateDirect(1).put(0, 7)))
        // The call is compiled first with small memory, because 8 MB are filled too few times to trigger the JIT
        // compiler.
        plugin.allocate(64).use { small -> repeat(30_000) { memset.call(value, listOf(small)).close() } }
        plugin.allocate(size.toLong()).use { native ->
            filled("native memory", native, native.segment, inC, memset, value)
        }
        val owned = Arena.ofAuto().allocate(size.toLong(), 4096)
        plugin.lend(owned).use { lent -> filled("Java's memory, lent", lent, owned, inC, memset, value) }
    }

    /**
     * Compares the plugin with a C function on the same memory. The layout of its pages also affects the time. The call
     * of the C function itself takes 10 ns of 65,000 ns.
     */
    private fun filled(
        what: String,
        memory: Memory,
        segment: MemorySegment,
        inC: MethodHandle,
        memset: PluginChannel,
        value: Payload,
    ) {
        segment.fill(1)
        val bytes = size.toLong()
        val heap = MemorySegment.ofArray(ByteArray(size))
        val attached = listOf(memory)
        compare(
            "`memset` of 8 MB of $what",
            200,
            listOf(
                "C in that memory" to warm { inC.invoke(segment, bytes, 7) },
                "plugin" to warm { memset.call(value, attached) },
                "Java, `MemorySegment.fill`" to warm { segment.fill(7) },
                "copied there and back, as JNI's array regions" to
                    warm {
                        MemorySegment.copy(heap, 0, segment, 0, bytes)
                        inC.invoke(segment, bytes, 7)
                        MemorySegment.copy(segment, 0, heap, 0, bytes)
                    },
            ),
        )
    }

    private fun calls() {
        val echo = plugin.channel("echo")
        val pool = plugin.channel("echo/pool")
        val direct = Payload.of(ByteBuffer.allocateDirect(63))
        val bytes = ByteArray(63)
        compare(
            "a message, direct",
            200,
            listOf(
                "bare FFM call of a function that does nothing" to timed(2000) { Abi.version() },
                "null, null back" to timed(2000) { echo.call() },
                "63 bytes of a direct buffer, back by copy" to timed(2000) { echo.call(direct) },
                "63 bytes of a `byte[]`, back by copy" to timed(2000) { echo.call(bytes) },
            ),
        )
        compare(
            "a message, queued",
            40,
            listOf(
                "one after the other: null" to timed(20) { pool.send().join() },
                "1000 in flight: null, each" to
                    Way {
                        val begin = System.nanoTime()
                        val sent = List(1000) { pool.send() }
                        for (each in sent) each.join()
                        (System.nanoTime() - begin) / 1000.0
                    },
            ),
        )
    }

    private fun large() {
        val mega = 1L shl 20
        val echo = plugin.channel("echo")
        val pool = plugin.channel("echo/pool")
        val lent = plugin.lend(Arena.ofAuto().allocate(mega).fill(1))
        val native = plugin.allocate(mega).also { it.segment.fill(1) }
        val heap = ByteArray(mega.toInt())
        val before = plugin.stats().ledger
        compare(
            "1 MB there and back, direct",
            200,
            listOf(
                "null" to timed(2000) { echo.call() },
                "lent" to timed(1000) { echo.call(lent).close() },
                "native memory" to timed(2000) { echo.call(native).close() },
            ),
        )
        compare(
            "1 MB there and back, queued",
            40,
            listOf(
                "null" to timed(20) { pool.send().join() },
                "lent" to timed(20) { pool.send(lent).join() },
                "native memory, looked at" to
                    timed(20) { pool.send(native).join().use { it.segment?.get(JAVA_BYTE, mega - 1) } },
            ),
        )
        val after = plugin.stats().ledger
        val copied =
            after.toNative.copiedBytes - before.toNative.copiedBytes + after.fromNative.copiedBytes -
                before.fromNative.copiedBytes
        println("\nbytes copied so far in these: $copied")
        compare(
            "1 MB that Java looks at",
            40,
            listOf(
                "lent" to timed(20) { echo.call(lent).use { it.segment?.get(JAVA_BYTE, 0) } },
                "`byte[]` both ways, copied as JNI would" to timed(20) { echo.call(heap).use { it.toByteArray() } },
            ),
        )
        lent.close()
        native.close()
    }

    /** Compares the two kinds of views, because the JVM needs different times to end them. */
    private fun views() {
        Plugin.load(Built.example("c", "example"), PluginOptions().views(ViewKind.CONFINED)).use { confined ->
            fun memory(from: Plugin, look: Boolean) =
                timed(500) { from.allocate(1 shl 16).use { if (look) it.segment.get(JAVA_BYTE, 0) } }
            compare(
                "native memory of 64 KB, allocated and closed",
                40,
                listOf(
                    "not looked at" to memory(plugin, false),
                    "a view of one thread's" to memory(confined, true),
                    "a view of all threads'" to memory(plugin, true),
                ),
            )
        }
    }

    private fun events() {
        val arguments =
            byteArrayOf(13, 2, 7, 4) +
                "rate".toByteArray() +
                3 +
                int32s(0) +
                7 +
                5 +
                "count".toByteArray() +
                3 +
                int32s(1_000_000)
        val options = ListenOptions().arguments(arguments).items(4096)
        val times =
            List(5) {
                val begin = System.nanoTime()
                var count = 0
                for (event in plugin.channel("sensor").listen(options)) count += if (event.size == 24L) 1 else 0
                check(count == 1_000_000) { "events were lost: count=$count" }
                (System.nanoTime() - begin) / 1e9
            }
        println("\nevents of 24 bytes with credit, none lost: %.2f million a second".format(1 / times.sorted()[2]))
    }
}
