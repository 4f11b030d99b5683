// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import clearway.executor.run.Singles
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.RejectedExecutionException
import java.util.function.Function

/**
 * The results of [AdaptiveExecutor.settleEach]. The thread that reads also pulls the items: no item begins before the
 * first read, and at most a window of items begins before their results are read. So a slow reader slows the items
 * down, and an endless source of items is fine. Not thread-safe: one thread reads at a time.
 *
 * Close the stream unless it was read to its end. [close] begins no further item, interrupts the running ones, and
 * returns when they have ended.
 */
public class ResultStream<T, R>
internal constructor(
    private val site: Site,
    items: Iterable<T>,
    private val function: Function<in T, out R>,
    private val options: EachOptions,
    private val singles: Singles,
    private val checkMayBlock: () -> Unit,
) : Iterable<ItemResult<R>>, AutoCloseable {
    private class Begun<R>(val index: Int, val future: CompletableFuture<ItemResult<R>>)

    private val source: Iterator<T> by lazy(LazyThreadSafetyMode.NONE) { items.iterator() }
    /** The items that have begun and were not read, in the order of the items. */
    private val begun = LinkedHashMap<Int, Begun<R>>()
    /** The items that have ended, in the order of their ends. */
    private val ended = LinkedBlockingQueue<Begun<R>>()
    private var next = 0
    private var exhausted = false
    private var closed = false
    private var refusal: RejectedExecutionException? = null

    /**
     * Returns the next result, or null after the last one. Begins items until the window is full, and blocks until a
     * result is there. A failure of an item is a result. After a shutdown of the executor, first returns the results of
     * the items that have begun.
     *
     * @throws InterruptedException if the reading thread is interrupted. The stream stays usable
     * @throws RejectedExecutionException if the executor was shut down before all items had begun
     * @throws IllegalStateException on a registered event thread, or if the stream was closed before its end
     */
    @Throws(InterruptedException::class)
    public fun read(): ItemResult<R>? {
        checkOpen()
        checkMayBlock()
        fill()
        if (begun.isEmpty()) {
            refusal?.let { throw it }
            return null
        }
        val one = if (options.inOrder) first() else ended.take()
        begun.remove(one.index)
        return result(one)
    }

    private fun checkOpen() {
        check(!closed) { "the stream is closed: site=${site.name}" }
    }

    private fun first(): Begun<R> {
        val head = begun.values.first()
        while (!head.future.isDone) ended.take()
        // A future is done before its item is in `ended`, so no wait for the next head needs these entries.
        ended.clear()
        return head
    }

    private fun result(one: Begun<R>): ItemResult<R> =
        try {
            one.future.join()
        } catch (dropped: CancellationException) {
            ItemResult.failed(one.index, dropped)
        } catch (failed: CompletionException) {
            ItemResult.failed(one.index, failed.cause ?: failed)
        }

    /** Begins items until the window is full. If the source of the items throws, closes the stream. */
    private fun fill() {
        while (!exhausted && begun.size < options.windowItems) {
            val item =
                try {
                    if (!source.hasNext()) {
                        exhausted = true
                        return
                    }
                    source.next().also { checkOpen() } // The source may have closed the stream.
                } catch (thrown: Throwable) {
                    close()
                    throw thrown
                }
            begin(item)
        }
    }

    private fun begin(item: T) {
        val index = next++
        try {
            val one = Begun(index, singles.call(site) { ItemResult.of<R>(index) { function.apply(item) } })
            begun[index] = one
            one.future.whenComplete { _, _ -> ended.add(one) }
        } catch (refused: RejectedExecutionException) {
            refusal = refused
            exhausted = true
        } catch (thrown: Throwable) {
            // Code of a thread-local threw. The item has not begun.
            val one = Begun<R>(index, CompletableFuture.completedFuture(ItemResult.failed(index, thrown)))
            begun[index] = one
            ended.add(one)
        }
    }

    /**
     * Returns an iterator of the results, over [read]. If the thread is interrupted in it, the iterator closes the
     * stream and throws CancellationException; the interrupt status stays set.
     */
    override fun iterator(): Iterator<ItemResult<R>> =
        object : Iterator<ItemResult<R>> {
            private var ahead: ItemResult<R>? = null
            private var over = false

            override fun hasNext(): Boolean {
                if (ahead == null && !over) {
                    ahead = readOrClose()
                    over = ahead == null
                }
                return ahead != null
            }

            override fun next(): ItemResult<R> {
                if (!hasNext()) throw NoSuchElementException("the stream has ended: site=${site.name}")
                return checkNotNull(ahead).also { ahead = null }
            }
        }

    private fun readOrClose(): ItemResult<R>? =
        try {
            read()
        } catch (interrupted: InterruptedException) {
            close()
            Thread.currentThread().interrupt()
            throw CancellationException("the thread was interrupted: site=${site.name}").apply {
                initCause(interrupted)
            }
        }

    /**
     * Ends the stream. Begins no further item, interrupts the running ones, and waits until they have ended. A second
     * call does nothing. Do not call it from an item: it would wait for that item.
     */
    override fun close() {
        if (closed) return
        closed = true
        exhausted = true
        val left = begun.values.toList()
        begun.clear()
        for (one in left) one.future.cancel(true)
        for (one in left) result(one)
    }
}

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

/**
 * How one item ended: with a value, or with a failure.
 *
 * @property index position of the item among the items of its batch, from 0
 * @property failure the exception of the item, as the same object. Null if the item has a value
 */
public class ItemResult<R>
private constructor(public val index: Int, private val result: R?, public val failure: Throwable?) {
    /** Whether the item has a value. */
    public val isSuccess: Boolean
        get() = failure == null

    /**
     * The value of the item, which may be null.
     *
     * @throws Throwable the exception of the item, if it failed
     */
    @Suppress("UNCHECKED_CAST") // Without a failure, `result` is an R.
    public val value: R
        get() = if (failure != null) throw failure else result as R

    override fun toString(): String = if (failure == null) "$index: $result" else "$index failed: $failure"

    internal companion object {
        inline fun <R> of(index: Int, run: () -> R): ItemResult<R> =
            try {
                ItemResult(index, run(), null)
            } catch (thrown: Throwable) {
                ItemResult(index, null, thrown)
            }

        fun <R> failed(index: Int, thrown: Throwable): ItemResult<R> = ItemResult(index, null, thrown)
    }
}
