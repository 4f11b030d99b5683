// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

/** Options of a call site. They apply when the site is first named. Not thread-safe. */
public class SiteOptions {
    internal var ordered = false
    internal val locals = ArrayList<ThreadLocal<Any?>>()

    /**
     * Runs items in order and without overlap: each happens before the next. They run on one thread at a time, which is
     * the caller's if the caller waits for them. Batches and tasks of the site wait for each other, in the order in
     * which they were submitted. If an item calls [AdaptiveExecutor.runAll] on its own site, that batch runs within the
     * item. An item must not wait for another batch or task of its site, because that waits for the item.
     */
    public fun ordered(): SiteOptions = apply { ordered = true }

    /**
     * Copies thread-locals to helpers: sets the values of the caller's thread on every helping thread, and restores the
     * old ones afterwards. Without this an item sees the caller's thread-locals only if it runs on the caller's thread.
     * The context class loader is always copied.
     */
    @Suppress("UNCHECKED_CAST") // Each value is set only on the thread-local that it was read from.
    public fun carry(vararg values: ThreadLocal<*>): SiteOptions = apply {
        for (value in values) locals += value as ThreadLocal<Any?>
    }
}
