// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

/**
 * Options of a call site. Immutable: each function returns new options and leaves these as they are. Two options are
 * equal if they name the same order and the same thread-locals. Thread-safe.
 */
public class SiteOptions
private constructor(internal val ordered: Boolean, internal val locals: List<ThreadLocal<Any?>>) {
    /** Creates the default options: items in any order, and no thread-locals. */
    public constructor() : this(false, emptyList())

    /**
     * Returns options with which a site runs its items in order, one at a time. Each item happens-before the next.
     * [AdaptiveExecutor.runAll] runs them on the calling thread; other work of the site runs on any thread. Batches and
     * tasks of the site wait for each other, in the order in which they were submitted.
     *
     * If an item calls [AdaptiveExecutor.runAll] on its own site, the new batch runs within the item. An item must not
     * wait for another batch or task of its site: that work cannot start before the item has ended.
     */
    public fun ordered(): SiteOptions = SiteOptions(true, locals)

    /**
     * Returns options with which a site also copies these thread-locals to helping threads. A helping thread gets the
     * values of the caller's thread, and gets its own values back afterwards. Without this option, an item sees the
     * caller's thread-locals only if it runs on the caller's thread. The context class loader is always copied.
     */
    @Suppress("UNCHECKED_CAST") // Each value is set only on the thread-local that it was read from.
    public fun carry(vararg values: ThreadLocal<*>): SiteOptions =
        SiteOptions(ordered, (locals + values.map { it as ThreadLocal<Any?> }).distinct())

    // Compares the sets: the order of thread-locals makes no difference to an item. A thread-local has no equality of
    // its
    // own, unless a subclass defines one.
    override fun equals(other: Any?): Boolean =
        other is SiteOptions && ordered == other.ordered && locals.toSet() == other.locals.toSet()

    override fun hashCode(): Int = locals.toSet().hashCode() * 2 + if (ordered) 1 else 0

    override fun toString(): String {
        val parts = listOfNotNull("ordered".takeIf { ordered }, "carry=${locals.size}".takeIf { locals.isNotEmpty() })
        return if (parts.isEmpty()) "default" else parts.joinToString(", ")
    }
}
