// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.coroutines

import clearway.plugin.PluginErrorCode
import clearway.plugin.PluginException
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
 * `release` receives a value that arrived when the coroutine was cancelled, so that no memory is lost.
 */
internal suspend fun <T> awaitUncancelled(release: (T) -> Unit, start: () -> CompletableFuture<T>): T {
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
        // A coroutine ends silently with this exception, so only its own cancellation may throw it.
        currentCoroutineContext().ensureActive()
        throw PluginException(PluginErrorCode.CANCELLED, "cancelled, but not by the coroutine", cancelled)
    }
}
