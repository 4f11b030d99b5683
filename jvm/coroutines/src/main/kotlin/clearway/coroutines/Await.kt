// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.coroutines

import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.suspendCancellableCoroutine

/** Marks functions for Clearway's own modules. They may change or disappear in any release. */
@RequiresOptIn("This function is for Clearway's own modules. It may change or disappear in any release.")
@Retention(AnnotationRetention.BINARY)
@Target(AnnotationTarget.FUNCTION)
public annotation class InternalClearwayApi

/**
 * Starts an operation and waits for its future. Cancelling the coroutine cancels the future. A coroutine that is
 * already cancelled starts nothing.
 *
 * `release` receives a value that the future had when the coroutine was cancelled, so that no resource is lost. Throws
 * the future's exception. If that is a `CancellationException` and the coroutine is not cancelled, throws what
 * `cancelledElsewhere` returns for it: a coroutine ends silently with a `CancellationException`, so only its own
 * cancellation may throw one.
 */
@InternalClearwayApi
public suspend fun <T> awaitUncancelled(
    release: (T) -> Unit,
    cancelledElsewhere: (CancellationException) -> Exception,
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
        currentCoroutineContext().ensureActive()
        throw cancelledElsewhere(cancelled)
    }
}
