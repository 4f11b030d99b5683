// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.foreign

import clearway.channel.CallOptions
import clearway.channel.ListenOptions
import clearway.channel.MethodTable
import clearway.channel.RemoteException
import clearway.channel.Reply
import clearway.channel.Wire
import clearway.channel.codec.Codecs
import clearway.channel.codec.MessageCodec
import clearway.channel.codec.MethodCall
import clearway.channel.codec.MethodCodec
import clearway.channel.transport.guarded
import java.nio.ByteBuffer
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit

/**
 * A point at which an endpoint calls application code. `reach` makes the endpoint call that code, and returns the
 * futures that must settle.
 */
internal class Point(val name: String, val reach: Scene.() -> List<CompletableFuture<*>>)

/** The standard codec with application code in one of its functions. */
private class ForeignCodec(private val encode: () -> Unit = {}, private val decode: () -> Unit = {}) :
    MessageCodec<Any> by Codecs.STANDARD {
    override fun encode(value: Any?): ByteArray {
        encode.invoke()
        return Codecs.STANDARD.encode(value)
    }

    override fun decode(message: ByteArray): Any? {
        decode.invoke()
        return Codecs.STANDARD.decode(message)
    }

    override fun decodeOwned(message: ByteBuffer): Any? {
        decode.invoke()
        return Codecs.STANDARD.decodeOwned(message)
    }
}

/** The standard codec of methods with application code before it decodes a call. */
private class ForeignCallCodec(private val decode: () -> Unit) : MethodCodec by Codecs.STANDARD_METHODS {
    override fun decodeCall(message: ByteArray): MethodCall {
        decode()
        return Codecs.STANDARD_METHODS.decodeCall(message)
    }
}

private class ForeignIterator(private val has: () -> Unit, private val give: () -> Unit, private val shut: () -> Unit) :
    Iterator<Int>, AutoCloseable {
    private var left = 2

    override fun hasNext(): Boolean {
        has()
        return left > 0
    }

    override fun next(): Int {
        give()
        return left--
    }

    override fun close() = shut()
}

private fun Scene.iterator(
    has: () -> Unit = {},
    give: () -> Unit = {},
    shut: () -> Unit = {},
): List<CompletableFuture<*>> {
    b.events("values").serveEach({ Iterable { ForeignIterator(has, give, shut) } })
    val stream = a.events("values").listen<Int>()
    return List(4) { stream.read() }
}

/** Sends two messages. The second one shows whether the first one has blocked the channel. */
private fun Scene.twoMessages(codecHere: MessageCodec<Any> = Codecs.STANDARD): List<CompletableFuture<*>> {
    val messages = a.messages("messages", codecHere)
    return List(2) { messages.send(it) }
}

/** Returns a future that a thread of its own completes. `supplyAsync` would lose a failure whose `message` throws. */
private fun <T> stage(give: () -> T): CompletableFuture<T> {
    val stage = CompletableFuture<T>()
    val complete = Runnable {
        try {
            stage.complete(give())
        } catch (thrown: Throwable) {
            guarded { stage.completeExceptionally(thrown) }
        }
    }
    Thread(complete).start()
    return stage
}

/** All points at which an endpoint calls application code. Add each new point to this list. */
internal val POINTS: List<Point> =
    listOf(
        Point("a handler of messages") {
            b.messages("messages").handle { message, _ -> act().let { Reply.of(message) } }
            twoMessages()
        },
        Point("an asynchronous handler of messages") {
            b.messages("messages").handleAsync { message, _ ->
                act()
                CompletableFuture.completedFuture(Reply.of(message))
            }
            twoMessages()
        },
        Point("the stage that a handler of messages returns") {
            b.messages("messages").handleAsync { message, _ -> stage { act().let { Reply.of(message) } } }
            twoMessages()
        },
        Point("a handler of posts") {
            b.messages("messages").handle { message, _ -> act().let { Reply.of(message) } }
            val messages = a.messages("messages")
            listOf(messages.post(1), messages.send(2))
        },
        Point("a method") {
            b.methods("methods").handle(MethodTable().on("it") { _, _ -> act() })
            List(2) { a.methods("methods").call<Any?>("it") }
        },
        Point("the stage that a method returns") {
            b.methods("methods").handle(MethodTable().on("it") { _, _ -> stage { act() } })
            listOf(a.methods("methods").call<Any?>("it"))
        },
        Point("a method's onCancel") {
            val begun = CountDownLatch(1)
            b.methods("methods")
                .handle(
                    MethodTable().on("it") { _, context ->
                        context.onCancel { act() }
                        begun.countDown()
                        CompletableFuture<Any?>()
                    }
                )
            val call = a.methods("methods").call<Any?>("it", null, CallOptions().timeoutMs(100))
            begun.await()
            // On the plain wire, the other end is not notified of a cancelled call. The end of the connection cancels
            // it there.
            if (a.wire == Wire.CLEARWAY) clock.pass(100) else terminate()
            listOf(call)
        },
        Point("a source of events") {
            b.events("values")
                .serve({ _, sink ->
                    act()
                    sink.end()
                })
            listOf(a.events("values").listen<Int>().read())
        },
        Point("the codec of a source of events, reading") {
            b.events("values", ForeignCallCodec(::act)).serveEach({ listOf(1) })
            listOf(a.events("values").listen<Int>().read())
        },
        Point("an iterable of events") {
            b.events("values").serveEach({ act().let { listOf(1) } })
            listOf(a.events("values").listen<Int>().read())
        },
        Point("an iterable's iterator()") {
            b.events("values").serveEach({ Iterable { act().let { listOf(1).iterator() } } })
            listOf(a.events("values").listen<Int>().read())
        },
        Point("an iterator's hasNext()") { iterator(has = ::act) },
        Point("an iterator's next()") { iterator(give = ::act) },
        Point("an iterator's close()") { iterator(shut = ::act) },
        Point("a sink's onCancel") {
            b.events("values")
                .serve({ _, sink ->
                    sink.onCancel { act() }
                    sink.send(1)
                })
            val stream = a.events("values").listen<Int>()
            val first = stream.read().thenApply { stream.close() }
            listOf(first, stream.read())
        },
        Point("a listener's onDrop") {
            val pushed = CountDownLatch(1)
            b.events("values")
                .serve({ _, sink ->
                    repeat(9) { sink.send(it) }
                    sink.end()
                    pushed.countDown()
                })
            val stream = a.events("values").listen<Int>(null, ListenOptions.latest().onDrop { act() })
            pushed.await()
            // The answer arrives after the events. On the plain wire, this end drops the events.
            a.methods("probe").call<Any?>("it").get(Scene.LIMIT, TimeUnit.SECONDS)
            List(3) { stream.read() }
        },
        Point("onError") {
            onError = ::act
            b.messages("messages").handle { _, _ -> throw IllegalStateException("nobody waits") }
            listOf(a.messages("messages").post(1))
        },
        Point("a handler's codec, reading") {
            b.messages("messages", ForeignCodec(decode = ::act)).handle { message, _ -> Reply.of(message) }
            twoMessages()
        },
        Point("a handler's codec, writing") {
            b.messages("messages", ForeignCodec(encode = ::act)).handle { message, _ -> Reply.of(message) }
            twoMessages()
        },
        Point("a caller's codec, reading") {
            b.messages("messages").handle { message, _ -> Reply.of(message) }
            twoMessages(ForeignCodec(decode = ::act))
        },
        Point("the details of an error") {
            b.methods("methods")
                .handle(
                    MethodTable().on("it") { _, _ ->
                        throw RemoteException(
                            "NO",
                            "no",
                            object : AbstractMap<String, Int>() {
                                override val entries: Set<Map.Entry<String, Int>>
                                    get() = act().let { emptySet() }
                            },
                        )
                    }
                )
            listOf(a.methods("methods").call<Any?>("it"))
        },
        Point("the executor, with a handler of messages") {
            b.messages("messages").handle { message, _ -> Reply.of(message) }
            onExecute = ::act
            twoMessages()
        },
        Point("the executor, with a method") {
            onExecute = ::act
            listOf(a.methods("probe").call<Any?>("it"))
        },
        Point("the executor, with events") {
            b.events("values").serveEach({ listOf(1, 2) })
            onExecute = ::act
            val stream = a.events("values").listen<Int>()
            List(4) { stream.read() }
        },
    )
