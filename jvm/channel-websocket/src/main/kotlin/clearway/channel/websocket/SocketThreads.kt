// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import java.security.PrivilegedAction
import java.util.concurrent.Executor
import java.util.concurrent.Future
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.ScheduledThreadPoolExecutor
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

/**
 * Daemon threads that call the sinks of all sockets of the process. These calls should be short. The number of threads
 * is limited. `CompletableFuture.runAsync` has no limit on two processors, because it starts a thread for each task:
 * 500 clients had 746 threads.
 */
internal object DeliveryThreads : Executor {
    /**
     * Maximum number of threads. It is larger than the usual number of processors, so that a few sinks that block do
     * not delay the others.
     */
    private const val MAX = 64
    private const val KEPT_SECONDS = 10L
    private val count = AtomicInteger()
    private val threads =
        ThreadPoolExecutor(MAX, MAX, KEPT_SECONDS, TimeUnit.SECONDS, LinkedBlockingQueue()) { task ->
                ownThread("clearway-channel-websocket-${count.incrementAndGet()}", task)
            }
            .apply { allowCoreThreadTimeOut(true) }

    override fun execute(task: Runnable): Unit = threads.execute(task)
}

/** Timers of the sockets of the process. Their actions run on [DeliveryThreads]. */
internal object SocketTimers {
    private val timers =
        ScheduledThreadPoolExecutor(1) { task -> ownThread("clearway-channel-websocket-timer", task) }
            // Without this policy, a timer that was stopped would keep its connection until its time.
            .apply { removeOnCancelPolicy = true }

    /** Runs `act` once after `ms` milliseconds, unless the result is cancelled before. */
    fun after(ms: Long, act: () -> Unit): Future<*> =
        timers.schedule({ DeliveryThreads.execute(act) }, ms, TimeUnit.MILLISECONDS)
}

/**
 * Runs code whose exceptions must not end the calling thread. Passes them to the thread's uncaught exception handler.
 */
internal inline fun guarded(act: () -> Unit) {
    try {
        act()
    } catch (thrown: Throwable) {
        uncaught(thrown)
    }
}

internal fun uncaught(thrown: Throwable) {
    try {
        val thread = Thread.currentThread()
        thread.uncaughtExceptionHandler?.uncaughtException(thread, thrown)
    } catch (_: Throwable) {
        // The handler is application code and threw, too. No other handler is left.
    }
}

/**
 * Creates a daemon thread that keeps nothing of the thread that creates it. A thread otherwise inherits the context
 * class loader, the inheritable thread-locals, the security context and the thread group, and a server could then not
 * unload the application that happened to come first. The context class loader is the one of this library.
 */
@Suppress("DEPRECATION") // AccessController has no successor on the JDKs that have security contexts.
internal fun ownThread(name: String, run: Runnable): Thread =
    java.security.AccessController.doPrivileged(
        PrivilegedAction {
            Thread(outermostGroup(), run, name, 0, false).apply {
                isDaemon = true
                priority = Thread.NORM_PRIORITY
                use(DeliveryThreads::class.java.classLoader)
            }
        }
    )

private fun Thread.use(loader: ClassLoader?) {
    try {
        contextClassLoader = loader
    } catch (_: SecurityException) {
        // A security manager forbids it. The thread keeps the loader that it has.
    }
}

/** Returns the outermost thread group, which no application owns. Returns null if a security manager chooses it. */
@Suppress("DEPRECATION") // System.getSecurityManager, as above.
private fun outermostGroup(): ThreadGroup? {
    if (System.getSecurityManager() != null) return null
    var group = Thread.currentThread().threadGroup
    while (group?.parent != null) group = group.parent
    return group
}

/**
 * How a client notices a server that has gone silent, for example because its machine has lost power. The client sends
 * a ping each [pingMs]. If nothing at all arrives for [pingMs] and [pongMs] together, the transport closes with `lost`.
 * The client measures that time in steps of a quarter of [pingMs], so a pause of the process counts as one step.
 *
 * @property pingMs interval of the pings, in milliseconds. The default is 20,000. With 0, the client sends no pings and
 *   waits for ever.
 * @property pongMs how much longer than [pingMs] the server may be silent, in milliseconds. The default is 10,000.
 * @throws IllegalArgumentException if a time is negative
 */
public class WebSocketPings
@JvmOverloads
public constructor(public val pingMs: Long = 20_000, public val pongMs: Long = 10_000) {
    init {
        require(pingMs >= 0) { "pingMs must be 0 or more: pingMs=$pingMs" }
        require(pongMs >= 0) { "pongMs must be 0 or more: pongMs=$pongMs" }
    }
}

/** Sends a client's pings, and ends its transport when the server has gone silent. */
internal class KeepAlive(
    private val transport: SocketTransport,
    private val pings: WebSocketPings,
    private val after: (ms: Long, act: () -> Unit) -> Unit,
) {
    /** Whether anything has arrived since the last step. */
    @Volatile private var heard = true
    private val stepMs = maxOf(pings.pingMs / STEPS, 1)
    private var silentMs = 0L
    private var sincePingMs = 0L

    /** Records that a message, a part of one, a ping or a pong has arrived. Any thread may call this function. */
    fun heard() {
        heard = true
    }

    /** Starts the pings. `ping` sends one. */
    fun start(ping: () -> Unit) {
        if (pings.pingMs > 0) after(stepMs) { step(ping) }
    }

    private fun step(ping: () -> Unit) {
        if (transport.isOver) return
        // While the socket is not read, nothing can arrive.
        silentMs = if (heard || !transport.isRead) 0 else silentMs + stepMs
        heard = false
        if (silentMs - pings.pongMs >= pings.pingMs) // the sum of both may be too large
         return transport.abort(CloseReason(CloseCode.LOST, "the other end has sent nothing for $silentMs ms"))
        sincePingMs += stepMs
        if (sincePingMs >= pings.pingMs) {
            sincePingMs = 0
            guarded(ping)
        }
        after(stepMs) { step(ping) }
    }

    private companion object {
        /** The number of steps in [WebSocketPings.pingMs]. A dead connection is noticed at most one step late. */
        const val STEPS = 4
    }
}
