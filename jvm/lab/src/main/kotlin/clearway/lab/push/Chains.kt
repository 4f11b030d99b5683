// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import io.reactivex.rxjava3.core.Observable
import io.reactivex.rxjava3.core.Scheduler
import io.reactivex.rxjava3.schedulers.Schedulers
import io.reactivex.rxjava3.subjects.PublishSubject
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.cancel
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.trySendBlocking
import kotlinx.coroutines.launch

/**
 * Several mechanisms in a row, as apps have them: a delegate, then a queue, then a stream. Each change of threads leads
 * to a thread of its own, so no two hops share one.
 */
internal val chainedMechanisms: List<PushMechanismKind> =
    listOf(
        PushMechanismKind("chain-direct-executor") { Chain(listOf(::DirectHop, ::ExecutorHop)) },
        PushMechanismKind("chain-direct-executor-channel") { Chain(listOf(::DirectHop, ::ExecutorHop, ::ChannelHop)) },
        PushMechanismKind("chain-executor-executor") { Chain(List(2) { ::ExecutorHop }) },
        PushMechanismKind("chain-executor-executor-executor") { Chain(List(3) { ::ExecutorHop }) },
        PushMechanismKind("chain-observeon-observeon") { Observing(2) },
        PushMechanismKind("chain-observeon-observeon-observeon") { Observing(3) },
    )

/** One mechanism of a chain. Passes each event to the next one, in order. Owns its thread, if it has one. */
internal interface Hop : AutoCloseable {
    fun pass(event: Event)

    override fun close() {}
}

/** Makes a hop that passes events to `next`. */
internal typealias HopKind = (next: (Event) -> Unit) -> Hop

/** Sends each event through the hops; the last one delivers it. `close` ends the hops in the order of the events. */
internal class Chain(kinds: List<HopKind>) : Sending() {
    private val hops: List<Hop>

    init {
        val made = ArrayDeque<Hop>()
        for (kind in kinds.asReversed()) {
            val next = made.firstOrNull()
            made.addFirst(kind { event -> if (next == null) event.arrive() else next.pass(event) })
        }
        hops = made
    }

    override fun send(event: Event) = hops.first().pass(event)

    override fun close() = hops.forEach(Hop::close)
}

/** The delegate: a plain call. */
private class DirectHop(private val next: (Event) -> Unit) : Hop {
    override fun pass(event: Event) = next(event)
}

/** The queue: a single-thread executor, with one closure per event. */
private class ExecutorHop(private val next: (Event) -> Unit) : Hop {
    private val executor: ExecutorService = Executors.newSingleThreadExecutor()

    override fun pass(event: Event) = executor.execute { next(event) }

    override fun close() {
        executor.shutdown()
        executor.awaitTermination(10, TimeUnit.SECONDS)
    }
}

/** The stream: a Kotlin Channel, and a coroutine that reads it on its own thread. A full channel blocks the sender. */
private class ChannelHop(next: (Event) -> Unit) : Hop {
    private val channel = Channel<Event>(Channel.BUFFERED)
    private val dispatcher = Executors.newSingleThreadExecutor { Thread(it, "stream") }.asCoroutineDispatcher()
    private val scope = CoroutineScope(dispatcher)

    init {
        scope.launch { for (event in channel) next(event) }
    }

    override fun pass(event: Event) {
        channel.trySendBlocking(event).getOrThrow()
    }

    override fun close() {
        channel.close()
        scope.cancel()
        dispatcher.close()
    }
}

/** A subject with several `observeOn` in a row, each with a scheduler of one thread. */
private class Observing(times: Int) : Sending() {
    private val executors = List(times) { Executors.newSingleThreadExecutor() }
    private val subject = PublishSubject.create<Event>()
    private val subscription =
        executors
            .map<ExecutorService, Scheduler>(Schedulers::from)
            .fold<Scheduler, Observable<Event>>(subject) { before, scheduler -> before.observeOn(scheduler) }
            .subscribe { it.arrive() }

    override fun send(event: Event) = subject.onNext(event)

    override fun close() {
        subscription.dispose()
        for (executor in executors) executor.shutdown()
        for (executor in executors) executor.awaitTermination(10, TimeUnit.SECONDS)
    }
}
