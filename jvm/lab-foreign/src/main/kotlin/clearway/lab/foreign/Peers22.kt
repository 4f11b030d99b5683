// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign

import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCall
import clearway.channel.codec.MethodReply
import clearway.lab.memory.Filler
import clearway.plugin.Memory
import clearway.plugin.Payload
import clearway.plugin.Plugin
import clearway.plugin.PluginOptions
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout.JAVA_BYTE
import java.nio.file.Path

/** Implements [ForeignPeers] with java.lang.foreign. The lab's runner loads this service once per process. */
public class Peers22 : ForeignPeers {
    override fun filler(mechanism: String, bytes: Int): Filler =
        when (mechanism) {
            "ffm" -> ByDowncall(bytes.toLong())
            "clearway-copied" -> PluginCopied(openPlugin(), bytes)
            "clearway-shared" -> inPlace(bytes) { plugin -> plugin.lend(Arena.ofAuto().allocate(bytes.toLong(), PAGE)) }
            "clearway-held" -> inPlace(bytes) { plugin -> plugin.allocate(bytes.toLong()) }
            else -> throw IllegalArgumentException("no such mechanism: $mechanism")
        }

    private fun <M> inPlace(bytes: Int, make: (Plugin) -> M): Filler where M : Memory, M : AutoCloseable {
        val plugin = openPlugin()
        return PluginInPlace(plugin, bytes) { make(plugin) }
    }
}

/** Loads the example plugin in C. The caller closes it. */
internal fun openPlugin(): Plugin = Plugin.load(Path.of(System.getProperty("clearway.lab.plugin")), PluginOptions())

/**
 * Fills an array through a method channel. The array is encoded into the message, and the answer is decoded into a new
 * array.
 */
internal class PluginCopied(private val plugin: Plugin, private val bytes: Int) : Filler {
    private val channel = plugin.channel("memset/method")
    private var array = ByteArray(bytes)

    override fun renew() {
        array = ByteArray(bytes)
    }

    override fun fill(value: Int) {
        val call = Codecs.STANDARD_METHODS.encodeCall(MethodCall("memset", listOf(array, value)))
        val answer = channel.call(call).use { checkNotNull(it.toByteArray()) }
        val reply = Codecs.STANDARD_METHODS.decodeReply(answer)
        array = (reply as MethodReply.Success).value as ByteArray
    }

    override fun holds(value: Int): Boolean = array.size == bytes && array.all { it == value.toByte() }

    override fun close() = plugin.close()
}

/**
 * Fills memory that Java and the plugin share. A message carries only one byte: the value.
 *
 * `make` allocates the memory in one of two ways. Either Java allocates the memory and lends it to the plugin; that
 * memory lives until the garbage collector finds it unreachable. Or the plugin's pool allocates the memory; Java then
 * has a handle, and reads the memory once, at the end.
 */
internal class PluginInPlace<M>(private val plugin: Plugin, private val bytes: Int, private val make: () -> M) : Filler
    where M : Memory, M : AutoCloseable {
    private val channel = plugin.channel("memset/shared")
    private val with = Arena.ofAuto().allocate(1)
    private val message = Payload.of(with)
    private var memory = make()
    private var along = listOf(memory)

    override fun release() = memory.close()

    override fun renew() {
        memory = make()
        along = listOf(memory)
    }

    override fun fill(value: Int) {
        with.set(JAVA_BYTE, 0, value.toByte())
        channel.call(message, along)
    }

    override fun holds(value: Int): Boolean = memory.size == bytes.toLong() && allAre(memory.segment, value)

    override fun close() {
        memory.close()
        plugin.close()
    }
}

/**
 * Fills native memory in an arena, from C, in place. Each run allocates an arena that threads may share, and closes it
 * before the next one.
 */
internal class ByDowncall(private val bytes: Long) : Filler {
    private var arena = Arena.ofShared()
    private var segment: MemorySegment = arena.allocate(bytes, PAGE)

    override fun release() = arena.close()

    override fun renew() {
        arena = Arena.ofShared()
        segment = arena.allocate(bytes, PAGE)
    }

    override fun fill(value: Int) = Downcalls.fill(segment, value)

    override fun holds(value: Int): Boolean = allAre(segment, value)

    override fun close() = arena.close()
}

internal fun allAre(segment: MemorySegment, value: Int): Boolean =
    (0 until segment.byteSize()).all { segment.get(JAVA_BYTE, it) == value.toByte() }

/** Alignment of the memory, in bytes: the same as that of memory that C maps. */
internal const val PAGE: Long = 4096
