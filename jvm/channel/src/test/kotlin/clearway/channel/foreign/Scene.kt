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

/** Two connected endpoints. `b` serves with application code that calls [act]; `a` makes the calls. */
internal class Scene(wire: Wire, private val foreign: () -> Unit) : AutoCloseable {
    private var ended = false
    private val reached = CountDownLatch(1)
    private val threads = Executors.newCachedThreadPool { task -> Thread(task, "scene").apply { isDaemon = true } }
    /** The action that `b`'s executor runs before each task. */
    @Volatile var onExecute: () -> Unit = {}
    /** The action that `b`'s error listener runs for each error. */
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

    /** The application code under test. The points call it. */
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

    /** Ends `a`. Used by points that only the end of the connection reaches. */
    fun terminate() {
        ended = true
        a.terminate()
    }

    /**
     * Checks that both ends answer (unless [terminate] was called), that both close on request, and that no work is
     * left.
     */
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
        /** Maximum waiting time, in seconds. Only a test that hangs reaches it. */
        const val LIMIT = 60L
    }
}
