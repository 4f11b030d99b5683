// SPDX-License-Identifier: MIT OR Apache-2.0
import clearway.executor.AdaptiveExecutor
import clearway.executor.coroutines.awaitMapAll
import clearway.executor.coroutines.mapOn
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.toList

suspend fun main() {
    val images = listOf("a.png", "b.png")
    AdaptiveExecutor().use { executor ->
        val thumbnails = executor.site("thumbnails") // one site for each kind of work; keep it
        println("small: " + executor.awaitMapAll(thumbnails, images) { App.shrink(it) })
        println("one by one: " + images.asFlow().mapOn(executor, thumbnails) { App.shrink(it) }.toList())
    }
}
