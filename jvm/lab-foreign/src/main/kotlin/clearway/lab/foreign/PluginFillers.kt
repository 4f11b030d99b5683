// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign

import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCall
import clearway.channel.codec.MethodReply
import clearway.lab.memory.Filler
import clearway.plugin.LentMemory
import clearway.plugin.NativeMemory
import clearway.plugin.Payload
import clearway.plugin.Plugin
import java.lang.foreign.Arena

/** Over a method channel, and so in messages: the array is encoded, and the answer is decoded into another. */
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

/** The one byte of a message to `memset/shared`: with what the memory that goes along is to be filled. */
private class Asked(plugin: Plugin) {
    private val segment = Arena.ofAuto().allocate(1)
    private val payload = Payload.of(segment)
    private val channel = plugin.channel("memset/shared")

    fun fill(value: Int, memory: List<clearway.plugin.Memory>) {
        segment.set(java.lang.foreign.ValueLayout.JAVA_BYTE, 0, value.toByte())
        channel.call(payload, memory)
    }
}

/** The memory is Java's, and lent: no byte of it crosses. What can be lent lives until the collector has seen it go. */
internal class PluginShared(private val plugin: Plugin, private val bytes: Long) : Filler {
    private val asked = Asked(plugin)
    private var lent: LentMemory = lend()
    private var along = listOf(lent)

    private fun lend() = plugin.lend(Arena.ofAuto().allocate(bytes, PAGE))

    override fun release() = lent.close()

    override fun renew() {
        lent = lend()
        along = listOf(lent)
    }

    override fun fill(value: Int) = asked.fill(value, along)

    override fun holds(value: Int): Boolean = lent.size == bytes && allAre(lent.segment, value)

    override fun close() {
        lent.close()
        plugin.close()
    }
}

/** The memory is the plugin's pool's; Java has a handle, and looks once, at the end. */
internal class PluginHeld(private val plugin: Plugin, private val bytes: Long) : Filler {
    private val asked = Asked(plugin)
    private var memory: NativeMemory = plugin.allocate(bytes)
    private var along = listOf(memory)

    override fun release() = memory.close()

    override fun renew() {
        memory = plugin.allocate(bytes)
        along = listOf(memory)
    }

    override fun fill(value: Int) = asked.fill(value, along)

    override fun holds(value: Int): Boolean = memory.size == bytes && allAre(memory.segment, value)

    override fun close() {
        memory.close()
        plugin.close()
    }
}
