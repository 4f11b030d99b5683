// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.endpoint.Clock
import clearway.channel.endpoint.SystemClock
import clearway.channel.transport.SharedThreads
import clearway.channel.transport.guarded
import clearway.channel.wire.Wires
import java.util.concurrent.Executor

/** The protocols that an end can use. */
public enum class Wire(internal val bits: Int) {
    /** Clearway's own protocol. It adds cancelling, credit, deadlines, and errors with stack and cause. */
    CLEARWAY(Wires.CLEARWAY),
    /** Flutter's platform messages only. */
    PLAIN(Wires.PLAIN),
    /** Clearway's wire if the other end's hello offers it, otherwise the plain wire. */
    EITHER(Wires.CLEARWAY or Wires.PLAIN),
}

/** The settings of an endpoint. Change them before [Endpoint.connect]. Not thread-safe. */
public class EndpointOptions {
    internal var wire = Wire.CLEARWAY
    internal var hello = true
    internal var helloMs = 30_000L
    internal var callsMax = 4096
    internal var replyBytesMax = 16 shl 20
    internal var stallMs = 30_000L
    internal var valuesMax: Int? = null
    internal var nameBytesMax = 255
    internal var early = 16
    internal var earlyBytesMax = 1 shl 20
    internal var earlyMs = 5_000L
    internal var stacks = false
    internal var exposeErrors: Boolean? = null
    internal var redactError: ((Throwable, String) -> Throwable?)? = null
    internal var executor: Executor = SharedThreads
    internal var onError: (Throwable, String) -> Unit = { thrown, channel ->
        System.err.println("clearway.channel, $channel:")
        thrown.printStackTrace()
    }
    internal var clock: Clock = SystemClock

    /** Sets the wire. The default is [Wire.CLEARWAY]. */
    public fun wire(wire: Wire): EndpointOptions = apply { this.wire = wire }

    /** Starts on the plain wire at once. Use it for a peer without Clearway, which sends and expects no hello. */
    public fun withoutHello(): EndpointOptions = apply {
        wire = Wire.PLAIN
        hello = false
    }

    /** Sets how long to wait for the other end's hello, in milliseconds. The default is 30,000; 0 waits for ever. */
    public fun helloMs(ms: Long): EndpointOptions = apply { helloMs = range("helloMs", ms, 0, Long.MAX_VALUE) }

    /**
     * Sets several limits to one number, 4096 by default. The number limits the open calls, the open streams and the
     * unsent posts of this end. It also limits the requests, and the streams, that this end handles for the other end.
     * A request counts until its handler has ended and its answer was sent, even if the caller has cancelled it.
     */
    public fun callsMax(count: Int): EndpointOptions = apply { callsMax = range("callsMax", count, 1, Int.MAX_VALUE) }

    /**
     * Sets how many bytes of answers may wait until the other end reads. The default is 16 MiB. At this limit, no
     * further request of the other end starts. The transport is also paused, unless an answer to a call of this end may
     * still arrive. Both continue when half of the bytes were sent.
     *
     * The same number limits the bytes of pushed events that wait, over all streams of the connection. At that limit,
     * the queue of every stream is full, even below its own capacity. On the plain wire, it also limits the bytes of
     * the received events that wait in one stream.
     */
    public fun replyBytesMax(bytes: Int): EndpointOptions = apply {
        replyBytesMax = range("replyBytesMax", bytes, 1, Int.MAX_VALUE)
    }

    /**
     * Sets how long a peer may read no answer at the limit of [replyBytesMax], in milliseconds. While a message of more
     * than 1 MiB leaves, the peer has this time for each MiB. After that time, the connection closes with `timeout`.
     * The default is 30,000; 0 waits for ever.
     */
    public fun stallMs(ms: Long): EndpointOptions = apply { stallMs = range("stallMs", ms, 0, Long.MAX_VALUE) }

    /**
     * Sets the maximum number of values in one message that arrives. A message with more is refused with `too-large`
     * before its values take memory. All values in lists and maps count, and a map entry counts as two. An array of
     * numbers counts as one. A value can take 200 bytes of memory although it has only 2 bytes in the message. The
     * limit holds for the standard and the JSON codecs. The limit `itemsMax` of a channel's own codec also holds. An
     * application's own codec has its own limits. The default is 1,048,576, or 16,777,216 if
     * [ChannelTransport.isTrusted][clearway.channel.transport.ChannelTransport.isTrusted].
     */
    public fun valuesMax(count: Int): EndpointOptions = apply {
        valuesMax = range("valuesMax", count, 1, Int.MAX_VALUE)
    }

    /** Sets the maximum size of a channel's name, in bytes. The default is 255, and the maximum is 65,535. */
    public fun nameBytesMax(bytes: Int): EndpointOptions = apply {
        nameBytesMax = range("nameBytesMax", bytes, 1, 0xffff)
    }

    /**
     * Sets how many messages this end keeps for each channel without a handler. The default is 16. At the limit, a new
     * message drops the oldest one. From 0 to 1024.
     */
    public fun early(count: Int): EndpointOptions = apply { early = range("early", count, 0, EARLY_MAX) }

    /** Sets the maximum size of all early messages together, in bytes. The default is 1 MiB. */
    public fun earlyBytesMax(bytes: Int): EndpointOptions = apply {
        earlyBytesMax = range("earlyBytesMax", bytes, 0, Int.MAX_VALUE)
    }

    /**
     * Sets how long early messages are kept, in milliseconds. The default is 5,000. A message that expires is answered
     * with `no-handler`. With 0, no early message is kept.
     */
    public fun earlyMs(ms: Long): EndpointOptions = apply { earlyMs = range("earlyMs", ms, 0, Int.MAX_VALUE.toLong()) }

    /**
     * Adds the stack of a handler's error to replies on the plain wire. It is the fourth part of a reply, which some
     * other implementations ignore.
     */
    public fun stacks(): EndpointOptions = apply { stacks = true }

    /**
     * Sets whether errors of handlers and sources are sent in full. A full error has its class, stack and causes. The
     * default is [ChannelTransport.isTrusted], which is true for a child process, the parent process and another part
     * of this process. Over WebSockets and other streams, this end sends only the code, the message and the details.
     * Details are left out if another end created them.
     */
    public fun exposeErrors(expose: Boolean): EndpointOptions = apply { exposeErrors = expose }

    /** Sets a function that replaces errors before they are sent. It runs before parts of the error are left out. */
    public fun redactError(redactor: ErrorRedactor): EndpointOptions = apply { redactError = redactor::redact }

    /**
     * Sets the executor that runs handlers and sources of events. The default executor creates as many daemon threads
     * as needed. Handlers may block the executor's threads. An executor that runs tasks inside of `execute` blocks the
     * transport.
     */
    public fun executor(executor: Executor): EndpointOptions = apply { this.executor = executor }

    /**
     * Sets the listener for errors that no caller receives, such as that of a post's handler, and for the first of a
     * channel's posts that this end drops. The default prints the error and the channel to `System.err`. The listener
     * must not block. Exceptions of the listener go to the thread's uncaught exception handler.
     */
    public fun onError(told: ErrorListener): EndpointOptions = apply { onError = told::failed }

    /** Passes an error to the listener of [onError]. Never throws. */
    internal fun report(thrown: Throwable, channel: String): Unit = guarded { onError(thrown, channel) }

    /** Sets the clock, for tests. */
    internal fun clock(clock: Clock): EndpointOptions = apply { this.clock = clock }

    internal companion object {
        const val EARLY_MAX = 1024
    }
}

/**
 * Returns the error to send in place of a handler's or a source's error. The result may be a [RemoteException], for
 * example. If the redactor throws, the other end receives the code `error` and a general message.
 */
public fun interface ErrorRedactor {
    public fun redact(error: Throwable, channel: String): Throwable
}

/** Receives handlers' errors that are not sent to any caller. */
public fun interface ErrorListener {
    public fun failed(error: Throwable, channel: String)
}

internal fun <T : Comparable<T>> range(name: String, value: T, min: T, max: T): T {
    require(value in min..max) { "$name must be from $min to $max: $name=$value" }
    return value
}

/** The options of a call. One object may be used for many calls. Not thread-safe. */
public class CallOptions {
    internal var timeoutMs = 0L
    internal var deadlineMs = 0L

    /**
     * Sets how long the handler may run, in milliseconds. The other end measures the time, from the start of the
     * handler. On the plain wire, this end measures the time, from the start of the call.
     */
    public fun timeoutMs(ms: Long): CallOptions = apply { timeoutMs = range("timeoutMs", ms, 1, Long.MAX_VALUE) }

    /**
     * Sets the maximum time to wait for the answer, in milliseconds. This end measures the time, from the start of the
     * call.
     */
    public fun deadlineMs(ms: Long): CallOptions = apply { deadlineMs = range("deadlineMs", ms, 1, Long.MAX_VALUE) }

    internal companion object {
        val NONE = CallOptions()
    }
}
