// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

/** Options of [AdaptiveExecutor.settleEach]. Immutable: each function returns new options. Thread-safe. */
public class EachOptions private constructor(internal val windowItems: Int, internal val inOrder: Boolean) {
    /** Creates the default options: results in the order of the items, and a window of 64. */
    public constructor() : this(WINDOW, true)

    /**
     * Returns options with another window: the maximum number of items that have begun and whose results were not read.
     *
     * @param items from 1 to 65,536
     */
    public fun window(items: Int): EachOptions {
        require(items in 1..WINDOW_MAX) { "window must be from 1 to $WINDOW_MAX: window=$items" }
        return EachOptions(items, inOrder)
    }

    /** Returns options with which a result can be read as soon as its item has ended. */
    public fun asFinished(): EachOptions = EachOptions(windowItems, false)

    private companion object {
        /** Enough to keep all cores busy, and to overlap 64 waits; each item holds one task and one result. */
        const val WINDOW = 64
        const val WINDOW_MAX = 65_536
    }
}
