// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

/**
 * A way to run the actions of a list: one row of the published experiment "Which executor". Owns its pool, which exists
 * before the first list; `close` ends it. One thread uses a way, for one list at a time.
 */
internal interface Way : AutoCloseable {
    /** Runs `action` for every item and returns when all have run. Blocks. Throws if an action threw. */
    fun run(list: List<Int>, action: (Int) -> Any)

    override fun close() {}
}

/**
 * A way, by its name in the scenario file.
 *
 * @param isPublished whether the way follows the published code to the letter. The other ways are this lab's.
 * @param unavailable why the way cannot run here and how to make it run.
 */
internal class WayKind(val name: String, val isPublished: Boolean, val unavailable: String? = null, val open: () -> Way)

internal object Ways {
    /** The sixteen published ways, and then the lab's own. */
    val all: List<WayKind> = directWay + rxWays + coroutineWays + flowWays + executorWays + ownWays

    fun named(name: String): WayKind =
        requireNotNull(all.find { it.name == name }) { "no such way: $name (${all.joinToString { it.name }})" }
}

/** Makes a way that follows the published code. */
internal fun published(name: String, open: () -> Way): WayKind = WayKind(name, isPublished = true, open = open)

private val directWay = listOf(published("direct") { Direct() })

private class Direct : Way {
    override fun run(list: List<Int>, action: (Int) -> Any) {
        list.forEach { action(it) }
    }
}
