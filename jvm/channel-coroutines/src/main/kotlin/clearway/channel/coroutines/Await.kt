// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.coroutines

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.coroutines.InternalClearwayApi
import clearway.coroutines.awaitUncancelled
import java.util.concurrent.CompletableFuture

/** Waits for an operation of a channel. A cancellation that is not the coroutine's own, as of a codec, is an error. */
@OptIn(InternalClearwayApi::class)
internal suspend fun <T> awaitChannel(what: String, release: (T) -> Unit = {}, start: () -> CompletableFuture<T>): T =
    awaitUncancelled(
        release,
        { ChannelException(ChannelError.CANCELLED, "$what: cancelled, but not by its coroutine", null, it) },
        start,
    )
