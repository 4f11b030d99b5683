// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import java.util.concurrent.Executors
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
