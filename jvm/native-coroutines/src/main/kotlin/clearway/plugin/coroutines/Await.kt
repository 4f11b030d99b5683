// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.coroutines

import clearway.coroutines.InternalClearwayApi
import clearway.coroutines.awaitUncancelled
import clearway.plugin.PluginErrorCode
import clearway.plugin.PluginException
import java.util.concurrent.CompletableFuture

/** Waits for an operation of a plugin. A cancellation that is not the coroutine's own is an error. */
@OptIn(InternalClearwayApi::class)
internal suspend fun <T> awaitPlugin(release: (T) -> Unit, start: () -> CompletableFuture<T>): T =
    awaitUncancelled(
        release,
        { PluginException(PluginErrorCode.CANCELLED, "cancelled, but not by the coroutine", it) },
        start,
    )
