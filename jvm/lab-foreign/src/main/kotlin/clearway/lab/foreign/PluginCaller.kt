// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign

import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCall
import clearway.channel.codec.MethodCodec
import clearway.channel.codec.MethodReply
import clearway.lab.channel.Caller
import clearway.lab.channel.Pending
import clearway.lab.channel.Row
import clearway.plugin.LentMemory
import clearway.plugin.Message
import clearway.plugin.Payload
import clearway.plugin.PluginOptions
import clearway.plugin.ViewKind
import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
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
