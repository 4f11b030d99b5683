// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

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
