// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import clearway.executor.AdaptiveExecutor
import clearway.executor.SiteOptions
import clearway.lab.offload.VirtualThreads
import com.lmax.disruptor.BlockingWaitStrategy
import com.lmax.disruptor.EventHandler
import com.lmax.disruptor.dsl.Disruptor
import com.lmax.disruptor.dsl.ProducerType
import io.reactivex.rxjava3.core.Observable
import io.reactivex.rxjava3.schedulers.Schedulers
import io.reactivex.rxjava3.subjects.PublishSubject
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.ThreadFactory
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ExecutorCoroutineDispatcher
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.cancel
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.trySendBlocking
import kotlinx.coroutines.flow.MutableSharedFlow
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.jctools.queues.MpscBlockingConsumerArrayQueue

/** An open mechanism that sends events from the calling thread to a receiver. Owns its threads; `close` ends them. */
internal interface PushMechanism : AutoCloseable {
    /**
     * Sends every event. Returns when all have been sent, or have been received. Blocks. Throws if the receiver threw.
     */
    fun run(load: Load, receiver: Receiver)

    override fun close() {}
}

/** A push mechanism, by its name in the scenario files. `unavailable` says why it cannot run here and what to do. */
internal class PushMechanismKind(val name: String, val unavailable: String? = null, val open: () -> PushMechanism)

internal object PushMechanisms {
    val all: List<PushMechanismKind> =
        sameThreadMechanisms +
            threadMechanisms +
            rxMechanisms +
            coroutineMechanisms +
            queueMechanisms +
            chainedMechanisms

    fun named(name: String): PushMechanismKind =
        requireNotNull(all.find { it.name == name }) { "no such mechanism: $name (${all.joinToString { it.name }})" }
}

/** A mechanism that sends each event with one call. */
internal abstract class Sending : PushMechanism {
    abstract fun send(event: Event)

    override fun run(load: Load, receiver: Receiver) = emitAll(load, receiver) { send(it) }
}

/** Mechanisms without a change of threads. They show the cost of the call itself. */
internal val sameThreadMechanisms: List<PushMechanismKind> =
    listOf(PushMechanismKind("direct") { DirectCall() }, PushMechanismKind("reentrant-lock") { UnderLock() })

private class DirectCall : Sending() {
    override fun send(event: Event) = event.arrive()
}

/**
 * Calls under a lock that no other thread wants, which is the usual case in a stream. Shows the cost of acquiring and
 * releasing a free lock.
 */
private class UnderLock : Sending() {
    private val lock = ReentrantLock()

    override fun send(event: Event) = lock.withLock { event.arrive() }
}

/** The JDK's executors and queues, and Clearway's executor in their place. */
internal val threadMechanisms: List<PushMechanismKind> =
    listOf(
        PushMechanismKind("single-thread-executor") { Executing(Executors.newSingleThreadExecutor()) },
        PushMechanismKind("blocking-queue") { Queued { Thread(it, "receiver").apply { start() } } },
        PushMechanismKind("virtual-thread-queue", VirtualThreads.unavailable) { Queued(VirtualThreads::start) },
        PushMechanismKind("clearway-ordered") { Adaptive() },
    )

private open class Executing(private val executor: ExecutorService) : Sending() {
    override fun send(event: Event) = executor.execute { event.arrive() }

    override fun close() {
        executor.shutdown()
        executor.awaitTermination(10, TimeUnit.SECONDS)
    }
}

/** Clearway's executor as a plain `ExecutorService`, with an ordered site. */
private class Adaptive(private val owner: AdaptiveExecutor = AdaptiveExecutor()) :
    Executing(owner.asExecutorService(owner.site("push", SiteOptions().ordered()))) {
    override fun close() {
        super.close()
        owner.close()
    }
}

/** A LinkedBlockingQueue and a thread that takes from it. */
private class Queued(start: (Runnable) -> Thread) : Sending() {
    private val queue = LinkedBlockingQueue<Event>()
    private val thread = start(::takeAll)

    override fun send(event: Event) = queue.put(event)

    private fun takeAll() {
        try {
            while (true) queue.take().arrive()
        } catch (closed: InterruptedException) {
            // `close` interrupts the thread.
        }
    }

    override fun close() {
        thread.interrupt()
        thread.join()
    }
}

/**
 * Queues that are designed for hand-overs between threads. Their receivers block instead of spinning, because the
 * receiver may be any thread of an app.
 */
internal val queueMechanisms: List<PushMechanismKind> =
    listOf(PushMechanismKind("jctools-queue") { ByJcTools() }, PushMechanismKind("disruptor") { ByDisruptor() })

/** Capacity of a queue: the size in the first example of the Disruptor's documentation. */
private const val SLOTS = 1024

private class ByJcTools : Sending() {
    private val queue = MpscBlockingConsumerArrayQueue<Event>(SLOTS)
    private val thread = Thread(::takeAll, "receiver").apply { start() }

    override fun send(event: Event) {
        while (!queue.offer(event)) Thread.onSpinWait()
    }

    private fun takeAll() {
        try {
            while (true) queue.take().arrive()
        } catch (closed: InterruptedException) {
            // `close` interrupts the thread.
        }
    }

    override fun close() {
        thread.interrupt()
        thread.join()
    }
}

private class Slot {
    var event: Event? = null
}

private class ByDisruptor : Sending() {
    private val disruptor =
        Disruptor(::Slot, SLOTS, ThreadFactory { Thread(it, "receiver") }, ProducerType.SINGLE, BlockingWaitStrategy())

    init {
        disruptor.handleEventsWith(EventHandler<Slot> { slot, _, _ -> take(slot) })
        disruptor.start()
    }

    override fun send(event: Event) = disruptor.ringBuffer.publishEvent { slot, _ -> slot.event = event }

    private fun take(slot: Slot) {
        val event = slot.event
        slot.event = null // The ring must not keep a reference to a delivered event.
        event?.arrive()
    }

    override fun close() = disruptor.shutdown()
}

/**
 * Mechanisms of kotlinx.coroutines. The receiver has a separate thread, like an event thread, with two exceptions. The
 * actor receives on Dispatchers.Default, and `flow-flowon` receives on the calling thread.
 */
internal val coroutineMechanisms: List<PushMechanismKind> =
    listOf(
        PushMechanismKind("kotlin-channel") { ByChannel() },
        PushMechanismKind("shared-flow") { BySharedFlow() },
        PushMechanismKind("flow-flowon") { ByFlow() },
        PushMechanismKind("actor") { ByActor() },
    )

private fun receiverThread(): ExecutorCoroutineDispatcher =
    Executors.newSingleThreadExecutor { Thread(it, "receiver") }.asCoroutineDispatcher()

/** A channel with the default buffer of 64 events, and a coroutine that reads it. A full channel blocks the sender. */
private class ByChannel : Sending() {
    private val channel = Channel<Event>(Channel.BUFFERED)
    private val dispatcher = receiverThread()
    private val scope = CoroutineScope(dispatcher)

    init {
        scope.launch { for (event in channel) event.arrive() }
    }

    override fun send(event: Event) {
        channel.trySendBlocking(event).getOrThrow()
    }

    override fun close() {
        channel.close()
        scope.cancel()
        dispatcher.close()
    }
}

/** A shared flow with a buffer of 64 events. `emit` suspends while the buffer is full. */
private class BySharedFlow : PushMechanism {
    private val events = MutableSharedFlow<Event>(extraBufferCapacity = 64)
    private val dispatcher = receiverThread()
    private val scope = CoroutineScope(dispatcher)

    init {
        scope.launch { events.collect { it.arrive() } }
        // Waits for the collector, because events that are emitted before it starts are lost.
        runBlocking { events.subscriptionCount.first { it > 0 } }
    }

    override fun run(load: Load, receiver: Receiver) = runBlocking { emitAll(load, receiver) { events.emit(it) } }

    override fun close() {
        scope.cancel()
        dispatcher.close()
    }
}

/** A cold flow that emits on Dispatchers.Default and is collected on the calling thread. */
private class ByFlow : PushMechanism {
    override fun run(load: Load, receiver: Receiver) = runBlocking {
        flow { emitAll(load, receiver) { emit(it) } }.flowOn(Dispatchers.Default).collect { it.arrive() }
    }
}

/** A coroutine with an unbounded inbox, on Dispatchers.Default. Each resumption may run on another thread. */
private class ByActor : Sending() {
    private val inbox = Channel<Event>(Channel.UNLIMITED)
    private val scope = CoroutineScope(Dispatchers.Default)

    init {
        scope.launch { for (event in inbox) event.arrive() }
    }

    override fun send(event: Event) {
        inbox.trySend(event).getOrThrow()
    }

    override fun close() {
        inbox.close()
        scope.cancel()
    }
}

internal val rxMechanisms: List<PushMechanismKind> =
    listOf(
        PushMechanismKind("rxjava-subject") { Subject { it } },
        PushMechanismKind("rxjava-observeon") { Subject { it.observeOn(Schedulers.single()) } },
    )

private class Subject(through: (Observable<Event>) -> Observable<Event>) : Sending() {
    init {
        Schedulers.start() // A previous mechanism may have ended the schedulers.
    }

    private val subject = PublishSubject.create<Event>()
    private val subscription = through(subject).subscribe { it.arrive() }

    override fun send(event: Event) = subject.onNext(event)

    override fun close() {
        subscription.dispose()
        Schedulers.shutdown()
    }
}
