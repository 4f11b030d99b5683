// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.ItemResult
import java.util.function.Consumer
import java.util.function.Function
import java.util.function.IntConsumer

/** Runs the items of a batch, given their indexes. */
internal fun interface Body {
    fun run(index: Int)

    /**
     * Runs the chunk of `me` from `first` on, as far as `me` still owns it. Returns the first index that `me` does not
     * own.
     */
    fun runFrom(me: Participant, first: Int): Int = me.runFrom(first) { run(it) }
}

// The functions below copy fields to locals. Other threads may take items back between two items, so the compiler would
// load every field again for each item. These loads cost 0.5 ns per item. That is half of the overhead of a trivial
// item, which is 1 ns more than in a plain loop.

/** Runs the items of an array, which must not change. */
internal class ArrayBody<T>(private val items: Array<T>, private val action: Consumer<in T>) : Body {
    override fun run(index: Int): Unit = action.accept(items[index])

    override fun runFrom(me: Participant, first: Int): Int {
        val items = items
        val action = action
        return me.runFrom(first) { action.accept(items[it]) }
    }
}

/** Runs the items of a list with fast access by index. */
internal class ListBody<T>(private val items: List<T>, private val action: Consumer<in T>) : Body {
    override fun run(index: Int): Unit = action.accept(items[index])

    override fun runFrom(me: Participant, first: Int): Int {
        val items = items
        val action = action
        return me.runFrom(first) { action.accept(items[it]) }
    }
}

/** Runs a function for the items of a list with fast access by index. Stores each result at the item's index. */
internal class MapBody<T, R>(
    private val items: List<T>,
    private val function: Function<in T, out R>,
    private val results: Array<Any?>,
) : Body {
    override fun run(index: Int) {
        results[index] = function.apply(items[index])
    }
}

/**
 * As [MapBody], and also stores failures, so that no item ends the batch. `caller` is the thread that waits for the
 * batch: if an item consumes an interrupt of this thread, the interrupt status is set again.
 */
internal class SettleBody<T, R>(
    private val items: List<T>,
    private val function: Function<in T, out R>,
    private val results: Array<Any?>,
    private val caller: Thread?,
) : Body {
    override fun run(index: Int) {
        results[index] = ItemResult.of(index) { function.apply(items[index]) }
        val failure = (results[index] as ItemResult<*>).failure
        if (failure is InterruptedException && Thread.currentThread() === caller) caller.interrupt()
    }
}

/** Passes each index to the action. */
internal class CountBody(private val action: IntConsumer) : Body {
    override fun run(index: Int): Unit = action.accept(index)

    override fun runFrom(me: Participant, first: Int): Int {
        val action = action
        return me.runFrom(first) { action.accept(it) }
    }
}
