declare const movedBrand: unique symbol;
/**
 * A value that {@link move} has marked. Clearway unwraps it only if it is itself an argument, a result or a yielded value. If it is inside
 * another object, the call fails with `not-cloneable`. Without this error, the value would be copied unnoticed.
 */
interface Moved<T> {
    readonly [movedBrand]: T;
}
/**
 * Marks a value to be moved. The sender loses every buffer, port and stream in the value, at any depth. Clearway copies none of them.
 *
 * A view of a part of a larger buffer, such as most small `Buffer`s of Node, cannot move without its neighbours. Clearway copies exactly that
 * part, and the ledger records the reason `partial-view`; the sender keeps it. Under `strict`, the send fails with `would-copy`. It fails, too,
 * if the value contains other memory that cannot be moved.
 *
 * With `transfer`, Clearway moves exactly these objects, and copies all other memory. Use `transfer` for values with very many nodes, or to
 * move a whole buffer if the value shows only a part of it. Throws `invalid-argument` if `transfer` is not an array of objects.
 */
declare function move<T>(value: T, transfer?: readonly object[]): Moved<T>;

export { move as m };
export type { Moved as M };
