// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import java.io.Closeable
import java.io.IOException
import java.lang.reflect.Constructor
import java.security.AccessController
import java.security.PrivilegedAction
import java.util.ArrayDeque
import java.util.concurrent.Executor
import java.util.concurrent.ExecutorService
import java.util.concurrent.SynchronousQueue
import java.util.concurrent.ThreadFactory
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger

/**
 * Runs tasks one at a time, in order, on the threads of an executor. Each task happens before the next. An exception of
 * a task goes to the thread's uncaught exception handler, and the next task runs.
 */
internal class SerialTasks(private val executor: Executor) {
    private val waiting = ArrayDeque<() -> Unit>()
    /** Whether a run that the executor has accepted will take the waiting tasks, or takes them now. */
    private var accepted = false
    /** Whether a run takes the waiting tasks now. */
    private var running = false

    /** Adds a task and starts it: calls [add], then [start]. */
    fun run(task: () -> Unit) {
        add(task)
        start(task)
    }

    /** Adds a task to the queue. The task does not run before [start]. */
    fun add(task: () -> Unit) {
        synchronized(waiting) { waiting.add(task) }
    }

    /**
     * Starts to run the waiting tasks, which include `task`. Throws the executor's exceptions. In that case, `task` is
     * removed unless it has begun.
     */
    fun start(task: () -> Unit) {
        // A run that another thread is passing to the executor does not count, because the executor may refuse it.
        val isPending =
            synchronized(waiting) {
                if (running || waiting.isEmpty()) return
                accepted
            }
        // `shutdownNow` drops a run that was accepted. A second run then says so, because the executor refuses it.
        if (isPending && !isShut()) return
        val run = Run()
        try {
            executor.execute(run)
        } catch (thrown: Throwable) {
            // The run of another task may have taken this one.
            if (refused(run, task)) throw thrown
            return
        }
        synchronized(waiting) { if (!run.begun) accepted = true }
    }

    private fun isShut(): Boolean =
        try {
            executor is ExecutorService && executor.isShutdown
        } catch (_: Throwable) {
            false // The executor is an object of the application.
        }

    /** Removes the task of a run for which the executor threw. Returns false if another run has taken the task. */
    private fun refused(run: Run, task: () -> Unit): Boolean =
        synchronized(waiting) {
            val removed = waiting.remove(task)
            // The executor may have started the run before it threw.
            val begun = run.begun
            run.begun = true
            removed || begun
        }

    /**
     * Runs the waiting tasks, but only once. The executor may call `run` twice, and two calls would run two tasks at
     * the same time.
     */
    private inner class Run : Runnable {
        var begun = false

        override fun run() {
            synchronized(waiting) {
                if (begun) return
                begun = true
                if (running) return
                running = true
                accepted = true
            }
            while (true) guarded(next() ?: return)
        }

        private fun next(): (() -> Unit)? =
            synchronized(waiting) {
                val next = waiting.poll()
                if (next == null) {
                    running = false
                    accepted = false
                }
                next
            }
    }
}

/**
 * Creates daemon threads that keep nothing of the threads that create them. A thread otherwise inherits the context
 * class loader, the inheritable thread-locals, the security context and the thread group, and a server could then not
 * unload the application that happened to come first. The context class loader is the one of this library. A thread's
 * name is the prefix and a number.
 */
internal class DaemonThreads(private val prefix: String) : ThreadFactory {
    private val count = AtomicInteger()

    override fun newThread(task: Runnable): Thread {
        val name = prefix + count.incrementAndGet()
        @Suppress("DEPRECATION") // It has no successor for the JDKs that have security contexts.
        return AccessController.doPrivileged(PrivilegedAction { create(name, task) })
    }

    private fun create(name: String, task: Runnable): Thread {
        // A security manager chooses the group itself, and may forbid to set the loader.
        @Suppress("DEPRECATION") val isFree = System.getSecurityManager() == null
        var group = if (isFree) Thread.currentThread().threadGroup else null
        while (group?.parent != null) group = group.parent
        val thread = detached?.newInstance(group, task, name, 0L, false) ?: Thread(group, task, name)
        thread.isDaemon = true
        thread.priority = Thread.NORM_PRIORITY
        try {
            thread.contextClassLoader = DaemonThreads::class.java.classLoader
        } catch (_: SecurityException) {
            // The thread keeps the loader that it has.
        }
        return thread
    }

    private companion object {
        /** The constructor that can refuse inheritable thread-locals. Java 8 and older Androids lack it. */
        val detached: Constructor<Thread>? =
            try {
                Thread::class
                    .java
                    .getConstructor(
                        ThreadGroup::class.java,
                        Runnable::class.java,
                        String::class.java,
                        Long::class.java,
                        Boolean::class.java,
                    )
            } catch (_: NoSuchMethodException) {
                null
            }
    }
}

/**
 * An executor of daemon threads that all endpoints of the process share. It starts a new thread if none is idle. Idle
 * threads end after [KEPT_SECONDS]. Handlers run on it by default.
 */
internal object SharedThreads : Executor {
    /**
     * How long an idle thread is kept, in seconds. A burst of calls reuses the thread, and its stack is freed soon
     * after.
     */
    private const val KEPT_SECONDS = 10L

    private val threads =
        ThreadPoolExecutor(
            0,
            Int.MAX_VALUE,
            KEPT_SECONDS,
            TimeUnit.SECONDS,
            SynchronousQueue(),
            DaemonThreads("clearway-channel-"),
        )

    override fun execute(task: Runnable): Unit = threads.execute(task)
}

/**
 * Passes an error that no caller receives to the thread's uncaught exception handler. By default, that handler prints
 * the error. Never throws, so that the thread continues.
 */
internal fun uncaught(thrown: Throwable) {
    try {
        val thread = Thread.currentThread()
        thread.uncaughtExceptionHandler?.uncaughtException(thread, thrown)
    } catch (_: Throwable) {
        // The handler, or a method of the error, threw. Both are application code, and no other handler is left.
    }
}

/** Runs code whose exceptions must not end the calling thread. Passes the exceptions to [uncaught]. */
internal inline fun guarded(act: () -> Unit) {
    try {
        act()
    } catch (thrown: Throwable) {
        uncaught(thrown)
    }
}

/**
 * Returns an error that is safe to fail a future with. CompletableFuture calls `toString` of its failure; if that call
 * throws, dependent stages never complete. The result is therefore a replacement if `toString` throws.
 */
internal fun withSafeToString(thrown: Throwable): Throwable =
    try {
        thrown.toString()
        thrown
    } catch (_: Throwable) {
        RuntimeException("${thrown.javaClass.name}, whose own message throws")
    }

/** Closes a stream of an application, once. Thread-safe. */
internal class StreamCloser(private val stream: Closeable) {
    private val taken = AtomicBoolean()

    /** The exception that the stream has thrown before it was closed; null if there is none. */
    @Volatile var failed: Throwable? = null

    /** Whether a thread has closed the stream, or is about to. */
    val isTaken: Boolean
        get() = taken.get()

    /** Returns true to the first caller, which must call [close]. */
    fun take(): Boolean = taken.compareAndSet(false, true)

    /**
     * Closes the stream. Blocks as long as the stream's `close` does. Never throws: adds an exception to [failed] as
     * suppressed. Without an earlier exception, passes it to [uncaught], unless it is an IOException. The other end may
     * have gone first, and the transport has already reported its end.
     */
    fun close() {
        try {
            stream.close()
        } catch (thrown: Throwable) {
            val first = failed
            if (first != null && first !== thrown) first.addSuppressed(thrown)
            if (first == null && thrown !is IOException) uncaught(thrown)
        }
    }
}
