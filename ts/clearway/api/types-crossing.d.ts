/** Only for the compiler: what a value is on the other side. */
declare const crossesAs: unique symbol;
/** A value that the other side gets as another type. */
interface CrossesAs<T> {
    readonly [crossesAs]: T;
}

export { crossesAs as c };
export type { CrossesAs as C };
