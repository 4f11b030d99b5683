// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.endpoint.Clock
import clearway.channel.endpoint.SystemClock
import clearway.channel.transport.SharedThreads
import clearway.channel.transport.guarded
import clearway.channel.wire.Wires
import java.util.concurrent.Executor

/** The wire that an end speaks. */
public enum class Wire(internal val bits: Int) {
    /** Clearway's own wire: cancelling, credit, deadlines, errors with stack and cause. */
    CLEARWAY(Wires.CLEARWAY),
    /** Flutter's platform messages only. */
    PLAIN(Wires.PLAIN),
    /** Clearway's wire if the other end's hello offers it, otherwise the plain wire. */
    EITHER(Wires.CLEARWAY or Wires.PLAIN),
}

/** The settings of an endpoint. Set them before [Endpoint.connect]. Not thread-safe. */
public class EndpointOptions {
    internal var wire = Wire.CLEARWAY
    internal var hello = true
    internal var helloMs = 30_000L
    internal var callsMax = 4096
    internal var replyBytesMax = 16 shl 20
    internal var stallMs = 30_000L
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

    /** Sets the wire; default [Wire.CLEARWAY]. */
    public fun wire(wire: Wire): EndpointOptions = apply { this.wire = wire }

    /** Starts on the plain wire at once, for a foreign end that sends and expects no hello. */
    public fun withoutHello(): EndpointOptions = apply {
        wire = Wire.PLAIN
        hello = false
    }

    /** Sets how long to wait for the other end's hello, in ms; default 30,000. 0 waits for ever. */
    public fun helloMs(ms: Long): EndpointOptions = apply { helloMs = range("helloMs", ms, 0, Long.MAX_VALUE) }

    /**
     * Sets four limits to one number: open calls and open streams of this end, and calls and streams that this end runs
     * for the other end. Default 4096. A call of the other end occupies a place until the handler has ended and the
     * answer was sent, even if the caller has cancelled.
     */
    public fun callsMax(count: Int): EndpointOptions = apply { callsMax = range("callsMax", count, 1, Int.MAX_VALUE) }

    /**
     * Sets how many bytes of answers may wait for the other end to read; default 16 MiB. At this limit no further
     * request of the other end starts. The transport is paused, too, unless this end waits for an answer. Both continue
     * when half of the bytes have left. The same number limits the bytes of pushed events that wait for the other end,
     * over all its streams. At that limit every stream is full, even if its own capacity is not reached.
     */
    public fun replyBytesMax(bytes: Int): EndpointOptions = apply {
        replyBytesMax = range("replyBytesMax", bytes, 1, Int.MAX_VALUE)
    }

    /**
     * Sets the time in ms after which a peer that reads nothing at the limit of [replyBytesMax] is disconnected
     * (`timeout`); default 30,000. 0 waits for ever.
     */
    public fun stallMs(ms: Long): EndpointOptions = apply { stallMs = range("stallMs", ms, 0, Long.MAX_VALUE) }

    /** Sets the maximum size of a channel's name in bytes; default 255, at most 65,535. */
    public fun nameBytesMax(bytes: Int): EndpointOptions = apply {
        nameBytesMax = range("nameBytesMax", bytes, 1, 0xffff)
    }

    /**
     * Sets how many messages are kept for each channel without a handler. A further message drops the oldest. Default
     * 16. The other end can change the number for each channel, up to 1024.
     */
    public fun early(count: Int): EndpointOptions = apply { early = range("early", count, 0, EARLY_MAX) }

    /** Sets the maximum size of all early messages together, in bytes; default 1 MiB. */
    public fun earlyBytesMax(bytes: Int): EndpointOptions = apply {
        earlyBytesMax = range("earlyBytesMax", bytes, 0, Int.MAX_VALUE)
    }

    /**
     * Sets how long early messages are kept, in ms; default 5,000. Then they are answered with `no-handler`. 0 keeps
     * none.
     */
    public fun earlyMs(ms: Long): EndpointOptions = apply { earlyMs = range("earlyMs", ms, 0, Int.MAX_VALUE.toLong()) }

    /**
     * Adds the stack of a handler's error to plain replies, as their fourth part. Not every foreign end reads that
     * part.
     */
    public fun stacks(): EndpointOptions = apply { stacks = true }

    /**
     * Sets whether errors of handlers and sources cross in full, with class, stack and causes. The default is
     * [ChannelTransport.isTrusted]: true for a child or parent process and for another part of this process. Over
     * WebSockets and other streams, only the code and the message cross, and the details of a [RemoteException] that
     * this end created.
     */
    public fun exposeErrors(expose: Boolean): EndpointOptions = apply { exposeErrors = expose }

    /** Sets a function that chooses the error to send. The function runs before parts of the error are left out. */
    public fun redactError(redactor: ErrorRedactor): EndpointOptions = apply { redactError = redactor::redact }

    /**
     * Sets the executor of handlers and sources of events. Default: daemon threads, as many as are needed at once.
     * Handlers may block on the executor's threads. An executor that runs its tasks within `execute` blocks the
     * transport.
     */
    public fun executor(executor: Executor): EndpointOptions = apply { this.executor = executor }

    /**
     * Sets the listener for errors of handlers that no caller waits for. Default: prints them to `System.err`, with the
     * channel. The listener must not block. Its own exceptions go to the thread's uncaught exception handler.
     */
    public fun onError(told: ErrorListener): EndpointOptions = apply { onError = told::failed }

    /** Passes an error to [onError]'s listener. Never throws. */
    internal fun report(thrown: Throwable, channel: String): Unit = guarded { onError(thrown, channel) }

    /** Sets the clock, for tests. */
    internal fun clock(clock: Clock): EndpointOptions = apply { this.clock = clock }

    internal companion object {
        const val EARLY_MAX = 1024
    }
}

/**
 * Returns the error to send for an error that a handler or a source threw, for example a [RemoteException]. If the
 * redactor throws, the other end receives the code `error` and a general message.
 */
public fun interface ErrorRedactor {
    public fun redact(error: Throwable, channel: String): Throwable
}

/** Receives errors that no caller waits for. */
public fun interface ErrorListener {
    public fun failed(error: Throwable, channel: String)
}

internal fun <T : Comparable<T>> range(name: String, value: T, min: T, max: T): T {
    require(value in min..max) { "$name must be from $min to $max: $name=$value" }
    return value
}

/** The options of a call. One object may serve many calls. Not thread-safe. */
public class CallOptions {
    internal var timeoutMs = 0L
    internal var deadlineMs = 0L

    /**
     * Sets how long the handler may run, in ms from its start, by the other end's clock. On the plain wire, this end's
     * clock counts from the call.
     */
    public fun timeoutMs(ms: Long): CallOptions = apply { timeoutMs = range("timeoutMs", ms, 1, Long.MAX_VALUE) }

    /** Sets how long to wait for the answer in total, in ms, by this end's clock. */
    public fun deadlineMs(ms: Long): CallOptions = apply { deadlineMs = range("deadlineMs", ms, 1, Long.MAX_VALUE) }

    internal companion object {
        val NONE = CallOptions()
    }
}
