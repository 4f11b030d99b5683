// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.foreign

import clearway.channel.Endpoint
import clearway.channel.EndpointOptions
import clearway.channel.FakeClock
import clearway.channel.MethodTable
import clearway.channel.Outcome
import clearway.channel.Wire
import clearway.channel.transport.MemoryTransport
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals

/** Two endpoints: `b` serves by foreign code, which calls [act], and `a` asks. */
internal class Scene(wire: Wire, private val foreign: () -> Unit) : AutoCloseable {
    private var ended = false
    private val reached = CountDownLatch(1)
    private val threads = Executors.newCachedThreadPool { task -> Thread(task, "scene").apply { isDaemon = true } }
    /** What `b`'s executor does before it runs a task. */
    @Volatile var onExecute: () -> Unit = {}
    /** What `b`'s listener of errors does with one. */
    @Volatile var onError: () -> Unit = {}
    val errors = LinkedBlockingQueue<Throwable>()
    val clock = FakeClock()
    val a: Endpoint
    val b: Endpoint

    init {
        val (here, there) = MemoryTransport.pair()
        val executor = Executor { task ->
            onExecute()
            threads.execute(task)
        }
        val serving =
            EndpointOptions().wire(wire).clock(clock).executor(executor).onError { error, _ ->
                errors += error
                onError()
            }
        val asking = EndpointOptions().wire(wire).clock(clock).onError { error, _ -> errors += error }
        val connecting = Endpoint.connect(here, asking)
        b = Endpoint.connect(there, serving).get(LIMIT, TimeUnit.SECONDS)
        a = connecting.get(LIMIT, TimeUnit.SECONDS)
        b.methods("probe").handle(MethodTable().on("it") { args, _ -> args })
    }

    /** The foreign code's part. */
    fun act() {
        reached.countDown()
        foreign()
    }

    fun awaitReached() {
        check(reached.await(LIMIT, TimeUnit.SECONDS)) { "the point was not reached" }
    }

    fun settled(futures: List<CompletableFuture<*>>) {
        for (each in futures) Outcome.of(each).get(LIMIT, TimeUnit.SECONDS)
    }

    /** Ends `a`, for points that only the end reaches. */
    fun terminate() {
        ended = true
        a.terminate()
    }

    /** Both ends answer, unless one was closed, nothing is under way, and both close when they are asked to. */
    fun assertWorks() {
        if (!ended) assertServes()
        val closing = listOf(a.closeAsync(), b.closeAsync())
        closing.forEach { it.get(LIMIT, TimeUnit.SECONDS) }
        for (end in listOf(a, b)) {
            val counts = end.stats().run { listOf(calls, handling, listening, serving) }
            assertEquals(listOf(0, 0, 0, 0), counts)
        }
    }

    fun assertServes() {
        onExecute = {}
        assertEquals(7, a.methods("probe").call<Int>("it", 7).get(LIMIT, TimeUnit.SECONDS))
    }

    override fun close() {
        a.terminate()
        b.terminate()
        threads.shutdownNow()
    }

    companion object {
        /** Nothing here takes this long, unless it hangs. */
        const val LIMIT = 60L
    }
}
