// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import java.util.concurrent.CompletionException
import java.util.concurrent.CompletionStage

/** Runs a handler and sends its answer when the handler's stage completes. Never throws. */
internal fun <T> run(served: Served, handle: () -> CompletionStage<T>, answer: (T) -> Unit, fail: (Throwable) -> Unit) {
    // The request may have settled already. The caller may have cancelled it while the handler waited for a thread, or
    // the executor may have refused the handler.
    if (!served.begin()) return
    try {
        handle().whenComplete { value, thrown ->
            try {
                if (thrown != null) fail((thrown as? CompletionException)?.cause ?: thrown) else answer(value)
            } catch (refused: Throwable) {
                fail(refused) // `answer` threw, for example because the codec cannot encode the value.
            } finally {
                served.ended()
            }
        }
    } catch (thrown: Throwable) {
        try {
            fail(thrown)
        } finally {
            served.ended()
        }
    }
}
