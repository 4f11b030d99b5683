// SPDX-License-Identifier: MIT OR Apache-2.0
@file:Suppress("DEPRECATION") // AccessController has no successor on the JDKs that have security contexts.

package clearway.plugin.host

import clearway.plugin.Message
import clearway.plugin.PluginEvents
import clearway.plugin.PluginException
import clearway.plugin.abi.Abi
import clearway.plugin.abi.Layout
import java.lang.foreign.MemorySegment
import java.security.AccessController
import java.security.PrivilegedAction
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import java.util.concurrent.RejectedExecutionException

/**
 * Reads a plugin's events on a separate thread. The thread waits in libclearway. When an event arrives in an empty
 * queue, libclearway wakes the thread once. The thread then reads until the queue is empty. The plugin's own threads
 * never run Java code.
 */
internal class EventReader(private val instance: PluginInstance) : Runnable {
    private val decoder = instance.decoder
    private val events = instance.arena.allocate(Layout.EVENT_BYTES * BATCH, 8)
    private val returned = instance.arena.allocate(8 * BATCH, 8)
    private val count = instance.arena.allocate(8, 8)
    private val drained = CountDownLatch(1)
    // The reader has its own scratch, because one thread creates the reader and another thread uses it.
    private val scratch = Scratch()
    private val thread = ownThread("clearway plugin", this)

    /** Starts the thread. From then on, it owns the plugin and the waiter, and frees them. */
    fun start() = thread.start()

    /**
     * Waits until all events were delivered. Called after the plugin was closed. Returns only then, even if the thread
     * is interrupted.
     */
    fun finish() {
        Abi.waiterWake(instance.waiter)
        if (Thread.currentThread() === thread) return
        var interrupted = false
        while (true) {
            try {
                drained.await()
                break
            } catch (_: InterruptedException) {
                interrupted = true
            }
        }
        if (interrupted) Thread.currentThread().interrupt()
    }

    override fun run() {
        try {
            read()
        } finally {
            // Even after an exception, no caller may still wait for an answer or for the end.
            if (drained.count > 0) end()
        }
        Abi.waiterFree(instance.waiter)
    }

    private fun read() {
        while (!(drained.count == 0L && instance.loans.none)) {
            val status = Abi.waiterWait(instance.waiter, NO_LIMIT, returned, BATCH, count)
            if (status != Status.OK_NUMBER && status != Status.PENDING_NUMBER) break
            for (at in 0 until count.get(Layout.LONG, 0)) instance.loans.returned(returned.getAtIndex(Layout.LONG, at))
            if (drained.count > 0) {
                // `closed` is read before the drain. If it is true, the queue already holds every answer that closing
                // caused.
                val closed = instance.closed
                drain()
                if (closed) end()
            }
            if (status == Status.PENDING_NUMBER) Abi.waiterWake(instance.waiter)
        }
    }

    private fun drain() {
        do {
            val status = Abi.drain(instance.id, events, BATCH, count)
            val read = count.get(Layout.LONG, 0)
            if (status != Status.OK_NUMBER && status != Status.PENDING_NUMBER) return
            for (at in 0 until read) guarded { deliver(at * Layout.EVENT_BYTES) }
            Abi.eventsRelease(events, read)
        } while (status == Status.PENDING_NUMBER)
    }

    private fun deliver(at: Long) {
        val tag = events.get(Layout.LONG, at + Layout.EVENT_TAG)
        when (events.get(Layout.INT, at + Layout.EVENT_KIND)) {
            ITEM -> instance.streams[tag]?.let { item(it, at) }
            ANSWER -> instance.waiting.remove(tag)?.let { instance.settle(it, events, at, scratch) }
            END -> end(tag, at)
            MESSAGE -> messageFromPlugin(at)
            LOG ->
                instance.options.let {
                    log(events.get(Layout.LONG, at + Layout.EVENT_HANDLE).toInt(), decoder.text(events, at))
                }
        }
    }

    private fun message(at: Long): Message = decoder.message(events, at, scratch)

    // An event that cannot be decoded ends its stream: a later event would hide the missing one, whose credit is lost.
    private fun item(stream: PluginEvents, at: Long) {
        val dropped = events.get(Layout.LONG, at + Layout.EVENT_DROPPED)
        val message =
            try {
                message(at)
            } catch (problem: Throwable) {
                return stream.stop(instance.undecoded(problem, stream.channel), dropped)
            }
        stream.arrived(message, dropped)
    }

    private fun end(tag: Long, at: Long) {
        val stream = instance.streams.remove(tag) ?: return
        val status = events.get(Layout.INT, at + Layout.EVENT_STATUS)
        val problem =
            try {
                if (status == Status.OK_NUMBER) null
                else instance.error(status, stream.channel, decoder.text(events, at))
            } catch (problem: Throwable) {
                instance.undecoded(problem, stream.channel)
            }
        stream.ended(problem, events.get(Layout.LONG, at + Layout.EVENT_DROPPED))
    }

    private fun messageFromPlugin(at: Long) {
        val reply = events.get(Layout.LONG, at + Layout.EVENT_HANDLE)
        try {
            handle(decoder.text(events, at), reply, at)
        } catch (problem: Throwable) {
            // The plugin waits for an answer to each message.
            refuse(reply, Status.FAILED, messageOf(problem))
            throw problem
        }
    }

    private fun handle(channel: String, reply: Long, at: Long) {
        val handler = instance.handlers[channel]
        if (handler == null) return refuse(reply, Status.NO_HANDLER, "nobody handles $channel")
        val message = message(at)
        val job = Runnable {
            try {
                val status = message.use { instance.answer(reply, handler.handle(it)) }
                if (status != Status.OK_NUMBER) refuse(reply, Status.FAILED, "the answer was refused: status $status")
            } catch (problem: Throwable) {
                refuse(reply, Status.FAILED, messageOf(problem))
            }
        }
        try {
            (instance.options.executor ?: handlerThreads).execute(job)
        } catch (problem: Throwable) {
            // The executor may have run the handler before it threw. The message is released and answered in that case,
            // and this code has no effect.
            message.close()
            val full = problem is RejectedExecutionException
            val text =
                if (full) "the executor of handlers takes no more" else "the executor threw: ${messageOf(problem)}"
            refuse(reply, if (full) Status.FULL else Status.FAILED, text)
        }
    }

    /** Returns an exception's message. Returns its class name if it has no message or `message` throws. */
    private fun messageOf(problem: Throwable): String =
        try {
            problem.message
        } catch (_: Throwable) {
            null
        } ?: problem.javaClass.name

    private fun refuse(reply: Long, status: Status, text: String) {
        java.lang.foreign.Arena.ofConfined().use { Abi.answerError(reply, status.ordinal, textOf(text, it)) }
    }

    private fun log(level: Int, text: String) {
        val listener = instance.options.onLog
        if (listener != null) listener.log(level, text)
        else if (level >= WARNING) System.err.println("clearway: ${instance.path}: $text")
    }

    /**
     * Delivers the end to all waiters after the plugin's last event. The calls and streams that still wait fail with
     * `closed`.
     */
    private fun end() {
        // The loops use the maps' own iterators, because a failing future may remove its own entry during the loop.
        // `toList` would throw in that case: for a map of size 1 it reads the only entry without a check.
        for (tag in instance.waiting.keys) guarded { instance.waiting.remove(tag)?.fail(instance.closedError()) }
        for (tag in instance.streams.keys) guarded { instance.streams.remove(tag)?.ended(instance.closedError(), 0) }
        instance.handlers.clear()
        Abi.pluginFree(instance.id)
        drained.countDown()
    }

    private inline fun guarded(act: () -> Unit) {
        try {
            act()
        } catch (problem: Throwable) {
            complain(problem)
        }
    }

    /** Reports an exception of an application's callback. Never throws, so that reading continues. */
    private fun complain(problem: Throwable) {
        var reported = problem
        if (problem is PluginException)
            try {
                return log(WARNING, problem.message ?: problem.code.code)
            } catch (thrown: Throwable) {
                reported = thrown // The first exception may also come from onLog.
            }
        try {
            Thread.currentThread().uncaughtExceptionHandler.uncaughtException(Thread.currentThread(), reported)
        } catch (_: Throwable) {
            // The uncaught exception handler is application code and threw, too.
        }
    }

    private companion object {
        /** Maximum number of events in one read. Their structures take 26 KB, which fits in the first-level cache. */
        const val BATCH = 256L
        /** No timeout: UINT32_MAX in clearway_host.h. */
        const val NO_LIMIT = -1
        const val WARNING = 2
        const val ANSWER = 1
        const val ITEM = 2
        const val END = 3
        const val MESSAGE = 4
        const val LOG = 5

        val handlerThreads: Executor = Executors.newCachedThreadPool { ownThread("clearway plugin asks", it) }
    }
}

/** The limits of a stream: events, bytes, and the policy for a full queue. */
internal class Window(val items: Int, val whenFull: Int, val bytes: Long) {

    fun write(to: MemorySegment) {
        to.set(Layout.LONG, Layout.WINDOW_SIZE, Layout.WINDOW_BYTES)
        to.set(Layout.INT, Layout.WINDOW_ITEMS, items)
        to.set(Layout.INT, Layout.WINDOW_WHEN_FULL, whenFull)
        to.set(Layout.LONG, Layout.WINDOW_MEMORY, bytes)
        to.set(Layout.LONG, Layout.WINDOW_CREDIT, items.toLong())
    }
}

/**
 * Creates a daemon thread that keeps nothing of the thread that creates it. A thread otherwise inherits the context
 * class loader, the inheritable thread-locals, the security context and the thread group, and a server could then not
 * unload the application that happened to come first. The context class loader is the one of this library.
 */
internal fun ownThread(name: String, run: Runnable): Thread =
    AccessController.doPrivileged(
        PrivilegedAction {
            Thread(outermostGroup(), run, name, 0, false).apply {
                isDaemon = true
                priority = Thread.NORM_PRIORITY
                use(PluginInstance::class.java.classLoader)
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
private fun outermostGroup(): ThreadGroup? {
    if (System.getSecurityManager() != null) return null
    var group = Thread.currentThread().threadGroup
    while (group?.parent != null) group = group.parent
    return group
}
