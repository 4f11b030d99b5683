// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

/** Options of a call site. They apply only when [AdaptiveExecutor.site] creates the site. Not thread-safe. */
public class SiteOptions {
    internal var ordered = false
    internal val locals = ArrayList<ThreadLocal<Any?>>()

    /**
     * Makes the site run its items in order, one at a time. Each item happens-before the next.
     * [AdaptiveExecutor.runAll] runs them on the calling thread; other work of the site runs on any thread. Batches and
     * tasks of the site wait for each other, in the order in which they were submitted.
     *
     * If an item calls [AdaptiveExecutor.runAll] on its own site, the new batch runs within the item. An item must not
     * wait for another batch or task of its site: that work cannot start before the item has ended.
     */
    public fun ordered(): SiteOptions = apply { ordered = true }

    /**
     * Makes the site copy these thread-locals to helping threads. A helping thread gets the values of the caller's
     * thread, and gets its own values back afterwards. Without this option, an item sees the caller's thread-locals
     * only if it runs on the caller's thread. The context class loader is always copied.
     */
    @Suppress("UNCHECKED_CAST") // Each value is set only on the thread-local that it was read from.
    public fun carry(vararg values: ThreadLocal<*>): SiteOptions = apply {
        for (value in values) locals += value as ThreadLocal<Any?>
    }
}
