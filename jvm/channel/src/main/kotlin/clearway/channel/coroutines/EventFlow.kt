// SPDX-License-Identifier: MIT OR Apache-2.0
@file:JvmName("EventFlows")

package clearway.channel.coroutines

import clearway.channel.EventStream
import clearway.channel.Events
import clearway.channel.ListenOptions
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow

/**
 * Returns a cold flow of the channel's events: each collection listens as [Events.listen] does, with a stream of its
 * own. To share one stream, use `shareIn`.
 *
 * The other end sends only as many events as the window of `options` allows. The collector gets one event at a time,
 * and the next event is requested after that. A slow collector therefore slows down the source or applies its policy.
 *
 * The stream ends at both ends when the collection ends, in any way: the last event, an operator such as `take`, an
 * exception of the collector, or cancellation. The flow throws the stream's error, after all events before it.
 * [Events.listen] says how the events are checked and converted to `T`.
 */
@JvmSynthetic
public inline fun <reified T> Events.asFlow(args: Any? = null, options: ListenOptions = ListenOptions()): Flow<T> =
    flowOf(this) { listen(args, options) }

/** Returns a cold flow of the channel's events, as [asFlow] does, for Java. */
@JvmOverloads
public fun <T> Events.asFlow(type: Class<T>, args: Any?, options: ListenOptions = ListenOptions()): Flow<T> =
    flowOf(this) { listen(type, args, options) }

@PublishedApi
internal fun <T> flowOf(events: Events, listen: () -> EventStream<T>): Flow<T> = flow {
    currentCoroutineContext().ensureActive()
    val stream = listen()
    try {
        while (true) {
            val event = awaitChannel(events.name) { stream.read() }
            if (event.isEnd) break
            // An event that is not the end holds a value of type T, which may be null if T is nullable.
            @Suppress("UNCHECKED_CAST") emit(event.value as T)
        }
    } finally {
        stream.close()
    }
}
