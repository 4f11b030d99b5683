// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.coroutines

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.suspendCancellableCoroutine

/**
 * Starts an operation and waits for its future. Cancelling the coroutine cancels the future. A coroutine that is
 * already cancelled starts nothing.
 *
 * `release` receives a value that the future had when the coroutine was cancelled, so that no resource is lost.
 */
internal suspend fun <T> awaitUncancelled(
    what: String,
    release: (T) -> Unit = {},
    start: () -> CompletableFuture<T>,
): T {
    currentCoroutineContext().ensureActive()
    try {
        val future = start()
        return suspendCancellableCoroutine { waiting ->
            waiting.invokeOnCancellation { future.cancel(false) }
            future.whenComplete { value, thrown ->
                if (thrown == null) waiting.resume(value) { _, lost, _ -> release(lost) }
                else waiting.resumeWithException((thrown as? CompletionException)?.cause ?: thrown)
            }
        }
    } catch (cancelled: CancellationException) {
        // A coroutine ends silently with this exception, so only its own cancellation may throw it. A codec's code may
        // throw it, too.
        currentCoroutineContext().ensureActive()
        throw ChannelException(ChannelError.CANCELLED, "$what: cancelled, but not by its coroutine", null, cancelled)
    }
}
