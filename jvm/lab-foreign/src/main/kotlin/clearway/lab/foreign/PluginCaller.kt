// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign

import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCall
import clearway.channel.codec.MethodCodec
import clearway.channel.codec.MethodReply
import clearway.lab.channel.Caller
import clearway.lab.channel.Pending
import clearway.lab.channel.Row
import clearway.lab.memory.Filler
import clearway.plugin.LentMemory
import clearway.plugin.Memory
import clearway.plugin.Message
import clearway.plugin.Payload
import clearway.plugin.Plugin
import clearway.plugin.PluginOptions
import clearway.plugin.ViewKind
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout.JAVA_BYTE
import java.util.concurrent.CompletableFuture

/**
 * Calls the example plugin's handlers through Clearway's codecs. The handlers are direct, or run on the plugin's pool
 * if the row is queued. One thread reads the answers, so their views are confined to that thread.
 */
internal class PluginCaller(private val row: Row) : Caller {
    private val plugin = openPlugin(PluginOptions().views(ViewKind.CONFINED))
    private val channel = plugin.channel(handler() + if (row.queued) "/pool" else "")
    private val methods: MethodCodec = if (row.codec == "json") Codecs.JSON_METHODS else Codecs.STANDARD_METHODS
    private val lent: LentMemory? = if (row.isBinary) lend(row.value as ByteArray) else null
    private var last: Message? = null
    private var encoded = 0L

    /** Returns the name of the handler for the row. The handler "echo" returns plain bytes without decoding them. */
    private fun handler(): String =
        when {
            row.isNativeToHost -> "echo/back"
            row.isMethod -> if (row.codec == "json") "echo/json" else "echo/method"
            else -> if (row.isBinary) "echo" else "echo/standard"
        }

    init {
        // The plugin's handler "echo/back" calls this handler.
        if (row.isNativeToHost) plugin.handle("echo/host") { message -> again(checkNotNull(message.toByteArray())) }
    }

    private fun again(message: ByteArray): Payload = Payload.of(Codecs.STANDARD.encode(Codecs.STANDARD.decode(message)))

    private fun lend(bytes: ByteArray): LentMemory {
        val segment = Arena.ofAuto().allocate(bytes.size.toLong(), PAGE)
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, segment, 0, bytes.size.toLong())
        return plugin.lend(segment)
    }

    /** Number of bytes of all encoded messages, in both directions, plus the bytes of copies in the plugin's ledger. */
    override val copiedBytes: Long
        get() {
            val ledger = plugin.stats().ledger
            return encoded + ledger.toNative.copiedBytes + ledger.fromNative.copiedBytes
        }

    override val isLater: Boolean = row.queued || row.isNativeToHost

    override fun call(): Any? = if (isLater) send().await() else read(channel.call(written()))

    override fun send(): Pending {
        val answer: CompletableFuture<Message> = channel.send(written())
        return Pending { read(answer.get()) }
    }

    private fun written(): Payload? {
        if (lent != null) return lent
        if (row.isNull) return null
        val bytes =
            if (row.isMethod) methods.encodeCall(MethodCall("test", row.value)) else Codecs.STANDARD.encode(row.value)
        encoded += bytes.size
        return Payload.of(bytes)
    }

    private fun read(message: Message): Any? {
        if (row.isBinary) {
            // The bytes stay valid until the next answer.
            last?.close()
            last = message
            return message.buffer
        }
        if (row.isNull) return message.use { check(it.isNull) }.let { null }
        encoded += message.size
        val bytes = message.use { checkNotNull(it.toByteArray()) }
        if (!row.isMethod) return Codecs.STANDARD.decode(bytes)
        return (methods.decodeReply(bytes) as MethodReply.Success).value
    }

    override fun close() {
        last?.close()
        lent?.close()
        plugin.close()
    }
}

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
