// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

/** The options of a call site. Set once, when the site is first named; not thread-safe. */
public class SiteOptions {
    internal var ordered = false
    internal val locals = ArrayList<ThreadLocal<Any?>>()

    /**
     * Items begin in their order and never overlap: each happens before the next. They then run on one thread at a
     * time, which is the caller's where it waits for them. Batches and tasks of the site wait for each other, in the
     * order in which they were given; an item's own [AdaptiveExecutor.runAll] of its site runs within the item. An item
     * must not wait for another batch or task of its site: that waits for the item.
     */
    public fun ordered(): SiteOptions = apply { ordered = true }

    /**
     * The values that these have on the caller's thread are set on every thread that helps, and put back when it is
     * done. Without this an item sees the caller's thread-locals only where it happens to run on the caller's thread.
     * The context class loader always goes along.
     */
    @Suppress("UNCHECKED_CAST") // Values are read and set on the same thread-local.
    public fun carry(vararg values: ThreadLocal<*>): SiteOptions = apply {
        for (value in values) locals += value as ThreadLocal<Any?>
    }
}
