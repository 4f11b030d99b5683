// SPDX-License-Identifier: MIT OR Apache-2.0
@file:JvmName("AdaptiveFlows")

package clearway.executor.coroutines

import clearway.executor.AdaptiveExecutor
import clearway.executor.Site
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.async
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.SendChannel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.launch
import kotlinx.coroutines.sync.Semaphore

/**
 * Calls `transform` for each value of the flow, on threads of `executor`, and emits the results in the order of the
 * values. `transform` runs as tasks of `site`. It may block, but cannot suspend.
 *
 * At most `window` values are in work or wait to be emitted: a slow collector slows the source down. The first
 * exception of the source or of `transform` fails the flow. Then, and when the collector ends early or is cancelled,
 * the running tasks are interrupted, and the flow ends when they have ended. A task costs 1 to 10 us: for short work,
 * collect lists and use [awaitMapAll].
 *
 * After a shutdown of the executor, the flow fails with [java.util.concurrent.RejectedExecutionException].
 *
 * @param window from 1 to 65,536
 */
public fun <T, R> Flow<T>.mapOn(
    executor: AdaptiveExecutor,
    site: Site,
    window: Int = WINDOW,
    transform: (T) -> R,
): Flow<R> =
    windowed(window) { begun: SendChannel<Deferred<R>>, room ->
        collect { value ->
            room.acquire()
            begun.send(async { executor.awaitCall(site) { transform(value) } })
        }
    }

/**
 * Emits each result as soon as it is there, in any order. Otherwise it works as [mapOn] does.
 *
 * @param window from 1 to 65,536
 */
public fun <T, R> Flow<T>.mapOnAsFinished(
    executor: AdaptiveExecutor,
    site: Site,
    window: Int = WINDOW,
    transform: (T) -> R,
): Flow<R> =
    windowed(window) { ended: SendChannel<Deferred<R>>, room ->
        coroutineScope {
            collect { value ->
                room.acquire()
                val task = async { executor.awaitCall(site) { transform(value) } }
                launch {
                    task.join()
                    ended.send(task)
                }
            }
        }
    }

/**
 * Emits the results that `fill` sends, in the order of the channel. `fill` acquires a permit for each value; the permit
 * is released when the collector has taken the result.
 */
private fun <R> windowed(
    window: Int,
    fill: suspend CoroutineScope.(SendChannel<Deferred<R>>, Semaphore) -> Unit,
): Flow<R> {
    require(window in 1..WINDOW_MAX) { "window must be from 1 to $WINDOW_MAX: window=$window" }
    return flow {
        coroutineScope {
            val room = Semaphore(window)
            // The permits limit what the channel holds.
            val results = Channel<Deferred<R>>(Channel.UNLIMITED)
            launch {
                val end =
                    try {
                        fill(results, room)
                        null
                    } catch (thrown: CancellationException) {
                        ensureActive()
                        thrown // the source's own, such as from withTimeout: it does not cancel this coroutine's parent
                    }
                results.close(end)
            }
            for (result in results) {
                emit(result.await())
                room.release()
            }
        }
    }
}

/** Enough to keep all cores busy, and to overlap 64 waits. */
private const val WINDOW = 64
private const val WINDOW_MAX = 65_536
